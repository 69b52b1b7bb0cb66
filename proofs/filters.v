(* docs/proofs/filters.md: budgets that are chosen as one goes. That curves compose is
   left to words; what is added up, and that it never exceeds, is here. *)
Require Import ZArith Lia Psatz List Arith.
Import ListNotations.
Open Scope Z_scope.

Definition total := fold_right Z.add 0.

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
