(* docs/proofs/filters.md: budgets that are chosen as one goes. That curves compose is
   left to words; what is added up, and that it never exceeds, is here. *)
Require Import ZArith Lia Psatz List Arith.
Import ListNotations.
Open Scope Z_scope.

Definition total := fold_right Z.add 0.
Definition squares xs := total (map (fun x => x * x) xs).

(* Lemma 1: an additive filter never accepts more than its limit, whoever chooses. *)
Fixpoint spend (limit spent : Z) (asked : list Z) : Z :=
  match asked with
  | nil => spent
  | a :: rest => if spent + a <=? limit then spend limit (spent + a) rest
                 else spend limit spent rest
  end.
Lemma never_more_than_the_limit : forall asked limit spent,
  spent <= limit -> spend limit spent asked <= limit.
Proof.
  induction asked as [|a rest IH]; simpl; intros; [lia|].
  destruct (spent + a <=? limit) eqn:E; apply IH; [apply Z.leb_le in E; lia | lia].
Qed.

(* Lemma 1: what a filter refuses changes nothing of what it accepts afterwards. *)
Lemma a_refusal_costs_nothing : forall limit spent a rest,
  limit < spent + a -> spend limit spent (a :: rest) = spend limit spent rest.
Proof.
  intros limit spent a rest H; simpl.
  destruct (spent + a <=? limit) eqn:E; [apply Z.leb_le in E; lia | reflexivity].
Qed.

(* Lemma 4: rows that are added have some values of the column; a part of any other value keeps its rows. *)
Lemma other_parts_stay : forall (row : Type) (value : row -> nat) rows new part,
  ~ In part (map value new) ->
  filter (fun r => Nat.eqb (value r) part) (rows ++ new) = filter (fun r => Nat.eqb (value r) part) rows.
Proof.
  intros row value rows new part N. rewrite filter_app.
  assert (filter (fun r => Nat.eqb (value r) part) new = []) as ->; [|apply app_nil_r].
  induction new as [|r new IH]; simpl in *; [reflexivity|].
  destruct (Nat.eqb_spec (value r) part); [exfalso; apply N; left; assumption|apply IH; tauto].
Qed.

(* Lemma 4: at most as many parts differ as rows were added. *)
Lemma parts_that_differ : forall (row : Type) (value : row -> nat) new,
  (length (nodup Nat.eq_dec (map value new)) <= length new)%nat.
Proof.
  intros. rewrite <- (map_length value new). apply NoDup_incl_length; [apply NoDup_nodup|].
  intros a H. apply nodup_In in H. exact H.
Qed.

(* Lemma 4: a unit with rows in at most k of some parts, each of which may spend at
   most B: at most k B reach it. *)
Lemma parts_of_a_unit : forall B k touched, 0 <= B -> (length touched <= k)%nat ->
  Forall (fun spent => 0 <= spent <= B) touched -> total touched <= Z.of_nat k * B.
Proof.
  intros B k touched HB Hk H.
  assert (total touched <= Z.of_nat (length touched) * B).
  { clear Hk; induction H as [|s l Hs _ IH]; simpl total; simpl length; [lia|].
    rewrite Nat2Z.inj_succ; nia. }
  nia.
Qed.

(* Lemma 6: a part in which a unit has j of at most m rows charges j/m of its budget,
   and all parts have n rows of the unit together: m times what is charged is at most
   n B, so n/m stands in the place of k. *)
Lemma rows_charged_one_by_one : forall B n (parts : list (Z * Z)), 0 <= B ->
  Forall (fun '(j, spent) => 0 <= j /\ 0 <= spent <= B) parts ->
  total (map fst parts) <= n ->
  total (map (fun '(j, spent) => j * spent) parts) <= n * B.
Proof.
  intros B n parts HB H Hn.
  assert (total (map (fun '(j, spent) => j * spent) parts) <= total (map fst parts) * B).
  { clear Hn; induction H as [|[j s] l [Hj Hs] _ IH]; simpl; [lia | nia]. }
  nia.
Qed.

(* Lemmas 5 and 6 as a game. The unit has j_i rows in part i, n at most in all and m at most in one. A filter of limit B
   has counted s; opening parts with budget c each is charged `price` with m price >= n c; a release of the whole charged a
   loses a, one about part i loses (j_i / m) a. `lost` is m times what the unit has lost. Parts may be
   opened again: each opening is charged anew. *)
Section Parts.
Variables B n m c : Z.
Definition rest_in (parts : list (Z * Z)) := total (map (fun p => fst p * (c - snd p)) parts).

Inductive asked_of_a_part (a : Z) : list (Z * Z) -> list (Z * Z) -> Z -> Prop :=
| this_one : forall j s rest, s + a <= c -> asked_of_a_part a ((j, s) :: rest) ((j, s + a) :: rest) (j * a)
| another : forall p rest rest' l, asked_of_a_part a rest rest' l -> asked_of_a_part a (p :: rest) (p :: rest') l.

Inductive with_parts : Z -> list (Z * Z) -> Z -> Prop :=      (* counted, parts that differ, lost *)
| at_first : with_parts 0 [] 0
| whole : forall s parts l a, with_parts s parts l -> 0 <= a -> s + a <= B -> with_parts (s + a) parts (l + m * a)
| parts_opened : forall s parts l price rows, with_parts s parts l -> Forall (fun j => 0 <= j) rows -> total rows <= n ->
    n * c <= m * price -> s + price <= B -> with_parts (s + price) (map (fun j => (j, 0)) rows ++ parts) l
| in_part : forall s parts parts' l a more, with_parts s parts l -> 0 <= a -> asked_of_a_part a parts parts' more ->
    with_parts s parts' (l + more)
| elsewhere : forall s parts l, with_parts s parts l -> with_parts s parts l.

Fact rest_app : forall xs ys, rest_in (xs ++ ys) = rest_in xs + rest_in ys.
Proof. unfold rest_in. induction xs as [|[j s] xs IH]; simpl; intros; [lia|]. rewrite IH. lia. Qed.

Fact rest_when_opened : forall rows, rest_in (map (fun j => (j, 0)) rows) = total rows * c.
Proof. unfold rest_in. induction rows as [|j rows IH]; simpl in *; [lia|]. rewrite IH. lia. Qed.

Fact asking_takes : forall a parts parts' more, asked_of_a_part a parts parts' more ->
  rest_in parts' = rest_in parts - more.
Proof. unfold rest_in. induction 1; simpl in *; lia. Qed.

Definition sound (p : Z * Z) := 0 <= fst p /\ snd p <= c.

Fact asking_keeps : forall a parts parts' more, asked_of_a_part a parts parts' more ->
  Forall sound parts -> Forall sound parts'.
Proof.
  unfold sound. induction 1; intros F; inversion F; subst; constructor; auto. simpl in *. lia.
Qed.

Fact rest_is_not_negative : forall parts, Forall sound parts -> 0 <= rest_in parts.
Proof. unfold rest_in, sound. induction 1 as [|[j s] parts [A C] _ IH]; simpl in *; nia. Qed.

Fact books_of_parts : forall s parts l, 0 <= c -> with_parts s parts l ->
  Forall sound parts /\ l + rest_in parts <= m * s.
Proof.
  intros s parts l Hc. induction 1 as [|s parts l a _ [F I] Ha Hb|s parts l price rows _ [F I] P N R Hb
    |s parts parts' l a more _ [F I] Ha K|s parts l _ IH].
  - split; [constructor|]. unfold rest_in. simpl. lia.
  - split; [exact F|]. nia.
  - split.
    + apply Forall_app. split; [|exact F]. clear -P Hc. induction P; simpl; constructor; auto. unfold sound. simpl. lia.
    + rewrite rest_app, rest_when_opened. nia.
  - split; [eapply asking_keeps; eauto|]. rewrite (asking_takes a parts parts' more K). lia.
  - exact IH.
Qed.

(* Lemma 6: where parts are charged by the row, m B bounds m times what the unit loses: at most B. Which releases cost j
   rows only j / m of their charge is left to words, but for `share_of_sums` and `share_of_squares`. *)
Lemma parts_by_the_row : forall s parts l, 0 <= c -> 0 <= m -> with_parts s parts l -> s <= B -> l <= m * B.
Proof.
  intros s parts l Hc Hm P S. destruct (books_of_parts s parts l Hc P) as [F I].
  pose proof (rest_is_not_negative parts F). nia.
Qed.
End Parts.

(* Lemma 5: the same game with one row in each of at most k parts that differ, and k times c charged. *)
Lemma parts_in_any_order : forall B k c s parts lost, 0 <= c -> with_parts B k 1 c s parts lost -> s <= B -> lost <= B.
Proof. intros B k c s parts lost Hc P S. pose proof (parts_by_the_row B k 1 c s parts lost Hc ltac:(lia) P S). lia. Qed.

(* Lemma 6, changes: j rows that each move an entry by at most f move it by at most j f, so by at most j / m of m f. *)
Lemma share_of_sums : forall m f moves, 0 <= m -> 0 <= f -> Forall (fun v => Z.abs v <= f) moves ->
  m * Z.abs (total moves) <= Z.of_nat (length moves) * (m * f).
Proof.
  intros m f moves Hm Hf H.
  assert (Z.abs (total moves) <= Z.of_nat (length moves) * f).
  { induction H as [|v moves A _ IH]; simpl total; simpl length; [lia|]. rewrite Nat2Z.inj_succ. lia. }
  nia.
Qed.

Fact square_of_a_sum : forall xs, total xs * total xs <= Z.of_nat (length xs) * squares xs.
Proof.
  intro xs.
  assert (P : forall x ys, 2 * x * total ys <= Z.of_nat (length ys) * (x * x) + squares ys).
  { intros x ys. induction ys as [|y ys IH]; unfold squares in *; simpl total; simpl length; [simpl; lia|].
    rewrite Nat2Z.inj_succ. cbn [map total fold_right].
    change (fold_right Z.add 0 ys) with (total ys).
    change (fold_right Z.add 0 (map (fun x => x * x) ys)) with (total (map (fun x => x * x) ys)).
    pose proof (Z.square_nonneg (x - y)).
    replace (2 * x * (y + total ys)) with (x * x + y * y - (x - y) * (x - y) + 2 * x * total ys) by ring.
    lia. }
  induction xs as [|x xs IH]; unfold squares in *; simpl total; simpl length; [simpl; lia|].
  rewrite Nat2Z.inj_succ. cbn [map total fold_right].
  change (fold_right Z.add 0 xs) with (total xs).
  change (fold_right Z.add 0 (map (fun x => x * x) xs)) with (total (map (fun x => x * x) xs)).
  specialize (P x xs). unfold squares in P.
  replace ((x + total xs) * (x + total xs)) with (x * x + 2 * x * total xs + total xs * total xs) by ring. lia.
Qed.

(* Lemma 6, changes in l2: an entry is moved by j rows. If the squares of all j rows together, over all entries, are at
   most j f^2 (each row's are at most f^2), what they move together is at most j / m of m f. *)
Lemma share_of_squares : forall j m f entries,
  Forall (fun moves => Z.of_nat (length moves) = j) entries ->
  total (map squares entries) <= j * (f * f) -> 0 <= j ->
  m * m * total (map (fun moves => total moves * total moves) entries) <= j * j * (m * f * (m * f)).
Proof.
  intros j m f entries H S Hj.
  assert (total (map (fun moves => total moves * total moves) entries) <= j * total (map squares entries)).
  { clear S. induction H as [|moves entries E _ IH]; simpl; [lia|].
    pose proof (square_of_a_sum moves) as Q. rewrite E in Q. nia. }
  assert (0 <= m * m) by apply Z.square_nonneg.
  assert (total (map (fun moves => total moves * total moves) entries) <= j * (j * (f * f))) by nia.
  replace (j * j * (m * f * (m * f))) with (m * m * (j * (j * (f * f)))) by ring.
  apply Z.mul_le_mono_nonneg_l; assumption.
Qed.

(* Section 8, lowered limits: what a lower limit accepts the first one would accept, too. *)
Lemma a_lower_limit_keeps_the_first : forall first lower spent asked, lower <= first -> spent <= lower ->
  spend lower spent asked <= first.
Proof. intros. pose proof (never_more_than_the_limit asked lower spent). lia. Qed.

(* Section 8, earmarks: what is spent and what is set aside stay within the limit
   together, whoever asks. *)
Inductive books (B : Z) : Z -> Z -> Prop :=
| opened : 0 <= B -> books B 0 0
| set_aside : forall s h a, books B s h -> 0 <= a -> s + h + a <= B -> books B s (h + a)
| spent_freely : forall s h c, books B s h -> 0 <= c -> s + c + h <= B -> books B (s + c) h
| spent_of : forall s h r c, books B s h -> 0 <= c <= r -> r <= h -> books B (s + c) (h - c)
| freed : forall s h r, books B s h -> 0 <= r <= h -> books B s (h - r).
Theorem earmarks_are_kept : forall B s h, books B s h -> 0 <= h /\ s + h <= B.
Proof. induction 1; lia. Qed.

(* Section 9, the theorem on blocks, its arithmetic. A person has m blocks, some still to
   come. A release charges a to blocks of its choice, each within the limit B; if one of
   the person's is among them, the person loses a. Then all that the person loses is at
   most m B. That losses of releases compose by adding is lemma 1. *)
Inductive charged (B a : Z) : list Z -> list Z -> bool -> Prop :=
| charges_none : charged B a [] [] false
| passes_by : forall s ks ks' hit,
    charged B a ks ks' hit -> charged B a (s :: ks) (s :: ks') hit
| charges_one : forall s ks ks' hit,
    charged B a ks ks' hit -> s + a <= B -> charged B a (s :: ks) (s + a :: ks') true.

Inductive play (B : Z) : nat -> list Z -> Z -> Prop :=
| starts : forall m, play B m [] 0
| comes : forall free s ks lost,
    play B (S free) ks lost -> 0 <= s <= B -> play B free (s :: ks) lost
| releases : forall free a ks ks' hit lost, play B free ks lost -> 0 <= a ->
    charged B a ks ks' hit -> play B free ks' (if hit then lost + a else lost).

Definition left_in B ks := total (map (fun s => B - s) ks).

Lemma a_charge_takes_what_it_costs : forall B a ks ks' hit,
  0 <= a -> charged B a ks ks' hit ->
  length ks' = length ks /\
  left_in B ks' <= left_in B ks - (if hit then a else 0) /\
  (Forall (fun s => s <= B) ks -> Forall (fun s => s <= B) ks').
Proof.
  intros B a ks ks' hit Ha.
  induction 1 as [|s ks ks' h _ (L & E & F)|s ks ks' h _ (L & E & F) Hs];
    unfold left_in in *; simpl.
  - repeat split; auto; lia.
  - repeat split; [lia | lia | intros X; inversion X; auto].
  - repeat split; [lia | destruct h; lia | intros X; inversion X; auto].
Qed.

Theorem blocks_of_a_person : forall B m free ks lost,
  0 <= B -> play B free ks lost -> (free + length ks = m)%nat ->
  lost <= Z.of_nat m * B.
Proof.
  intros B m free ks lost HB P.
  assert (I : Forall (fun s => s <= B) ks /\
    lost + left_in B ks + Z.of_nat free * B <= Z.of_nat (free + length ks) * B).
  { induction P as [m'|free s ks lost P [F I] Hs|free a ks ks' hit lost P [F I] Ha C];
      unfold left_in in *; simpl length in *.
    - simpl; split; [constructor|]; rewrite Nat.add_0_r; lia.
    - split; [constructor; [lia | exact F]|]; simpl.
      replace (free + S (length ks))%nat with (S free + length ks)%nat by lia.
      rewrite Nat2Z.inj_succ in I; nia.
    - destruct (a_charge_takes_what_it_costs B a ks ks' hit Ha C) as (L & E & K).
      unfold left_in in *; split; [auto|]; rewrite L; destruct hit; lia. }
  destruct I as [F I]; intros <-.
  assert (0 <= left_in B ks) by (clear -F; unfold left_in; induction F; simpl; lia).
  lia.
Qed.
