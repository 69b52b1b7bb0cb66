"""What a report says of a ledger's budgets, of its losses, and of what was cut off.

A charge has the loss as the calls that make an equal one, and its exact headline. The
first has a curve, and is believed where its headline is the recorded one; else the
headline alone counts, which is a bound with a worse curve.

>>> headline = {"epsilon": "1/1", "delta": "0/1"}
>>> recorded_loss("GeometricLoss(shift=1, scale=6) + os.getcwd()", headline)
PureDP(epsilon=1)

In amounts, what is spent rounds up, and what is left rounds down.

>>> from decimal import ROUND_CEILING
>>> from sordino.office.html.page import read_language
>>> english = read_language("en")
>>> amount_in_words(english, "epsilon", Fraction(1, 3), ROUND_CEILING)
'0.3334'
>>> amount_in_words(english, "delta", Fraction(1, 2_000_000), ROUND_CEILING)
'0.5 in a million'
"""

import ast
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from sordino.errors import SordinoError
from sordino.ledger.answers import read_loss
from sordino.ledger.file_format import Record
from sordino.ledger.ledger import Ledger
from sordino.ledger.policy_file import Policy
from sordino.ledger.record_kinds import DATASET, Entry
from sordino.ledger.verification import Verified
from sordino.losses.budgets.limits import exact_text
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.loss import Loss, PureDP, compose
from sordino.noise.exponential import BoundedRangeLoss
from sordino.noise.gaussian import DiscreteGaussianLoss
from sordino.noise.laplace import GeometricLoss, LaplaceLoss
from sordino.noise.randomized_response import RandomizedResponseLoss
from sordino.numbers import Extended, exact
from sordino.numbers.formatting import format_number
from sordino.numbers.rounding import decimals
from sordino.office.html.elements import CODE, Content, Html, join, plain_name
from sordino.office.html.page import Language
from sordino.office.report.story import (
    Accounts,
    Amounts,
    Division,
    Purse,
    ShownPolicy,
    ShownRelease,
    Trail,
)
from sordino.query.dropped_rows import CUT_OFF, TOGETHER
from sordino.release.explanation import Verb, columns_of, cuts_of, verbs_of

_CALLS: Final[Mapping[str, Callable[..., Loss]]] = {
    kind.__name__: kind
    for kind in (
        *(PureDP, ApproxDP, ZCDP, ApproxZCDP, GaussianDP),
        *(LaplaceLoss, GeometricLoss, DiscreteGaussianLoss),
        *(RandomizedResponseLoss, BoundedRangeLoss),
    )
}
"""The losses that are read: those that are their parameters."""
_MOST_TIMES: Final = 10**6


def recorded_loss(text: str, headline: Mapping[str, str]) -> Loss:
    """Return the loss of a charge with its curve, or else its headline."""
    try:
        loss = compose(_terms(ast.parse(text, mode="eval").body))
    except (SordinoError, SyntaxError, TypeError, ValueError, RecursionError):
        return read_loss(headline)
    exact = {name: exact_text(value) for name, value in asdict(loss.guarantees).items()}
    # a curve counts only where it has the headline that was charged, which is a bound
    return loss if exact == dict(headline) else read_loss(headline)


def _terms(node: ast.expr) -> list[Loss]:
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [*_terms(left), *_terms(right)]
        case ast.BinOp(
            left=left, op=ast.Mult(), right=ast.Constant(value=int(times))
        ) if times <= _MOST_TIMES:
            return [loss * times for loss in _terms(left)]
        case ast.Call(func=ast.Name(id=name), args=[], keywords=named):
            return [_CALLS[name](**_values(named))] if name in _CALLS else _refuse()
        case _:
            return _refuse()


def _values(named: list[ast.keyword]) -> dict[str, Any]:
    return {
        argument.arg: ast.literal_eval(argument.value)
        for argument in named
        if argument.arg is not None
    }


def _refuse() -> list[Loss]:
    raise ValueError


_DIGITS: Final = 4
_MILLION: Final = 10**6
_DELTA: Final = "delta"
_FINEST: Final = Fraction(1, 10**9)


def amount_in_words(
    language: Language, name: str, amount: Extended, rounding: str
) -> str:
    """Amount to four digits; a small delta as a number in a million."""
    if not isinstance(amount, Fraction):
        return language.plain("amount.endless")
    if name == _DELTA and _FINEST <= amount < Fraction(1, 1000):
        millionths = _decimal_text(amount * _MILLION, rounding)
        return language.plain("amount.millionths", count=language.number(millionths))
    return language.number(_decimal_text(amount, rounding))


def _decimal_text(amount: Fraction, rounding: str) -> str:
    with decimals(_DIGITS, rounding):
        rounded = Decimal(amount.numerator) / Decimal(amount.denominator)
    if rounded and not -_DIGITS - 3 < rounded.adjusted() < 15:
        return f"{rounded.normalize():e}"
    text = f"{rounded:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def main_name(purse: Purse) -> str | None:
    """Return the first amount that a budget counts and can use up, if there is one."""
    return next(
        (
            name
            for name, whole in purse.whole.items()
            if name in purse.spent and name in purse.left and _is_usable(whole)
        ),
        None,
    )


def amounts_in_words(language: Language, amounts: Amounts, rounding: str) -> str:
    """Return all amounts that are not zero, each with its name."""
    return ", ".join(
        language.plain(
            "amount.named",
            name=language.texts.get(f"amount.{name}", name),
            amount=amount_in_words(language, name, amount, rounding),
        )
        for name, amount in amounts.items()
        if amount
    )


def _is_usable(whole: Extended) -> bool:
    return isinstance(whole, Fraction) and whole > 0


_SEVERAL: Final = (1, 2, 6, 12)
"""Blocks that somebody may be in."""
_ITEM: Final = Html("<li>{}</li>")
_LIST: Final = Html("<ul>{}</ul>")


def accounts_of(
    ledger: Ledger, entries: Iterable[Entry], records: Iterable[Record], seen: Verified
) -> Accounts:
    """Return the budgets of a ledger, and the trail of its records."""
    kinds = {record.kind for record in records}
    closed = {record.fields["budget"] for record in records if record.kind == "closed"}
    purses = tuple(
        purse_of(ledger, name, is_closed=name in closed) for name in ledger.limits()
    )
    first = next(iter(records)).fields
    policy = ledger.policy()
    division = None if ledger.division is None else division_of(ledger)
    trail = Trail(
        head=seen.head,
        records=seen.records,
        releases=seen.releases,
        answers=seen.answers,
        has_witness="witnessed" in kinds,
        signed_by=seen.signed_by,
        library=first["library"],
        rule=ledger.first_limit().rule.rule,
        policy="" if policy is None else policy.sha256,
        officer="" if policy is None else policy.officer,
    )
    entries = tuple(entries)
    shares = () if division else _shares(purses[0], entries)
    return Accounts(purses, shares, trail, division, shown_policy(policy, entries))


def shown_policy(policy: Policy | None, entries: Iterable[Entry]) -> ShownPolicy | None:
    """The policy in force, and how many releases it allowed."""
    if policy is None:
        return None
    allowed = [entry.policy == policy.sha256 for entry in entries]
    return ShownPolicy(policy.rules, sum(allowed), len(allowed) - sum(allowed))


def purse_of(ledger: Ledger, name: str, *, is_closed: bool) -> Purse:
    """Return a budget as far as it is made of amounts that add up."""
    limit = ledger.limit(name)
    promise, left = limit.rule.promise, ledger.remaining(name)
    whole, spent = dict(promise.sums), dict(ledger.spent(name).sums)
    rest = dict(left.sums)
    return Purse(
        name=name,
        whole=whole,
        spent=spent,
        left=rest,
        aside=_set_aside(ledger, name),
        is_closed=is_closed,
        is_lowered=ledger.first_limit(name) != limit,
    )


def _set_aside(ledger: Ledger, name: str) -> dict[str, Fraction]:
    amounts = [
        pair
        for earmark in ledger.earmarks()
        # what is set aside for one budget is set aside of the dataset's, too
        if name in {DATASET, earmark.budget}
        for pair in earmark.left.sums.items()
    ]
    aside: dict[str, Fraction] = {}
    for part, amount in amounts:
        if isinstance(amount, Fraction):
            aside[part] = aside.get(part, Fraction(0)) + amount
    return aside


def _shares(purse: Purse, entries: Iterable[Entry]) -> tuple[tuple[int, Fraction], ...]:
    name = main_name(purse)
    whole = Fraction(0) if name is None else purse.whole[name]
    if name is None or not isinstance(whole, Fraction):
        return ()
    taken = ((entry.number, taken_of(entry).get(name)) for entry in entries)
    return tuple(
        (number, amount / whole)
        for number, amount in taken
        if isinstance(amount, Fraction)
    )


def division_of(ledger: Ledger) -> Division:
    """Return the blocks of a ledger, and what people in several of them lose."""
    blocks = ledger.blocks()
    purses = tuple(
        Purse(
            block.name,
            dict(block.limit.sums),
            dict(block.spent.sums),
            dict(block.remaining.sums),
        )
        for block in blocks
    )
    counts = sorted({
        count for count in (*_SEVERAL, len(blocks)) if 0 < count <= len(blocks)
    })
    bounds = tuple((count, ledger.exposure(count).promise) for count in counts)
    return Division(purses, bounds)


def taken_of(entry: Entry) -> dict[str, Extended]:
    """Amounts that a release took from the limit, or from that of each block."""
    charge = entry.charges.get(DATASET) or entry.each
    if charge is None:
        return {}
    return dict(zip(charge.coordinates, charge.amounts, strict=True))


def cut_sentences(language: Language, publication: ShownRelease) -> Iterator[Html]:
    """Yield what was cut off, and how much of it was measured."""
    if not publication.words:
        yield language.html("cut.unknown")
        return
    cuts = cuts_of(publication.words)
    measured = [row for answer in publication.answers for row in answer.left_out]
    for cut in cuts:
        yield join(_cut_sentence(language, cut), " ")
    if measured:
        items = (_ITEM.format(_measured_line(language, row, cuts)) for row in measured)
        yield _LIST.format(join(*items))
    elif cuts:
        yield language.html("cut.unmeasured")
    else:
        yield language.html("cut.nothing")


def _cut_sentence(language: Language, cut: Verb) -> Html:
    verb, arguments = cut
    values: dict[str, Content] = {
        "limit": plain_name(arguments.get("limit", arguments.get("max_rows", ""))),
        "columns": _names(language, arguments.get("columns", [])),
        "column": _names(language, columns_of(arguments.get("column"))),
        "low": _end(language, arguments.get("low")),
        "high": _end(language, arguments.get("high")),
    }
    return language.html(f"cut.{verb}", **values)


def _names(language: Language, names: Any) -> Html:
    columns = names if isinstance(names, list) else [names]
    parts = [
        part for name in columns for part in (", ", CODE.format(language.name(name)))
    ]
    return join(*parts[1:])


def _end(language: Language, words: Any) -> str:
    literals = [arguments for verb, arguments in verbs_of(json.dumps(words))]
    if literals:
        return language.bare_name(literals[0].get("value"))
    try:
        return language.number(format_number(float(exact(bound=words))))
    except (TypeError, ValueError, OverflowError):
        return language.bare_name(words)


def _measured_line(
    language: Language, row: Mapping[str, Any], cuts: Sequence[Verb]
) -> Html:
    low, high = (language.number(format_number(row[end])) for end in ("low", "high"))
    values: dict[str, Content] = {
        "count": language.whole(max(row["count"], 0)),
        "low": low,
        "high": high,
        "unit": language.plain(f"cut.unit.{row['counted']}"),
    }
    kind, what = str(row["kind"]).replace(" ", "_"), str(row["what"])
    limits = cuts if row["kind"] == CUT_OFF else ()  # else it is a name of the user's
    if limits and what.startswith(TOGETHER):
        # "limits together, up to 6 of one patient" or "..., more than 6 of one patient"
        most = what.removeprefix(TOGETHER).split()[2].replace(",", "")
        kind, values["most"] = f"together_{row['counted']}", language.whole(int(most))
    # the limit in the language of the page, where it is plain which one is meant
    by = [cut for cut in limits if cut[0] == what.partition("(")[0]]
    if len(by) == 1:
        kind, values["limit"] = "limit", _cut_sentence(language, by[0])
    else:
        values["what"] = CODE.format(language.name(what))
    return language.html(f"cut.measured.{kind}", **values)
