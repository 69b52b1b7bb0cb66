"""Drawn prices of every kind, as the certificates that a ledger would be charged by.

A price is drawn as a session would ask for it: a query of any steps over tables of any
unit, of any budget, against a limit of any kind that counts it.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any, Final, TypeAlias

import sordino as sd
from sordino.auditing.dice import Dice
from sordino.auditing.drawn_queries import (
    Scene,
    keys,
)
from sordino.auditing.drawn_queries import (
    draw_query as drawn,
)
from sordino.auditing.drawn_queries import (
    draw_request as asked,
)
from sordino.auditing.worlds import world
from sordino.engines.memory import MemoryEngine
from sordino.errors import ProofRefused, SordinoError
from sordino.ledger.record_kinds import certificate_text
from sordino.losses.budgets.limits import Limit
from sordino.plan.bundle import Bundle, best_bundle, share_budget
from sordino.plan.certificates import (
    certify,
    certify_margins,
    certify_parts,
    certify_release,
)
from sordino.plan.margins import buy_margins
from sordino.plan.purchase import Purchase, best_purchase
from sordino.session.executor import buy_proved, charged_loss
from sordino.session.tables import Catalog, partition_of

BUDGETS: Final[tuple[Any, ...]] = (
    sd.PureDP(1),
    sd.PureDP("1/7"),
    sd.ApproxDP(1, "1e-6"),
    sd.ApproxDP("0.3", "1e-9"),
    sd.ApproxDP(4, "1e-12"),
    sd.ZCDP("0.1"),
    sd.ApproxZCDP("0.2", "1e-7"),
    sd.GaussianDP("0.5"),
)
Price: TypeAlias = tuple[str, str]
"""What it was drawn as, and its certificate."""


def prices(dice: Dice, kinds: Sequence[str] = ()) -> Iterator[Price]:
    """Yield certificates of prices over one drawn database; refusals are left out."""
    one = world(dice)
    engine = MemoryEngine()
    catalog = one.catalog(engine, one.private)
    for _ in range(4):
        kind = dice.one(kinds or [*_KINDS])
        try:
            yield kind, _KINDS[kind](dice, catalog)
        except SordinoError:
            continue


@cache
def _limits() -> tuple[Limit, ...]:
    """Return limits that count budgets of other kinds than theirs."""
    wide = sd.ApproxDP(9, "1e-5")
    return (
        Limit.of(wide),
        Limit.of(wide, "concentrated", reserve="5e-6"),
        Limit.of(sd.ApproxZCDP(20, "1e-5")),
        Limit.of(wide, "gaussian", reserve="5e-6"),
    )


def _charged(catalog: Catalog, budget: Any, loss: Any, releases: list[Any]) -> str:
    """Return a certificate, of what one limit or another adds up."""
    body = certify(catalog.plan_writer(), releases, None)
    limits = _limits()
    rule = limits[len(str(body)) % len(limits)].rule
    charge = rule.charge_within(budget, loss.guarantees)
    if charge is None or len(str(body)) % 3 == 0:
        charge = Limit.of(budget).rule.charge_for(budget, loss)
    return certificate_text(body, charge.texts())


def _release(dice: Dice, catalog: Catalog) -> str:
    request, budget = asked(drawn(dice, catalog)), dice.one(BUDGETS)
    return _priced(catalog, request, budget)


def _priced(catalog: Catalog, request: Any, budget: Any) -> str:
    def proof_of(purchase: Purchase) -> str:
        releases = [partial(certify_release, purchase)]
        loss = charged_loss([purchase], budget, purchase.loss)
        return _charged(catalog, budget, loss, releases)

    return _bought(partial(best_purchase, request, catalog), proof_of, budget)


def _bought(
    buy: Callable[[Any], Any], proof_of: Callable[[Any], str], budget: Any
) -> str:
    """Return the certificate of what a session would buy, or that which is refused."""
    try:
        return proof_of(buy_proved(buy, proof_of, budget))
    except ProofRefused as refusal:
        return refusal.certificate


def _grouped(dice: Dice, catalog: Catalog) -> tuple[Scene, Any]:
    """Draw some rows with bounds on ids, and groups of them."""
    scene = drawn(dice, catalog)
    by = dice.several(scene.groupable(), 1, 2)
    query = scene.query
    if scene.relation.ids is not None:
        most = sd.MaxRowsPerID(dice.between(1, 4))
        query = query.enforce(
            sd.MaxGroupsPerID(by, dice.between(1, 5)),
            sd.MaxRowsPerGroupPerID(by, dice.between(1, 3)),
            *([most] if dice.chance(1, 2) else []),
        )
    scene = scene.then(query)
    return scene, query.group_by(keys(scene, by) if dice.chance(1, 2) else by)


def _keys(dice: Dice, catalog: Catalog) -> str:
    _, groups = _grouped(dice, catalog)
    return _priced(catalog, groups.keys(), dice.one(BUDGETS))


def _first_few(dice: Dice, catalog: Catalog) -> str:
    scene, groups = _grouped(dice, catalog)
    column = scene.one("i64", "f64")
    ends = dice.one([(0, 10), (-5, 5), (-3, 0)])
    score = dice.one([sd.count(), sd.sum(column, *ends, nulls=0)])
    beside = {"n": sd.count()} if dice.chance(1, 2) else {}
    request = groups.top(dice.between(1, 3), by=score, **beside)
    return _priced(catalog, request, dice.one(BUDGETS))


def _over_time(dice: Dice, catalog: Catalog) -> str:
    scene, groups = _grouped(dice, catalog)
    names = [n for n in scene.names("i64") if n != "id"] or ["h"]
    each = dice.one([sd.count(), sd.sum(names[0], 0, 9, nulls=0)])
    query = scene.query if dice.chance(1, 2) else groups
    request = query.cumulative(names[-1], list(range(dice.between(1, 30))), n=each)
    return _priced(catalog, request, dice.one(BUDGETS))


def _margins(dice: Dice, catalog: Catalog) -> str:
    scene = drawn(dice, catalog)
    query = scene.query
    if scene.relation.ids is not None:
        query = query.enforce(sd.MaxRowsPerID(dice.between(1, 4)))
    some = dice.several(["g", "h"], 1, 2)
    lists: dict[str, Any] = {"g": ["a", "b", "c"], "h": [0, 1]}
    columns = sd.KeySet.from_dict({name: lists[name] for name in some})
    if dice.chance(1, 2):  # of a hierarchy, whose nodes have unlike numbers of children
        columns = sd.KeySet.from_tuples(
            [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1)], columns=("g", "h")
        )
        some = ["g", "h"]
    asked_for: dict[str, Any] = {"order": dice.between(1, len(some))}
    if dice.chance(1, 3):
        asked_for = {"tables": [tuple(some), *some[: dice.below(2)]]}
        asked_for["weights"] = {tuple(some): dice.between(1, 5)}
    request = query.marginals(columns, **asked_for)
    budget = dice.one(BUDGETS)
    purchase = buy_margins(request, catalog, budget)
    return _charged(
        catalog, budget, purchase.loss, [partial(certify_margins, purchase)]
    )


def _batch(dice: Dice, catalog: Catalog) -> str:
    requests = {
        f"q{place}": asked(drawn(dice, catalog)) for place in range(dice.between(2, 3))
    }
    budget = dice.one(BUDGETS)
    shares = share_budget(requests, None)

    def proof_of(bundle: Bundle) -> str:
        releases = [partial(certify_release, p) for p in bundle.purchases.values()]
        return _charged(catalog, budget, bundle.loss, releases)

    return _bought(
        lambda part: best_bundle(requests, catalog, part, shares), proof_of, budget
    )


def _part(dice: Dice, catalog: Catalog) -> str:
    """Draw the price of parts, or of a release in one, or in a part of that."""
    name = dice.one([*catalog.relations])
    column = dice.one(["g", "h"])
    whole = catalog.relation(name)
    values: list[Any] = ["a", "b", "c", None] if column == "g" else [0, 1, 2, None]
    divided = partition_of(whole, column, values[: dice.between(1, 4)])
    budget = dice.one(BUDGETS)
    if dice.chance(1, 3):
        rule = Limit.of(budget).rule
        writer, cost = catalog.plan_writer(), budget.times(divided.times)
        each = rule.charge_for(budget, rule.promise).texts()
        rows = writer.write(whole.node)
        body = certify_parts(writer, rows, column, len(divided.parts), each)
        return certificate_text(body, rule.charge_for(cost, cost).texts())
    value = dice.one([*divided.parts])
    cut = (column, len(divided.parts))
    inner = catalog.with_only(name, divided.parts[value], ("part", {}), cut)
    if dice.chance(1, 4):
        return _part(dice, inner)
    return dice.one([_release, _keys, _first_few])(dice, inner)


_KINDS: Final[dict[str, Callable[[Dice, Catalog], str]]] = {
    "release": _release,
    "keys": _keys,
    "first few": _first_few,
    "over time": _over_time,
    "margins": _margins,
    "batch": _batch,
    "part": _part,
}

_NOISE: Final = ("scale", "rate", "variances", "thresholds", "threshold", "end")
_EXACT: Final = ("rate", "precisions")
"""What a certificate says of noise; of these, what is larger is less of it."""


def weakened(text: str, dice: Dice, factor: Fraction) -> str | None:
    """Return a certificate with one number of its noise made worse by a factor.

    A threshold that integers must reach falls by one of them at least: between two of
    them nothing changes.
    """
    body = json.loads(text)
    places = [*_numbers(body)]
    if not places:
        return None
    holder, name = dice.one(places)
    was = holder[name]
    holder[name] = _scaled(was, 1 / factor if name in _EXACT else factor)
    if factor < 1 and name == "threshold" and holder["noise"] == "geometric":
        holder[name] = str(min(Fraction(holder[name]), Fraction(was) - 1))
    return json.dumps(body, sort_keys=True)


def _numbers(part: Any) -> Iterator[tuple[Any, str]]:
    """Yield where a certificate has numbers of noise."""
    if isinstance(part, list):
        for each in part:
            yield from _numbers(each)
    elif isinstance(part, dict):
        for name, value in part.items():
            if name in (*_NOISE, *_EXACT) and value is not None:
                yield part, name
            else:
                yield from _numbers(value)


def _scaled(number: Any, factor: Fraction) -> Any:
    if isinstance(number, list) and number[0] == "sqrt":
        return ["sqrt", str(Fraction(number[1]) * factor**2)]
    if isinstance(number, list):
        return [_scaled(each, factor) for each in number]
    if isinstance(number, int):  # the levels that a precision is of
        return number
    return str(Fraction(number) * factor)
