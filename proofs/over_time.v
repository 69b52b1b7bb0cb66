(* docs/proofs/over-time.md, lemma 1: inner products of two columns of C, for factors f
   that never rise. n is the number of periods that both columns reach. *)
Require Import ZArith Lia Psatz.
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
End Columns.
