(** Rounding towards the old row keeps closeness: the step of the integer ladders. *)

From Coq Require Import QArith Qminmax Lqa Lia List Bool.
From Rainbow Require Import Rows Curves HockeyStick.
Import ListNotations.
Open Scope Q_scope.

(** x lies between p and t, whichever is larger. *)
Definition between (p t x : Q) : Prop := (p <= x <= t) \/ (t <= x <= p).

Inductive rowwise_between : row -> row -> row -> Prop :=
  | between_nil : rowwise_between [] [] []
  | between_cons p t x ps ts xs :
      between p t x -> rowwise_between ps ts xs ->
      rowwise_between (p :: ps) (t :: ts) (x :: xs).

Lemma max_monotone a b : a <= b -> Qmax 0 a <= Qmax 0 b.
Proof. intros H. apply Q.max_le_compat_l. auto. Qed.

(** Each term of both sums only shrinks. *)
Lemma rounded_hockey_stick a p t x :
  1 <= a -> nonnegative p -> nonnegative t -> rowwise_between p t x ->
  hockey_stick a x p <= hockey_stick a t p /\ hockey_stick a p x <= hockey_stick a p t.
Proof.
  intros Ha Hp Ht B. induction B as [|p t x ps ts xs B _ IH]; simpl; [lra|].
  apply nonnegative_cons in Hp. apply nonnegative_cons in Ht.
  destruct Hp as [Hp Hps], Ht as [Ht Hts]. destruct (IH Hps Hts) as [I1 I2].
  destruct B as [B|B].
  - pose proof (max_monotone (x - a * p) (t - a * p)).
    assert (Qmax 0 (p - a * x) == 0) by (apply Q.max_l; nra).
    destruct (positive_part (p - a * t)). split; lra.
  - pose proof (max_monotone (p - a * x) (p - a * t)).
    assert (Qmax 0 (x - a * p) == 0) by (apply Q.max_l; nra).
    destruct (positive_part (t - a * p)). split; [lra|].
    assert (p - a * x <= p - a * t) by nra. lra.
Qed.

Lemma between_lengths p t x : rowwise_between p t x -> length p = length t /\ length p = length x.
Proof. induction 1; simpl; lia. Qed.

Lemma between_nonnegative p t x :
  nonnegative p -> nonnegative t -> rowwise_between p t x -> nonnegative x.
Proof.
  intros Hp Ht B. induction B as [|p t x ps ts xs B _ IH]; [constructor|].
  apply nonnegative_cons in Hp. apply nonnegative_cons in Ht. apply nonnegative_cons.
  destruct Hp, Ht. split; [destruct B; lra|auto].
Qed.

(** A row between the old one and a close one, with their total, is close to the old one. *)
Theorem rounding_towards_the_old_row_keeps_closeness L p t x :
  mirrored L -> distribution p -> distribution t -> total x == 1 ->
  rowwise_between p t x -> close L p t -> distribution x /\ close L p x.
Proof.
  intros HL Hp Ht Hx B C. destruct (between_lengths p t x B) as [N1 N2].
  assert (Dx : distribution x)
    by (split; [apply (between_nonnegative p t x); [apply Hp|apply Ht|auto]|auto]).
  split; [auto|]. apply close_is_steep_hockey_sticks; auto. intros l Hl Hs.
  destruct (close_is_steep_hockey_sticks L p t HL Hp Ht N1) as [F _].
  destruct (F C l Hl Hs) as [F1 F2].
  destruct (rounded_hockey_stick (slope l) p t x Hs (proj1 Hp) (proj1 Ht) B). lra.
Qed.
