"""An annex for a data protection impact assessment, made of the facts of a report.

It has the four parts that Article 35(7) of the GDPR asks for. What only the controller
can say stands as a line to fill in: nothing is claimed that a ledger does not know.
"""

from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR

from sordino.ledger.ledger import Ledger
from sordino.office.html.elements import Html, fill_template, join
from sordino.office.html.odds import FALSE_ALARMS, Odds, hundred_text
from sordino.office.html.page import Language, document, read_language
from sordino.office.report.accounts import amounts_in_words, cut_sentences
from sordino.office.report.document import ledger_story
from sordino.office.report.policy import policy_sentences
from sordino.office.report.promise import omission_lines, protected_unit
from sordino.office.report.story import Accounts, Story

_PAIR, _FAMILY = 2, 5


def ledger_annex(ledger: Ledger, title: str, code: object) -> str:
    """Return the annex of a ledger as a file of HTML, after verifying all of it."""
    language = read_language(code)
    story = ledger_story(ledger, title)
    name = language.bare_name(title)
    return document(
        language, language.plain("annex.title", name=name), annex_body(language, story)
    )


def annex_body(language: Language, story: Story) -> Html:
    """The annex of a story: processing, need, risks, measures."""
    accounts = story.accounts
    policy = None if accounts is None else accounts.policy
    return fill_template(
        "report/annex.html",
        language=language,
        title=story.title,
        processing=list(_facts_of_processing(language, story)),
        cuts=list(_cuts(language, story)),
        risks=list(_risks(language, Odds(story.bound))),
        omissions=omission_lines(language, story),
        measures=[] if accounts is None else list(_measures(language, accounts)),
        rules=[] if policy is None else list(policy_sentences(language, policy.rules)),
    )


def _facts_of_processing(
    language: Language, story: Story
) -> Iterator[tuple[str, Html]]:
    yield "unit", protected_unit(language, story.questions)
    count = len(story.shown) + story.earlier
    yield "releases", join(language.whole(count))
    days = [each.when.date() for each in story.shown if each.when is not None]
    if days:
        ends = tuple(language.day(day) for day in (min(days), max(days)))
        key = "annex.between" if not story.earlier else "annex.newest"
        yield "when", join(language.plain(key, first=ends[0], last=ends[1]))
    for name, texts in (
        ("who", [each.who for each in story.shown]),
        ("why", [each.why for each in story.shown]),
    ):
        listed = [*dict.fromkeys(filter(None, texts))]
        parts = [part for text in listed for part in ("; ", language.name(text))][1:]
        yield name, join(*parts) if parts else language.html("annex.unsaid")


def _cuts(language: Language, story: Story) -> Iterator[Html]:
    seen: dict[str, None] = {}
    for each in story.shown:
        for sentence in cut_sentences(language, each):
            if str(sentence) not in seen:
                seen[str(sentence)] = None
                yield sentence


def _risks(language: Language, odds: Odds) -> Iterator[tuple[str, str]]:
    alarms = str(FALSE_ALARMS)
    yield "mistakes", alarms
    yield "named", hundred_text(language, odds.finds(FALSE_ALARMS))
    if odds.promises:
        for name, size in (("pair", _PAIR), ("family", _FAMILY)):
            people = odds.finds_of_groups(FALSE_ALARMS, size)
            yield name, hundred_text(language, people)
        yield "belief", hundred_text(language, odds.belief(1))


def _measures(language: Language, accounts: Accounts) -> Iterator[tuple[str, Html]]:
    purse, trail = accounts.purses[0], accounts.trail
    say = language.html
    yield "limit", join(amounts_in_words(language, purse.whole, ROUND_CEILING))
    yield "spent", join(amounts_in_words(language, purse.spent, ROUND_CEILING) or "0")
    yield "left", join(amounts_in_words(language, purse.left, ROUND_FLOOR) or "0")
    yield (
        "checked",
        say(
            "proof.counts",
            records=language.whole(trail.records),
            releases=language.whole(trail.releases),
            answers=language.whole(trail.answers),
        ),
    )
    witness = "witness_kept" if trail.has_witness else "witness_none"
    yield "witness", say(f"proof.{witness}")
    yield "signed", say("annex.signed" if trail.signed_by else "proof.unsigned")
    policy = accounts.policy
    if policy is not None:
        key = language.form("rules.kept", policy.kept)
        yield "rules", say(key, count=language.whole(policy.kept))
