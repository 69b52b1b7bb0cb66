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

Fact sum_not_negative : forall xs, Forall (fun x => 0 <= x) xs -> 0 <= total xs.
Proof. induction 1; simpl; lia. Qed.

(* Lemma 1, l2: the squares are at most those of k full entries and the rest in one more,
   whatever the number of entries. *)
Lemma squares_when_filled : forall linf xs, 0 < linf -> Forall (fun x => 0 <= x <= linf) xs ->
  forall k rest, 0 <= k -> 0 <= rest < linf -> total xs <= k * linf + rest ->
  squares xs <= k * (linf * linf) + rest * rest.
Proof.
  intros linf xs Hl H. induction H as [|x xs Hx F IH]; intros k rest Hk Hr Ht.
  - unfold squares; simpl; nia.
  - assert (N : 0 <= total xs).
    { apply sum_not_negative. eapply Forall_impl; [|exact F]. simpl; intros; lia. }
    unfold squares in *; simpl in *.
    destruct (Z_le_gt_dec x rest) as [G|G].
    + specialize (IH k (rest - x) Hk ltac:(lia) ltac:(lia)). nia.
    + destruct (Z.eq_dec k 0) as [->|K].
      * lia.
      * destruct (Z.eq_dec x linf) as [->|X].
        -- specialize (IH (k - 1) rest ltac:(lia) ltac:(lia) ltac:(lia)). nia.
        -- specialize (IH (k - 1) (linf + rest - x) ltac:(lia) ltac:(lia) ltac:(lia)). nia.
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

(* Lemma 1, l0: the groups in which a unit has rows. *)
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

(* Lemma 1, l0: any number of covers multiply; one group where there is no column. *)
Section Covers.
Variables row A : Type.
Variable eqA : forall x y : A, {x = y} + {x <> y}.
Definition groups (f : row -> A) rows := length (nodup eqA (map f rows)).
Definition eq_list : forall x y : list A, {x = y} + {x <> y} := list_eq_dec eqA.
Definition product := fold_right Nat.mul 1%nat.

Lemma groups_of_covers : forall (covers : list (row -> A)) rows,
  (length (nodup eq_list (map (fun r => map (fun f => f r) covers) rows))
   <= product (map (fun f => groups f rows) covers))%nat.
Proof.
  intros covers rows. induction covers as [|f covers IH]; simpl map; simpl product.
  - apply (@NoDup_incl_length _ _ [[]]); [apply NoDup_nodup|]. intros x H.
    apply nodup_In in H. apply in_map_iff in H. destruct H as [r [<- _]]. simpl. auto.
  - eapply Nat.le_trans; [|apply Nat.mul_le_mono_l; exact IH].
    unfold groups. rewrite <- prod_length. rewrite <- (map_length (fun p => fst p :: snd p)).
    apply NoDup_incl_length; [apply NoDup_nodup|]. intros x H.
    apply nodup_In in H. apply in_map_iff in H. destruct H as [r [<- I]].
    apply in_map_iff. exists (f r, map (fun g => g r) covers). split; [reflexivity|].
    apply in_prod; apply nodup_In; apply in_map_iff; exists r; auto.
Qed.

End Covers.

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

(* Lemma 2: no group keeps more than k rows, respectively one. *)
Lemma kept_at_most : forall (T : Type) (k : nat) (group : list T),
  (length (firstn k group) <= k)%nat /\ (length (kept_alone T group) <= 1)%nat.
Proof. intros. split; [apply firstn_le_length|]. destruct group as [|a [|b group]]; simpl; lia. Qed.

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

(* Lemma 3, section 3: a part of a unit's rows is not more than they are. *)
Lemma parts_keep_bounds : forall (keep : row -> bool) rows, (length (filter keep rows) <= length rows)%nat.
Proof. induction rows as [|r rows IH]; simpl; [lia|]. destruct (keep r); simpl; lia. Qed.

(* Section 3 and public joins: at most m rows made of each multiply a bound on rows by m. *)
Lemma rows_made_of_rows : forall (expand : row -> list made) m rows,
  (forall r, (length (expand r) <= m)%nat) -> (length (flat_map expand rows) <= m * length rows)%nat.
Proof.
  intros expand m rows H. induction rows as [|r rows IH]; simpl; [lia|].
  rewrite app_length. specialize (H r). lia.
Qed.

(* Lemma 11: rows made one for each group that the source's rows lie in are no more than these. *)
Lemma one_row_for_each_group : forall (B : Type) (eqB : forall x y : B, {x = y} + {x <> y})
  (by_columns : row -> B) (result : B -> made) rows,
  (length (map result (nodup eqB (map by_columns rows))) <= length rows)%nat.
Proof. intros. rewrite map_length. apply (groups_by_rows row B eqB by_columns rows). Qed.

End Ids.

(* Lemma 4, one key: pairs of rows that meet, before and after. *)
Lemma pairs_of_a_key : forall l r l' r' tl tr,
  0 <= l <= tl -> 0 <= l' <= tl -> 0 <= r <= tr -> 0 <= r' <= tr ->
  Z.abs (l * r - l' * r') <= tr * Z.abs (l - l') + tl * Z.abs (r - r').
Proof. intros; nia. Qed.

(* Lemma 4, all keys, for numbers of pairs. *)
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

(* Lemma 4, how many rows of a join differ at one key. Each row that may stand on a side occurs fst times in one database
   and snd times in the other; a pair of rows occurs as often as the product. The pairs that differ are at most what is
   changed on the left times what it can meet on the right, and conversely. *)
Definition changed (rows : list (Z * Z)) := total (map (fun q => Z.abs (fst q - snd q)) rows).
Definition in_first (rows : list (Z * Z)) := total (map fst rows).
Definition in_second (rows : list (Z * Z)) := total (map snd rows).
Definition pairs_changed (left right : list (Z * Z)) :=
  total (map (fun l => total (map (fun r => Z.abs (fst l * fst r - snd l * snd r)) right)) left).
Definition counts (rows : list (Z * Z)) := Forall (fun q => 0 <= fst q /\ 0 <= snd q) rows.

Fact changed_is_not_negative : forall rows, 0 <= changed rows.
Proof. induction rows as [|[a b] rows IH]; unfold changed in *; simpl in *; lia. Qed.

Fact pairs_of_one_row : forall l1 l2 right, 0 <= l1 -> 0 <= l2 -> counts right ->
  total (map (fun r => Z.abs (l1 * fst r - l2 * snd r)) right)
  <= in_first right * Z.abs (l1 - l2) + l2 * changed right.
Proof.
  intros l1 l2 right H1 H2. unfold counts, in_first, changed.
  induction 1 as [|[r1 r2] right [A B] _ IH]; simpl in *; [lia|].
  assert (Z.abs (l1 * r1 - l2 * r2) <= r1 * Z.abs (l1 - l2) + l2 * Z.abs (r1 - r2)) by nia. nia.
Qed.

Lemma join_at_one_key : forall tau_l tau_r left right, counts left -> counts right ->
  in_second left <= tau_l -> in_first right <= tau_r ->
  pairs_changed left right <= tau_r * changed left + tau_l * changed right.
Proof.
  intros tau_l tau_r left right HL HR TL TR.
  assert (pairs_changed left right <= in_first right * changed left + in_second left * changed right).
  { unfold pairs_changed. clear TL. induction HL as [|[l1 l2] left [A B] HL IH].
    - unfold changed, in_second; simpl; lia.
    - simpl. unfold changed, in_second in *. simpl in *.
      pose proof (pairs_of_one_row l1 l2 right A B HR) as P. unfold changed in P. simpl in P. nia. }
  pose proof (changed_is_not_negative left). pose proof (changed_is_not_negative right). nia.
Qed.

(* Lemma 4 over all keys: with changes c_l and c_r of the truncated sides, at most tau_l c_r + tau_r c_l rows differ;
   c_l <= s_l d_l is lemma 2, row by row. *)
Lemma join_over_all_keys : forall tau_l tau_r keys,
  Forall (fun key => counts (fst key) /\ counts (snd key) /\
                     in_second (fst key) <= tau_l /\ in_first (snd key) <= tau_r) keys ->
  total (map (fun key => pairs_changed (fst key) (snd key)) keys)
  <= tau_r * total (map (fun key => changed (fst key)) keys)
   + tau_l * total (map (fun key => changed (snd key)) keys).
Proof.
  intros tau_l tau_r keys. induction 1 as [|key keys (A & B & C & D) _ IH]; simpl; [lia|].
  pose proof (join_at_one_key tau_l tau_r (fst key) (snd key) A B C D). lia.
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

(* Lemma 7: their squares are at most that of the width, and the deviation in half steps is
   at most the width. *)
Lemma squares_of_both_distances : forall low high k, low <= k <= high ->
  (k - low) * (k - low) + (high - k) * (high - k) <= (high - low) * (high - low) /\
  Z.abs (2 * k - low - high) <= high - low.
Proof. intros. split; [nia|lia]. Qed.

(* Lemma 10 (a) and (b), in numbers: one id changes one flag, d rows at most d. *)
Lemma flags_that_change : forall (flags : list (Z * Z)),
  Forall (fun q => 0 <= fst q <= 1 /\ 0 <= snd q <= 1) flags ->
  Z.abs (in_first flags - in_second flags) <= Z.of_nat (length flags).
Proof.
  unfold in_first, in_second. induction 1 as [|[a b] flags [A B] _ IH]; simpl map; simpl total; simpl length; [lia|].
  rewrite Nat2Z.inj_succ. simpl in *. lia.
Qed.

(* Lemma 12: the form with sizes is the value held within the bounds, and every number on the way is an integer below
   2^53 (the last in halves: twice it below 2^43). That such numbers are doubles is left to words. *)
Lemma steps_by_sizes : forall k0 low high, low <= high ->
  Z.abs low <= 2 ^ 40 -> Z.abs high <= 2 ^ 40 -> Z.abs k0 <= 2 ^ 51 + 1 ->
  let z := k0 - low in let w := high - low in
  Z.abs z - Z.abs (z - w) + (low + high) = 2 * Z.max low (Z.min k0 high) /\
  Z.abs z < 2 ^ 52 /\ Z.abs (z - w) < 2 ^ 52 /\ Z.abs (Z.abs z - Z.abs (z - w)) < 2 ^ 42.
Proof. intros k0 low high H A B C z w. unfold z, w. repeat split; lia. Qed.

(* Lemma 13: every part of a sum of n integers of at most m is at most n m in size, so
   below 2^53 no double rounds, in any order. That such doubles add exactly is IEEE
   754's promise, left to words. *)
Lemma parts_of_a_sum : forall m xs, 0 <= m -> Forall (fun x => Z.abs x <= m) xs ->
  Z.abs (total xs) <= Z.of_nat (length xs) * m.
Proof.
  intros m xs Hm; induction 1 as [|x xs H _ IH]; simpl total; simpl length; [lia|].
  rewrite Nat2Z.inj_succ; lia.
Qed.

(* Lemma 13: additions in any order and any number of threads are a tree; every partial sum in it is at most 2^53. *)
Inductive additions := number (x : Z) | add (one other : additions).
Fixpoint sum_of t := match t with number x => x | add a b => sum_of a + sum_of b end.
Fixpoint numbers_in t := match t with number _ => 1 | add a b => numbers_in a + numbers_in b end.
Fixpoint all_within m t := match t with number x => Z.abs x <= m | add a b => all_within m a /\ all_within m b end.
Fixpoint no_sum_beyond limit t :=
  Z.abs (sum_of t) <= limit /\ match t with number _ => True | add a b => no_sum_beyond limit a /\ no_sum_beyond limit b end.

Fact numbers_positive : forall t, 1 <= numbers_in t.
Proof. induction t; simpl; lia. Qed.

Fact sum_by_size : forall m t, all_within m t -> Z.abs (sum_of t) <= numbers_in t * m.
Proof.
  induction t as [x|a IHa b IHb]; cbn [sum_of numbers_in all_within]; intros H; [lia|]. destruct H as [HA HB]. specialize (IHa HA). specialize (IHb HB).
  rewrite Z.mul_add_distr_r. lia.
Qed.

Lemma no_addition_rounds : forall m t, 0 <= m -> all_within m t -> numbers_in t * m <= 2 ^ 53 -> no_sum_beyond (2 ^ 53) t.
Proof.
  intros m t Hm. generalize (2 ^ 53) as limit. intro limit.
  induction t as [x|a IHa b IHb]; cbn [sum_of numbers_in all_within no_sum_beyond]; intros H N.
  - split; [lia|exact I].
  - destruct H as [HA HB]. pose proof (numbers_positive a). pose proof (numbers_positive b).
    pose proof (sum_by_size m a HA). pose proof (sum_by_size m b HB).
    rewrite Z.mul_add_distr_r in N.
    assert (0 <= numbers_in a * m) by (apply Z.mul_nonneg_nonneg; lia).
    assert (0 <= numbers_in b * m) by (apply Z.mul_nonneg_nonneg; lia).
    split; [lia|]. split; [apply IHa; [exact HA|lia]|apply IHb; [exact HB|lia]].
Qed.

(* Section 5: a row without a value, a row with one, and saturation: bounds bring no two totals further apart. *)
Lemma saturation_brings_nothing_apart : forall low high a b, low <= high ->
  Z.abs (Z.max low (Z.min a high) - Z.max low (Z.min b high)) <= Z.abs (a - b).
Proof. intros. lia. Qed.
