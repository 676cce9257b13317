(** Theorem 3: on any graph, rows by region and depth are private, and the grown ones the greatest. *)

From Coq Require Import QArith Lqa Lia List Bool Arith.
From Rainbow Require Import Rows Curves BestStep Lines Orders.
Import ListNotations.
Open Scope Q_scope.

(** Datasets, neighbors, regions; each region prefers the answers in one order. *)
Record world := World {
  dataset : Type;
  label : Type;
  same_label : forall a b : label, {a = b} + {a <> b};
  answers : nat;
  neighbors : dataset -> dataset -> Prop;
  neighbors_both : forall d e, neighbors d e -> neighbors e d;
  region : dataset -> label;
  order : label -> list nat;
  order_is_a_rainbow : forall a, rainbow answers (order a)
}.

Arguments neighbors {w}.
Arguments region {w}.
Arguments order {w}.

Definition boundary {W : world} (d : dataset W) : Prop :=
  exists e, neighbors d e /\ region e <> region d.

(** A walk of so many steps, inside the region, from a dataset to the boundary. *)
Inductive walk {W : world} : dataset W -> nat -> Prop :=
  | walk_here d : boundary d -> walk d 0
  | walk_on d e t : neighbors d e -> region e = region d -> walk e t -> walk d (S t).

(** What a search for depths has to find: the least walk, or that there is none. *)
Definition finds_depths {W : world} (depth : dataset W -> option nat) : Prop :=
  forall d, match depth d with
            | Some t => walk d t /\ forall u, walk d u -> (t <= u)%nat
            | None => forall u, ~ walk d u
            end.

(** The boundary graph: a line of depths for each region, joined at depth 0 where regions touch. *)
Definition touching (W : world) (a b : label W) : Prop :=
  a <> b /\ exists d e, neighbors d e /\ region d = a /\ region e = b.

Definition boundary_neighbors (W : world) (x y : label W * option nat) : Prop :=
  match x, y with
  | (a, Some s), (b, Some t) => (a = b /\ one_apart s t) \/ (touching W a b /\ s = 0%nat /\ t = 0%nat)
  | _, _ => False
  end.

Lemma depth_on_boundary {W : world} depth (d : dataset W) :
  finds_depths depth -> boundary d -> depth d = Some 0%nat.
Proof.
  intros H B. specialize (H d). assert (Hw : walk d 0) by now constructor.
  destruct (depth d) as [t|].
  - destruct H as [_ H]. specialize (H 0%nat Hw). f_equal. lia.
  - exfalso. now apply (H 0%nat).
Qed.

(** Region and depth are a morphism to the boundary graph. *)
Theorem depth_is_a_morphism (W : world) (depth : dataset W -> option nat) :
  finds_depths depth ->
  morphism neighbors (boundary_neighbors W) (fun d => (region d, depth d)).
Proof.
  intros H d e N. destruct (same_label W (region d) (region e)) as [E|E].
  - pose proof (H d) as Hd. pose proof (H e) as He.
    destruct (depth d) as [s|], (depth e) as [t|].
    + destruct Hd as [Wd Ld], He as [We Le].
      assert (s <= S t)%nat by (apply Ld; apply walk_on with e; auto).
      assert (t <= S s)%nat by (apply Le; apply walk_on with d; auto; now apply neighbors_both).
      destruct (Nat.eq_dec s t) as [->|Hst]; [right; congruence|].
      left. simpl. left. split; [auto|]. unfold one_apart. lia.
    + exfalso. destruct Hd as [Wd _]. apply (He (S s)). apply walk_on with d; auto.
      now apply neighbors_both.
    + exfalso. destruct He as [We _]. apply (Hd (S t)). apply walk_on with e; auto.
    + right. congruence.
  - left. assert (N' := neighbors_both W d e N).
    rewrite (depth_on_boundary depth d) by (auto; exists e; auto).
    rewrite (depth_on_boundary depth e) by (auto; exists d; auto).
    simpl. right. split; [|auto]. split; [auto|]. exists d, e. auto.
Qed.

(** Rows by region and depth; [certain] where no boundary can be reached. *)
Definition by_depth {W : world} (rows : label W -> nat -> row) (certain : label W -> row)
  (x : label W * option nat) : row :=
  match x with
  | (a, Some t) => rows a t
  | (a, None) => certain a
  end.

(** What is compared: a row and the next deeper one, and touching first rows. It is enough. *)
Theorem rows_by_depth_keep (W : world) L depth rows certain :
  curve L -> finds_depths depth ->
  (forall a t, distribution (rows a t)) -> (forall a, distribution (certain a)) ->
  (forall a t, close L (rows a t) (rows a (S t))) ->
  (forall a b, touching W a b -> close L (rows a 0%nat) (rows b 0%nat)) ->
  keeps neighbors L (fun d => by_depth rows certain (region d, depth d)).
Proof.
  intros HL HD Hrows Hcertain Hsteps Htouch.
  apply (pullback_keeps neighbors (boundary_neighbors W) (fun d => (region d, depth d)) L
           (by_depth rows certain)); auto.
  - intros [a [t|]]; simpl; auto.
  - now apply depth_is_a_morphism.
  - intros [a [s|]] [b [t|]]; simpl; try tauto. intros [[-> [->| ->]]|[T [-> ->]]]; auto.
    now apply close_symmetric.
Qed.

(** The first choice for certain. *)
Definition first_choice (n : nat) : row := 1 :: repeat 0 (n - 1).

Lemma total_repeat_zero n : total (repeat 0 n) == 0.
Proof. induction n; simpl; lra. Qed.

Lemma first_choice_distribution n : distribution (first_choice n).
Proof.
  split.
  - constructor; [lra|]. apply Forall_forall. intros x H. apply repeat_spec in H. subst. lra.
  - simpl. rewrite total_repeat_zero. lra.
Qed.

Lemma first_choice_dominates n p : distribution p -> dominates (first_choice n) p.
Proof.
  intros H [|k]; [rewrite !prefix_zero; lra|]. pose proof (prefix_in_unit (S k) p H).
  assert (prefix (S k) (first_choice n) == 1); [|lra].
  unfold prefix. simpl. generalize (n - 1)%nat. clear.
  induction k; intros [|m]; simpl; try lra. specialize (IHk m). lra.
Qed.

(** The optimum: each region's row, grown to the depth of the dataset, in the answers' order. *)
Definition optimum (W : world) (L : list line) (heads : label W -> row)
  (depth : dataset W -> option nat) (d : dataset W) : row :=
  by_depth (fun a t => in_answer_order (order a) (grown L (heads a) t))
           (fun a => in_answer_order (order a) (first_choice (answers W)))
           (region d, depth d).

(** One distribution a region, in its own order, close where regions touch. *)
Definition valid_condition (W : world) (L : list line) (heads : label W -> row) : Prop :=
  (forall a, distribution (heads a) /\ length (heads a) = answers W) /\
  (forall a b, touching W a b ->
     close L (in_answer_order (order a) (heads a)) (in_answer_order (order b) (heads b))).

Theorem optimum_keeps W L heads depth :
  (0 < answers W)%nat -> curve L -> finds_depths depth -> valid_condition W L heads ->
  keeps neighbors L (optimum W L heads depth).
Proof.
  intros Hn HL HD [Hh Ht]. apply rows_by_depth_keep; auto.
  - intros a t. destruct (Hh a) as [H1 H2].
    apply in_answer_order_distribution with (answers W).
    + apply order_is_a_rainbow.
    + now rewrite grown_length.
    + now apply grown_distribution.
  - intros a. apply in_answer_order_distribution with (answers W).
    + apply order_is_a_rainbow.
    + unfold first_choice. simpl. rewrite repeat_length. lia.
    + apply first_choice_distribution.
  - intros a t. destruct (Hh a) as [H1 H2].
    pose proof (order_is_a_rainbow W a) as R.
    apply (close_in_any_order L (answers W) (order a)); auto;
      try (rewrite in_answer_order_length; now apply rainbow_length).
    rewrite !(arranged_in_answer_order (answers W)) by (auto; rewrite grown_length; auto).
    apply line_keeps; auto. now left.
Qed.

Theorem optimum_obeys_its_condition W L heads depth (d : dataset W) :
  finds_depths depth -> boundary d ->
  optimum W L heads depth d = in_answer_order (order (region d)) (heads (region d)).
Proof. intros HD B. unfold optimum. now rewrite (depth_on_boundary depth d HD B). Qed.

(** No mechanism that keeps the guarantee and obeys the condition is better anywhere. *)
Theorem optimum_is_greatest W L heads depth (M : dataset W -> row) :
  (0 < answers W)%nat -> curve L -> finds_depths depth -> valid_condition W L heads ->
  keeps neighbors L M ->
  (forall d, distribution (M d) /\ length (M d) = answers W) ->
  (forall d, boundary d -> dominates (heads (region d)) (arranged (order (region d)) (M d))) ->
  forall d, dominates (arranged (order (region d)) (optimum W L heads depth d))
                      (arranged (order (region d)) (M d)).
Proof.
  intros Hn HL HD [Hh _] HK HM HB.
  assert (Bound : forall d t, walk d t ->
    dominates (grown L (heads (region d)) t) (arranged (order (region d)) (M d))).
  { intros d t Hw. induction Hw as [d B|d e t N E _ IH]; [simpl; auto|].
    simpl. rewrite E in IH.
    pose proof (order_is_a_rainbow W (region d)) as R.
    destruct (HM d) as [Dd Nd], (HM e) as [De Ne], (Hh (region d)) as [H1 H2].
    apply dominates_transitive with (q := best L (arranged (order (region d)) (M e))).
    - apply best_monotone; auto. rewrite grown_length, arranged_length, (rainbow_length _ _ R). auto.
    - apply best_is_greatest.
      + apply arranged_distribution with (answers W); auto.
      + apply close_symmetric. apply (close_in_any_order L (answers W)); auto. }
  intros d. unfold optimum. pose proof (HD d) as Hd.
  pose proof (order_is_a_rainbow W (region d)) as R.
  destruct (HM d) as [Dd Nd], (Hh (region d)) as [H1 H2].
  destruct (depth d) as [t|]; simpl; rewrite (arranged_in_answer_order (answers W)); auto.
  - apply Bound, Hd.
  - now rewrite grown_length.
  - apply first_choice_dominates. apply arranged_distribution with (answers W); auto.
  - unfold first_choice. simpl. rewrite repeat_length. lia.
Qed.

(** And it is the only one: two greatest mechanisms have the same probabilities. *)
Theorem greatest_is_unique (p q : row) :
  length p = length q -> dominates p q -> dominates q p -> Forall2 Qeq p q.
Proof. exact (dominates_antisymmetric p q). Qed.
