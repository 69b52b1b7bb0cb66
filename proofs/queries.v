(* docs/proofs/queries.md: what one protected unit can change.

   Counts are integers. What is left to words stands with each lemma; curves, tails
   and compositions are real analysis and are enclosed by the kernel instead. *)
Require Import ZArith Lia Psatz List Permutation Arith.
Import ListNotations.
Open Scope Z_scope.

Definition total := fold_right Z.add 0.
Definition squares xs := total (map (fun x => x * x) xs).
Definition each_within m := Forall (fun x => 0 <= x <= m).

(* Lemma 1, l1: at most so many entries, each of at most m. *)
Lemma sum_by_entries : forall m xs,
  each_within m xs -> total xs <= Z.of_nat (length xs) * m.
Proof.
  induction 1 as [|x xs H _ IH]; simpl total; simpl length; [lia|].
  rewrite Nat2Z.inj_succ; nia.
Qed.

(* Lemma 1, l2: the squares of entries of at most m are at most m times their sum. *)
Lemma squares_by_sum : forall m xs, each_within m xs -> squares xs <= m * total xs.
Proof.
  induction 1 as [|x xs H _ IH]; unfold squares in *; simpl; [lia | nia].
Qed.

(* Lemma 1, l2: as many entries of the largest size as fit, and the rest in one more. *)
Lemma squares_of_full_entries : forall m xs full rest,
  0 < m -> each_within m xs -> 0 <= full -> 0 <= rest <= m ->
  total xs <= full * m + rest -> squares xs <= full * (m * m) + m * rest.
Proof.
  intros m xs full rest Hm H Hf Hr Ht.
  pose proof (squares_by_sum m xs H); nia.
Qed.

(* Lemma 1: entries of one value of C, which add up to at most R. *)
Lemma squares_by_square : forall xs, Forall (fun x => 0 <= x) xs ->
  0 <= total xs /\ squares xs <= total xs * total xs.
Proof.
  induction 1 as [|x xs H _ [P IH]]; unfold squares in *; simpl; [lia|].
  split; [lia | nia].
Qed.

(* Lemma 1, l2: L values of C, in each of which the entries add up to at most R. *)
Lemma squares_by_values : forall R values, 0 <= R ->
  Forall (fun xs => Forall (fun x => 0 <= x) xs /\ total xs <= R) values ->
  total (map squares values) <= Z.of_nat (length values) * (R * R).
Proof.
  intros R values HR.
  induction 1 as [|xs values [H1 H2] _ IH]; simpl total; simpl length; [lia|].
  rewrite Nat2Z.inj_succ; destruct (squares_by_square xs H1); nia.
Qed.

(* Lemma 1, l0: the groups in which a unit has rows. That covers of more than two sets
   of columns multiply is the same step again. *)
Section Groups.
Variables row A B C : Type.
Variable eqA : forall x y : A, {x = y} + {x <> y}.
Variable eqB : forall x y : B, {x = y} + {x <> y}.
Variable eqC : forall x y : C, {x = y} + {x <> y}.
Definition eqAB : forall x y : A * B, {x = y} + {x <> y}.
Proof. decide equality. Defined.

Lemma groups_by_product : forall (f : row -> A) (g : row -> B) rows,
  (length (nodup eqAB (map (fun r => (f r, g r)) rows))
   <= length (nodup eqA (map f rows)) * length (nodup eqB (map g rows)))%nat.
Proof.
  intros; rewrite <- prod_length; apply NoDup_incl_length; [apply NoDup_nodup|].
  intros [a b] H; apply nodup_In in H; apply in_map_iff in H.
  destruct H as [r [E I]]; injection E as <- <-.
  apply in_prod; apply nodup_In; apply in_map; exact I.
Qed.

Lemma groups_by_determination : forall (f : row -> A) (h : A -> C) rows,
  (length (nodup eqC (map (fun r => h (f r)) rows))
   <= length (nodup eqA (map f rows)))%nat.
Proof.
  intros; rewrite <- (map_length h (nodup eqA (map f rows))).
  apply NoDup_incl_length; [apply NoDup_nodup|].
  intros c H; apply nodup_In in H; apply in_map_iff in H; destruct H as [r [<- I]].
  apply in_map; apply nodup_In; apply in_map; exact I.
Qed.

Lemma groups_by_rows : forall (f : row -> A) rows,
  (length (nodup eqA (map f rows)) <= length rows)%nat.
Proof.
  intros; rewrite <- (map_length f rows); apply NoDup_incl_length.
  - apply NoDup_nodup.
  - intros a H; apply nodup_In in H; exact H.
Qed.
End Groups.

(* Lemma 2: of the rows of a key, in the order of a hash, the first k are kept. One row
   more, at any place, moves at most one other row out. That hashes order rows is left
   to words. *)
Lemma one_row_more_moves_one_out : forall (T : Type) (k : nat) (a : list T) x b,
  exists came left, (length came <= 1)%nat /\ (length left <= 1)%nat /\
  Permutation (firstn k (a ++ x :: b) ++ left) (firstn k (a ++ b) ++ came).
Proof.
  intros T k a x b; rewrite !firstn_app; generalize (firstn k a) as A; intro A.
  destruct (k - length a)%nat as [|j].
  - exists [], []; simpl; auto.
  - rewrite firstn_cons; destruct (Nat.le_gt_cases (length b) j) as [G|G].
    + exists [x], [].
      rewrite (firstn_all2 b G), (@firstn_all2 T (S j) b) by lia.
      split; [simpl; lia|]; split; [simpl; lia|].
      rewrite app_nil_r, <- app_assoc.
      apply Permutation_app_head, Permutation_cons_append.
    + destruct (nth_error b j) as [y|] eqn:N; [|apply nth_error_None in N; lia].
      assert (S1 : firstn (S j) b = firstn j b ++ [y]).
      { clear -N; revert j N; induction b as [|c b IH]; intros [|j] N; try discriminate N.
        - injection N as ->; reflexivity.
        - change (c :: firstn (S j) b = (c :: firstn j b) ++ [y]).
          rewrite (IH j N); reflexivity. }
      exists [x], [y]; rewrite S1; split; [simpl; lia|]; split; [simpl; lia|].
      rewrite <- !app_assoc; apply Permutation_app_head; rewrite app_assoc.
      change ((x :: firstn j b) ++ [y]) with (x :: (firstn j b ++ [y])).
      apply Permutation_cons_append.
Qed.

(* Lemma 2, KeepUnique: a key keeps its row while it has one alone. One row more adds
   the row, takes one away, or does nothing. *)
Definition kept_alone (T : Type) (rows : list T) :=
  match rows with [r] => [r] | _ => [] end.
Lemma unique_rows_move_by_one : forall (T : Type) (a : list T) x b,
  let before := length (kept_alone T (a ++ b)) in
  let after := length (kept_alone T (a ++ x :: b)) in
  (before <= 1 /\ after <= 1 /\ before + after <= 1)%nat.
Proof.
  intros T [|y [|z a]] x [|c [|d b]]; simpl; lia.
Qed.

(* Lemmas 3 and 11: what is made of the rows of each id by itself is the same for all
   others, whatever rows one id adds. *)
Section Ids.
Variables row made : Type.
Variable id : row -> nat.
Variable make : list row -> list made.
Definition of_id i rows := filter (fun r => Nat.eqb (id r) i) rows.
Definition made_of (ids : list nat) rows := map (fun i => make (of_id i rows)) ids.
Lemma other_ids_stay : forall who new rows ids,
  Forall (fun r => id r = who) new -> ~ In who ids ->
  made_of ids (rows ++ new) = made_of ids rows.
Proof.
  intros who new rows ids H N; unfold made_of; apply map_ext_in; intros i I.
  f_equal; unfold of_id; rewrite filter_app.
  assert (filter (fun r => Nat.eqb (id r) i) new = []) as ->; [|apply app_nil_r].
  induction H as [|r new E _ IH]; simpl; [reflexivity|].
  destruct (Nat.eqb_spec (id r) i); [subst; contradiction | exact IH].
Qed.
End Ids.

(* Lemma 4, one key: pairs of rows that meet, before and after. *)
Lemma pairs_of_a_key : forall l r l' r' tl tr,
  0 <= l <= tl -> 0 <= l' <= tl -> 0 <= r <= tr -> 0 <= r' <= tr ->
  Z.abs (l * r - l' * r') <= tr * Z.abs (l - l') + tl * Z.abs (r - r').
Proof. intros; nia. Qed.

(* Lemma 4, all keys. That rows which differ are at most these sums, key by key, is
   left to words: rows of a join are pairs. *)
Definition side := (Z * Z)%type.
Definition moved (s : side) := Z.abs (fst s - snd s).
Lemma pairs_of_all_keys : forall tl tr (keys : list (side * side)),
  0 <= tl -> 0 <= tr ->
  Forall (fun '((l, l'), (r, r')) =>
    0 <= l <= tl /\ 0 <= l' <= tl /\ 0 <= r <= tr /\ 0 <= r' <= tr) keys ->
  total (map (fun '((l, l'), (r, r')) => Z.abs (l * r - l' * r')) keys)
  <= tr * total (map (fun key => moved (fst key)) keys)
     + tl * total (map (fun key => moved (snd key)) keys).
Proof.
  intros tl tr keys Ht Hr.
  induction 1 as [|[[l l'] [r r']] keys (A & B & C & D) _ IH]; simpl; [lia|].
  pose proof (pairs_of_a_key l r l' r' tl tr A B C D).
  unfold moved in *; simpl in *; nia.
Qed.

(* Lemma 5: pairs of rows of one id; in all, and in one group of the left side. *)
Lemma pairs_of_an_id : forall nl nr l r,
  0 <= l <= nl -> 0 <= r <= nr -> l * r <= nl * nr.
Proof. intros; nia. Qed.

Fact total_times : forall r xs, total (map (fun x => x * r) xs) = total xs * r.
Proof. induction xs; simpl; lia. Qed.

Lemma pairs_of_an_id_in_a_group : forall most nr r each,
  0 <= r <= nr -> Forall (fun x => 0 <= x) each -> total each <= most ->
  total (map (fun x => x * r) each) <= most * nr.
Proof.
  intros most nr r each Hr H Hm; rewrite total_times.
  destruct (squares_by_square each H); nia.
Qed.

(* Lemma 7: the distances of a clamped value to both ends are not negative, add up to
   the width, and tell the value. *)
Lemma distances_to_both_ends : forall low high x,
  low <= high -> let k := Z.max low (Z.min x high) in
  0 <= k - low /\ 0 <= high - k /\ (k - low) + (high - k) = high - low.
Proof. intros; lia. Qed.

(* Lemma 13: every part of a sum of n integers of at most m is at most n m in size, so
   below 2^53 no double rounds, in any order. That such doubles add exactly is IEEE
   754's promise, left to words. *)
Lemma parts_of_a_sum : forall m xs, 0 <= m -> Forall (fun x => Z.abs x <= m) xs ->
  Z.abs (total xs) <= Z.of_nat (length xs) * m.
Proof.
  intros m xs Hm; induction 1 as [|x xs H _ IH]; simpl total; simpl length; [lia|].
  rewrite Nat2Z.inj_succ; lia.
Qed.
