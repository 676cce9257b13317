(** Hockey-stick sums: one sum for each steep line covers all sets of answers. *)

From Coq Require Import QArith Qminmax Lqa Lia List Bool.
From Rainbow Require Import Rows Curves.
Import ListNotations.
Open Scope Q_scope.

(** The sum of max(0, p_v - a q_v). *)
Fixpoint hockey_stick (a : Q) (p q : row) : Q :=
  match p, q with
  | x :: p', y :: q' => Qmax 0 (x - a * y) + hockey_stick a p' q'
  | _, _ => 0
  end.

(** The answers whose term is positive. *)
Definition gains (a : Q) (p q : row) : event :=
  fun i => negb (Qle_bool (nth i p 0) (a * nth i q 0)).

Lemma positive_part a : 0 <= Qmax 0 a /\ a <= Qmax 0 a.
Proof. split; [apply Q.le_max_l|apply Q.le_max_r]. Qed.

(** No set gains more than the sum ... *)
Theorem no_set_gains_more a p q A :
  length p = length q -> mass A p - a * mass A q <= hockey_stick a p q.
Proof.
  revert q A. induction p as [|x p IH]; intros [|y q] A H; simpl in *; try discriminate; [lra|].
  specialize (IH q (fun i => A (S i))). pose proof (positive_part (x - a * y)).
  assert (length p = length q) by lia. specialize (IH H1). destruct (A 0%nat); lra.
Qed.

(** ... and the set of its positive terms gains just that. *)
Theorem positive_terms_gain_it a p q :
  length p = length q ->
  mass (gains a p q) p - a * mass (gains a p q) q == hockey_stick a p q.
Proof.
  revert q. induction p as [|x p IH]; intros [|y q] H; simpl in *; try discriminate; [lra|].
  assert (HN : length p = length q) by lia. specialize (IH q HN).
  assert (E : forall r, mass (fun i => gains a (x :: p) (y :: q) (S i)) r
                        == mass (gains a p q) r)
    by (intros; apply mass_ext; reflexivity).
  rewrite !E. unfold gains at 1 3. simpl.
  destruct (Qle_bool x (a * y)) eqn:B; simpl.
  - apply Qle_bool_iff in B. rewrite Q.max_l by lra. lra.
  - assert (~ x <= a * y) by (rewrite <- Qle_bool_iff; congruence).
    rewrite Q.max_r by lra. lra.
Qed.

(** So a line holds of all sets just where its sum is at most its rise. *)
Theorem hockey_stick_covers_all_sets l p q :
  length p = length q ->
  (hockey_stick (slope l) p q <= rise l <-> forall A, mass A p <= value l (mass A q)).
Proof.
  intros HN. unfold value. split.
  - intros H A. pose proof (no_set_gains_more (slope l) p q A HN). lra.
  - intros H. pose proof (positive_terms_gain_it (slope l) p q HN).
    specialize (H (gains (slope l) p q)). lra.
Qed.

(** A line says of a set what its mirror image says of the complement, the other way round. *)
Lemma mirror_on_complements l p q A :
  0 < slope l -> total p == 1 -> total q == 1 ->
  mass (complement A) q <= value l (mass (complement A) p) ->
  mass A p <= value (mirror l) (mass A q).
Proof.
  intros Hl Hp Hq H. unfold value, mirror in *. simpl.
  pose proof (mass_complement A p). pose proof (mass_complement A q).
  assert (E : slope l * (/ slope l * mass A q + (1 - (1 - rise l) / slope l))
              == mass A q + slope l - 1 + rise l) by (field; lra).
  apply Qmult_le_l with (z := slope l); [auto|].
  rewrite E. nra.
Qed.

Lemma mirror_twice l : 0 < slope l -> same_line (mirror (mirror l)) l.
Proof. intros H. unfold mirror, same_line. simpl. split; field; lra. Qed.

Lemma flat_mirrors_steep l : 0 < slope l -> slope l <= 1 -> 1 <= slope (mirror l).
Proof.
  intros H1 H2. unfold mirror. simpl. apply Qmult_le_l with (z := slope l); [auto|].
  rewrite Qmult_inv_r by lra. lra.
Qed.

Lemma same_line_value l m s : same_line l m -> value l s == value m s.
Proof. intros [H1 H2]. unfold value. rewrite H1, H2. reflexivity. Qed.

(** Closeness is the sums of the lines of slope one and more, both ways. *)
Theorem close_is_steep_hockey_sticks L p q :
  mirrored L -> distribution p -> distribution q -> length p = length q ->
  (close L p q <->
   forall l, In l L -> 1 <= slope l ->
     hockey_stick (slope l) p q <= rise l /\ hockey_stick (slope l) q p <= rise l).
Proof.
  intros [HL HM] Hp Hq HN. rewrite Forall_forall in HL. split.
  - intros [_ HC] l Hl _. split; apply hockey_stick_covers_all_sets; auto; intros A;
      destruct (HC A) as [H1 H2]; eapply Qle_trans; try eassumption; now apply phi_le_line.
  - intros H. split; [auto|].
    assert (Steep : forall l, In l L -> 1 <= slope l -> forall A,
      mass A p <= value l (mass A q) /\ mass A q <= value l (mass A p)).
    { intros l Hl Hs A. destruct (H l Hl Hs) as [H1 H2].
      split; apply hockey_stick_covers_all_sets; auto. }
    assert (All : forall l, In l L -> forall A,
      mass A p <= value l (mass A q) /\ mass A q <= value l (mass A p)).
    { intros l Hl A. destruct (HL l Hl) as [Hpos Hrise].
      destruct (Qlt_le_dec (slope l) 1) as [Hlt|Hge]; [|now apply Steep].
      destruct (HM l Hl) as [m [Hm Em]]. destruct Em as [Em1 Em2].
      assert (Hm1 : 1 <= slope m)
        by (rewrite Em1; apply flat_mirrors_steep; lra).
      destruct (HL m Hm) as [Mpos _].
      destruct (Steep m Hm Hm1 (complement A)) as [C1 C2].
      assert (Back : forall s, value (mirror m) s == value l s).
      { intros s. unfold value, mirror in *. simpl in *. rewrite Em1, Em2. field. lra. }
      destruct Hp as [_ Tp], Hq as [_ Tq].
      split; rewrite <- Back; now apply mirror_on_complements. }
    intros A. pose proof (mass_in_unit A p Hp). pose proof (mass_in_unit A q Hq).
    split; apply phi_greatest; try lra; intros l Hl; now apply All.
Qed.

(** The usual definition of (epsilon, delta) is closeness under its curve. *)
Theorem dp_is_the_usual_definition E delta p q :
  1 <= E -> 0 <= delta <= 1 -> distribution p -> distribution q -> length p = length q ->
  (close (dp E delta) p q <->
   forall A, mass A p <= E * mass A q + delta /\ mass A q <= E * mass A p + delta).
Proof.
  intros HE Hd Hp Hq HN.
  split.
  - intros [_ HC] A. destruct (HC A) as [H1 H2].
    pose proof (phi_le_line (dp E delta) (mass A q) (E, delta) (or_introl eq_refl)) as P1.
    pose proof (phi_le_line (dp E delta) (mass A p) (E, delta) (or_introl eq_refl)) as P2.
    unfold value, slope, rise in *. cbn [fst snd] in *. lra.
  - intros H. split; [auto|]. intros A.
    pose proof (mass_in_unit A p Hp). pose proof (mass_in_unit A q Hq).
    destruct (H A) as [F1 F2]. destruct (H (complement A)) as [C1 C2].
    destruct Hp as [_ Tp], Hq as [_ Tq].
    assert (0 < slope (E, delta)) by (unfold slope; simpl; lra).
    split; apply phi_greatest; try lra; intros l [<-|[<-|[]]];
      try (unfold value, slope, rise; cbn [fst snd]; lra);
      change (/ E, 1 - (1 - delta) / E) with (mirror (E, delta));
      apply mirror_on_complements; auto; unfold value, slope, rise; cbn [fst snd]; lra.
Qed.
