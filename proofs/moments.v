(* docs/proofs/moments.md: numbers that a row is divided into. *)
Require Import ZArith Lia Psatz.
Open Scope Z_scope.

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

(* Lemma 6: of d groups a unit is in k; in these 1 - c is moved, in the others c. With
   c = a/b the squares add up to k (1 - 2 c) + d c^2. *)
Lemma squares_of_centred_counts : forall a b d k,
  k * ((b - a) * (b - a)) + (d - k) * (a * a) = k * (b * (b - 2 * a)) + d * (a * a).
Proof. intros; ring. Qed.
