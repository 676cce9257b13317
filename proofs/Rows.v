(** Rows of probabilities, sets of answers, prefix sums.

    A row lists the answers in one order. A set of answers is a boolean for each place; what it
    says of places beyond the end of a row does not matter. *)

From Coq Require Import QArith Lqa Lia List Bool Arith Morphisms.
Import ListNotations.
Open Scope Q_scope.

Definition row := list Q.
Definition event := nat -> bool.

Fixpoint total (p : row) : Q :=
  match p with
  | [] => 0
  | x :: rest => x + total rest
  end.

(** P(A): what the answers in A have together. *)
Fixpoint mass (A : event) (p : row) : Q :=
  match p with
  | [] => 0
  | x :: rest => (if A 0%nat then x else 0) + mass (fun i => A (S i)) rest
  end.

Definition prefix (k : nat) (p : row) : Q := total (firstn k p).

Definition first (k : nat) : event := fun i => (i <? k)%nat.
Definition complement (A : event) : event := fun i => negb (A i).

Definition nonnegative (p : row) : Prop := Forall (fun x => 0 <= x) p.
Definition distribution (p : row) : Prop := nonnegative p /\ total p == 1.

(** None of the prefix sums of [q] is larger: [p] is at least as good for its order. *)
Definition dominates (p q : row) : Prop := forall k, prefix k q <= prefix k p.

Lemma nonnegative_cons x p : nonnegative (x :: p) <-> 0 <= x /\ nonnegative p.
Proof. unfold nonnegative. split; [inversion 1|]; intuition. Qed.

Lemma total_nonneg p : nonnegative p -> 0 <= total p.
Proof. induction p; simpl; [lra|]. rewrite nonnegative_cons. intros []. specialize (IHp H0). lra. Qed.

Lemma mass_ext A B p : (forall i, A i = B i) -> mass A p == mass B p.
Proof.
  revert A B. induction p; intros A B H; simpl; [lra|].
  rewrite H. rewrite (IHp (fun i => A (S i)) (fun i => B (S i))) by auto. lra.
Qed.

Lemma mass_all p : mass (fun _ => true) p == total p.
Proof. induction p; simpl; [lra|]. rewrite IHp. lra. Qed.

Lemma mass_none p : mass (fun _ => false) p == 0.
Proof. induction p; simpl; [lra|]. rewrite IHp. lra. Qed.

Lemma mass_first k p : mass (first k) p == prefix k p.
Proof.
  unfold prefix. revert k. induction p; intros [|k]; simpl; try lra.
  - rewrite mass_none. lra.
  - unfold first in *. simpl. rewrite <- IHp. apply Qplus_comp; [reflexivity|].
    apply mass_ext. reflexivity.
Qed.

Lemma mass_complement A p : mass A p + mass (complement A) p == total p.
Proof.
  revert A. induction p; intros A; simpl; [lra|].
  specialize (IHp (fun i => A (S i))). unfold complement in *. destruct (A 0%nat); simpl; lra.
Qed.

Lemma mass_nonneg A p : nonnegative p -> 0 <= mass A p.
Proof.
  revert A. induction p; intros A; simpl; [lra|]. rewrite nonnegative_cons. intros [Ha Hp].
  specialize (IHp (fun i => A (S i)) Hp). destruct (A 0%nat); lra.
Qed.

Lemma mass_le_total A p : nonnegative p -> mass A p <= total p.
Proof.
  intros H. pose proof (mass_nonneg (complement A) p H). pose proof (mass_complement A p). lra.
Qed.

Lemma mass_in_unit A p : distribution p -> 0 <= mass A p <= 1.
Proof.
  intros [H T]. pose proof (mass_nonneg A p H). pose proof (mass_le_total A p H). lra.
Qed.

Lemma complement_twice A p : mass (complement (complement A)) p == mass A p.
Proof. apply mass_ext. intros i. unfold complement. apply negb_involutive. Qed.

Lemma prefix_zero p : prefix 0 p == 0.
Proof. unfold prefix. simpl. lra. Qed.

Lemma prefix_beyond k p : (length p <= k)%nat -> prefix k p == total p.
Proof. intros. unfold prefix. rewrite firstn_all2 by lia. reflexivity. Qed.

Lemma prefix_in_unit k p : distribution p -> 0 <= prefix k p <= 1.
Proof. intros. rewrite <- mass_first. now apply mass_in_unit. Qed.

(** Two rows that dominate each other have the same probabilities. *)
Lemma dominates_antisymmetric p q :
  length p = length q -> dominates p q -> dominates q p -> Forall2 Qeq p q.
Proof.
  unfold dominates, prefix. revert q. induction p as [|x p IH]; intros [|y q] L H1 H2;
    simpl in *; try discriminate; constructor.
  - specialize (H1 1%nat). specialize (H2 1%nat). simpl in *. lra.
  - apply IH; [lia| |]; intros k;
      pose proof (H1 (S k)); pose proof (H2 (S k));
      specialize (H1 1%nat); specialize (H2 1%nat); simpl in *; lra.
Qed.
