(** [exp_below] never exceeds the exponential, and what that makes of the checker's promise.

    Nothing here needs real numbers: (1 - x/N)^(-N) falls to e^x as N grows, so a rational r is at
    most e^x just where r (1 - x/N)^N <= 1 for every N >= x. *)

From Coq Require Import ZArith QArith Qround Lqa Lia List Bool.
From Rainbow Require Import Rows Curves Checker.
Import ListNotations.
Open Scope Q_scope.

Definition of_nat (n : nat) : Q := inject_Z (Z.of_nat n).

Fixpoint power (x : Q) (n : nat) : Q :=
  match n with
  | O => 1
  | S m => x * power x m
  end.

Definition at_most_exp (r x : Q) : Prop :=
  forall n, (0 < n)%nat -> x <= of_nat n -> r * power (1 - x / of_nat n) n <= 1.

(** x^k / k!, and the sum of these up to k. *)
Fixpoint taylor_term (x : Q) (k : nat) : Q :=
  match k with
  | O => 1
  | S j => taylor_term x j * x / of_nat (S j)
  end.

Fixpoint taylor (x : Q) (k : nat) : Q :=
  match k with
  | O => 1
  | S j => taylor x j + taylor_term x (S j)
  end.

Lemma of_nat_succ n : of_nat (S n) == of_nat n + 1.
Proof. unfold of_nat. rewrite Nat2Z.inj_succ. unfold Z.succ. now rewrite inject_Z_plus. Qed.

Lemma of_nat_nonneg n : 0 <= of_nat n.
Proof. unfold of_nat. change 0 with (inject_Z 0). rewrite <- Zle_Qle. lia. Qed.

Lemma of_nat_positive n : (0 < n)%nat -> 0 < of_nat n.
Proof. intros H. unfold of_nat. change 0 with (inject_Z 0). rewrite <- Zlt_Qlt. lia. Qed.

Lemma taylor_term_next x k : of_nat (S k) * taylor_term x (S k) == taylor_term x k * x.
Proof.
  cbn [taylor_term]. assert (0 < of_nat (S k)) by (apply of_nat_positive; lia).
  field. lra.
Qed.

Lemma taylor_term_nonneg x k : 0 <= x -> 0 <= taylor_term x k.
Proof.
  intros H. induction k; [simpl; lra|]. pose proof (taylor_term_next x k).
  assert (0 < of_nat (S k)) by (apply of_nat_positive; lia). nra.
Qed.

Lemma taylor_rises x k : 0 <= x -> 1 <= taylor x k /\ taylor x k <= taylor x (S k).
Proof.
  intros H. assert (R : forall j, taylor x j <= taylor x (S j))
    by (intros j; pose proof (taylor_term_nonneg x (S j) H); cbn [taylor]; lra).
  split; [|apply R]. induction k; [simpl; lra|]. specialize (R k). lra.
Qed.

(** The series grows no faster than its own value: term by term ... *)
Lemma taylor_term_slope x h k :
  0 <= h <= x -> taylor_term x (S k) - taylor_term (x - h) (S k) <= h * taylor_term x k.
Proof.
  intros Hh. induction k as [|k IH].
  - pose proof (taylor_term_next x 0). pose proof (taylor_term_next (x - h) 0).
    change (of_nat 1) with 1 in *. change (taylor_term x 0) with 1 in *.
    change (taylor_term (x - h) 0) with 1 in *. lra.
  - pose proof (taylor_term_next x (S k)) as E1. pose proof (taylor_term_next (x - h) (S k)) as E2.
    pose proof (taylor_term_next x k) as E0.
    assert (Hp : 0 < of_nat (S (S k))) by (apply of_nat_positive; lia).
    pose proof (of_nat_succ (S k)) as Es.
    assert (N0 : 0 <= taylor_term x k) by (apply taylor_term_nonneg; lra).
    set (a := taylor_term x k) in *. set (b := taylor_term x (S k)) in *.
    set (c := taylor_term x (S (S k))) in *. set (b' := taylor_term (x - h) (S k)) in *.
    set (c' := taylor_term (x - h) (S (S k))) in *. set (n := of_nat (S k)) in *.
    set (m := of_nat (S (S k))) in *. clearbody a b c b' c' n m.
    apply Qmult_le_l with (z := m); [auto|].
    assert (S1 : m * (c - c') == b * h + (b - b') * (x - h)) by nra.
    assert (S2 : (b - b') * (x - h) <= h * a * (x - h)) by nra.
    assert (S3 : h * a * (x - h) <= h * (a * x)) by nra.
    rewrite S1. nra.
Qed.

(** ... and as a whole. *)
Lemma taylor_slope x h k :
  0 <= h <= x -> (1 - h) * taylor x k <= taylor (x - h) k.
Proof.
  intros Hh.
  assert (D : forall j, taylor x (S j) - taylor (x - h) (S j) <= h * taylor x j).
  { induction j as [|j IH].
    - cbn [taylor]. pose proof (taylor_term_slope x h 0 Hh).
      change (taylor_term x 0) with 1 in H. lra.
    - pose proof (taylor_term_slope x h (S j) Hh) as T.
      change (taylor ?y (S (S j))) with (taylor y (S j) + taylor_term y (S (S j))).
      change (taylor x (S j)) with (taylor x j + taylor_term x (S j)) at 2. lra. }
  destruct k as [|k]; [simpl; lra|]. specialize (D k).
  destruct (taylor_rises x k) as [R1 R2]; [lra|]. nra.
Qed.

Lemma taylor_at_zero x k : x == 0 -> taylor x k == 1.
Proof.
  intros H. assert (Z : forall j, taylor_term x (S j) == 0).
  { intros j. pose proof (taylor_term_next x j).
    assert (0 < of_nat (S j)) by (apply of_nat_positive; lia). nra. }
  induction k; [simpl; lra|]. change (taylor x (S k)) with (taylor x k + taylor_term x (S k)).
  rewrite Z, IHk. lra.
Qed.

Lemma power_nonneg x n : 0 <= x -> 0 <= power x n.
Proof. intros H. induction n; simpl; [lra|nra]. Qed.

Lemma power_monotone x y n : 0 <= x <= y -> power x n <= power y n.
Proof.
  intros H. induction n; simpl; [lra|]. pose proof (power_nonneg x n). nra.
Qed.

Lemma power_of_product x y n : power (x * y) n == power x n * power y n.
Proof. induction n; simpl; [lra|]. rewrite IHn. ring. Qed.

Lemma power_compat x y n : x == y -> power x n == power y n.
Proof. intros H. induction n; simpl; [lra|]. now rewrite IHn, H. Qed.

Lemma taylor_compat x y k : x == y -> taylor x k == taylor y k.
Proof.
  intros H. assert (T : forall j, taylor_term x j == taylor_term y j)
    by (induction j; simpl; [lra|]; now rewrite IHj, H).
  induction k; [simpl; lra|]. change (taylor ?z (S k)) with (taylor z k + taylor_term z (S k)).
  now rewrite IHk, T.
Qed.

(** A partial sum of the power series is at most the exponential. *)
Theorem taylor_at_most_exp x k : 0 <= x -> at_most_exp (taylor x k) x.
Proof.
  intros Hx n Hn Hxn. pose proof (of_nat_positive n Hn) as Hp.
  set (h := x / of_nat n).
  assert (Eh : of_nat n * h == x) by (unfold h; field; lra).
  assert (H0 : 0 <= h) by (unfold h; apply Qle_shift_div_l; lra).
  assert (H1 : h <= 1) by nra.
  assert (J : forall j, (j <= n)%nat ->
    taylor x k * power (1 - h) j <= taylor (x - of_nat j * h) k).
  { induction j as [|j IH]; intros Hj.
    - simpl. rewrite (taylor_compat (x - of_nat 0 * h) x);
        [lra|change (of_nat 0) with 0; ring].
    - assert (Hjn : of_nat (S j) <= of_nat n)
        by (unfold of_nat; rewrite <- Zle_Qle; lia).
      pose proof (of_nat_succ j) as Es. pose proof (of_nat_nonneg j).
      pose proof (taylor_slope (x - of_nat j * h) h k) as T.
      assert (T' : (1 - h) * taylor (x - of_nat j * h) k <= taylor (x - of_nat j * h - h) k)
        by (apply T; nra).
      rewrite (taylor_compat (x - of_nat (S j) * h) (x - of_nat j * h - h))
        by (rewrite Es; ring).
      assert (IH' := IH ltac:(lia)). simpl. nra. }
  specialize (J n (Nat.le_refl n)). rewrite (taylor_at_zero (x - of_nat n * h)) in J by lra.
  exact J.
Qed.

Lemma at_most_exp_smaller r s x : s <= r -> at_most_exp r x -> at_most_exp s x.
Proof.
  intros H E n Hn Hx. specialize (E n Hn Hx). pose proof (of_nat_positive n Hn) as Hp.
  assert (0 <= 1 - x / of_nat n).
  { assert (x / of_nat n <= 1); [|lra]. apply Qle_shift_div_r; lra. }
  pose proof (power_nonneg (1 - x / of_nat n) n H0). nra.
Qed.

(** Squaring goes from half of x to x. *)
Lemma square_at_most_exp r x : 0 <= x -> 0 <= r -> at_most_exp r (x / 2) -> at_most_exp (r * r) x.
Proof.
  intros Hx Hr E n Hn Hxn. pose proof (of_nat_positive n Hn) as Hp.
  assert (Hh : x / 2 <= of_nat n).
  { assert (x / 2 <= x); [|lra]. apply Qle_shift_div_r; lra. }
  specialize (E n Hn Hh).
  set (h := x / 2 / of_nat n) in *.
  assert (Eh : of_nat n * h == x / 2) by (unfold h; field; lra).
  assert (Ex : x / of_nat n == 2 * h) by (unfold h; field; lra).
  rewrite (power_compat (1 - x / of_nat n) (1 - 2 * h)) by (rewrite Ex; reflexivity).
  assert (X2 : x / 2 == x * (1 # 2)) by (unfold Qdiv; reflexivity).
  assert (H0 : 0 <= h) by nra.
  assert (H1 : h <= 1 # 2) by nra.
  assert (P : power (1 - 2 * h) n <= power ((1 - h) * (1 - h)) n)
    by (apply power_monotone; split; nra).
  rewrite power_of_product in P.
  pose proof (power_nonneg (1 - h) n) as N. assert (N' : 0 <= power (1 - h) n) by (apply N; lra).
  set (y := power (1 - h) n) in *.
  assert (S : r * y * (r * y) <= 1).
  { assert (0 <= r * y) by nra. nra. }
  assert (r * r * power (1 - 2 * h) n <= r * r * (y * y)) by nra. lra.
Qed.

(** The loop: the next term rounded down, until it is 0 or somebody stops it. *)
Fixpoint series (fuel : nat) (small : Q) (count : nat) (term summed : Z) : Z :=
  match fuel with
  | O => summed
  | S rest =>
      if (term =? 0)%Z then summed
      else let next := (term * Qnum small / (Z.pos (Qden small) * Z.of_nat (S count)))%Z in
           series rest small (S count) next (summed + next)
  end.

Fixpoint squared (times : nat) (scale summed : Z) : Z :=
  match times with
  | O => summed
  | S rest => squared rest scale (summed * summed / scale)
  end.

Fixpoint halved (times : nat) (x : Q) : Q :=
  match times with
  | O => x
  | S rest => halved rest x / 2
  end.

(** [exp_below], for any number of halvings, any scale and any number of terms. *)
Definition exp_below (fuel halvings : nat) (scale : Z) (x : Q) : Q :=
  inject_Z (squared halvings scale (series fuel (halved halvings x) 0 scale scale))
  / inject_Z scale.

Lemma floor_below a b : (0 < b)%Z -> inject_Z (a / b) * inject_Z b <= inject_Z a.
Proof. intros H. rewrite <- inject_Z_mult, <- Zle_Qle. pose proof (Z.mul_div_le a b H). lia. Qed.

Lemma series_is_below fuel : forall scale small count term summed,
  (0 < scale)%Z -> 0 <= small -> (0 <= term)%Z -> (0 <= summed)%Z ->
  inject_Z term <= inject_Z scale * taylor_term small count ->
  inject_Z summed <= inject_Z scale * taylor small count ->
  (0 <= series fuel small count term summed)%Z /\
  exists k, inject_Z (series fuel small count term summed) <= inject_Z scale * taylor small k.
Proof.
  induction fuel as [|fuel IH]; intros scale small count term summed Hs Hx Ht Hm T S; cbn [series].
  - split; [auto|]. now exists count.
  - destruct (term =? 0)%Z; [split; [auto|]; now exists count|].
    set (bottom := (Z.pos (Qden small) * Z.of_nat (Datatypes.S count))%Z).
    assert (Hb : (0 < bottom)%Z) by (unfold bottom; lia).
    assert (Hnum : (0 <= Qnum small)%Z) by (unfold Qle in Hx; simpl in Hx; lia).
    set (next := (term * Qnum small / bottom)%Z). cbv zeta.
    assert (Hn : (0 <= next)%Z) by (apply Z.div_pos; nia).
    assert (Hpos := positive_inject scale Hs).
    assert (Hbq := positive_inject bottom Hb).
    assert (Next : inject_Z next <= inject_Z scale * taylor_term small (Datatypes.S count)).
    { pose proof (floor_below (term * Qnum small) bottom Hb) as F. fold next in F.
      rewrite inject_Z_mult in F.
      assert (Eb : inject_Z bottom == inject_Z (Z.pos (Qden small)) * of_nat (Datatypes.S count))
        by (unfold bottom, of_nat; now rewrite inject_Z_mult).
      pose proof (fraction_times_bottom small) as En.
      pose proof (taylor_term_next small count) as Et.
      assert (Hd : 0 < inject_Z (Z.pos (Qden small))) by (apply positive_inject; lia).
      apply Qmult_le_r with (z := inject_Z bottom); [auto|].
      apply Qle_trans with (inject_Z term * inject_Z (Qnum small)); [exact F|].
      rewrite <- En, Eb.
      setoid_replace (inject_Z scale * taylor_term small (Datatypes.S count)
        * (inject_Z (Z.pos (Qden small)) * of_nat (Datatypes.S count)))
        with (inject_Z scale * inject_Z (Z.pos (Qden small))
              * (of_nat (Datatypes.S count) * taylor_term small (Datatypes.S count))) by ring.
      rewrite Et.
      assert (M : inject_Z term * (small * inject_Z (Z.pos (Qden small)))
                  <= inject_Z scale * taylor_term small count
                     * (small * inject_Z (Z.pos (Qden small)))).
      { apply Qmult_le_compat_r; [exact T|]. nra. }
      setoid_replace (inject_Z scale * inject_Z (Z.pos (Qden small))
                      * (taylor_term small count * small))
        with (inject_Z scale * taylor_term small count
              * (small * inject_Z (Z.pos (Qden small)))) by ring.
      exact M. }
    apply IH; auto; [lia|].
    rewrite inject_Z_plus.
    change (taylor small (Datatypes.S count))
      with (taylor small count + taylor_term small (Datatypes.S count)). lra.
Qed.

Lemma halved_nonneg n x : 0 <= x -> 0 <= halved n x.
Proof. intros H. induction n; simpl; [auto|]. apply Qle_shift_div_l; lra. Qed.

Lemma squared_is_below n : forall scale summed x,
  (0 < scale)%Z -> 0 <= x -> (0 <= summed)%Z ->
  at_most_exp (inject_Z summed / inject_Z scale) (halved n x) ->
  at_most_exp (inject_Z (squared n scale summed) / inject_Z scale) x.
Proof.
  induction n as [|n IH]; intros scale summed x Hs Hx Hm E; simpl in *; [exact E|].
  assert (Hpos := positive_inject scale Hs).
  apply IH; auto; [apply Z.div_pos; nia|].
  assert (Q0 : 0 <= inject_Z summed / inject_Z scale).
  { apply Qle_shift_div_l; [auto|]. rewrite Qmult_0_l. change 0 with (inject_Z 0).
    now rewrite <- Zle_Qle. }
  apply at_most_exp_smaller
    with (r := inject_Z summed / inject_Z scale * (inject_Z summed / inject_Z scale)).
  - pose proof (floor_below (summed * summed) scale Hs) as F. rewrite inject_Z_mult in F.
    apply Qle_shift_div_r; [auto|].
    apply Qmult_le_r with (z := inject_Z scale); [auto|].
    apply Qle_trans with (inject_Z summed * inject_Z summed); [exact F|].
    assert (X : inject_Z summed / inject_Z scale * (inject_Z summed / inject_Z scale)
                * inject_Z scale * inject_Z scale == inject_Z summed * inject_Z summed)
      by (field; lra).
    rewrite X. apply Qle_refl.
  - apply square_at_most_exp; auto. now apply halved_nonneg.
Qed.

(** The rational that stands for e^x is at most e^x. *)
Theorem exp_below_is_below fuel halvings scale x :
  (0 < scale)%Z -> 0 <= x -> at_most_exp (exp_below fuel halvings scale x) x.
Proof.
  intros Hs Hx. unfold exp_below. assert (Hpos := positive_inject scale Hs).
  pose proof (halved_nonneg halvings x Hx) as Hh.
  destruct (series_is_below fuel scale (halved halvings x) 0 scale scale) as [N [k K]];
    auto; try lia; try (simpl; lra).
  apply squared_is_below; auto.
  apply at_most_exp_smaller with (r := taylor (halved halvings x) k).
  - apply Qle_shift_div_r; [auto|]. rewrite Qmult_comm. exact K.
  - now apply taylor_at_most_exp.
Qed.

(** What passes with that rational is (epsilon, delta)-private with the true exponential: for every
    N, P(A) - delta <= (1 - epsilon/N)^(-N) Q(A), and in the limit P(A) <= e^epsilon Q(A) + delta. *)
Theorem checker_implies_epsilon_delta whole ratio epsilon delta p q :
  at_most_exp ratio epsilon -> checked whole p = true -> checked whole q = true ->
  passes [condition_of whole (ratio, delta)] p q = true ->
  forall A n, (0 < n)%nat -> epsilon <= of_nat n ->
    (mass A (probabilities whole p) - delta) * power (1 - epsilon / of_nat n) n
      <= mass A (probabilities whole q) /\
    (mass A (probabilities whole q) - delta) * power (1 - epsilon / of_nat n) n
      <= mass A (probabilities whole p).
Proof.
  intros HE Hp Hq H A n Hn Hxn.
  destruct (checker_implies_the_promise whole ratio delta ratio p q (Qle_refl _) Hp Hq H A)
    as [H1 H2].
  pose proof (mass_in_unit A _ (probabilities_distribution whole p Hp)) as [U1 _].
  pose proof (mass_in_unit A _ (probabilities_distribution whole q Hq)) as [U2 _].
  specialize (HE n Hn Hxn). pose proof (of_nat_positive n Hn) as Hpos.
  assert (B : 0 <= 1 - epsilon / of_nat n).
  { assert (epsilon / of_nat n <= 1); [|lra]. apply Qle_shift_div_r; lra. }
  pose proof (power_nonneg _ n B) as Y.
  set (y := power (1 - epsilon / of_nat n) n) in *. clearbody y.
  set (a := mass A (probabilities whole p)) in *. set (b := mass A (probabilities whole q)) in *.
  clearbody a b. split.
  - assert ((a - delta) * y <= ratio * b * y) by nra. nra.
  - assert ((b - delta) * y <= ratio * a * y) by nra. nra.
Qed.
