(* docs/proofs/selection.md, claim 1. *)
Require Import ZArith Lia Psatz List.
Import ListNotations.
Open Scope Z_scope.

Definition total := fold_right Z.add 0.

(* Claim 1 (odds): outcomes have weights fst under P and snd under Q. If P(i) Q(j) <= K Q(i) P(j) for each i in S and each
   j outside, the same holds of S and its complement. Finite sets and rational weights; the rest is left to words. *)
Lemma odds_of_an_event : forall K inside outside,
  (forall i j, In i inside -> In j outside -> fst i * snd j <= K * (snd i * fst j)) ->
  total (map fst inside) * total (map snd outside) <= K * (total (map snd inside) * total (map fst outside)).
Proof.
  intros K inside outside H. induction inside as [|i inside IH]; simpl; [lia|].
  assert (A : fst i * total (map snd outside) <= K * (snd i * total (map fst outside))).
  { clear IH. induction outside as [|j outside IH]; simpl; [lia|].
    assert (fst i * snd j <= K * (snd i * fst j)) by (apply H; simpl; auto).
    assert (fst i * total (map snd outside) <= K * (snd i * total (map fst outside)))
      by (apply IH; intros x y X Y; apply H; simpl in *; auto).
    nia. }
  assert (total (map fst inside) * total (map snd outside) <= K * (total (map snd inside) * total (map fst outside)))
    by (apply IH; intros x y X Y; apply H; simpl; auto).
  nia.
Qed.
