(** The checker's loop over integer weights decides closeness. *)

From Coq Require Import ZArith QArith Qround Qminmax Lqa Lia List Bool Permutation.
From Rainbow Require Import Rows Curves HockeyStick.
Import ListNotations.
Open Scope Q_scope.

Definition weights := list Z.

Fixpoint sum (p : weights) : Z :=
  match p with
  | [] => 0%Z
  | a :: rest => (a + sum rest)%Z
  end.

(** [sum(max(0, bottom * a - top * b) for a, b in zip(more, less))] *)
Fixpoint excess (top bottom : Z) (more less : weights) : Z :=
  match more, less with
  | a :: more', b :: less' =>
      (Z.max 0 (bottom * a - top * b) + excess top bottom more' less')%Z
  | _, _ => 0%Z
  end.

(** (top, bottom, limit), as [promise_of] makes it of a line. *)
Definition condition := (Z * Z * Z)%type.

Definition condition_of (whole : Z) (l : line) : condition :=
  (Qnum (slope l), Z.pos (Qden (slope l)),
   Qfloor (inject_Z (Z.pos (Qden (slope l))) * rise l * inject_Z whole)).

Definition kept (c : condition) (more less : weights) : bool :=
  let '(top, bottom, limit) := c in (excess top bottom more less <=? limit)%Z.

(** [first_violation(...) is None], [zip] being strict. *)
Definition passes (conditions : list condition) (p q : weights) : bool :=
  (length p =? length q)%nat &&
  forallb (fun c => kept c p q) conditions && forallb (fun c => kept c q p) conditions.

(** [check_rows]: weights from 0, and one positive total. *)
Definition checked (whole : Z) (p : weights) : bool :=
  forallb (fun w => 0 <=? w)%Z p && (sum p =? whole)%Z && (0 <? whole)%Z.

Definition steep (l : line) : bool := Qle_bool 1 (slope l).

(** [promise_of]: a condition for each steep line. *)
Definition promise_of (whole : Z) (L : list line) : list condition :=
  map (condition_of whole) (filter steep L).

Definition probabilities (whole : Z) (p : weights) : row :=
  map (fun w => inject_Z w / inject_Z whole) p.

Lemma inject_Z_max a b : inject_Z (Z.max a b) == Qmax (inject_Z a) (inject_Z b).
Proof.
  destruct (Z.max_spec a b) as [[H ->]|[H ->]].
  - rewrite Q.max_r; [reflexivity|]. rewrite <- Zle_Qle. lia.
  - rewrite Q.max_l; [reflexivity|]. rewrite <- Zle_Qle. lia.
Qed.

Lemma inject_Z_minus a b : inject_Z (a - b) == inject_Z a - inject_Z b.
Proof. unfold Z.sub. rewrite inject_Z_plus, inject_Z_opp. reflexivity. Qed.

Lemma scaled_max c x : 0 <= c -> c * Qmax 0 x == Qmax 0 (c * x).
Proof.
  intros Hc. destruct (Qlt_le_dec x 0) as [H|H].
  - rewrite (Q.max_l 0 x), (Q.max_l 0 (c * x)) by nra. ring.
  - rewrite (Q.max_r 0 x), (Q.max_r 0 (c * x)) by nra. reflexivity.
Qed.

Lemma fraction_times_bottom a : a * inject_Z (Z.pos (Qden a)) == inject_Z (Qnum a).
Proof. destruct a as [n d]. unfold Qeq. simpl. rewrite Pos.mul_1_r. ring. Qed.

Lemma positive_inject (whole : Z) : (0 < whole)%Z -> 0 < inject_Z whole.
Proof. intros H. change 0 with (inject_Z 0). now rewrite <- Zlt_Qlt. Qed.

(** The integer sum is the hockey-stick sum in units of 1 / (bottom * total). *)
Lemma excess_is_hockey_stick whole a p q :
  (0 < whole)%Z ->
  inject_Z (excess (Qnum a) (Z.pos (Qden a)) p q)
  == inject_Z (Z.pos (Qden a)) * inject_Z whole
     * hockey_stick a (probabilities whole p) (probabilities whole q).
Proof.
  intros Hw. pose proof (positive_inject whole Hw).
  assert (Hd : 0 < inject_Z (Z.pos (Qden a))) by (apply positive_inject; lia).
  pose proof (fraction_times_bottom a) as E.
  revert q. induction p as [|x p IH]; intros [|y q]; simpl; try (change (inject_Z 0) with 0; ring).
  rewrite inject_Z_plus, IH, inject_Z_max, inject_Z_minus, !inject_Z_mult.
  change (inject_Z 0) with 0.
  rewrite Qmult_plus_distr_r, (scaled_max (_ * _)) by nra.
  apply Qplus_comp; [|reflexivity].
  assert (X : inject_Z (Z.pos (Qden a)) * inject_Z x - inject_Z (Qnum a) * inject_Z y
          == inject_Z (Z.pos (Qden a)) * inject_Z whole
             * (inject_Z x / inject_Z whole - a * (inject_Z y / inject_Z whole))).
  { rewrite <- E. field. lra. }
  rewrite X. reflexivity.
Qed.

Lemma below_floor (n : Z) (x : Q) : (n <= Qfloor x)%Z <-> inject_Z n <= x.
Proof.
  split; intros H.
  - rewrite Zle_Qle in H. pose proof (Qfloor_le x). lra.
  - rewrite <- (Qfloor_Z n). now apply Qfloor_resp_le.
Qed.

(** One condition is kept just where the hockey-stick sum is at most the rise. *)
Lemma kept_is_hockey_stick whole l p q :
  (0 < whole)%Z ->
  (kept (condition_of whole l) p q = true <->
   hockey_stick (slope l) (probabilities whole p) (probabilities whole q) <= rise l).
Proof.
  intros Hw. unfold kept, condition_of. rewrite Z.leb_le, below_floor.
  rewrite (excess_is_hockey_stick whole) by auto.
  pose proof (positive_inject whole Hw).
  assert (Hd : 0 < inject_Z (Z.pos (Qden (slope l)))) by (apply positive_inject; lia).
  set (h := hockey_stick _ _ _). set (d := inject_Z (Z.pos _)) in *. set (w := inject_Z whole) in *.
  assert (P : 0 < d * w) by nra.
  split; intros K.
  - apply Qmult_le_l with (z := d * w); [auto|]. lra.
  - apply Qmult_le_l with (z := d * w) in K; [lra|auto].
Qed.

Lemma probabilities_distribution whole p :
  checked whole p = true -> distribution (probabilities whole p).
Proof.
  unfold checked. rewrite !andb_true_iff, Z.eqb_eq, Z.ltb_lt. intros [[H1 H2] H3].
  pose proof (positive_inject whole H3). split.
  - unfold nonnegative, probabilities. rewrite Forall_forall. intros x Hx.
    apply in_map_iff in Hx. destruct Hx as [w [<- Hw]].
    rewrite forallb_forall in H1. specialize (H1 w Hw). rewrite Z.leb_le, Zle_Qle in H1.
    change (inject_Z 0) with 0 in H1. apply Qle_shift_div_l; [auto|]. lra.
  - assert (E : forall r, total (probabilities whole r) == inject_Z (sum r) / inject_Z whole).
    { induction r as [|x r IH]; simpl.
      - change (inject_Z 0) with 0. field. lra.
      - rewrite IH, inject_Z_plus. field. lra. }
    rewrite E, H2. field. lra.
Qed.

Lemma checked_positive whole p : checked whole p = true -> (0 < whole)%Z.
Proof. unfold checked. rewrite !andb_true_iff, Z.ltb_lt. tauto. Qed.

Lemma passes_is_hockey_sticks whole L p q :
  (0 < whole)%Z ->
  (passes (map (condition_of whole) L) p q = true <->
   length p = length q /\
   forall l, In l L ->
     hockey_stick (slope l) (probabilities whole p) (probabilities whole q) <= rise l /\
     hockey_stick (slope l) (probabilities whole q) (probabilities whole p) <= rise l).
Proof.
  intros Hw. unfold passes. rewrite !andb_true_iff, Nat.eqb_eq, !forallb_forall. split.
  - intros [[HN H1] H2]. split; [auto|]. intros l Hl.
    split; apply kept_is_hockey_stick; auto; [apply H1|apply H2]; now apply in_map.
  - intros [HN H]. repeat split; auto; intros c Hc; apply in_map_iff in Hc;
      destruct Hc as [l [<- Hl]]; apply kept_is_hockey_stick; auto; now apply H.
Qed.

(** What passes keeps every line for every set of answers, and what does not, breaks one. *)
Theorem checker_decides_every_set whole L p q :
  checked whole p = true -> checked whole q = true -> length p = length q ->
  (passes (map (condition_of whole) L) p q = true <->
   forall l, In l L -> forall A,
     mass A (probabilities whole p) <= value l (mass A (probabilities whole q)) /\
     mass A (probabilities whole q) <= value l (mass A (probabilities whole p))).
Proof.
  intros Hp Hq HN. pose proof (checked_positive whole p Hp) as Hw.
  assert (N : length (probabilities whole p) = length (probabilities whole q))
    by (unfold probabilities; rewrite !map_length; auto).
  rewrite passes_is_hockey_sticks by auto. split.
  - intros [_ H] l Hl A. destruct (H l Hl).
    split; apply hockey_stick_covers_all_sets; auto.
  - intros H. split; [auto|]. intros l Hl. split; apply hockey_stick_covers_all_sets; auto;
      intros A; now apply H.
Qed.

(** A polygon: the steep lines in both directions are closeness. *)
Theorem checker_decides_closeness whole L p q :
  mirrored L -> checked whole p = true -> checked whole q = true -> length p = length q ->
  (passes (promise_of whole L) p q = true <->
   close L (probabilities whole p) (probabilities whole q)).
Proof.
  intros HL Hp Hq HN. pose proof (checked_positive whole p Hp) as Hw.
  assert (N : length (probabilities whole p) = length (probabilities whole q))
    by (unfold probabilities; rewrite !map_length; auto).
  pose proof (probabilities_distribution whole p Hp).
  pose proof (probabilities_distribution whole q Hq).
  rewrite close_is_steep_hockey_sticks by auto.
  unfold promise_of. rewrite passes_is_hockey_sticks by auto.
  unfold steep. split.
  - intros [_ K] l Hl Hs. apply K. apply filter_In. now rewrite Qle_bool_iff.
  - intros K. split; [auto|]. intros l Hl. apply filter_In in Hl. rewrite Qle_bool_iff in Hl.
    now apply K.
Qed.

(** (epsilon, delta): with a ratio that is at most E the promise holds for E and every set. *)
Theorem checker_implies_the_promise whole ratio delta E p q :
  ratio <= E -> checked whole p = true -> checked whole q = true ->
  passes [condition_of whole (ratio, delta)] p q = true ->
  forall A,
    mass A (probabilities whole p) <= E * mass A (probabilities whole q) + delta /\
    mass A (probabilities whole q) <= E * mass A (probabilities whole p) + delta.
Proof.
  intros HE Hp Hq H A.
  assert (HN : length p = length q)
    by (unfold passes in H; rewrite !andb_true_iff, Nat.eqb_eq in H; tauto).
  change [condition_of whole (ratio, delta)] with (map (condition_of whole) [(ratio, delta)]) in H.
  rewrite checker_decides_every_set in H by auto.
  destruct (H (ratio, delta) (or_introl eq_refl) A) as [H1 H2].
  unfold value, slope, rise in *. cbn [fst snd] in *.
  pose proof (mass_in_unit A _ (probabilities_distribution whole p Hp)).
  pose proof (mass_in_unit A _ (probabilities_distribution whole q Hq)).
  split; nra.
Qed.

(** Which answer is which does not matter: [prove_ladders] compares each shape once. *)
Fixpoint excess_of_pairs (top bottom : Z) (pairs : list (Z * Z)) : Z :=
  match pairs with
  | [] => 0%Z
  | (a, b) :: rest => (Z.max 0 (bottom * a - top * b) + excess_of_pairs top bottom rest)%Z
  end.

Lemma excess_by_pairs top bottom p q : excess top bottom p q = excess_of_pairs top bottom (combine p q).
Proof. revert q. induction p as [|a p IH]; intros [|b q]; simpl; auto. now rewrite IH. Qed.

Lemma excess_of_pairs_permutation top bottom l l' :
  Permutation l l' -> excess_of_pairs top bottom l = excess_of_pairs top bottom l'.
Proof. induction 1 as [|[a b] l l' _ IH|[a b] [c d] l|]; simpl; lia. Qed.

Lemma combine_swapped {A B} (p : list A) (q : list B) :
  combine q p = map (fun '(a, b) => (b, a)) (combine p q).
Proof. revert q. induction p as [|a p IH]; intros [|b q]; simpl; auto. now rewrite IH. Qed.

Lemma passes_by_kept conditions p q p' q' :
  length p = length q -> length p' = length q' ->
  (forall c, kept c p q = kept c p' q') -> (forall c, kept c q p = kept c q' p') ->
  passes conditions p q = passes conditions p' q'.
Proof.
  intros N N' K1 K2. unfold passes.
  rewrite (proj2 (Nat.eqb_eq _ _) N), (proj2 (Nat.eqb_eq _ _) N').
  assert (F : forall f g : condition -> bool, (forall c, f c = g c) ->
    forallb f conditions = forallb g conditions)
    by (intros f g H; induction conditions; simpl; auto; now rewrite H, IHconditions).
  now rewrite (F _ _ K1), (F _ _ K2).
Qed.

Theorem passing_does_not_depend_on_the_order conditions p q p' q' :
  length p = length q -> length p' = length q' ->
  Permutation (combine p q) (combine p' q') ->
  passes conditions p q = passes conditions p' q'.
Proof.
  intros N N' H. apply passes_by_kept; auto; intros [[top bottom] limit]; unfold kept;
    rewrite !excess_by_pairs.
  - now rewrite (excess_of_pairs_permutation _ _ _ _ H).
  - rewrite (combine_swapped p q), (combine_swapped p' q').
    now rewrite (excess_of_pairs_permutation _ _ _ _ (Permutation_map _ H)).
Qed.

(** Answers with the same two weights count together as one: [prove_alike]. *)
Theorem equal_answers_count_together top bottom n a b p q :
  excess top bottom (repeat a n ++ p) (repeat b n ++ q)
  = excess top bottom (Z.of_nat n * a :: p)%Z (Z.of_nat n * b :: q)%Z.
Proof.
  simpl. induction n as [|n IH]; [simpl; lia|].
  cbn [repeat app excess]. rewrite IH. nia.
Qed.
