(** [TradeOff]: the checks on its knots make a curve, the least of its edges. *)

From Coq Require Import QArith Qminmax Qfield Lqa Lia List Bool Sorted.
From Rainbow Require Import Rows Curves.
Import ListNotations.
Open Scope Q_scope.

(** A point (x, f(x)) of a trade-off curve. *)
Definition knot := (Q * Q)%type.
Definition swap (k : knot) : knot := (snd k, fst k).

(** The line of phi = 1 - f through two knots. *)
Definition chord (a b : knot) : line :=
  let s := (snd a - snd b) / (fst b - fst a) in (s, 1 - snd a - s * fst a).

(** One line for each edge of the polygon that begins at [k]. *)
Fixpoint edges (k : knot) (rest : list knot) : list line :=
  match rest with
  | [] => []
  | next :: others => chord k next :: edges next others
  end.

(** phi itself: the edge that ends at x or after it, found from the left. *)
Fixpoint polygon (k : knot) (rest : list knot) (x : Q) : Q :=
  match rest with
  | [] => 1 - snd k
  | next :: others => if Qle_bool x (fst next) then value (chord k next) x else polygon next others x
  end.

(** What [_checked_curve] asks of knots: rising x and falling f(x), no bend inward, mirror images. *)
Definition before (a b : knot) : Prop := fst a < fst b /\ snd b < snd a.

Fixpoint bends_outward (k : knot) (rest : list knot) : Prop :=
  match rest with
  | a :: ((b :: _) as others) =>
      0 <= (snd b - snd a) * (fst a - fst k) - (snd a - snd k) * (fst b - fst a) /\
      bends_outward a others
  | _ => True
  end.

(** Rising x, and f(x) that does not rise: the last edge may be level. *)
Fixpoint runs_right (k : knot) (rest : list knot) : Prop :=
  match rest with
  | [] => 0 <= snd k
  | next :: others => fst k < fst next /\ snd next <= snd k /\ runs_right next others
  end.

Lemma chord_start a b : value (chord a b) (fst a) == 1 - snd a.
Proof. unfold value, chord, slope, rise. simpl. ring. Qed.

Lemma chord_end a b : fst a < fst b -> value (chord a b) (fst b) == 1 - snd b.
Proof. intros H. unfold value, chord, slope, rise. simpl. field. lra. Qed.

Lemma value_from l s t : value l t == value l s + slope l * (t - s).
Proof. unfold value. ring. Qed.

Lemma slopes_fall k a b :
  fst k < fst a -> fst a < fst b ->
  0 <= (snd b - snd a) * (fst a - fst k) - (snd a - snd k) * (fst b - fst a) ->
  slope (chord a b) <= slope (chord k a).
Proof.
  intros H1 H2 H. unfold chord, slope. simpl.
  apply Qle_shift_div_r; [lra|].
  assert (E : (snd k - snd a) / (fst a - fst k) * (fst b - fst a)
              == (snd k - snd a) * (fst b - fst a) / (fst a - fst k)) by (field; lra).
  rewrite E. apply Qle_shift_div_l; [lra|]. lra.
Qed.

(** Of two edges in a row the first is the lower one on its side, the second on its own. *)
Lemma neighboring_edges k a b x :
  fst k < fst a -> fst a < fst b ->
  0 <= (snd b - snd a) * (fst a - fst k) - (snd a - snd k) * (fst b - fst a) ->
  (x <= fst a -> value (chord k a) x <= value (chord a b) x) /\
  (fst a <= x -> value (chord a b) x <= value (chord k a) x).
Proof.
  intros H1 H2 H. pose proof (slopes_fall k a b H1 H2 H).
  pose proof (chord_end k a H1). pose proof (chord_start a b).
  pose proof (value_from (chord k a) (fst a) x). pose proof (value_from (chord a b) (fst a) x).
  split; intros; nra.
Qed.

Lemma first_edge_is_least_on_its_left rest : forall k a,
  runs_right k (a :: rest) -> bends_outward k (a :: rest) ->
  forall l x, In l (edges k (a :: rest)) -> x <= fst a -> value (chord k a) x <= value l x.
Proof.
  induction rest as [|b rest IH]; intros k a R B l x Hl Hx.
  - simpl in Hl. destruct Hl as [<-|[]]. lra.
  - destruct Hl as [<-|Hl]; [lra|].
    destruct R as [R1 [R2 R3]]. destruct B as [B1 B2].
    destruct R3 as [R3 [R4 R5]].
    destruct (neighboring_edges k a b x R1 R3 B1) as [N _].
    specialize (IH a b (conj R3 (conj R4 R5)) B2 l x Hl).
    assert (x <= fst b) by lra. specialize (N Hx). specialize (IH H). lra.
Qed.

Lemma edge_below_one a b x :
  fst a < fst b -> snd b <= snd a -> 0 <= snd b -> x <= fst b -> value (chord a b) x <= 1.
Proof.
  intros H1 H2 H3 Hx. pose proof (chord_end a b H1). pose proof (value_from (chord a b) (fst b) x).
  assert (0 <= slope (chord a b)).
  { unfold chord, slope. simpl. apply Qle_shift_div_l; lra. }
  nra.
Qed.

Lemma runs_right_nonneg rest : forall k, runs_right k rest -> 0 <= snd k.
Proof.
  induction rest as [|a rest IH]; intros k; simpl; [auto|]. intros [_ [H R]].
  specialize (IH a R). lra.
Qed.

Lemma last_default (l : list knot) d e : l <> [] -> last l d = last l e.
Proof.
  induction l as [|x [|y l] IH]; intros H; [congruence|auto|]. simpl in *. apply IH. congruence.
Qed.

(** The edge over x is the least of all lines there: what is looked up is phi. *)
Theorem polygon_is_the_least_of_its_lines rest : forall k x,
  runs_right k rest -> bends_outward k rest ->
  fst k <= x -> x <= fst (last rest k) -> rest <> [] ->
  polygon k rest x == phi (edges k rest) x.
Proof.
  induction rest as [|a rest IH]; intros k x R B Hk Hx NE; [congruence|].
  cbn [polygon]. destruct (Qle_bool x (fst a)) eqn:E.
  - apply Qle_bool_iff in E. destruct R as [R1 [R2 R3]].
    pose proof (runs_right_nonneg rest a R3).
    apply Qle_antisym; [|apply phi_le_line; now left].
    apply phi_greatest; [now apply edge_below_one|].
    intros l Hl. apply (first_edge_is_least_on_its_left rest k a); auto. simpl. auto.
  - assert (Ha : ~ x <= fst a) by (rewrite <- Qle_bool_iff; congruence).
    destruct rest as [|b rest]; [simpl in Hx; lra|].
    destruct R as [R1 [R2 R3]]. destruct B as [B1 B2].
    assert (Hl : x <= fst (last (b :: rest) a))
      by (rewrite (last_default (b :: rest) a k) by congruence; exact Hx).
    transitivity (phi (edges a (b :: rest)) x).
    { apply IH; auto; [lra|congruence]. }
    cbn [edges phi]. symmetry.
    set (tail := Qmin (value (chord a b) x) (phi (edges b rest) x)).
    apply Q.min_r. unfold tail.
    destruct R3 as [R3 _]. destruct (neighboring_edges k a b x R1 R3 B1) as [_ N].
    pose proof (Q.le_min_l (value (chord a b) x) (phi (edges b rest) x)).
    assert (fst a <= x) by lra. specialize (N H0). lra.
Qed.

(** The edges of a polygon that is its own mirror image are each other's mirror images. *)
Lemma mirrored_chord a b :
  before a b -> same_line (chord (swap b) (swap a)) (mirror (chord a b)).
Proof.
  intros [H1 H2]. unfold same_line, mirror, chord, slope, rise, swap. simpl.
  split; field; lra.
Qed.

Lemma edges_are_consecutive rest : forall k l,
  In l (edges k rest) <->
  exists front a b back, k :: rest = front ++ a :: b :: back /\ l = chord a b.
Proof.
  induction rest as [|c rest IH]; intros k l; simpl.
  - split; [tauto|]. intros (front & a & b & back & E & _).
    destruct front as [|? [|? ?]]; discriminate.
  - split.
    + intros [<-|H].
      * exists [], k, c, rest. auto.
      * apply IH in H. destruct H as (front & a & b & back & E & ->).
        exists (k :: front), a, b, back. simpl. rewrite E. auto.
    + intros (front & a & b & back & E & ->). destruct front as [|f front]; simpl in E.
      * injection E as -> -> _. now left.
      * right. apply IH. injection E as _ E. exists front, a, b, back. auto.
Qed.

Lemma before_transitive a b c : before a b -> before b c -> before a c.
Proof. unfold before. intros [] []. split; lra. Qed.

Lemma before_irreflexive a : ~ before a a.
Proof. unfold before. lra. Qed.

Lemma sorted_split front a back :
  StronglySorted before (front ++ a :: back) ->
  Forall (fun m => before m a) front /\ Forall (before a) back /\ StronglySorted before back.
Proof.
  induction front as [|f front IH]; simpl; intros H; inversion H as [|? ? S F]; subst.
  - auto.
  - destruct (IH S) as [I1 [I2 I3]]. repeat split; auto. constructor; auto.
    rewrite Forall_forall in F. apply F. apply in_or_app. right. now left.
Qed.

Lemma nothing_between front a b back m :
  StronglySorted before (front ++ a :: b :: back) -> In m (front ++ a :: b :: back) ->
  before a m -> before m b -> False.
Proof.
  intros S Hm Ham Hmb. destruct (sorted_split front a (b :: back) S) as [F1 [_ S']].
  inversion S' as [|? ? _ F3]; subst. rewrite Forall_forall in F1, F3.
  apply in_app_or in Hm. destruct Hm as [Hm|[->|[->|Hm]]].
  - apply (before_irreflexive m). apply before_transitive with a; auto.
  - now apply (before_irreflexive m).
  - now apply (before_irreflexive m).
  - apply (before_irreflexive m). apply before_transitive with b; auto.
Qed.

Lemma next_is_consecutive l a b :
  StronglySorted before l -> In a l -> In b l -> before a b ->
  (forall m, In m l -> before a m -> before m b -> False) ->
  exists front back, l = front ++ a :: b :: back.
Proof.
  intros S Ha Hb Hab Hgap. apply in_split in Ha. destruct Ha as (front & back & ->).
  destruct (sorted_split front a back S) as [F1 [F2 S']]. rewrite Forall_forall in F1, F2.
  apply in_app_or in Hb. destruct Hb as [Hb|[->|Hb]].
  - exfalso. apply (before_irreflexive a). apply before_transitive with b; auto.
  - exfalso. now apply (before_irreflexive b).
  - destruct back as [|c back]; [destruct Hb|]. destruct Hb as [->|Hb]; [now exists front, back|].
    exfalso. apply (Hgap c).
    + apply in_or_app. right. right. now left.
    + apply F2. now left.
    + inversion S' as [|? ? _ F3]; subst. rewrite Forall_forall in F3. now apply F3.
Qed.

Lemma sorted_runs_right rest : forall k,
  StronglySorted before (k :: rest) -> 0 <= snd (last rest k) -> runs_right k rest.
Proof.
  induction rest as [|a rest IH]; intros k S H; simpl; [auto|].
  inversion S as [|? ? S' F]; subst. inversion F as [|? ? [B1 B2] _]; subst.
  repeat split; [auto|lra|]. apply IH; auto.
  destruct rest as [|b rest]; [exact H|].
  now rewrite (last_default (b :: rest) a k) by congruence.
Qed.

(** Knots that pass the checks make a curve: all of theory applies to it. *)
Theorem checked_knots_make_a_curve k rest :
  StronglySorted before (k :: rest) -> bends_outward k rest ->
  (forall m, In m (k :: rest) -> In (swap m) (k :: rest)) ->
  fst k == 0 -> snd k <= 1 -> (forall m, In m (k :: rest) -> 0 <= snd m) ->
  mirrored (edges k rest).
Proof.
  intros S B M H0 H1 Hy. split.
  - apply Forall_forall. intros l Hl.
    pose proof Hl as Hc. apply edges_are_consecutive in Hc.
    destruct Hc as (front & a & b & back & E & ->).
    assert (Hab : before a b).
    { rewrite E in S. destruct (sorted_split front a (b :: back) S) as [_ [F _]].
      now inversion F. }
    split.
    + destruct Hab. unfold chord, slope. simpl. apply Qlt_shift_div_l; lra.
    + destruct rest as [|c rest]; [destruct Hl|].
      assert (R : runs_right k (c :: rest)).
      { apply sorted_runs_right; auto. apply Hy.
        assert (L : forall (l : list knot) d, In (last l d) (d :: l)).
        { induction l as [|x [|y l] I]; intros d; simpl; auto.
          specialize (I d). simpl in I. destruct I; auto. }
        apply L. }
      pose proof (first_edge_is_least_on_its_left rest k c R B (chord a b) (fst k) Hl) as L.
      destruct R as [R1 _]. specialize (L ltac:(lra)). rewrite chord_start in L.
      unfold value in L. rewrite H0 in L. lra.
  - intros l Hl. apply edges_are_consecutive in Hl. destruct Hl as (front & a & b & back & E & ->).
    assert (Hab : before a b).
    { rewrite E in S. destruct (sorted_split front a (b :: back) S) as [_ [F _]].
      now inversion F. }
    assert (Ia : In a (k :: rest)) by (rewrite E; apply in_or_app; right; now left).
    assert (Ib : In b (k :: rest)) by (rewrite E; apply in_or_app; right; right; now left).
    exists (chord (swap b) (swap a)). split; [|now apply mirrored_chord].
    apply edges_are_consecutive.
    destruct (next_is_consecutive (k :: rest) (swap b) (swap a)) as (f & r & Efr); auto.
    + destruct Hab. split; auto.
    + intros m Hm Hbm Hma.
      apply (nothing_between front a b back (swap m)).
      * now rewrite <- E.
      * rewrite <- E. auto.
      * destruct Hbm, Hma. unfold swap in *. simpl in *. split; auto.
      * destruct Hbm, Hma. unfold swap in *. simpl in *. split; auto.
    + exists f, (swap b), (swap a), r. auto.
Qed.
