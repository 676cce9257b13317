(** What the proofs of integer mechanisms compare is enough for every two neighbors. *)

From Coq Require Import ZArith QArith Lqa Lia List Bool Arith Permutation.
From Rainbow Require Import Rows Curves Lines Graphs Checker.
Import ListNotations.
Open Scope Q_scope.

Definition ladder := list weights.

(** The last row is used for all that is deeper. *)
Definition at_depth (rows : ladder) (t : nat) : weights := nth (Nat.min t (length rows - 1)) rows [].

(** [itertools.pairwise], each pair compared. *)
Fixpoint pairwise_pass (conditions : list condition) (rows : ladder) : bool :=
  match rows with
  | one :: ((other :: _) as rest) => passes conditions one other && pairwise_pass conditions rest
  | _ => true
  end.

Lemma pairwise_nth conditions rows i :
  pairwise_pass conditions rows = true -> (S i < length rows)%nat ->
  passes conditions (nth i rows []) (nth (S i) rows []) = true.
Proof.
  revert i. induction rows as [|a rows IH]; intros i H Hi; simpl in Hi; [lia|].
  destruct rows as [|b rows]; simpl in Hi; [lia|].
  cbn [pairwise_pass] in H. apply andb_true_iff in H. destruct H as [H1 H2].
  destruct i as [|i]; [exact H1|]. apply (IH i H2). simpl. lia.
Qed.

Lemma passing_is_close L whole p q :
  mirrored L -> checked whole p = true -> checked whole q = true ->
  passes (promise_of whole L) p q = true ->
  close L (probabilities whole p) (probabilities whole q).
Proof.
  intros HL Hp Hq H. apply checker_decides_closeness; auto.
  unfold passes in H. rewrite !andb_true_iff, Nat.eqb_eq in H. tauto.
Qed.

Lemma at_depth_checked whole rows t :
  rows <> [] -> forallb (checked whole) rows = true -> checked whole (at_depth rows t) = true.
Proof.
  intros N H. rewrite forallb_forall in H. apply H. apply nth_In.
  destruct rows; [congruence|simpl; lia].
Qed.

(** A row and the next deeper one are close at every depth, the last row being close to itself. *)
Lemma ladder_steps L whole rows t :
  mirrored L -> rows <> [] -> forallb (checked whole) rows = true ->
  pairwise_pass (promise_of whole L) rows = true ->
  close L (probabilities whole (at_depth rows t)) (probabilities whole (at_depth rows (S t))).
Proof.
  intros HL N HC HP. pose proof (at_depth_checked whole rows t N HC) as C1.
  pose proof (at_depth_checked whole rows (S t) N HC) as C2.
  destruct (lt_dec (S t) (length rows)) as [Ht|Ht].
  - apply passing_is_close; auto. unfold at_depth.
    rewrite !Nat.min_l by lia. now apply pairwise_nth.
  - assert (E : at_depth rows (S t) = at_depth rows t) by (unfold at_depth; f_equal; lia).
    rewrite E. apply close_reflexive; [now apply mirrored_is_a_curve|].
    now apply probabilities_distribution.
Qed.

Definition has_rows {A} (rows : list A) : bool := match rows with [] => false | _ => true end.

(** [prove_ladders]: the rows of each region by depth, and the first rows of listed pairs. *)
Definition prove_ladders {A : Type} (whole : Z) (conditions : list condition)
  (labels : list A) (rows : A -> ladder) (pairs : list (A * A)) : bool :=
  forallb (fun a => forallb (checked whole) (rows a) && pairwise_pass conditions (rows a)) labels &&
  forallb (fun '(a, b) => has_rows (rows a) && has_rows (rows b) &&
                          passes conditions (at_depth (rows a) 0) (at_depth (rows b) 0)) pairs.

(** The row of a dataset: by its depth, or [certain] where no boundary can be reached. *)
Definition integer_row {A : Type} (rows : A -> ladder) (certain : A -> weights) (a : A)
  (t : option nat) : weights :=
  match t with
  | Some u => if has_rows (rows a) then at_depth (rows a) u else certain a
  | None => certain a
  end.

(** What it proves: neighbors in the whole graph have close rows, if the pairs listed are all. *)
Theorem proved_ladders_keep_the_guarantee (W : world) L whole labels rows pairs certain depth :
  mirrored L -> finds_depths depth ->
  (forall a, In a labels) ->
  (forall a b, touching W a b -> In (a, b) pairs \/ In (b, a) pairs) ->
  (forall a, checked whole (certain a) = true) ->
  prove_ladders whole (promise_of whole L) labels rows pairs = true ->
  keeps neighbors L
    (fun d : dataset W => probabilities whole (integer_row rows certain (region d) (depth d))).
Proof.
  intros HL HD Hall Hpairs Hcertain H. unfold prove_ladders in H.
  apply andb_true_iff in H. destruct H as [H1 H2]. rewrite forallb_forall in H1, H2.
  assert (HC := mirrored_is_a_curve L HL).
  assert (R : forall a, rows a <> [] -> has_rows (rows a) = true)
    by (intros a; destruct (rows a); simpl; congruence).
  assert (Checked : forall a t, checked whole (integer_row rows certain a (Some t)) = true).
  { intros a t. simpl. destruct (rows a) as [|r rest] eqn:E; simpl; auto.
    apply at_depth_checked; [congruence|]. specialize (H1 a (Hall a)).
    rewrite andb_true_iff, E in H1. tauto. }
  set (f := fun a t => probabilities whole (integer_row rows certain a (Some t))).
  set (g := fun a => probabilities whole (certain a)).
  assert (K : keeps neighbors L (fun d => by_depth f g (region d, depth d))).
  { apply rows_by_depth_keep; auto; unfold f, g.
    - intros a t. now apply probabilities_distribution.
    - intros a. now apply probabilities_distribution.
    - intros a t. specialize (H1 a (Hall a)). apply andb_true_iff in H1. destruct H1 as [G1 G2].
      simpl. destruct (rows a) as [|r rest] eqn:E; cbn [has_rows].
      + apply close_reflexive; auto. now apply probabilities_distribution.
      + apply ladder_steps; auto. congruence.
    - assert (First : forall a b, In (a, b) pairs ->
        close L (probabilities whole (integer_row rows certain a (Some 0%nat)))
                (probabilities whole (integer_row rows certain b (Some 0%nat)))).
      { intros a b Hab. specialize (H2 (a, b) Hab). simpl in H2.
        rewrite !andb_true_iff in H2. destruct H2 as [[G1 G2] G3].
        apply passing_is_close; auto. simpl. now rewrite G1, G2. }
      intros a b T. destruct (Hpairs a b T) as [P|P]; [now apply First|].
      apply close_symmetric. now apply First. }
  intros d e N. specialize (K d e N). unfold by_depth, f, g in K. simpl in K.
  destruct (depth d), (depth e); exact K.
Qed.

(** [Line]: yes or no by one count, and [prove_line]. *)
Definition line_weight (before : Z) (ws : list Z) (start count : nat) : Z :=
  if (count <? start)%nat then before
  else nth (Nat.min (count - start) (length ws - 1)) ws 0%Z.

Definition yes_no (whole w : Z) : weights := [w; (whole - w)%Z].

Definition prove_line (whole : Z) (conditions : list condition) (before : Z) (ws : list Z) : bool :=
  pairwise_pass conditions (map (yes_no whole) (before :: ws)).

Theorem proved_line_keeps_the_guarantee L whole before ws start :
  mirrored L -> (0 < whole)%Z -> ws <> [] ->
  Forall (fun w => 0 <= w <= whole)%Z (before :: ws) ->
  prove_line whole (promise_of whole L) before ws = true ->
  keeps one_apart L
    (fun count => probabilities whole (yes_no whole (line_weight before ws start count))).
Proof.
  intros HL Hw HN HF HP.
  set (rows := map (yes_no whole) (before :: ws)).
  assert (C : forallb (checked whole) rows = true).
  { apply forallb_forall. intros r Hr. unfold rows in Hr. apply in_map_iff in Hr.
    destruct Hr as [w [<- Hin]]. rewrite Forall_forall in HF. specialize (HF w Hin).
    unfold checked, yes_no. simpl. rewrite !andb_true_iff, !Z.leb_le, Z.eqb_eq, Z.ltb_lt. lia. }
  assert (NE : rows <> []) by (unfold rows; simpl; congruence).
  assert (At : forall count, yes_no whole (line_weight before ws start count)
                             = at_depth rows (S count - start)).
  { intros count. unfold at_depth, rows, line_weight. rewrite map_length.
    destruct (count <? start)%nat eqn:B.
    - apply Nat.ltb_lt in B. replace (S count - start)%nat with 0%nat by lia. reflexivity.
    - apply Nat.ltb_ge in B. destruct ws as [|w0 ws']; [congruence|].
      set (ws := w0 :: ws') in *.
      replace (Nat.min (S count - start) (length (before :: ws) - 1))
        with (S (Nat.min (count - start) (length ws - 1))) by (unfold ws; simpl length; lia).
      change (nth (S ?i) (map ?f (?x :: ?l)) ?d) with (nth i (map f l) d).
      cbn [map nth].
      rewrite nth_indep with (d' := yes_no whole 0)
        by (rewrite map_length; unfold ws; simpl length; lia).
      now rewrite map_nth. }
  assert (One : forall t, close L
    (probabilities whole (yes_no whole (line_weight before ws start t)))
    (probabilities whole (yes_no whole (line_weight before ws start (S t))))).
  { intros t. rewrite !At. destruct (le_lt_dec start (S t)) as [Hs|Hs].
    - replace (S (S t) - start)%nat with (S (S t - start)) by lia. now apply ladder_steps.
    - replace (S (S t) - start)%nat with 0%nat by lia. replace (S t - start)%nat with 0%nat by lia.
      apply close_reflexive; [now apply mirrored_is_a_curve|].
      apply probabilities_distribution, at_depth_checked; auto. }
  intros s t [->| ->]; [apply One|apply close_symmetric, One].
Qed.

(** [prove_alike]: the true answer v has a, every other b. *)
Definition alike_row (n v : nat) (x : Z * Z) : weights :=
  map (fun w => if (w =? v)%nat then fst x else snd x) (seq 0 n).

Definition together (n : nat) (x : Z * Z) : weights := [fst x; (Z.of_nat (n - 1) * snd x)%Z].

Definition prove_alike (whole : Z) (conditions : list condition) (n : nat)
  (rows : list (Z * Z)) : bool :=
  match rows with
  | [] => false
  | (a, b) :: _ =>
      let rest := (Z.of_nat (n - 2) * b)%Z in
      pairwise_pass conditions (map (together n) rows) &&
      passes conditions [a; b; rest] [b; a; rest]
  end.

Lemma combine_map {A B C} (f : A -> B) (g : A -> C) l :
  combine (map f l) (map g l) = map (fun x => (f x, g x)) l.
Proof. induction l; simpl; auto. now rewrite IHl. Qed.

Lemma others_are_alike {A} (x y : A) v l :
  ~ In v l -> map (fun w => if (w =? v)%nat then x else y) l = repeat y (length l).
Proof.
  induction l as [|w l IH]; simpl; [auto|]. intros H. rewrite IH by tauto.
  destruct (w =? v)%nat eqn:E; [|auto]. apply Nat.eqb_eq in E. tauto.
Qed.

Lemma one_apart_from_alike {A} (x y : A) v l :
  NoDup l -> In v l ->
  Permutation (map (fun w => if (w =? v)%nat then x else y) l) (x :: repeat y (length l - 1)).
Proof.
  induction l as [|w l IH]; simpl; [tauto|]. intros ND [->|H]; inversion ND; subst.
  - rewrite Nat.eqb_refl, others_are_alike by auto. now rewrite Nat.sub_0_r.
  - destruct (w =? v)%nat eqn:E; [apply Nat.eqb_eq in E; subst; tauto|].
    rewrite IH by auto. destruct l as [|u l]; [simpl in H; tauto|].
    simpl length. rewrite Nat.sub_0_r. replace (S (length l) - 1)%nat with (length l) by lia.
    simpl. apply perm_swap.
Qed.

Lemma two_apart_from_alike {A} (x z y : A) u v l :
  NoDup l -> In v l -> In u l -> u <> v ->
  Permutation (map (fun w => if (w =? v)%nat then x else if (w =? u)%nat then z else y) l)
              (x :: z :: repeat y (length l - 2)).
Proof.
  induction l as [|w l IH]; simpl; [tauto|]. intros ND Hv Hu Huv. inversion ND; subst.
  destruct (w =? v)%nat eqn:E.
  - apply Nat.eqb_eq in E. subst. destruct Hu as [->|Hu]; [congruence|].
    constructor.
    transitivity (map (fun w => if (w =? u)%nat then z else y) l).
    + apply Permutation_refl'. apply map_ext_in. intros a Ha.
      destruct (a =? v)%nat eqn:F; [|auto]. apply Nat.eqb_eq in F. subst. tauto.
    + now apply one_apart_from_alike.
  - apply Nat.eqb_neq in E. destruct Hv as [Hv|Hv]; [congruence|].
    destruct (w =? u)%nat eqn:F.
    + apply Nat.eqb_eq in F. subst.
      transitivity (z :: x :: repeat y (length l - 1)); [|apply perm_swap].
      constructor.
      transitivity (map (fun w => if (w =? v)%nat then x else y) l);
        [|now apply one_apart_from_alike].
      apply Permutation_refl'. apply map_ext_in. intros a Ha.
      destruct (a =? v)%nat; [auto|]. destruct (a =? u)%nat eqn:F; [|auto].
      apply Nat.eqb_eq in F. subst. tauto.
    + apply Nat.eqb_neq in F. destruct Hu as [Hu|Hu]; [congruence|].
      rewrite IH by auto.
      assert (2 <= length l)%nat.
      { destruct l as [|l1 [|l2 l']]; simpl in *; try tauto; [|lia].
        destruct Hv as [|[]], Hu as [|[]]; congruence. }
      replace (length l - 1)%nat with (S (length l - 2)) by lia. simpl.
      eapply perm_trans; [apply perm_swap|]. constructor. apply perm_swap.
Qed.

Lemma excess_of_repeated top bottom a b n :
  excess_of_pairs top bottom (repeat (a, b) n)
  = Z.max 0 (bottom * (Z.of_nat n * a) - top * (Z.of_nat n * b)).
Proof. induction n as [|n IH]; [simpl; lia|]. cbn [repeat excess_of_pairs]. rewrite IH. nia. Qed.

Lemma alike_row_length n v x : length (alike_row n v x) = n.
Proof. unfold alike_row. now rewrite map_length, seq_length. Qed.

Lemma kept_by_pairs c p q :
  kept c p q = let '(top, bottom, limit) := c in
               (excess_of_pairs top bottom (combine p q) <=? limit)%Z.
Proof. destruct c as [[top bottom] limit]. unfold kept. now rewrite excess_by_pairs. Qed.

(** Two rows of one region. *)
Lemma alike_steps conditions n v x y :
  (v < n)%nat ->
  passes conditions (together n x) (together n y)
  = passes conditions (alike_row n v x) (alike_row n v y).
Proof.
  intros Hv.
  assert (K : forall x y c, kept c (together n x) (together n y)
                            = kept c (alike_row n v x) (alike_row n v y)).
  { clear x y. intros x y c. rewrite !kept_by_pairs. destruct c as [[top bottom] limit].
    unfold alike_row at 1 2. rewrite combine_map.
    assert (P : Permutation
      (map (fun w => (if (w =? v)%nat then fst x else snd x,
                      if (w =? v)%nat then fst y else snd y)) (seq 0 n))
      ((fst x, fst y) :: repeat (snd x, snd y) (n - 1))).
    { rewrite <- (seq_length n 0) at 2. rewrite <- one_apart_from_alike with (v := v);
        [|apply seq_NoDup|apply in_seq; lia].
      apply Permutation_refl'. apply map_ext. intros w. now destruct (w =? v)%nat. }
    rewrite (excess_of_pairs_permutation _ _ _ _ P).
    unfold together. simpl. rewrite excess_of_repeated. f_equal. lia. }
  apply passes_by_kept; auto. now rewrite !alike_row_length.
Qed.

(** Two first rows of different regions. *)
Lemma alike_touching conditions n u v a b :
  (u < n)%nat -> (v < n)%nat -> u <> v ->
  passes conditions [a; b; (Z.of_nat (n - 2) * b)%Z] [b; a; (Z.of_nat (n - 2) * b)%Z]
  = passes conditions (alike_row n u (a, b)) (alike_row n v (a, b)).
Proof.
  intros Hu Hv Huv.
  assert (P : forall u v, (u < n)%nat -> (v < n)%nat -> u <> v ->
    Permutation (combine (alike_row n u (a, b)) (alike_row n v (a, b)))
                ((a, b) :: (b, a) :: repeat (b, b) (n - 2))).
  { clear u v Hu Hv Huv. intros u v Hu Hv Huv. unfold alike_row. rewrite combine_map. simpl.
    rewrite <- (seq_length n 0) at 2.
    rewrite <- two_apart_from_alike with (v := u) (u := v) (l := seq 0 n);
      [|apply seq_NoDup|apply in_seq; lia|apply in_seq; lia|auto].
    apply Permutation_refl'. apply map_ext. intros w.
    destruct (w =? u)%nat eqn:E1, (w =? v)%nat eqn:E2; auto.
    apply Nat.eqb_eq in E1, E2. congruence. }
  set (r := (Z.of_nat (n - 2) * b)%Z).
  assert (K1 : forall c, kept c [a; b; r] [b; a; r]
                         = kept c (alike_row n u (a, b)) (alike_row n v (a, b))).
  { intros c. rewrite !kept_by_pairs. destruct c as [[top bottom] limit].
    rewrite (excess_of_pairs_permutation _ _ _ _ (P u v Hu Hv Huv)).
    unfold r. simpl. rewrite excess_of_repeated. f_equal. lia. }
  assert (K2 : forall c, kept c [b; a; r] [a; b; r]
                         = kept c (alike_row n v (a, b)) (alike_row n u (a, b))).
  { intros c. rewrite !kept_by_pairs. destruct c as [[top bottom] limit].
    rewrite (excess_of_pairs_permutation _ _ _ _ (P v u Hv Hu (not_eq_sym Huv))).
    unfold r. simpl. rewrite excess_of_repeated. f_equal. lia. }
  apply passes_by_kept; auto. now rewrite !alike_row_length.
Qed.

(** The few pairs that [prove_alike] compares are all pairs of [prove_ladders], written in full. *)
Theorem proving_alike_is_proving_all whole conditions n rows :
  (0 < n)%nat -> prove_alike whole conditions n rows = true ->
  (forall v, (v < n)%nat -> pairwise_pass conditions (map (alike_row n v) rows) = true) /\
  (forall u v, (u < n)%nat -> (v < n)%nat -> u <> v ->
     passes conditions (at_depth (map (alike_row n u) rows) 0)
                       (at_depth (map (alike_row n v) rows) 0) = true).
Proof.
  intros Hn H. destruct rows as [|[a b] rest]; [discriminate|].
  cbn [prove_alike] in H. apply andb_true_iff in H. destruct H as [H1 H2]. split.
  - intros v Hv. clear H2. revert H1. generalize ((a, b) :: rest). clear a b rest.
    induction l as [|x l IH]; [auto|]. destruct l as [|y l]; [auto|].
    cbn [map pairwise_pass] in *. rewrite !andb_true_iff. intros [G1 G2].
    split; [now rewrite <- alike_steps|]. now apply IH.
  - intros u v Hu Hv Huv. unfold at_depth. cbn [map Nat.min nth].
    now rewrite <- (alike_touching conditions n u v a b).
Qed.
