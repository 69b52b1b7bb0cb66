(* docs/proofs/over-time.md, lemma 1: inner products of two columns of C, for factors f
   that never rise. n is the number of periods that both columns reach. *)
Require Import ZArith Lia Psatz List.
Open Scope Z_scope.

Section Columns.
Variable f : nat -> Z.
Hypothesis positive : forall t, 0 <= f t.
Hypothesis never_rises : forall t, f (S t) <= f t.

Fixpoint inner (n gap : nat) : Z :=
  match n with O => 0 | S t => f (t + gap) * f t + inner t gap end.

Lemma inner_is_positive : forall n gap, 0 <= inner n gap.
Proof.
  induction n as [|n IH]; intros; simpl; [lia|].
  specialize (IH gap); pose proof (positive (n + gap)); pose proof (positive n); nia.
Qed.

(* It falls with the gap between the columns. *)
Lemma inner_falls_with_the_gap : forall n gap, inner n (S gap) <= inner n gap.
Proof.
  induction n as [|n IH]; intros; simpl; [lia|].
  specialize (IH gap); pose proof (positive n).
  replace (n + S gap)%nat with (S (n + gap)) by lia.
  pose proof (never_rises (n + gap)); nia.
Qed.

(* It falls with the later column, of which fewer periods are left. *)
Lemma inner_falls_with_the_place : forall n gap, inner n gap <= inner (S n) gap.
Proof.
  intros; simpl; pose proof (positive (n + gap)); pose proof (positive n); nia.
Qed.
Fact inner_falls : forall n n' gap gap', (n' <= n)%nat -> (gap <= gap')%nat ->
  inner n' gap' <= inner n gap.
Proof.
  intros n n' gap gap' N G. apply Z.le_trans with (inner n' gap).
  - induction G; [lia|]. pose proof (inner_falls_with_the_gap n' m). lia.
  - clear G. induction N; [lia|]. pose proof (inner_falls_with_the_place m gap). lia.
Qed.

Fixpoint sum n (terms : nat -> Z) := match n with O => 0 | S k => sum k terms + terms k end.

Fact sum_is_monotone : forall n g h,
  (forall i, (i < n)%nat -> g i <= h i) -> sum n g <= sum n h.
Proof.
  induction n; simpl; intros g h H; [lia|]. pose proof (H n ltac:(lia)).
  assert (sum n g <= sum n h) by (apply IHn; intros; apply H; lia). lia.
Qed.

(* The inner product of columns a and b of T: the later one has T - max(a, b) periods. *)
Variable T : nat.
Definition of_columns a b := inner (T - Nat.max a b) (Nat.max a b - Nat.min a b).

Fact columns_rise : forall column : nat -> nat, (forall i, (column i < column (S i))%nat) ->
  forall i j, (i <= j)%nat -> (column i + (j - i) <= column j)%nat.
Proof. intros column H i j L. induction L; [lia|]. specialize (H m). lia. Qed.

(* Of all sets of k columns of one block the first k have the greatest sum of inner
   products, s_k^2. That an extreme point is the worst (convexity) is left to words. *)
Lemma first_columns_are_the_worst : forall column k,
  (forall i, (column i < column (S i))%nat) ->
  sum k (fun i => sum k (fun j => of_columns (column i) (column j)))
  <= sum k (fun i => sum k (fun j => of_columns i j)).
Proof.
  intros column k H. apply sum_is_monotone. intros i _. apply sum_is_monotone. intros j _.
  pose proof (columns_rise column H 0 i ltac:(lia)).
  pose proof (columns_rise column H 0 j ltac:(lia)).
  unfold of_columns. apply inner_falls.
  - lia.
  - destruct (Nat.le_ge_cases i j) as [L|L];
      [pose proof (columns_rise column H i j L)|pose proof (columns_rise column H j i L)]; lia.
Qed.
End Columns.

(* Lemma 1, several blocks: with k_b columns in block b, s_k^2 <= k M adds up to at most M times all of them. *)
Lemma columns_of_several_blocks : forall (s : nat -> Z) (M : Z) (blocks : list nat), (forall k, s k <= Z.of_nat k * M) ->
  fold_right Z.add 0 (List.map s blocks) <= Z.of_nat (fold_right Nat.add 0%nat blocks) * M.
Proof. intros s M blocks H. induction blocks as [|k blocks IH]; simpl; [lia|]. specialize (H k). rewrite Nat2Z.inj_add. lia. Qed.
