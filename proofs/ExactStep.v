(** [exact_step]: the next row of a ladder in integers is private, and within q units of the best. *)

From Coq Require Import ZArith QArith Qround Lqa Lia List Bool.
From Rainbow Require Import Rows Curves BestStep HockeyStick Rounding Lines Checker.
Import ListNotations.
Open Scope Q_scope.

(** [_towards]: a mass rounded towards an old weight. *)
Definition towards (weight : Z) (x : Q) : Z :=
  let whole := Qfloor x in
  if (weight <=? whole)%Z || Qeq_bool (inject_Z whole) x then whole else (whole + 1)%Z.

Fixpoint all_towards (p : weights) (target : row) : weights :=
  match p, target with
  | w :: p', x :: target' => towards w x :: all_towards p' target'
  | _, _ => []
  end.

(** The loop that makes up the sum: entries go back towards the old row while units are missing. *)
Fixpoint made_up (missing : Z) (p moved : weights) : weights :=
  match p, moved with
  | w :: p', m :: moved' =>
      let room := (w - m)%Z in
      let change := if (0 <? missing)%Z then Z.min (Z.max room 0) missing
                    else Z.max (Z.min room 0) missing in
      (m + change)%Z :: made_up (missing - change) p' moved'
  | _, _ => []
  end.

(** From the most preferred answer on where units are missing, else from the least preferred. *)
Definition made_up_in_order (missing : Z) (p moved : weights) : weights :=
  if (0 <? missing)%Z then made_up missing p moved
  else rev (made_up missing (rev p) (rev moved)).

(** The best real row, in units of the total. *)
Definition target (L : list line) (whole : Z) (p : weights) : row :=
  map (fun x => inject_Z whole * x) (best L (probabilities whole p)).

Definition exact_step (L : list line) (whole : Z) (p : weights) : weights :=
  let moved := all_towards p (target L whole p) in
  made_up_in_order (whole - sum moved) p moved.

Definition in_between (w m x : Z) : Prop := (w <= x <= m \/ m <= x <= w)%Z.

Inductive all_between : weights -> weights -> weights -> Prop :=
  | all_between_nil : all_between [] [] []
  | all_between_cons w m x ws ms xs :
      in_between w m x -> all_between ws ms xs -> all_between (w :: ws) (m :: ms) (x :: xs).

Lemma all_between_app a b c a' b' c' :
  all_between a b c -> all_between a' b' c' -> all_between (a ++ a') (b ++ b') (c ++ c').
Proof. induction 1; simpl; auto. intros. constructor; auto. Qed.

Lemma all_between_rev a b c : all_between a b c -> all_between (rev a) (rev b) (rev c).
Proof.
  induction 1; simpl; [constructor|]. apply all_between_app; auto. constructor; [auto|constructor].
Qed.

Lemma sum_app a b : sum (a ++ b) = (sum a + sum b)%Z.
Proof. induction a; simpl; lia. Qed.

Lemma sum_rev a : sum (rev a) = sum a.
Proof. induction a; simpl; auto. rewrite sum_app. simpl. lia. Qed.

Lemma made_up_between p : forall missing moved,
  length p = length moved -> all_between p moved (made_up missing p moved).
Proof.
  induction p as [|w p IH]; intros missing [|m moved] HN; simpl in *; try lia; constructor.
  - unfold in_between. destruct (0 <? missing)%Z eqn:E; [apply Z.ltb_lt in E|apply Z.ltb_ge in E];
      lia.
  - apply IH. lia.
Qed.

(** There is always enough room. *)
Fixpoint room_above (p moved : weights) : Z :=
  match p, moved with
  | w :: p', m :: moved' => (Z.max (w - m) 0 + room_above p' moved')%Z
  | _, _ => 0%Z
  end.

Fixpoint room_below (p moved : weights) : Z :=
  match p, moved with
  | w :: p', m :: moved' => (Z.min (w - m) 0 + room_below p' moved')%Z
  | _, _ => 0%Z
  end.

Lemma room_signs p : forall moved, (room_below p moved <= 0 <= room_above p moved)%Z.
Proof.
  induction p as [|w p IH]; intros [|m moved]; simpl; try lia. specialize (IH moved). lia.
Qed.

Lemma made_up_sum p : forall missing moved,
  length p = length moved ->
  (0 <= missing <= room_above p moved \/ room_below p moved <= missing <= 0)%Z ->
  sum (made_up missing p moved) = (sum moved + missing)%Z.
Proof.
  induction p as [|w p IH]; intros missing [|m moved] HN H; simpl in *; try lia.
  pose proof (room_signs p moved).
  destruct (0 <? missing)%Z eqn:E; [apply Z.ltb_lt in E|apply Z.ltb_ge in E];
    rewrite IH by lia; lia.
Qed.

Lemma room_of_difference p : forall moved,
  length p = length moved ->
  (room_below p moved <= sum p - sum moved <= room_above p moved)%Z.
Proof.
  induction p as [|w p IH]; intros [|m moved] HN; simpl in *; try lia.
  specialize (IH moved). lia.
Qed.

Lemma made_up_in_order_spec p moved missing :
  length p = length moved -> missing = (sum p - sum moved)%Z ->
  all_between p moved (made_up_in_order missing p moved) /\
  sum (made_up_in_order missing p moved) = sum p.
Proof.
  intros HN Hm. unfold made_up_in_order.
  pose proof (room_of_difference p moved HN).
  assert (HN' : length (rev p) = length (rev moved)) by (rewrite !rev_length; auto).
  pose proof (room_of_difference (rev p) (rev moved) HN') as HR. rewrite !sum_rev in HR.
  destruct (0 <? missing)%Z eqn:E; [apply Z.ltb_lt in E|apply Z.ltb_ge in E].
  - split; [now apply made_up_between|]. rewrite made_up_sum; lia.
  - split.
    + rewrite <- (rev_involutive p) at 1. rewrite <- (rev_involutive moved) at 1.
      apply all_between_rev. now apply made_up_between.
    + rewrite sum_rev, made_up_sum, sum_rev by (auto; lia). lia.
Qed.

Lemma all_towards_length p : forall xs, length p = length xs -> length (all_towards p xs) = length p.
Proof. induction p; intros [|x xs] H; simpl in *; try lia. rewrite IHp; lia. Qed.

(** Rounded towards the old weight: between it and the mass, and less than one unit off. *)
Lemma towards_spec w x :
  between (inject_Z w) x (inject_Z (towards w x)) /\
  x - 1 < inject_Z (towards w x) /\ inject_Z (towards w x) < x + 1.
Proof.
  unfold towards, between. pose proof (Qfloor_le x). pose proof (Qlt_floor x).
  rewrite inject_Z_plus in H0. change (inject_Z 1) with 1 in H0.
  destruct (w <=? Qfloor x)%Z eqn:E; simpl.
  - apply Z.leb_le in E. rewrite Zle_Qle in E. lra.
  - apply Z.leb_gt in E.
    destruct (Qeq_bool (inject_Z (Qfloor x)) x) eqn:F.
    + apply Qeq_bool_iff in F. assert (Qfloor x <= w)%Z by lia. rewrite Zle_Qle in H1. lra.
    + assert (N : ~ inject_Z (Qfloor x) == x) by (intros G; apply Qeq_bool_iff in G; congruence).
      assert (Qfloor x + 1 <= w)%Z by lia. rewrite Zle_Qle, inject_Z_plus in H1.
      rewrite inject_Z_plus. change (inject_Z 1) with 1 in *.
      assert (inject_Z (Qfloor x) < x) by (apply Qle_lteq in H; destruct H; [auto|tauto]). lra.
Qed.

Lemma positive_scale whole x y :
  (0 < whole)%Z -> inject_Z whole * x <= y <-> x <= y / inject_Z whole.
Proof.
  intros H. pose proof (positive_inject whole H). split; intros K.
  - apply Qle_shift_div_l; [auto|]. lra.
  - assert (E : y == inject_Z whole * (y / inject_Z whole)) by (field; lra). rewrite E. nra.
Qed.

Lemma positive_scale' whole x y :
  (0 < whole)%Z -> y <= inject_Z whole * x <-> y / inject_Z whole <= x.
Proof.
  intros H. pose proof (positive_inject whole H). split; intros K.
  - apply Qle_shift_div_r; [auto|]. lra.
  - assert (E : y == inject_Z whole * (y / inject_Z whole)) by (field; lra). rewrite E. nra.
Qed.

(** Back from units to probabilities. *)
Lemma between_probabilities whole p xs r :
  (0 < whole)%Z -> length p = length xs ->
  all_between p (all_towards p (map (fun x => inject_Z whole * x) xs)) r ->
  rowwise_between (probabilities whole p) xs (probabilities whole r).
Proof.
  intros Hw. revert xs r. induction p as [|w p IH]; intros [|x xs] r HN B; simpl in *; try lia;
    inversion B as [|w' m' y ws ms ys Hin Hrest]; subst; simpl; constructor.
  - destruct (towards_spec w (inject_Z whole * x)) as [T _].
    unfold between, in_between in *.
    pose proof (positive_inject whole Hw) as Hpos.
    assert (Le : forall a b, (a <= b)%Z -> inject_Z a / inject_Z whole <= inject_Z b / inject_Z whole).
    { intros a b Hab. rewrite Zle_Qle in Hab. apply (proj1 (positive_scale' whole (inject_Z b / inject_Z whole) (inject_Z a) Hw)).
      assert (E : inject_Z whole * (inject_Z b / inject_Z whole) == inject_Z b) by (field; lra).
      now rewrite E. }
    set (m := towards w (inject_Z whole * x)) in *.
    destruct T as [[T1 T2]|[T1 T2]].
    + left. rewrite <- Zle_Qle in T1. rewrite positive_scale' in T2 by auto.
      destruct Hin as [[G1 G2]|[G1 G2]].
      * split; [now apply Le|]. specialize (Le _ _ G2). lra.
      * assert (y = w) by lia. subst y. specialize (Le _ _ T1). split; lra.
    + right. rewrite <- Zle_Qle in T2. rewrite positive_scale in T1 by auto.
      destruct Hin as [[G1 G2]|[G1 G2]].
      * assert (y = w) by lia. subst y. specialize (Le _ _ T2). split; lra.
      * split; [|now apply Le]. specialize (Le _ _ G1). lra.
  - apply IH; auto.
Qed.

Lemma probabilities_length whole p : length (probabilities whole p) = length p.
Proof. apply map_length. Qed.

Lemma target_length L whole p : length (target L whole p) = length p.
Proof. unfold target. now rewrite map_length, best_length, probabilities_length. Qed.

Lemma checked_sum whole p : checked whole p = true -> sum p = whole.
Proof. unfold checked. rewrite !andb_true_iff, Z.eqb_eq. tauto. Qed.

Lemma exact_step_spec L whole p :
  checked whole p = true ->
  all_between p (all_towards p (target L whole p)) (exact_step L whole p) /\
  sum (exact_step L whole p) = whole.
Proof.
  intros Hp. pose proof (checked_sum whole p Hp) as Hs. unfold exact_step. cbv zeta.
  assert (HN : length p = length (all_towards p (target L whole p)))
    by (rewrite all_towards_length; auto; now rewrite target_length).
  destruct (made_up_in_order_spec p (all_towards p (target L whole p))
              (whole - sum (all_towards p (target L whole p))) HN) as [B S]; [lia|].
  split; [auto|]. lia.
Qed.

Lemma nonnegative_weights whole r :
  (0 < whole)%Z -> nonnegative (probabilities whole r) -> forallb (fun w => 0 <=? w)%Z r = true.
Proof.
  intros Hw H. apply forallb_forall. intros w Hin. apply Z.leb_le. rewrite Zle_Qle.
  unfold nonnegative, probabilities in H. rewrite Forall_forall in H.
  assert (K : 0 <= inject_Z w / inject_Z whole) by (apply H; apply in_map_iff; eauto).
  rewrite <- positive_scale in K by auto. change (inject_Z 0) with 0. lra.
Qed.

(** It is a row of weights with the same total, and close to the old one. *)
Theorem exact_step_keeps_closeness L whole p :
  mirrored L -> checked whole p = true ->
  checked whole (exact_step L whole p) = true /\
  close L (probabilities whole p) (probabilities whole (exact_step L whole p)).
Proof.
  intros HL Hp. pose proof (checked_positive whole p Hp) as Hw.
  pose proof (mirrored_is_a_curve L HL) as HC.
  pose proof (probabilities_distribution whole p Hp) as Dp.
  destruct (exact_step_spec L whole p Hp) as [B S].
  assert (Db : distribution (best L (probabilities whole p))) by now apply best_is_a_distribution.
  assert (RB : rowwise_between (probabilities whole p) (best L (probabilities whole p))
                 (probabilities whole (exact_step L whole p))).
  { apply between_probabilities; auto. now rewrite best_length, probabilities_length. }
  assert (Ck : checked whole (exact_step L whole p) = true).
  { unfold checked. rewrite !andb_true_iff, Z.eqb_eq, Z.ltb_lt. repeat split; auto.
    apply (nonnegative_weights whole); auto.
    eapply between_nonnegative; [apply Dp|apply Db|exact RB]. }
  split; [auto|].
  eapply rounding_towards_the_old_row_keeps_closeness; eauto.
  - apply probabilities_distribution; auto.
  - now apply best_is_close.
Qed.

(** What it costs: no prefix sum is more than one unit an answer below the best. *)

Lemma rounded_prefix p : forall xs k, length p = length xs ->
  total (firstn k xs) - inject_Z (Z.of_nat (Nat.min k (length p)))
  <= inject_Z (sum (firstn k (all_towards p xs))) /\
  inject_Z (sum (skipn k (all_towards p xs)))
  <= total (skipn k xs) + inject_Z (Z.of_nat (length p - k)).
Proof.
  induction p as [|w p IH]; intros [|x xs] k HN; simpl in HN; try lia.
  - destruct k; simpl; change (inject_Z 0) with 0; lra.
  - destruct (towards_spec w x) as [_ [T1 T2]].
    destruct k as [|k].
    + destruct (IH xs 0%nat) as [_ I2]; [lia|].
      cbn [all_towards firstn skipn sum total length Nat.min]. split.
      * simpl. change (inject_Z 0) with 0. lra.
      * rewrite inject_Z_plus. cbn [skipn] in I2. rewrite Nat.sub_0_r in *.
        rewrite Nat2Z.inj_succ. unfold Z.succ. rewrite inject_Z_plus.
        change (inject_Z 1) with 1. lra.
    + destruct (IH xs k) as [I1 I2]; [lia|].
      cbn [all_towards firstn skipn sum total length Nat.min Nat.sub]. split; [|exact I2].
      rewrite Nat2Z.inj_succ. unfold Z.succ. rewrite !inject_Z_plus.
      change (inject_Z 1) with 1. lra.
Qed.

(** Making up a missing sum lowers nothing, and making up a surplus raises nothing. *)
Lemma made_up_one_way p : forall missing moved, length p = length moved ->
  ((0 <= missing)%Z -> Forall2 Z.le moved (made_up missing p moved)) /\
  ((missing <= 0)%Z -> Forall2 Z.le (made_up missing p moved) moved).
Proof.
  induction p as [|w p IH]; intros missing [|m moved] HN; simpl in *; try lia;
    [split; constructor|].
  destruct (0 <? missing)%Z eqn:E; [apply Z.ltb_lt in E|apply Z.ltb_ge in E];
    split; intros H; try lia; constructor; try lia; apply IH; lia.
Qed.

Lemma le_rev a b : Forall2 Z.le a b -> Forall2 Z.le (rev a) (rev b).
Proof.
  induction 1; simpl; [constructor|]. apply Forall2_app; auto.
Qed.

Lemma le_firstn a b k : Forall2 Z.le a b -> (sum (firstn k a) <= sum (firstn k b))%Z.
Proof. intros H. revert k. induction H; intros [|k]; simpl; try lia. specialize (IHForall2 k). lia. Qed.

Lemma le_skipn a b k : Forall2 Z.le a b -> (sum (skipn k a) <= sum (skipn k b))%Z.
Proof.
  intros H. revert k. induction H; intros [|k]; simpl; try lia; auto.
  specialize (IHForall2 0%nat). simpl in IHForall2. lia.
Qed.

Lemma sum_split k p : sum p = (sum (firstn k p) + sum (skipn k p))%Z.
Proof. rewrite <- sum_app. now rewrite firstn_skipn. Qed.

Lemma total_split k p : total p == total (firstn k p) + total (skipn k p).
Proof. revert k. induction p; intros [|k]; simpl; try lra. rewrite (IHp k). lra. Qed.

Lemma total_scaled c p : total (map (fun x => c * x) p) == c * total p.
Proof. induction p; simpl; [ring|]. rewrite IHp. ring. Qed.

Theorem exact_step_is_nearly_the_best L whole p k :
  mirrored L -> checked whole p = true ->
  inject_Z whole * prefix k (best L (probabilities whole p)) - inject_Z (Z.of_nat (length p))
  <= inject_Z (sum (firstn k (exact_step L whole p))).
Proof.
  intros HL Hp. pose proof (checked_positive whole p Hp) as Hw.
  pose proof (mirrored_is_a_curve L HL) as HC.
  pose proof (probabilities_distribution whole p Hp) as Dp.
  destruct (best_is_a_distribution L _ HC Dp) as [_ Tb].
  destruct (exact_step_spec L whole p Hp) as [_ S]. unfold exact_step in *. cbv zeta in *.
  set (moved := all_towards p (target L whole p)) in *.
  assert (HT : length p = length (target L whole p)) by now rewrite target_length.
  assert (HN : length p = length moved) by (unfold moved; now rewrite all_towards_length).
  destruct (rounded_prefix p (target L whole p) k HT) as [R1 R2]. fold moved in R1, R2.
  assert (E : total (firstn k (target L whole p))
              == inject_Z whole * prefix k (best L (probabilities whole p))).
  { unfold target, prefix. rewrite firstn_map. apply total_scaled. }
  assert (ET : total (target L whole p) == inject_Z whole).
  { unfold target. rewrite total_scaled, Tb. ring. }
  rewrite (total_split k) in ET.
  assert (Hcount : (Nat.min k (length p) + (length p - k) = length p)%nat) by lia.
  assert (Hc : inject_Z (Z.of_nat (length p))
               == inject_Z (Z.of_nat (Nat.min k (length p)))
                  + inject_Z (Z.of_nat (length p - k))).
  { rewrite <- inject_Z_plus, <- Nat2Z.inj_add, Hcount. reflexivity. }
  assert (Nn : 0 <= inject_Z (Z.of_nat (length p - k)))
    by (change 0 with (inject_Z 0); rewrite <- Zle_Qle; lia).
  assert (Nm : 0 <= inject_Z (Z.of_nat (Nat.min k (length p))))
    by (change 0 with (inject_Z 0); rewrite <- Zle_Qle; lia).
  set (missing := (whole - sum moved)%Z) in *.
  unfold made_up_in_order in *. destruct (0 <? missing)%Z eqn:Em.
  - apply Z.ltb_lt in Em.
    pose proof (le_firstn _ _ k (proj1 (made_up_one_way p missing moved HN) ltac:(lia))) as F.
    rewrite Zle_Qle in F. lra.
  - apply Z.ltb_ge in Em.
    assert (HN' : length (rev p) = length (rev moved)) by (rewrite !rev_length; auto).
    pose proof (proj2 (made_up_one_way (rev p) missing (rev moved) HN') Em) as F.
    apply le_rev in F. rewrite rev_involutive in F.
    apply (le_skipn _ _ k) in F.
    set (r := rev (made_up missing (rev p) (rev moved))) in *.
    pose proof (sum_split k r) as Sr. rewrite S in Sr.
    assert (G : (whole - sum (skipn k moved) <= sum (firstn k r))%Z) by lia.
    rewrite Zle_Qle, inject_Z_minus in G. lra.
Qed.
