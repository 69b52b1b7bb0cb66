(* docs/proofs/limits.md, lemma 1. *)
Require Import ZArith Lia Psatz List.
Import ListNotations.
Open Scope Z_scope.

Definition total := fold_right Z.add 0.

(* Lemma 1: an id keeps v = min(g, G) / G of S_r rows on average, S_r the sum of min(r, c_j) over its G groups; times G, v
   lies between 0 and g r. *)
Lemma kept_on_average : forall g r rows, 0 <= g -> 0 <= r -> Forall (fun c => 0 <= c) rows ->
  let G := Z.of_nat (length rows) in let S := total (map (Z.min r) rows) in
  0 <= Z.min g G * S <= G * (g * r).
Proof.
  intros g r rows Hg Hr H G S.
  assert (B : 0 <= S <= G * r).
  { unfold S, G. induction H as [|c rows A _ IH]; simpl length; cbn [map total fold_right]; [lia|].
    change (fold_right Z.add 0 (map (Z.min r) rows)) with (total (map (Z.min r) rows)).
    rewrite Nat2Z.inj_succ, Z.mul_succ_l.
    assert (0 <= Z.min r c <= r) by lia. destruct IH. split; lia. }
  assert (0 <= G) by (unfold G; lia). assert (0 <= Z.min g G) by lia.
  split; [apply Z.mul_nonneg_nonneg; lia|].
  replace (G * (g * r)) with (g * (G * r)) by ring.
  apply Z.mul_le_mono_nonneg; lia.
Qed.
