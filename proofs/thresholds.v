(* docs/proofs/thresholds.md: numbers that are rounded to a grid before the noise. *)
Require Import ZArith Lia Psatz.
Open Scope Z_scope.

(* Section 3: rounding to multiples of u, halves upwards, keeps the order and moves a
   distance to at most the next multiple of u. *)
Definition round_to (u x : Z) := u * ((2 * x + u) / (2 * u)).
Lemma rounding_moves_less_than_a_step : forall u x y, 0 < u -> x <= y ->
  0 <= round_to u y - round_to u x <= u * ((y - x + u - 1) / u).
Proof.
  intros u x y Hu Hxy; unfold round_to; set (n := (y - x + u - 1) / u).
  assert (D : y - x <= u * n).
  { pose proof (Z.div_mod (y - x + u - 1) u ltac:(lia)).
    pose proof (Z.mod_pos_bound (y - x + u - 1) u Hu); unfold n; nia. }
  assert (A : (2 * x + u) / (2 * u) <= (2 * y + u) / (2 * u))
    by (apply Z.div_le_mono; lia).
  assert (B : (2 * y + u) / (2 * u) <= (2 * x + u + n * (2 * u)) / (2 * u))
    by (apply Z.div_le_mono; nia).
  rewrite Z.div_add in B by lia; nia.
Qed.

(* Section 3: rounding is monotone. *)
Lemma rounding_is_monotone : forall u x y, 0 < u -> x <= y -> round_to u x <= round_to u y.
Proof.
  intros u x y Hu H. unfold round_to. apply Z.mul_le_mono_nonneg_l; [lia|]. apply Z.div_le_mono; lia.
Qed.

(* Section 3: rounding moves along with multiples of the step. *)
Lemma rounding_moves_along : forall u x n, 0 < u -> round_to u (x + n * u) = round_to u x + n * u.
Proof.
  intros u x n Hu. unfold round_to. replace (2 * (x + n * u) + u) with (2 * x + u + n * (2 * u)) by ring.
  rewrite Z.div_add by lia. ring.
Qed.

(* Section 3: the next multiple of u is less than one step away. *)
Lemma next_multiple : forall u d, 0 < u -> d <= u * ((d + u - 1) / u) <= d + u - 1.
Proof.
  intros u d Hu. pose proof (Z.div_mod (d + u - 1) u ltac:(lia)).
  pose proof (Z.mod_pos_bound (d + u - 1) u Hu). nia.
Qed.
