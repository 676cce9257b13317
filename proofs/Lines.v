(** Theorem 2: on a line of datasets the rows grown by phi are private and the greatest. *)

From Coq Require Import QArith Lqa Lia List Bool.
From Rainbow Require Import Rows Curves BestStep.
Import ListNotations.
Open Scope Q_scope.

(** A mechanism keeps a guarantee when neighbors have close rows. *)
Definition keeps {D : Type} (neighbors : D -> D -> Prop) (L : list line) (M : D -> row) : Prop :=
  forall d e, neighbors d e -> close L (M d) (M e).

Definition one_apart (s t : nat) : Prop := t = S s \/ s = S t.

(** The row [t] steps deeper than [m]. *)
Fixpoint grown (L : list line) (m : row) (t : nat) : row :=
  match t with
  | O => m
  | S u => best L (grown L m u)
  end.

Fixpoint iterate (f : Q -> Q) (t : nat) (s : Q) : Q :=
  match t with
  | O => s
  | S u => f (iterate f u s)
  end.

Lemma best_length L p : length (best L p) = length p.
Proof. apply step_length. Qed.

Lemma grown_length L m t : length (grown L m t) = length m.
Proof. induction t; simpl; [auto|]. now rewrite best_length. Qed.

Lemma grown_distribution L m t : curve L -> distribution m -> distribution (grown L m t).
Proof. intros HL Hm. induction t; simpl; [auto|]. now apply best_is_a_distribution. Qed.

Lemma prefix_capped k p : prefix k p == prefix (Nat.min k (length p)) p.
Proof.
  destruct (le_lt_dec k (length p)).
  - now rewrite Nat.min_l.
  - rewrite Nat.min_r by lia. rewrite !prefix_beyond by lia. reflexivity.
Qed.

Lemma distribution_length p : distribution p -> (1 <= length p)%nat.
Proof. intros [_ H]. destruct p; simpl in *; [lra|lia]. Qed.

Lemma dominates_transitive p q r : dominates p q -> dominates q r -> dominates p r.
Proof. intros H1 H2 k. specialize (H1 k). specialize (H2 k). lra. Qed.

(** The step preserves dominance, since phi is monotone. *)
Lemma best_monotone L p q :
  curve L -> length p = length q -> dominates p q -> dominates (best L p) (best L q).
Proof.
  intros HL HN H k. rewrite (prefix_capped k (best L q)), (prefix_capped k (best L p)).
  rewrite !best_length, <- HN.
  destruct (Nat.min k (length p)) eqn:E; [rewrite !prefix_zero; lra|].
  rewrite !best_prefix by lia. apply phi_monotone; [now apply curve_slopes|apply H].
Qed.

(** The prefix sums at depth t are phi applied t times. *)
Theorem grown_prefix L m t k :
  (1 <= k <= length m)%nat -> prefix k (grown L m t) == iterate (phi L) t (prefix k m).
Proof.
  intros Hk. induction t; simpl; [reflexivity|].
  rewrite best_prefix by (rewrite grown_length; auto). now rewrite IHt.
Qed.

Theorem line_keeps L m : curve L -> distribution m -> keeps one_apart L (grown L m).
Proof.
  intros HL Hm s t [->| ->]; simpl.
  - apply best_is_close; auto. now apply grown_distribution.
  - apply close_symmetric, best_is_close; auto. now apply grown_distribution.
Qed.

(** No other mechanism has a larger prefix sum anywhere. *)
Theorem line_is_greatest L m M :
  curve L -> length (M 0%nat) = length m -> dominates m (M 0%nat) ->
  (forall t, distribution (M t)) -> keeps one_apart L M ->
  forall t, dominates (grown L m t) (M t).
Proof.
  intros HL HN H0 HD HK t.
  assert (length (M t) = length m /\ dominates (grown L m t) (M t)); [|tauto].
  induction t as [|t [IN IH]]; simpl; [auto|].
  assert (C : close L (M t) (M (S t))) by (apply HK; left; auto).
  split; [destruct C; lia|].
  apply dominates_transitive with (q := best L (M t)).
  - apply best_monotone; auto. rewrite grown_length. auto.
  - apply best_is_greatest; auto.
Qed.

(** Neighbors go to neighbors or to one dataset. *)
Definition morphism {D D' : Type} (neighbors : D -> D -> Prop) (neighbors' : D' -> D' -> Prop)
  (g : D -> D') : Prop :=
  forall d e, neighbors d e -> neighbors' (g d) (g e) \/ g d = g e.

Theorem pullback_keeps {D D' : Type} (neighbors : D -> D -> Prop) (neighbors' : D' -> D' -> Prop)
  (g : D -> D') L M :
  curve L -> (forall d, distribution (M d)) ->
  morphism neighbors neighbors' g -> keeps neighbors' L M ->
  keeps neighbors L (fun d => M (g d)).
Proof.
  intros HL HM Hg HK d e H. destruct (Hg d e H) as [N|E]; [now apply HK|].
  rewrite E. now apply close_reflexive.
Qed.
