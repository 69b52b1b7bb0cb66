(* docs/proofs/units.md: neighbours in which rows leave and others come. *)
Require Import ZArith Lia Psatz List.
Import ListNotations.
Open Scope Z_scope.

Definition total := fold_right Z.add 0.
Definition squares xs := total (map (fun x => x * x) xs).

(* Lemma 1, one entry: u comes and v leaves. *)
Lemma what_comes_and_leaves : forall u v, 0 <= u -> 0 <= v ->
  (u - v) * (u - v) <= u * u + v * v /\ Z.abs (u - v) <= Z.max u v /\
  Z.abs (u - v) <= u + v.
Proof. intros; repeat split; nia. Qed.

(* Lemma 1, l2: sums of at most e come and sums of at most e leave, so the squares of
   the changes are at most 2 e^2. *)
Lemma squares_of_changes : forall e (entries : list (Z * Z)), 0 <= e ->
  Forall (fun '(u, v) => 0 <= u /\ 0 <= v) entries ->
  total (map fst entries) <= e -> total (map snd entries) <= e ->
  squares (map (fun '(u, v) => u - v) entries) <= 2 * (e * e).
Proof.
  intros e entries He H Hu Hv.
  assert (I : squares (map (fun '(u, v) => u - v) entries)
      <= squares (map fst entries) + squares (map snd entries)
    /\ 0 <= total (map fst entries) /\ 0 <= total (map snd entries)
    /\ squares (map fst entries) <= total (map fst entries) * total (map fst entries)
    /\ squares (map snd entries) <= total (map snd entries) * total (map snd entries)).
  { clear Hu Hv; induction H as [|[u v] l [U V] _ (A & B & C & D & E)];
      unfold squares in *; simpl; [lia|].
    repeat split; nia. }
  destruct I as (A & B & C & D & E); nia.
Qed.

(* Lemma 2 (a), (b): a value moves from one step of a range of w to another, d apart; the
   middle portion, 2 t (w - t) of w^2, moves with slope at most w - d. *)
Lemma slope_of_the_middle : forall w t s, 0 <= t <= w -> 0 <= s <= w ->
  Z.abs (w - t - s) <= w - Z.abs (t - s).
Proof. intros; lia. Qed.

(* Lemma 2 (b): d + 2 d (1 - d) is at most 9/8. *)
Lemma both_numbers_added : forall w d, 0 <= d <= w ->
  8 * (d * w + 2 * d * (w - d)) <= 9 * w * w.
Proof.
  intros w d _; pose proof (Z.square_nonneg (4 * d - 3 * w)).
  assert (9 * w * w - 8 * (d * w + 2 * d * (w - d))
    = (4 * d - 3 * w) * (4 * d - 3 * w)) by ring.
  lia.
Qed.

(* Lemma 2 (b): d^2 + 4 d^2 (1 - d)^2 is at most 1; x stands for w - d. *)
Lemma both_numbers_squared : forall d x, 0 <= d -> 0 <= x ->
  let w := d + x in
  d * d * (w * w) + 4 * (d * d) * (x * x) <= w * w * (w * w).
Proof.
  intros d x Hd Hx w; unfold w.
  assert (0 <= d * d * d) by (repeat apply Z.mul_nonneg_nonneg; assumption).
  assert (0 <= d * d * x) by (repeat apply Z.mul_nonneg_nonneg; assumption).
  assert (0 <= d * (x * x)) by (repeat apply Z.mul_nonneg_nonneg; assumption).
  assert (0 <= x * x * x) by (repeat apply Z.mul_nonneg_nonneg; assumption).
  assert (0 <= x * (2 * (d * d * d) + d * d * x + 4 * (d * (x * x)) + x * x * x))
    by (apply Z.mul_nonneg_nonneg; lia).
  assert (d * d * ((d + x) * (d + x)) + 4 * (d * d) * (x * x)
    = (d + x) * (d + x) * ((d + x) * (d + x))
      - x * (2 * (d * d * d) + d * d * x + 4 * (d * (x * x)) + x * x * x)) by ring.
  lia.
Qed.
