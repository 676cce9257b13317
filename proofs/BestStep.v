(** Theorem 1: the row with the prefix sums phi(s) is close, and dominates every close row. *)

From Coq Require Import QArith Qminmax Lqa Lia List Bool.
From Rainbow Require Import Rows Curves.
Import ListNotations.
Open Scope Q_scope.

(** The rest of the next row, where the prefix sums so far are [s] and [s'] in the old and new. *)
Fixpoint step_from (f : Q -> Q) (s s' : Q) (p : row) : row :=
  match p with
  | [] => []
  | x :: rest => (f (s + x) - s') :: step_from f (s + x) (f (s + x)) rest
  end.

(** Prefix sums f(s_1), f(s_2), ... *)
Definition step (f : Q -> Q) (p : row) : row := step_from f 0 0 p.

Definition best (L : list line) (p : row) : row := step (phi L) p.

Lemma step_length f p : length (step f p) = length p.
Proof.
  unfold step. generalize 0 at 1. generalize 0.
  induction p; intros; simpl; auto.
Qed.

Lemma step_from_prefix L p : forall s s' k, (1 <= k <= length p)%nat ->
  s' + prefix k (step_from (phi L) s s' p) == phi L (s + prefix k p).
Proof.
  unfold prefix. induction p as [|x p IH]; intros s s' [|k] Hk; simpl in *; try lia.
  destruct k as [|k].
  - simpl. assert (phi L (s + (x + 0)) == phi L (s + x)) by (apply phi_compat; lra). lra.
  - specialize (IH (s + x) (phi L (s + x)) (S k)).
    assert (phi L (s + (x + total (firstn (S k) p))) == phi L (s + x + total (firstn (S k) p)))
      by (apply phi_compat; lra).
    assert ((1 <= S k <= length p)%nat) by lia. specialize (IH H0). lra.
Qed.

(** What the operator is: the prefix sums of the next row are phi of the old ones. *)
Theorem best_prefix L p k :
  (1 <= k <= length p)%nat -> prefix k (best L p) == phi L (prefix k p).
Proof.
  intros H. pose proof (step_from_prefix L p 0 0 k H).
  assert (phi L (0 + prefix k p) == phi L (prefix k p)) by (apply phi_compat; lra).
  unfold best, step. lra.
Qed.

Lemma step_from_nonnegative L p : curve L -> nonnegative p ->
  forall s s', s' <= phi L s -> nonnegative (step_from (phi L) s s' p).
Proof.
  intros HL. induction p as [|x p IH]; intros Hp s s' H; simpl; [constructor|].
  apply nonnegative_cons in Hp. destruct Hp as [Hx Hp]. apply nonnegative_cons.
  pose proof (phi_monotone L s (s + x) (curve_slopes L HL)). split; [lra|].
  apply IH; [auto|lra].
Qed.

Theorem best_is_a_distribution L p : curve L -> distribution p -> distribution (best L p).
Proof.
  intros HL [Hp Ht]. split.
  - apply step_from_nonnegative; auto. now apply curve_at_zero.
  - destruct p as [|x p]; [simpl in Ht; lra|].
    rewrite <- (prefix_beyond (length (x :: p)));
      [|unfold best; rewrite step_length; auto].
    rewrite best_prefix by (simpl; lia). rewrite prefix_beyond by auto.
    rewrite Ht. now apply curve_at_one.
Qed.

(** (i) No row that is close has a larger prefix sum anywhere. *)
Theorem best_is_greatest L p q :
  distribution p -> close L p q -> dominates (best L p) q.
Proof.
  intros Hp [HN HC] k. destruct k as [|k].
  - rewrite !prefix_zero. lra.
  - destruct (le_lt_dec (S k) (length p)) as [Hk|Hk].
    + rewrite best_prefix by lia. destruct (HC (first (S k))) as [_ H].
      rewrite !mass_first in H. auto.
    + destruct p as [|x p]; [destruct Hp as [_ Ht]; simpl in Ht; lra|].
      rewrite (prefix_beyond (S k) q) by lia.
      rewrite (prefix_beyond (S k) (best _ _)) by (unfold best; rewrite step_length; lia).
      rewrite <- (prefix_beyond (length q) q) by lia.
      rewrite <- (prefix_beyond (length (x :: p)) (best _ _))
        by (unfold best; rewrite step_length; lia).
      rewrite best_prefix by (simpl; lia).
      destruct (HC (first (length q))) as [_ H]. rewrite !mass_first in H. rewrite <- HN in *. auto.
Qed.

(** Once phi(s) - slope * s has fallen it does not rise again. *)
Lemma fallen L a s t u :
  s <= t -> t <= u -> phi L t - a * t < phi L s - a * s -> phi L u - a * u <= phi L t - a * t.
Proof.
  intros Hst Htu H.
  destruct (Qlt_le_dec s t) as [Hlt|Hle].
  - pose proof (phi_concave L s t u Hst Htu).
    assert ((t - s) * (phi L u - a * u) <= (t - s) * (phi L t - a * t)) by nra.
    apply Qmult_le_l with (z := t - s); lra.
  - assert (E : s == t) by lra. pose proof (phi_compat L s t E). nra.
Qed.

(** So after a fall no set gains anything ... *)
Lemma gain_after_a_fall L a p : nonnegative p -> forall A s0 s,
  s0 <= s -> phi L s - a * s < phi L s0 - a * s0 ->
  mass A (step_from (phi L) s (phi L s) p) - a * mass A p <= 0.
Proof.
  induction p as [|x p IH]; intros Hp A s0 s Hs H; simpl; [lra|].
  apply nonnegative_cons in Hp. destruct Hp as [Hx Hp].
  pose proof (fallen L a s0 s (s + x) Hs) as HF.
  assert (Hf : phi L (s + x) - a * (s + x) <= phi L s - a * s) by (apply HF; lra).
  specialize (IH Hp (fun i => A (S i)) s0 (s + x)).
  assert (mass (fun i => A (S i)) (step_from (phi L) (s + x) (phi L (s + x)) p)
          - a * mass (fun i => A (S i)) p <= 0) by (apply IH; lra).
  destruct (A 0%nat); lra.
Qed.

(** ... and before it no more than what is left up to the line. *)
Lemma gain L l p : In l L -> nonnegative p -> forall A s,
  mass A (step_from (phi L) s (phi L s) p) - slope l * mass A p
  <= rise l - (phi L s - slope l * s).
Proof.
  intros Hl. induction p as [|x p IH]; intros Hp A s; simpl.
  - pose proof (phi_le_line L s l Hl). unfold value in *. lra.
  - apply nonnegative_cons in Hp. destruct Hp as [Hx Hp].
    pose proof (phi_le_line L s l Hl) as Hline. unfold value in Hline.
    destruct (Qlt_le_dec (phi L (s + x) - slope l * (s + x)) (phi L s - slope l * s)) as [H|H].
    + pose proof (gain_after_a_fall L (slope l) p Hp (fun i => A (S i)) s (s + x)) as HG.
      assert (mass (fun i => A (S i)) (step_from (phi L) (s + x) (phi L (s + x)) p)
              - slope l * mass (fun i => A (S i)) p <= 0) by (apply HG; lra).
      destruct (A 0%nat); lra.
    + specialize (IH Hp (fun i => A (S i)) (s + x)). destruct (A 0%nat); lra.
Qed.

Lemma best_below L l p A :
  0 <= phi L 0 -> 0 <= rise l -> In l L -> nonnegative p ->
  mass A (best L p) <= value l (mass A p).
Proof.
  intros H0 HR Hl Hp. destruct p as [|x p]; unfold best, step; simpl.
  - unfold value. lra.
  - apply nonnegative_cons in Hp. destruct Hp as [Hx Hp].
    pose proof (gain L l p Hl Hp (fun i => A (S i)) (0 + x)) as HG.
    unfold value. destruct (A 0%nat).
    + lra.
    + pose proof (gain L l (x :: p) Hl) as HG0.
      assert (Hxp : nonnegative (x :: p)) by (apply nonnegative_cons; auto).
      specialize (HG0 Hxp (fun i => match i with O => false | S j => A (S j) end) 0).
      simpl in HG0.
      assert (rise l - (phi L 0 - slope l * 0) <= rise l) by lra. lra.
Qed.

Lemma best_below_lines L l p A :
  curve L -> In l L -> nonnegative p -> mass A (best L p) <= value l (mass A p).
Proof.
  intros HL Hl Hp. apply best_below; auto; [now apply curve_at_zero|].
  destruct HL as [H _]. rewrite Forall_forall in H. now destruct (H l Hl).
Qed.

(** (ii) It is close itself. *)
Theorem best_is_close L p : curve L -> distribution p -> close L p (best L p).
Proof.
  intros HL Hp. apply close_symmetric. apply one_way_is_both; auto.
  - now apply best_is_a_distribution.
  - unfold best. apply step_length.
  - intros A. apply phi_greatest.
    + apply (mass_in_unit A). now apply best_is_a_distribution.
    + intros l Hl. apply best_below_lines; auto. apply Hp.
Qed.

(** Both together: of all close distributions it is the greatest. *)
Theorem best_is_the_greatest_close_row L p :
  curve L -> distribution p ->
  (distribution (best L p) /\ close L p (best L p)) /\
  forall q, close L p q -> dominates (best L p) q.
Proof.
  intros HL Hp. repeat split.
  - now apply best_is_a_distribution.
  - now apply best_is_a_distribution.
  - apply best_is_close; auto.
  - apply best_is_close; auto.
  - apply best_is_close; auto.
  - intros q. now apply best_is_greatest.
Qed.

(** The operator that the paper prints (Theorem 4 there). *)
Definition printed_step (E delta s : Q) : Q := Qmin 1 (Qmin (E * s) (1 - (1 - s) / E) + delta).

(** p = (1/2, 1/2), E = 2, delta = 1/10 gives (17/20, 3/20), and the second answer is too likely. *)
Theorem printed_is_not_close :
  let p := [1 # 2; 1 # 2] in
  let q := step (printed_step 2 (1 # 10)) p in
  distribution p /\ curve (dp 2 (1 # 10)) /\ distribution q /\
  Forall2 Qeq q [17 # 20; 3 # 20] /\
  2 * mass (fun i => (i =? 1)%nat) q + (1 # 10) < mass (fun i => (i =? 1)%nat) p /\
  ~ close (dp 2 (1 # 10)) p q.
Proof.
  cbv zeta.
  assert (V : 2 * mass (fun i => (i =? 1)%nat) (step (printed_step 2 (1 # 10)) [1 # 2; 1 # 2])
              + (1 # 10) < mass (fun i => (i =? 1)%nat) [1 # 2; 1 # 2]) by reflexivity.
  split; [|split; [|split; [|split; [|split; [exact V|]]]]].
  - split; [repeat constructor; discriminate|reflexivity].
  - apply dp_is_a_curve; lra.
  - split; [repeat constructor; discriminate|reflexivity].
  - repeat constructor.
  - intros [_ H]. destruct (H (fun i => (i =? 1)%nat)) as [H1 _].
    pose proof (phi_le_line (dp 2 (1 # 10))
      (mass (fun i => (i =? 1)%nat) (step (printed_step 2 (1 # 10)) [1 # 2; 1 # 2]))
      (2, 1 # 10) (or_introl eq_refl)) as H2.
    unfold value, slope, rise in H2. cbn [fst snd] in H2. lra.
Qed.

(** As lines it is a curve in all but symmetry ... *)
Definition printed_lines (E delta : Q) : list line := [(E, delta); (/ E, 1 - / E + delta)].

Lemma printed_as_lines E delta s :
  1 <= E -> printed_step E delta s == phi (printed_lines E delta) s.
Proof.
  intros HE. unfold printed_step, printed_lines. cbn [phi]. unfold value, slope, rise. cbn [fst snd].
  assert (X : / E * s + (1 - / E + delta) == 1 - (1 - s) / E + delta) by (field; lra).
  rewrite X. set (a := E * s). set (b := 1 - (1 - s) / E). clearbody a b.
  apply Qle_antisym; repeat apply Q.min_glb;
    pose proof (Q.le_min_l 1 (Qmin a b + delta)); pose proof (Q.le_min_r 1 (Qmin a b + delta));
    pose proof (Q.le_min_l a b); pose proof (Q.le_min_r a b);
    pose proof (Q.le_min_l (a + delta) (Qmin (b + delta) 1));
    pose proof (Q.le_min_r (a + delta) (Qmin (b + delta) 1));
    pose proof (Q.le_min_l (b + delta) 1); pose proof (Q.le_min_r (b + delta) 1); try lra.
  assert (Qmin (a + delta) (Qmin (b + delta) 1) - delta <= Qmin a b)
    by (apply Q.min_glb; lra). lra.
Qed.

Lemma step_from_compat f g p : (forall s, f s == g s) -> forall s s' t',
  s' == t' -> Forall2 Qeq (step_from f s s' p) (step_from g s t' p).
Proof.
  intros H. induction p as [|x p IH]; intros s s' t' E; simpl; constructor.
  - rewrite H, E. reflexivity.
  - apply IH, H.
Qed.

Lemma mass_compat p q : Forall2 Qeq p q -> forall A, mass A p == mass A q.
Proof.
  induction 1 as [|x y p q E _ IH]; intros A; simpl; [lra|]. rewrite IH.
  destruct (A 0%nat); lra.
Qed.

(** ... and so it keeps (epsilon, E * delta), which is what the paper's proof gives. *)
Theorem printed_keeps_more_delta E delta p A :
  1 <= E -> 0 <= delta -> distribution p ->
  let q := step (printed_step E delta) p in
  mass A q <= E * mass A p + delta /\ mass A p <= E * mass A q + E * delta.
Proof.
  intros HE Hd [Hp Ht] q. set (L := printed_lines E delta).
  assert (Hi : 0 < / E) by (apply Qinv_lt_0_compat; lra).
  assert (Hi1 : / E <= 1).
  { apply Qmult_le_l with (z := E); [lra|]. rewrite Qmult_inv_r by lra. lra. }
  assert (Same : forall B, mass B q == mass B (best L p)).
  { apply mass_compat. apply step_from_compat; [|reflexivity].
    intros s. now apply printed_as_lines. }
  assert (H0 : 0 <= phi L 0).
  { apply phi_greatest; [lra|]. intros l [<-|[<-|[]]]; unfold value, slope, rise; cbn [fst snd]; lra. }
  assert (Below : forall l, In l L -> forall B, mass B (best L p) <= value l (mass B p)).
  { intros l Hl B. apply best_below; auto. destruct Hl as [<-|[<-|[]]]; unfold rise; cbn [snd]; lra. }
  assert (One : total q == 1).
  { rewrite <- mass_all, Same, mass_all. destruct p as [|x p]; [simpl in Ht; lra|].
    rewrite <- (prefix_beyond (length (x :: p))) by (unfold best; now rewrite step_length).
    rewrite best_prefix by (simpl; lia). rewrite prefix_beyond, Ht by auto.
    apply Qle_antisym; [apply phi_le_one|]. apply phi_greatest; [lra|].
    intros l [<-|[<-|[]]]; unfold value, slope, rise; cbn [fst snd]; lra. }
  split.
  - rewrite Same. apply (Below (E, delta)). now left.
  - pose proof (Below (/ E, 1 - / E + delta) ltac:(right; now left) (complement A)) as C.
    rewrite <- Same in C. unfold value, slope, rise in C. cbn [fst snd] in C.
    pose proof (mass_complement A p). pose proof (mass_complement A q).
    assert (K : / E * mass A p <= mass A q + delta) by nra.
    apply Qmult_le_l with (x := / E * mass A p) (z := E) in K; [|lra].
    assert (X : E * (/ E * mass A p) == mass A p) by (field; lra). lra.
Qed.

(** Without delta the printed operator is the right one. *)
Theorem printed_is_right_without_delta E s :
  1 <= E -> 0 <= s <= 1 -> printed_step E 0 s == phi (dp E 0) s.
Proof.
  intros HE Hs. unfold printed_step, dp. simpl. unfold value, slope, rise. simpl.
  assert (X : / E * s + (1 - (1 - 0) / E) == 1 - (1 - s) / E) by (field; lra).
  rewrite X. assert (Y : E * s + 0 == E * s) by lra. rewrite Y.
  assert (Z : 1 - (1 - s) / E <= 1).
  { assert (0 <= (1 - s) / E); [|lra]. apply Qle_shift_div_l; lra. }
  set (a := E * s). set (b := 1 - (1 - s) / E) in *. clearbody a b.
  apply Qle_antisym; repeat apply Q.min_glb;
    pose proof (Q.le_min_l 1 (Qmin a b + 0)); pose proof (Q.le_min_r 1 (Qmin a b + 0));
    pose proof (Q.le_min_l a b); pose proof (Q.le_min_r a b);
    pose proof (Q.le_min_l a (Qmin b 1)); pose proof (Q.le_min_r a (Qmin b 1));
    pose proof (Q.le_min_l b 1); pose proof (Q.le_min_r b 1); try lra.
  assert (Qmin a (Qmin b 1) <= Qmin a b) by (apply Q.min_glb; lra). lra.
Qed.
