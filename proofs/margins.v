(* docs/proofs/margins.md: the precision of all contrasts as a form in the cells that a
   unit moves. *)
Require Import ZArith Lia Psatz List.
Import ListNotations.
Open Scope Z_scope.

Definition total := fold_right Z.add 0.

Definition dot xs ys := total (map (fun p => fst p * snd p) (combine xs ys)).
Definition contrast a b u v := repeat v a ++ repeat (- u) b.   (* a = g u numbers on the left, b = g v on the right *)

Fact total_app : forall xs ys, total (xs ++ ys) = total xs + total ys.
Proof. induction xs; simpl; intros; [lia|]. rewrite IHxs. lia. Qed.

Fact total_repeat : forall x n, total (repeat x n) = Z.of_nat n * x.
Proof. induction n; simpl repeat; simpl total; [lia|]. rewrite Nat2Z.inj_succ, IHn. lia. Qed.

(* Lemma 1: a contrast is orthogonal to whatever is constant on its range. *)
Lemma contrasts_are_orthogonal : forall g u v a b constant, Z.of_nat a = g * u -> Z.of_nat b = g * v ->
  dot (contrast a b u v) (repeat constant (a + b)) = 0.
Proof.
  intros g u v a b constant A B.
  assert (E : forall xs, dot xs (repeat constant (length xs)) = constant * total xs).
  { unfold dot. induction xs as [|x xs IH]; simpl; [lia|]. rewrite IH. lia. }
  specialize (E (contrast a b u v)). unfold contrast in *. rewrite app_length, !repeat_length in E.
  rewrite E, total_app, !total_repeat, A, B. ring.
Qed.

(* Lemma 1: |h|^2 = a b (a + b) / g^2. *)
Lemma length_of_a_contrast : forall g u v a b, Z.of_nat a = g * u -> Z.of_nat b = g * v ->
  let h := contrast a b u v in
  g * g * total (map (fun x => x * x) h) = Z.of_nat a * Z.of_nat b * (Z.of_nat a + Z.of_nat b).
Proof.
  intros g u v a b A B h. unfold h, contrast. rewrite map_app, total_app.
  assert (S : forall x n, total (map (fun y => y * y) (repeat x n)) = Z.of_nat n * (x * x)).
  { induction n; simpl map; simpl total; [lia|]. rewrite Nat2Z.inj_succ, IHn. lia. }
  rewrite !S, A, B. ring.
Qed.

Section Form.
Variable cell : Type.
Variable same : forall c d : cell, {c = d} + {c <> d}.
Variables (g : cell -> cell -> Z) (x : cell -> Z) (G H : Z).
Hypothesis on_the_diagonal : forall c, g c c <= G.
Hypothesis off_the_diagonal : forall c d, c <> d -> Z.abs (g c d) <= H.

Definition over cells (f : cell -> Z) := total (map f cells).

Fact over_is_monotone : forall cells f h,
  (forall c, In c cells -> f c <= h c) -> over cells f <= over cells h.
Proof.
  unfold over; induction cells as [|c cells IH]; simpl; intros; [lia|].
  assert (f c <= h c) by (apply H0; left; reflexivity).
  assert (total (map f cells) <= total (map h cells))
    by (apply IH; intros; apply H0; right; assumption).
  lia.
Qed.

Fact over_sum : forall cells f h,
  over cells (fun c => f c + h c) = over cells f + over cells h.
Proof. unfold over; induction cells; simpl; intros; [lia | rewrite IHcells; lia]. Qed.

Fact over_times : forall cells k f, over cells (fun c => k * f c) = k * over cells f.
Proof. unfold over; induction cells; simpl; intros; [lia | rewrite IHcells; lia]. Qed.

Fact over_one : forall cells c (f : cell -> Z), NoDup cells -> In c cells ->
  over cells (fun d => if same c d then f d else 0) = f c.
Proof.
  unfold over; induction cells as [|e cells IH]; simpl; intros c f N I; [contradiction|].
  inversion N as [|? ? Out N']; subst; destruct (same c e) as [->|D].
  - assert (total (map (fun d => if same e d then f d else 0) cells) = 0) as ->; [|lia].
    clear -Out; induction cells as [|b cells IH]; simpl; [reflexivity|].
    destruct (same e b) as [->|]; [exfalso; apply Out; left; reflexivity|].
    rewrite IH; [reflexivity | intros X; apply Out; right; exact X].
  - destruct I as [->|I]; [contradiction D; reflexivity|]; rewrite IH by assumption; lia.
Qed.

(* Lemma 3's use: at most (G - H) l2^2 + H l1^2. *)
Theorem form_of_two_norms : forall cells, NoDup cells ->
  over cells (fun c => over cells (fun d => g c d * (x c * x d)))
  <= (G - H) * over cells (fun c => x c * x c)
     + H * (over cells (fun c => Z.abs (x c)) * over cells (fun c => Z.abs (x c))).
Proof.
  intros cells N.
  apply Z.le_trans with (over cells (fun c =>
    (G - H) * (x c * x c) + (H * over cells (fun d => Z.abs (x d))) * Z.abs (x c))).
  - apply over_is_monotone; intros c I.
    apply Z.le_trans with (over cells (fun d =>
      (if same c d then (G - H) * (x d * x d) else 0)
      + (H * Z.abs (x c)) * Z.abs (x d))).
    + apply over_is_monotone; intros d _; destruct (same c d) as [->|D].
      * pose proof (on_the_diagonal d).
        assert (Z.abs (x d) * Z.abs (x d) = x d * x d) by nia; nia.
      * pose proof (off_the_diagonal c d D).
        assert (g c d * (x c * x d) <= Z.abs (g c d) * (Z.abs (x c) * Z.abs (x d)))
          by (rewrite <- !Z.abs_mul; lia).
        assert (Z.abs (g c d) * (Z.abs (x c) * Z.abs (x d))
          <= H * (Z.abs (x c) * Z.abs (x d)))
          by (apply Z.mul_le_mono_nonneg_r; [apply Z.mul_nonneg_nonneg; lia | assumption]).
        lia.
    + rewrite over_sum, over_one, over_times by assumption; nia.
  - rewrite over_sum, !over_times; nia.
Qed.
End Form.

(* Lemma 3: where G >= H >= 0 the bound grows with both norms. *)
Lemma bound_grows_with_norms : forall G H squares squares' ones ones', 0 <= H <= G ->
  squares <= squares' -> 0 <= ones <= ones' ->
  (G - H) * squares + H * (ones * ones) <= (G - H) * squares' + H * (ones' * ones').
Proof. intros G H squares squares' ones ones' A B C. assert (ones * ones <= ones' * ones') by nia. nia. Qed.
