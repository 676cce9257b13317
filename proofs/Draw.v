(** Drawing: of the integers below the total, each answer has as many as its weight. *)

From Coq Require Import ZArith Lia List Bool.
From Rainbow Require Import Checker.
Import ListNotations.
Open Scope Z_scope.

(** [list(accumulate(weights))], from a sum so far. *)
Fixpoint ends (start : Z) (p : weights) : list Z :=
  match p with
  | [] => []
  | w :: rest => (start + w) :: ends (start + w) rest
  end.

(** [bisect_right] of a sorted list: how many of its entries are at most r. *)
Definition bisect_right (sorted : list Z) (r : Z) : nat :=
  length (filter (fun e => e <=? r) sorted).

Definition draw (p : weights) (r : Z) : nat := bisect_right (ends 0 p) r.

Lemma no_end_is_before p : forall start r,
  Forall (fun w => 0 <= w) p -> r < start -> bisect_right (ends start p) r = 0%nat.
Proof.
  unfold bisect_right. induction p as [|w p IH]; intros start r HF H; simpl; [auto|].
  inversion HF; subst. replace (start + w <=? r) with false by (symmetry; apply Z.leb_gt; lia).
  apply IH; auto. lia.
Qed.

Lemma draw_from p : forall start r i,
  Forall (fun w => 0 <= w) p -> start <= r < start + sum p ->
  (bisect_right (ends start p) r = i <->
   (i < length p)%nat /\ start + sum (firstn i p) <= r < start + sum (firstn (S i) p)).
Proof.
  induction p as [|w p IH]; intros start r i HF H; simpl in H; [lia|].
  inversion HF as [|? ? Hw Hp]; subst.
  assert (B : bisect_right (ends start (w :: p)) r
              = if start + w <=? r then S (bisect_right (ends (start + w) p) r)
                else bisect_right (ends (start + w) p) r)
    by (unfold bisect_right; simpl; destruct (start + w <=? r); auto).
  rewrite B. destruct (start + w <=? r) eqn:E.
  - apply Z.leb_le in E. destruct i as [|i].
    + split; [discriminate|]. simpl. lia.
    + assert (IH' := IH (start + w) r i Hp ltac:(lia)).
      change (firstn (S (S i)) (w :: p)) with (w :: firstn (S i) p).
      change (firstn (S i) (w :: p)) with (w :: firstn i p).
      cbn [sum length]. split.
      * intros K. assert (K' : bisect_right (ends (start + w) p) r = i) by congruence.
        rewrite IH' in K'. lia.
      * intros K. f_equal. apply IH'. lia.
  - apply Z.leb_gt in E. rewrite no_end_is_before by auto. split.
    + intros <-. simpl. lia.
    + intros [_ K]. destruct i as [|i]; [auto|].
      change (firstn (S i) (w :: p)) with (w :: firstn i p) in K. cbn [sum] in K.
      assert (N : forall q, Forall (fun w => 0 <= w) q -> 0 <= sum q)
        by (induction q; simpl; [lia|]; inversion 1; subst; intuition lia).
      assert (F : forall q j, Forall (fun w => 0 <= w) q -> Forall (fun w => 0 <= w) (firstn j q)).
      { induction q as [|x q IHq]; intros [|j] Hq; simpl; auto. inversion Hq; subst.
        constructor; auto. }
      pose proof (N _ (F p i Hp)). lia.
Qed.

(** A uniform integer r draws answer i just where it lies in a stretch as long as the weight of i. *)
Theorem draw_gives_each_answer_its_weight p r i :
  Forall (fun w => 0 <= w) p -> 0 <= r < sum p ->
  (draw p r = i <->
   (i < length p)%nat /\ sum (firstn i p) <= r < sum (firstn i p) + nth i p 0).
Proof.
  intros HF H. unfold draw. rewrite draw_from by auto.
  assert (E : forall q j, sum (firstn (S j) q) = sum (firstn j q) + nth j q 0).
  { induction q as [|x q IH]; intros [|j]; try (simpl; lia).
    change (firstn (S (S j)) (x :: q)) with (x :: firstn (S j) q).
    change (firstn (S j) (x :: q)) with (x :: firstn j q).
    cbn [sum nth]. rewrite IH. lia. }
  rewrite E. simpl. lia.
Qed.
