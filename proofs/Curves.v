(** Guarantees: symmetric concave curves with finitely many pieces, and what closeness means. *)

From Coq Require Import QArith Qminmax Qfield Lqa Lia List Bool Morphisms.
From Rainbow Require Import Rows.
Import ListNotations.
Open Scope Q_scope.

(** A line (slope, rise). *)
Definition line := (Q * Q)%type.
Definition slope (l : line) : Q := fst l.
Definition rise (l : line) : Q := snd l.
Definition value (l : line) (s : Q) : Q := slope l * s + rise l.

(** The least of 1 and of finitely many lines. *)
Fixpoint phi (L : list line) (s : Q) : Q :=
  match L with
  | [] => 1
  | l :: rest => Qmin (value l s) (phi rest s)
  end.

(** 1 - phi (1 - s) is the least u with s <= phi u. *)
Definition symmetric (L : list line) : Prop :=
  forall s u, 0 <= s <= 1 -> 0 <= u <= 1 -> s <= phi L u -> 1 - u <= phi L (1 - s).

(** Every symmetric concave non-decreasing curve of finitely many pieces is one of these. *)
Definition curve (L : list line) : Prop :=
  Forall (fun l => 0 <= slope l /\ 0 <= rise l) L /\ symmetric L.

(** Two rows are close when no set of answers has more than the curve allows, both ways. *)
Definition close (L : list line) (p q : row) : Prop :=
  length p = length q /\
  forall A, mass A p <= phi L (mass A q) /\ mass A q <= phi L (mass A p).

(** The line through the mirror images of its points in the other diagonal. *)
Definition mirror (l : line) : line := (/ slope l, 1 - (1 - rise l) / slope l).

Definition same_line (l m : line) : Prop := slope l == slope m /\ rise l == rise m.

(** With each line its mirror image: what [TradeOff] checks of its knots. *)
Definition mirrored (L : list line) : Prop :=
  Forall (fun l => 0 < slope l /\ 0 <= rise l) L /\
  forall l, In l L -> exists m, In m L /\ same_line m (mirror l).

Lemma phi_le_one L s : phi L s <= 1.
Proof.
  induction L as [|l L IH]; simpl; [lra|].
  pose proof (Q.le_min_r (value l s) (phi L s)). lra.
Qed.

Lemma phi_le_line L s l : In l L -> phi L s <= value l s.
Proof.
  induction L as [|m L IH]; simpl; [tauto|]. intros [->|H].
  - apply Q.le_min_l.
  - specialize (IH H). pose proof (Q.le_min_r (value m s) (phi L s)). lra.
Qed.

Lemma phi_greatest L s x : x <= 1 -> (forall l, In l L -> x <= value l s) -> x <= phi L s.
Proof.
  intros H1 H. induction L as [|l L IH]; simpl; [lra|].
  apply Q.min_glb; [apply H; simpl; auto|]. apply IH. intros m Hm. apply H. simpl; auto.
Qed.

Lemma phi_attained L s : phi L s == 1 \/ exists l, In l L /\ phi L s == value l s.
Proof.
  induction L as [|l L IH]; simpl; [left; lra|].
  destruct (Q.min_spec (value l s) (phi L s)) as [[_ E]|[_ E]].
  - right. exists l. auto.
  - destruct IH as [H|[m [Hm H]]].
    + left. lra.
    + right. exists m. split; [auto|lra].
Qed.

Lemma phi_compat L s t : s == t -> phi L s == phi L t.
Proof.
  intros H. induction L as [|l L IH]; simpl; [lra|].
  rewrite IH. unfold value. rewrite H. reflexivity.
Qed.

Global Instance phi_proper L : Proper (Qeq ==> Qeq) (phi L).
Proof. intros s t. apply phi_compat. Qed.

Lemma phi_monotone L s t :
  Forall (fun l => 0 <= slope l) L -> s <= t -> phi L s <= phi L t.
Proof.
  intros HL H. apply phi_greatest; [apply phi_le_one|]. intros l Hl.
  pose proof (phi_le_line L s l Hl). rewrite Forall_forall in HL. specialize (HL l Hl).
  unfold value in *. simpl in HL. nra.
Qed.

Lemma phi_concave L s t u :
  s <= t -> t <= u -> (u - t) * phi L s + (t - s) * phi L u <= (u - s) * phi L t.
Proof.
  intros Hst Htu. destruct (phi_attained L t) as [H|[l [Hl H]]].
  - pose proof (phi_le_one L s). pose proof (phi_le_one L u). rewrite H. nra.
  - pose proof (phi_le_line L s l Hl). pose proof (phi_le_line L u l Hl). rewrite H.
    unfold value in *. nra.
Qed.

Lemma curve_slopes L : curve L -> Forall (fun l => 0 <= slope l) L.
Proof. intros [H _]. eapply Forall_impl; [|exact H]. simpl. tauto. Qed.

Lemma curve_at_zero L : curve L -> 0 <= phi L 0.
Proof.
  intros [H _]. rewrite Forall_forall in H. apply phi_greatest; [lra|].
  intros l Hl. destruct (H l Hl). unfold value. lra.
Qed.

Lemma curve_at_one L : curve L -> phi L 1 == 1.
Proof.
  intros H. pose proof (curve_at_zero L H) as H0. destruct H as [_ H].
  specialize (H 0 0). pose proof (phi_le_one L 1).
  assert (phi L (1 - 0) == phi L 1) by (apply phi_compat; lra).
  assert (1 - 0 <= phi L (1 - 0)) by (apply H; lra). lra.
Qed.

Lemma curve_above L s : curve L -> 0 <= s <= 1 -> s <= phi L s.
Proof.
  intros H Hs. pose proof (curve_at_zero L H). pose proof (curve_at_one L H).
  pose proof (phi_concave L 0 s 1). nra.
Qed.

Lemma phi_in_unit L s : curve L -> 0 <= s <= 1 -> 0 <= phi L s <= 1.
Proof. intros H Hs. pose proof (curve_above L s H Hs). pose proof (phi_le_one L s). lra. Qed.

(** A curve with each line's mirror image is symmetric. *)
Theorem mirrored_is_a_curve L : mirrored L -> curve L.
Proof.
  intros [H M]. split.
  - eapply Forall_impl; [|exact H]. simpl. intros l [? ?]. lra.
  - intros s u Hs Hu Hsu. apply phi_greatest; [lra|]. intros l Hl.
    destruct (M l Hl) as [m [Hm [Ha Hb]]].
    rewrite Forall_forall in H. destruct (H l Hl) as [Hpos Hrise].
    pose proof (phi_le_line L u m Hm) as Hline. unfold value in *.
    rewrite Ha, Hb in Hline. unfold mirror in Hline; simpl in Hline.
    assert (Hs' : s <= / slope l * u + (1 - (1 - rise l) / slope l)) by lra.
    assert (E : slope l * (/ slope l * u + (1 - (1 - rise l) / slope l))
                == u + slope l - 1 + rise l) by (field; lra).
    assert (slope l * s <= slope l * (/ slope l * u + (1 - (1 - rise l) / slope l))) by nra.
    lra.
Qed.

(** (epsilon, delta): the two lines of [DP.lines], the third being the 1 of every curve. *)
Definition dp (E delta : Q) : list line := [(E, delta); (/ E, 1 - (1 - delta) / E)].

Theorem dp_is_a_curve E delta : 1 <= E -> 0 <= delta <= 1 -> curve (dp E delta).
Proof.
  intros HE Hd. apply mirrored_is_a_curve. unfold dp.
  assert (Hpos : 0 < / E) by (apply Qinv_lt_0_compat; lra).
  assert (Hle : / E <= 1).
  { apply Qmult_le_l with (z := E); [lra|]. rewrite Qmult_inv_r by lra. lra. }
  split.
  - repeat constructor; simpl; try lra.
    assert ((1 - delta) / E <= 1); [|lra]. unfold Qdiv. nra.
  - intros l [<-|[<-|[]]].
    + exists (/ E, 1 - (1 - delta) / E). simpl. split; [auto|]. split; simpl; lra.
    + exists (E, delta). simpl. split; [auto|].
      split; simpl; field; lra.
Qed.

Lemma close_symmetric L p q : close L p q -> close L q p.
Proof. intros [H C]. split; [auto|]. intros A. destruct (C A). auto. Qed.

Lemma close_reflexive L p : curve L -> distribution p -> close L p p.
Proof.
  intros HL Hp. split; [auto|]. intros A.
  pose proof (curve_above L (mass A p) HL (mass_in_unit A p Hp)). auto.
Qed.

(** One direction for all sets is both, by the complements. *)
Lemma one_way_is_both L p q :
  curve L -> distribution p -> distribution q -> length p = length q ->
  (forall A, mass A p <= phi L (mass A q)) -> close L p q.
Proof.
  intros HL Hp Hq HN H. split; [auto|]. intros A. split; [auto|].
  pose proof (H (complement A)) as HC.
  pose proof (mass_complement A p). pose proof (mass_complement A q).
  destruct Hp as [Pp Tp], Hq as [Pq Tq].
  pose proof (mass_in_unit A p (conj Pp Tp)). pose proof (mass_in_unit A q (conj Pq Tq)).
  pose proof (mass_in_unit (complement A) p (conj Pp Tp)).
  pose proof (mass_in_unit (complement A) q (conj Pq Tq)).
  destruct HL as [_ Sym].
  specialize (Sym (mass (complement A) p) (mass (complement A) q)).
  assert (E : phi L (1 - mass (complement A) p) == phi L (mass A p)) by (apply phi_compat; lra).
  rewrite E in Sym. assert (1 - mass (complement A) q <= phi L (mass A p)) by (apply Sym; auto).
  lra.
Qed.
