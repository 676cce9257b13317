(** Three datasets in a row: the theorems about graphs are about something. *)

From Coq Require Import ZArith QArith Lqa Lia List Bool Permutation.
From Rainbow Require Import Rows Curves HockeyStick Lines Orders Graphs Checker Ladders.
Import ListNotations.
Open Scope Q_scope.

(** Inner and Border prefer answer 0, Beyond prefers answer 1. *)
Inductive spot := Inner | Border | Beyond.

Definition side (d : spot) : bool := match d with Beyond => false | _ => true end.

Definition next_to (d e : spot) : Prop :=
  match d, e with
  | Inner, Border | Border, Inner | Border, Beyond | Beyond, Border => True
  | _, _ => False
  end.

Lemma next_to_both d e : next_to d e -> next_to e d.
Proof. destruct d, e; auto. Qed.

Definition liking (b : bool) : list nat := if b then [0; 1]%nat else [1; 0]%nat.

Lemma liking_is_a_rainbow b : rainbow 2 (liking b).
Proof. unfold rainbow. destruct b; simpl; [reflexivity|apply perm_swap]. Qed.

Definition three : world :=
  World spot bool bool_dec 2 next_to next_to_both side liking liking_is_a_rainbow.

Definition depth_of (d : dataset three) : option nat :=
  match d with Inner => Some 1%nat | _ => Some 0%nat end.

Lemma depths_are_found : @finds_depths three depth_of.
Proof.
  assert (B : @boundary three Border) by (exists Beyond; simpl; split; [auto|discriminate]).
  assert (C : @boundary three Beyond) by (exists Border; simpl; split; [auto|discriminate]).
  intros [| |]; simpl; split; try (intros u _; lia); try (now constructor).
  - apply (@walk_on three Inner Border 0); simpl; auto. now constructor.
  - intros u Hu. inversion Hu as [d [e [N R]]|]; subst; [|lia].
    destruct e; simpl in *; try tauto; congruence.
Qed.

Definition guarantee : list line := dp 2 (1 # 10).

Lemma guarantee_mirrored : mirrored guarantee.
Proof.
  split; [repeat constructor; simpl; try reflexivity; discriminate|].
  intros l [<-|[<-|[]]].
  - exists (/ 2, 1 - (1 - (1 # 10)) / 2). split; [right; now left|]. split; reflexivity.
  - exists (2, 1 # 10). split; [now left|]. split; reflexivity.
Qed.

(** Seven tenths for the own first choice, on either side of the border. *)
Definition condition_row (b : bool) : row := probabilities 10 [7; 3]%Z.

Lemma condition_is_valid : valid_condition three guarantee condition_row.
Proof.
  split.
  - intros a. split; [apply probabilities_distribution; reflexivity|reflexivity].
  - assert (H : close guarantee (probabilities 10 [7; 3]%Z) (probabilities 10 [3; 7]%Z))
      by (apply checker_decides_closeness; auto; apply guarantee_mirrored).
    intros [|] [|] [N _]; try congruence; simpl.
    + exact H.
    + apply close_symmetric. exact H.
Qed.

(** The optimum is private, and sure of the first choice with nine tenths one step inside. *)
Theorem example_of_an_optimum :
  keeps next_to guarantee (optimum three guarantee condition_row depth_of) /\
  Forall2 Qeq (optimum three guarantee condition_row depth_of Inner) [9 # 10; 1 # 10] /\
  Forall2 Qeq (optimum three guarantee condition_row depth_of Beyond) [3 # 10; 7 # 10].
Proof.
  split; [|split].
  - apply (optimum_keeps three).
    + simpl. lia.
    + apply mirrored_is_a_curve, guarantee_mirrored.
    + apply depths_are_found.
    + apply condition_is_valid.
  - repeat constructor.
  - repeat constructor.
Qed.

Definition integer_ladder (b : bool) : ladder := if b then [[7; 3]; [9; 1]]%Z else [[3; 7]]%Z.

(** The same in integers, with the checker's own verdict as the proof. *)
Theorem example_of_a_checked_mechanism :
  keeps next_to guarantee
    (fun d => probabilities 10 (integer_row integer_ladder (fun _ => [10; 0]%Z) (side d) (depth_of d))).
Proof.
  apply (proved_ladders_keep_the_guarantee three guarantee 10 [true; false] integer_ladder
           [(true, false)] (fun _ => [10; 0]%Z) depth_of).
  - apply guarantee_mirrored.
  - apply depths_are_found.
  - intros [|]; simpl; auto.
  - intros [|] [|] [N _]; simpl; auto; congruence.
  - reflexivity.
  - reflexivity.
Qed.
