(* docs/proofs/moments.md: numbers that a row is divided into. *)
Require Import ZArith Lia Psatz List.
Import ListNotations.
Open Scope Z_scope.

Definition total := fold_right Z.add 0.

(* Lemma 1: the portions of a row are not negative, add up to W m, tell the value
   exactly, and its square to less than one step. *)
Lemma portions_of_a_row : forall W m k, 1 <= W -> 1 <= m -> 0 <= k <= W ->
  let p2 := (k * k * m) / W in
  let p1 := 2 * (k * m - p2) in
  let p0 := W * m - 2 * k * m + p2 in
  (0 <= p0 /\ 0 <= p1 /\ 0 <= p2) /\ p0 + p1 + p2 = W * m /\
  p1 + 2 * p2 = 2 * (k * m) /\ 0 <= k * k * m - W * p2 < W.
Proof.
  intros W m k HW Hm Hk p2 p1 p0.
  assert (E : k * k * m = W * p2 + (k * k * m) mod W) by (apply Z.div_mod; lia).
  assert (R : 0 <= (k * k * m) mod W < W) by (apply Z.mod_pos_bound; lia).
  assert (H2 : 0 <= p2) by (apply Z.div_pos; nia).
  assert (H1 : p2 <= k * m) by (apply Z.div_le_upper_bound; nia).
  assert (H0 : 0 <= p0).
  { assert (W * p0 = (W - k) * (W - k) * m - (k * k * m) mod W) by (unfold p0; nia).
    assert (0 <= (W - k) * (W - k) * m)
      by (apply Z.mul_nonneg_nonneg; [apply Z.square_nonneg | lia]).
    assert (G : W * (-1) < W * p0) by lia.
    apply Z.mul_lt_mono_pos_l in G; lia. }
  unfold p1; repeat split; unfold p0; lia.
Qed.

(* Lemma 1: the middle portion is at most W m / 2 and less than two more. *)
Lemma middle_portion : forall W m k, 1 <= W -> 1 <= m -> 0 <= k <= W ->
  2 * (2 * (k * m - (k * k * m) / W)) < W * m + 4.
Proof.
  intros W m k HW Hm Hk; set (p2 := (k * k * m) / W).
  assert (E : k * k * m = W * p2 + (k * k * m) mod W) by (apply Z.div_mod; lia).
  assert (R : 0 <= (k * k * m) mod W < W) by (apply Z.mod_pos_bound; lia).
  assert (0 <= (W - 2 * k) * (W - 2 * k) * m)
    by (apply Z.mul_nonneg_nonneg; [apply Z.square_nonneg | lia]).
  assert (Q : (W - 2 * k) * (W - 2 * k) * m
    = W * (W * m) - 4 * (W * (k * m)) + 4 * (k * k * m)) by ring.
  assert (W * (2 * (2 * (k * m - p2))) < W * (W * m + 4)) by nia.
  apply Z.mul_lt_mono_pos_l with W; lia.
Qed.

(* Lemma 1: the pair. *)
Lemma pair_adds_up : forall W m k, 1 <= m -> 0 <= k <= W ->
  0 <= (W - k) * m /\ 0 <= k * m /\ (W - k) * m + k * m = W * m.
Proof. intros. nia. Qed.

(* Lemma 2: numbers of a row that add up to R have squares of at most R^2. *)
Lemma squares_of_a_row : forall numbers, Forall (fun p => 0 <= p) numbers ->
  0 <= total numbers /\ total (map (fun p => p * p) numbers) <= total numbers * total numbers.
Proof. induction 1 as [|p numbers H _ [P IH]]; simpl; [lia|]. split; [lia|nia]. Qed.

(* Lemma 3: a a^2 + 2 b a b + c b^2 is nowhere negative for a, b >= 0 iff it is copositive. That the loss of the triple is
   this form is left to words. *)
Lemma copositive : forall a b c,
  (forall x y, 0 <= x -> 0 <= y -> 0 <= a * (x * x) + 2 * b * (x * y) + c * (y * y)) <->
  (0 <= a /\ 0 <= c /\ (0 <= b \/ b * b <= a * c)).
Proof.
  intros a b c. split.
  - intro H. assert (A : 0 <= a) by (specialize (H 1 0 ltac:(lia) ltac:(lia)); lia).
    assert (C : 0 <= c) by (specialize (H 0 1 ltac:(lia) ltac:(lia)); lia).
    repeat split; auto. destruct (Z_le_gt_dec 0 b) as [Hb|Hb]; [left; exact Hb|right].
    destruct (Z.eq_dec a 0) as [->|N].
    + specialize (H (c + 1) 1 ltac:(lia) ltac:(lia)). nia.
    + specialize (H (- b) a ltac:(lia) ltac:(lia)).
      assert (0 <= a * (a * c - b * b)) by nia.
      assert (0 <= a * c - b * b); [|lia]. apply (Zmult_le_0_reg_r a); lia.
  - intros (A & C & [Hb|D]) x y Hx Hy.
    + repeat apply Z.add_nonneg_nonneg; repeat apply Z.mul_nonneg_nonneg; lia.
    + destruct (Z.eq_dec a 0) as [->|N].
      * assert (b = 0) by nia. subst. simpl. nia.
      * apply (Zmult_le_0_reg_r a); [lia|].
        assert ((a * (x * x) + 2 * b * (x * y) + c * (y * y)) * a
                = (a * x + b * y) * (a * x + b * y) + (a * c - b * b) * (y * y)) as -> by ring.
        apply Z.add_nonneg_nonneg; [apply Z.square_nonneg|].
        apply Z.mul_nonneg_nonneg; [lia|apply Z.square_nonneg].
Qed.

(* Section 4, centred squares: W m less four times the middle portion is of size at most
   W m + 8. *)
Lemma size_of_centred_squares : forall W m k, 1 <= W -> 1 <= m -> 0 <= k <= W ->
  Z.abs (W * m - 4 * (2 * (k * m - (k * k * m) / W))) <= W * m + 8.
Proof.
  intros W m k HW Hm Hk. pose proof (middle_portion W m k HW Hm Hk).
  destruct (portions_of_a_row W m k HW Hm Hk) as ((_ & P & _) & _). lia.
Qed.

(* Lemma 6: of d groups a unit is in k; in these 1 - c is moved, in the others c. With
   c = a/b the squares add up to k (1 - 2 c) + d c^2. *)
Lemma squares_of_centred_counts : forall a b d k,
  k * ((b - a) * (b - a)) + (d - k) * (a * a) = k * (b * (b - 2 * a)) + d * (a * a).
Proof. intros; ring. Qed.

(* Lemma 6, with c = p / q: of the units in j <= k groups that in k moves the centred counts furthest, by
   k (1 - 2 c) + d c^2. *)
Lemma most_groups_cost_most : forall p q d j k, 0 <= p -> 2 * p <= q -> 0 <= j <= k ->
  j * ((q - p) * (q - p)) + (d - j) * (p * p) = j * (q * q - 2 * p * q) + d * (p * p) /\
  j * (q * q - 2 * p * q) + d * (p * p) <= k * (q * q - 2 * p * q) + d * (p * p).
Proof.
  intros p q d j k Hp Hq Hj. split; [ring|].
  assert (0 <= q * q - 2 * p * q) by nia. nia.
Qed.
