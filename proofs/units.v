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

(* Lemma 1: rows that come add fst to an entry, those that leave take snd away, each at most most = e m s in all. No entry
   moves by more than most, all together by 2 most, their squares by 2 most^2. *)
Lemma changes_in_each_norm : forall most entries,
  Forall (fun q => 0 <= fst q /\ 0 <= snd q) entries ->
  total (map fst entries) <= most -> total (map snd entries) <= most ->
  Forall (fun q => Z.abs (fst q - snd q) <= most) entries /\
  total (map (fun q => Z.abs (fst q - snd q)) entries) <= 2 * most /\
  total (map (fun q => (fst q - snd q) * (fst q - snd q)) entries) <= 2 * (most * most).
Proof.
  intros most entries H U V.
  assert (N : 0 <= total (map fst entries) /\ 0 <= total (map snd entries)).
  { clear U V. induction H as [|[u v] entries [A C] _ [P Q]]; simpl in *; lia. }
  assert (S : total (map (fun q => Z.abs (fst q - snd q)) entries) <= total (map fst entries) + total (map snd entries)).
  { clear U V N. induction H as [|[u v] entries [A C] _ IH]; simpl in *; lia. }
  assert (Q : total (map (fun q => (fst q - snd q) * (fst q - snd q)) entries)
              <= total (map fst entries) * total (map fst entries) + total (map snd entries) * total (map snd entries)).
  { clear U V N S. induction H as [|[u v] entries [A C] F IH]; simpl in *; [lia|].
    assert (0 <= total (map fst entries) /\ 0 <= total (map snd entries)).
    { clear IH. induction F as [|[x y] entries [P R] _ [J K]]; simpl in *; lia. } nia. }
  split; [|split; nia].
  clear S Q N. revert U V. generalize most as b. intro b.
  induction H as [|[u v] entries [A C] F IH]; intros U V; constructor; simpl in *.
  - assert (0 <= total (map fst entries) /\ 0 <= total (map snd entries)).
    { clear IH U V. induction F as [|[x y] entries [P R] _ [J K]]; simpl in *; lia. } lia.
  - apply IH; lia.
Qed.

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

(* Lemma 2 (b): 2 d (1 - d) <= 1/2. *)
Lemma larger_entry : forall w d, 4 * (d * (w - d)) <= w * w.
Proof.
  intros w d. pose proof (Z.square_nonneg (w - 2 * d)).
  replace (w * w) with (4 * (d * (w - d)) + (w - 2 * d) * (w - 2 * d)) by ring. lia.
Qed.

(* AddMaxTotal: touched rows change whole numbers by 1 or more, so at most T rows are touched. *)
Lemma touched_rows : forall T changes, Forall (fun x => 1 <= x) changes -> total changes <= T ->
  Z.of_nat (length changes) <= T.
Proof.
  intros T changes H S. assert (Z.of_nat (length changes) <= total changes); [|lia].
  clear S. induction H as [|x changes A _ IH]; simpl total; simpl length; [lia|]. rewrite Nat2Z.inj_succ. lia.
Qed.

(* Lemma 3: the sum of c in a group moves by at most the changes of the rows that end there; fst and snd are the numbers
   of a row in the two databases, 0 where the row is in one of them alone. *)
Lemma a_weighed_sum : forall rows,
  Z.abs (total (map fst rows) - total (map snd rows)) <= total (map (fun q => Z.abs (fst q - snd q)) rows).
Proof. induction rows as [|[a b] rows IH]; simpl in *; lia. Qed.

(* Lemma 3: a number in [0, 1] of a touched row changes by at most what the row's whole number changes by. *)
Lemma a_flag_of_a_touched_row : forall f g v w, 0 <= f <= 1 -> 0 <= g <= 1 -> v <> w -> Z.abs (f - g) <= Z.abs (v - w).
Proof. intros. lia. Qed.

(* Lemma 4: numbers that are there are 1 or more, and 0 stands for a row that is not there. Cut off at h they come no
   further apart, and none is more than it was; for them that is a clamp to [l, h] with any l <= 1. *)
Lemma a_clamp_that_keeps_nothing : forall l h v w, l <= 1 <= h -> 0 <= v -> 0 <= w ->
  Z.abs (Z.min v h - Z.min w h) <= Z.abs (v - w) /\ 0 <= Z.min v h <= v /\
  (1 <= v -> Z.max l (Z.min v h) = Z.min v h).
Proof. intros. lia. Qed.
