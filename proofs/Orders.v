(** Rows in the order of the answers and in a preference order: closeness is the same. *)

From Coq Require Import QArith Lqa Lia List Bool Arith Permutation.
From Rainbow Require Import Rows Curves.
Import ListNotations.
Open Scope Q_scope.

(** A rainbow of n answers: each of 0, ..., n - 1 once, most preferred first. *)
Definition rainbow (n : nat) (order : list nat) : Prop := Permutation order (seq 0 n).

Fixpoint place (order : list nat) (v : nat) : nat :=
  match order with
  | [] => 0%nat
  | w :: rest => if (w =? v)%nat then 0%nat else S (place rest v)
  end.

(** A row in the order of the answers, written in a rainbow's order. *)
Definition arranged (order : list nat) (p : row) : row := map (fun v => nth v p 0) order.

(** A row in a rainbow's order, written in the order of the answers. *)
Definition in_answer_order (order : list nat) (r : row) : row :=
  map (fun v => nth (place order v) r 0) (seq 0 (length order)).

Fixpoint sum_over (l : list nat) (f : nat -> Q) : Q :=
  match l with
  | [] => 0
  | v :: rest => f v + sum_over rest f
  end.

Lemma sum_over_permutation l l' f : Permutation l l' -> sum_over l f == sum_over l' f.
Proof. induction 1; simpl; lra. Qed.

Lemma sum_over_ext l f g : (forall v, f v == g v) -> sum_over l f == sum_over l g.
Proof. intros H. induction l; simpl; [lra|]. rewrite IHl, H. lra. Qed.

Lemma mass_of_map A f l :
  mass (fun i => A (nth i l 0%nat)) (map f l) == sum_over l (fun v => if A v then f v else 0).
Proof.
  induction l as [|v l IH]; simpl; [lra|]. rewrite <- IH. apply Qplus_comp; [reflexivity|].
  apply mass_ext. reflexivity.
Qed.

Lemma map_nth_seq (p : row) : map (fun v => nth v p 0) (seq 0 (length p)) = p.
Proof.
  induction p as [|x p IH]; simpl; [auto|]. f_equal. rewrite <- seq_shift, map_map. exact IH.
Qed.

Lemma mass_ext_within A B p :
  (forall i, (i < length p)%nat -> A i = B i) -> mass A p == mass B p.
Proof.
  revert A B. induction p as [|x p IH]; intros A B H; simpl in *; [lra|].
  rewrite (H 0%nat) by lia. rewrite (IH (fun i => A (S i)) (fun i => B (S i))); [lra|].
  intros i Hi. apply H. lia.
Qed.

Lemma mass_arranged n order p A :
  rainbow n order -> length p = n ->
  mass (fun i => A (nth i order 0%nat)) (arranged order p) == mass A p.
Proof.
  intros HR HN. unfold arranged. rewrite mass_of_map.
  rewrite (sum_over_permutation _ _ _ HR). rewrite <- mass_of_map. rewrite <- HN, map_nth_seq.
  apply mass_ext_within. intros i Hi. now rewrite seq_nth by auto.
Qed.

Lemma rainbow_nodup n order : rainbow n order -> NoDup order.
Proof. intros H. eapply Permutation_NoDup; [apply Permutation_sym, H|apply seq_NoDup]. Qed.

Lemma rainbow_length n order : rainbow n order -> length order = n.
Proof. intros H. rewrite (Permutation_length H). apply seq_length. Qed.

Lemma place_of_nth order i :
  NoDup order -> (i < length order)%nat -> place order (nth i order 0%nat) = i.
Proof.
  revert i. induction order as [|v order IH]; intros i ND Hi; simpl in *; [lia|].
  inversion ND; subst. destruct i as [|i]; [now rewrite Nat.eqb_refl|].
  assert (Hi' : (i < length order)%nat) by lia.
  destruct (v =? nth i order 0)%nat eqn:E.
  - apply Nat.eqb_eq in E. exfalso. apply H1. rewrite E. now apply nth_In.
  - now rewrite IH.
Qed.

Lemma nth_of_place order v : In v order -> nth (place order v) order 0%nat = v.
Proof.
  induction order as [|w order IH]; simpl; [tauto|]. intros H.
  destruct (w =? v)%nat eqn:E; [now apply Nat.eqb_eq in E|].
  apply Nat.eqb_neq in E. destruct H; [congruence|auto].
Qed.

Lemma arranged_length order p : length (arranged order p) = length order.
Proof. apply map_length. Qed.

Lemma in_answer_order_length order r : length (in_answer_order order r) = length order.
Proof. unfold in_answer_order. now rewrite map_length, seq_length. Qed.

(** The order of the answers does not matter for closeness. *)
Theorem close_in_any_order L n order p q :
  rainbow n order -> length p = n -> length q = n ->
  (close L p q <-> close L (arranged order p) (arranged order q)).
Proof.
  intros HR Hp Hq. split; intros [_ H].
  - split; [now rewrite !arranged_length|]. intros B.
    specialize (H (fun v => B (place order v))).
    assert (E : forall r, length r = n ->
      mass (fun v => B (place order v)) r == mass B (arranged order r)).
    { intros r Hr. rewrite <- (mass_arranged n order r) by auto.
      apply mass_ext_within. intros i Hi. rewrite arranged_length in Hi.
      rewrite place_of_nth; auto. now apply rainbow_nodup with n. }
    rewrite <- !E by auto. auto.
  - split; [congruence|]. intros A. specialize (H (fun i => A (nth i order 0%nat))).
    rewrite !(mass_arranged n order) in H by auto. auto.
Qed.

Lemma map_nth_over (l : list nat) (f : nat -> Q) v n :
  l = seq 0 n -> (v < n)%nat -> nth v (map f l) 0 = f v.
Proof.
  intros -> Hv. rewrite nth_indep with (d' := f 0%nat) by (rewrite map_length, seq_length; lia).
  rewrite map_nth. now rewrite seq_nth by auto.
Qed.

(** There and back again. *)
Lemma arranged_in_answer_order n order r :
  rainbow n order -> length r = n -> arranged order (in_answer_order order r) = r.
Proof.
  intros HR Hr. unfold arranged, in_answer_order.
  rewrite (rainbow_length n order HR).
  transitivity (map (fun v => nth (place order v) r 0) order).
  - apply map_ext_in. intros v Hv.
    assert (Hin : In v (seq 0 n)) by (eapply Permutation_in; [exact HR|auto]).
    apply in_seq in Hin. apply (map_nth_over _ (fun w => nth (place order w) r 0) v n); lia || auto.
  - assert (ND := rainbow_nodup n order HR). assert (HN := rainbow_length n order HR).
    apply nth_ext with (d := 0) (d' := 0); [rewrite map_length; lia|].
    intros i Hi. rewrite map_length in Hi.
    rewrite nth_indep with (d' := (fun v => nth (place order v) r 0) 0%nat)
      by (rewrite map_length; auto).
    rewrite (map_nth (fun v => nth (place order v) r 0)). now rewrite place_of_nth.
Qed.

Lemma arranged_distribution n order p :
  rainbow n order -> length p = n -> distribution p -> distribution (arranged order p).
Proof.
  intros HR HN [Hp Ht]. split.
  - unfold nonnegative, arranged in *. rewrite Forall_forall in *. intros x Hx.
    apply in_map_iff in Hx. destruct Hx as [v [<- Hv]].
    destruct (le_lt_dec (length p) v); [rewrite nth_overflow by auto; lra|].
    apply Hp. now apply nth_In.
  - rewrite <- mass_all. rewrite <- Ht, <- (mass_all p).
    apply (mass_arranged n order p (fun _ => true)); auto.
Qed.

Lemma in_answer_order_distribution n order r :
  rainbow n order -> length r = n -> distribution r -> distribution (in_answer_order order r).
Proof.
  intros HR HN [Hp Ht]. split.
  - unfold nonnegative, in_answer_order in *. rewrite Forall_forall in *. intros x Hx.
    apply in_map_iff in Hx. destruct Hx as [v [<- Hv]].
    destruct (le_lt_dec (length r) (place order v)); [rewrite nth_overflow by auto; lra|].
    apply Hp. now apply nth_In.
  - rewrite <- Ht. rewrite <- (mass_all (in_answer_order order r)).
    rewrite <- (mass_arranged n order (in_answer_order order r) (fun _ => true)); auto.
    + rewrite (arranged_in_answer_order n) by auto. apply mass_all.
    + rewrite in_answer_order_length. now apply rainbow_length.
Qed.
