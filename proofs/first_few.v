(* docs/proofs/first-few.md: how far the scores of two groups move apart. *)
Require Import ZArith Lia.
Open Scope Z_scope.

(* Where all scores move one way, by at most m each, their differences move by m. *)
Lemma width_of_one_sign : forall a b m,
  0 <= a <= m -> 0 <= b <= m -> Z.abs (a - b) <= m.
Proof. intros; lia. Qed.

(* Any change moves differences by at most twice its largest entry, and its sum. *)
Lemma width_of_any_sign : forall a b m n,
  Z.abs a <= m -> Z.abs b <= m -> Z.abs a + Z.abs b <= n ->
  Z.abs (a - b) <= 2 * m /\ Z.abs (a - b) <= n.
Proof. intros; lia. Qed.
