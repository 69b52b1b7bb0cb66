"""What a browser sees of a page: at a desk, on a phone, light, dark, on paper.

>>> look_at("page.html").problems  # doctest: +SKIP
()

A test asks that there are no problems, and for the figures and words it knows of.
"""

import base64
import json
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.browser.devtools import Browser, Message, axe, browser
from tests.browser.printed import printed_pages
from tests.effort import often

_EYES: Final = (Path(__file__).parent / "eyes.js").read_text(encoding="utf-8")
_TALLEST: Final = 16_000
"""Pixels of a page that are looked at in one piece."""
_TABS: Final = 100
"""How often the tabulator is pressed at most."""
_LOADED: Final = """new Promise(done => document.readyState === "complete"
    ? done() : addEventListener("load", () => done()))"""
_PAPER: Final = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True}
"""A4, in inches."""
_POLLS: Final = 1200
_FIND: Final = "document.querySelector"
_CODES: Final = {"Tab": 9, "Enter": 13, " ": 32, "ArrowDown": 40}
"""Of keys, by their names."""


class View(NamedTuple):
    """How a page is looked at."""

    name: str
    width: int
    scheme: str
    medium: str = "screen"
    contrast: int = 1
    """Whether all letters are asked for their contrast, by far the longest look."""


PHONE: Final = 360
VIEWS: Final = (
    View("desk, light", 900, "light"),
    View("desk, dark", 900, "dark", contrast=often(0, 1)),
    View("phone, light", PHONE, "light", contrast=often(0, 1)),
    View("phone, dark", PHONE, "dark"),
    View("paper", 718, "light", "print"),
)
"""Paper is A4 without its margins, in pixels of a browser."""


class Problem(NamedTuple):
    """Something that is wrong with a page."""

    kind: str
    """Console, request, script, sideways, overlap, cut, faint, figure, keyboard, print,
    or the name of a rule of axe-core."""
    text: str
    views: tuple[str, ...]


@dataclass(frozen=True)
class Sight:
    """What was seen of a page."""

    title: str
    words: str
    """All that can be read, folded parts too."""
    figures: tuple[str, ...]
    """What each figure is called by those who do not see it."""
    pages: int
    """How many pages it prints on."""
    stops: int
    """How many places the keyboard can go to."""
    problems: tuple[Problem, ...]
    pictures: dict[str, bytes]
    """The page as PNG, by view, where they were asked for; and as "print", a PDF."""


def look_at(page: Path | str, *, pictures: bool = False) -> Sight:
    """Return what is seen of a page: a file, or the text of one."""
    if isinstance(page, Path):
        return _look(page, pictures=pictures)
    with tempfile.TemporaryDirectory(prefix="sordino-page-") as folder:
        path = Path(folder) / "page.html"
        path.write_text(page, encoding="utf-8")
        return _look(path, pictures=pictures)


@dataclass(frozen=True)
class Tab:
    """A page in the browser, what it said and asked for, and the keys of a person."""

    browser: Browser
    session: str
    world: list[int] = field(default_factory=list)
    problems: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    strokes: list[str] = field(default_factory=list)
    """Keys that were pressed, and letters that were typed."""

    def ask(self, method: str, **parameters: Any) -> Message:
        """Send a command to this page."""
        return self.browser.ask(method, self.session, self._hear, **parameters)

    def bring_eyes(self) -> None:
        """Wait until a page is there, and bring our eyes to it."""
        self.ask("Runtime.evaluate", expression=_LOADED, awaitPromise=True)
        frame = self.ask("Page.getFrameTree")["frameTree"]["frame"]["id"]
        world = self.ask("Page.createIsolatedWorld", frameId=frame)
        self.world.append(world["executionContextId"])
        self.see(_EYES)
        self.see(axe())

    def look(self, *, pictures: bool = False) -> Sight:
        """Return what is seen of the page as it is now."""
        return _seen(self, pictures=pictures)

    def press(self, key: str, text: str = "", *, times: int = 1) -> None:
        """Press a key, as often as is said."""
        code = {"key": key, "code": key, "windowsVirtualKeyCode": _CODES.get(key, 0)}
        self.strokes.extend([key] * times)
        for _ in range(times):
            typed = {"text": text} if text else {}
            kind = "keyDown" if text else "rawKeyDown"
            self.ask("Input.dispatchKeyEvent", type=kind, **code, **typed)
            self.ask("Input.dispatchKeyEvent", type="keyUp", **code)

    def reach(self, what: str) -> None:
        """Press the tabulator until an element has the focus, by a selector of CSS."""
        for _ in range(_TABS):
            self.press("Tab")
            if self.see(f"!!document.activeElement?.matches({what!r})"):
                return
        raise AssertionError(f"the keyboard does not reach {what}")

    def follow(self, what: str) -> None:
        """Press Enter where the focus is, and wait for the page that has an element."""
        self.see("document.documentElement.dataset.old = 'yes'")
        self.press("Enter", "\r")
        fresh = f"!document.documentElement.dataset.old && !!{_FIND}({what!r})"
        for _ in range(_POLLS):
            answer = self.ask("Runtime.evaluate", expression=fresh, returnByValue=True)
            if answer["result"].get("value") is True:
                return self.bring_eyes()
            time.sleep(0.05)
        raise AssertionError(f"no page with {what} came")

    def type(self, text: str) -> None:
        """Type a text where the focus is."""
        self.strokes.extend(text)
        self.ask("Input.insertText", text=text)

    def see(self, expression: str) -> Any:
        """Return what an expression is in the world of our own."""
        answer = self.ask(
            "Runtime.evaluate",
            expression=expression,
            contextId=self.world[-1],
            awaitPromise=True,
            returnByValue=True,
        )
        if "exceptionDetails" in answer:
            raise AssertionError(json.dumps(answer["exceptionDetails"])[:800])
        return answer["result"].get("value")

    def tell(self, kind: str, view: str, texts: list[str]) -> None:
        for text in texts:
            views = self.problems.setdefault((kind, text), [])
            views += [] if view in views else [view]

    def _hear(self, event: Message) -> None:
        """Keep what the console says, and what is asked from outside."""
        if (speaker := _SPEAKERS.get(event["method"])) is None:
            return
        kind, words = speaker
        if text := words(event["params"]):
            self.tell(kind, "loading", [text])


def _asked(event: Message) -> str:
    """Return an address that is neither the page nor part of it."""
    address: str = event["request"]["url"]
    own = address == event["documentURL"] or address.startswith("data:")
    return "" if own else address


def _logged(event: Message) -> str:
    """Return what the browser says of a page; of the network, requests tell."""
    entry = event["entry"]
    return "" if entry["source"] == "network" else str(entry["text"])


_SPEAKERS: Final[dict[str, tuple[str, Callable[[Message], str]]]] = {
    "Network.requestWillBeSent": ("request", _asked),
    "Log.entryAdded": ("console", _logged),
    "Runtime.consoleAPICalled": ("console", lambda event: str(event["args"])[:200]),
    "Runtime.exceptionThrown": ("console", lambda event: str(event)[:200]),
}


def _look(path: Path, *, pictures: bool) -> Sight:
    """Open a page, look at it in every view, and close it."""
    with open_page(path.resolve().as_uri()) as tab:
        return tab.look(pictures=pictures)


@contextmanager
def open_page(address: str) -> Generator[Tab]:
    """Open a page, to use it as a person does and to look at it, and close it."""
    axe()  # without it nothing is looked at
    running = browser()
    target = running.ask("Target.createTarget", url="about:blank")["targetId"]
    session = running.ask("Target.attachToTarget", targetId=target, flatten=True)
    tab = Tab(running, session["sessionId"])
    try:
        _open(tab, address)
        yield tab
    finally:
        running.ask("Target.closeTarget", targetId=target)


def _open(tab: Tab, address: str) -> None:
    """Load a page."""
    for domain in ("Runtime", "Log", "Network", "Page"):
        tab.ask(f"{domain}.enable")
    tab.ask("Emulation.setFocusEmulationEnabled", enabled=True)
    loaded = tab.ask("Page.navigate", url=address)
    assert "errorText" not in loaded, f"{address}: {loaded['errorText']}"
    tab.bring_eyes()


def _seen(tab: Tab, *, pictures: bool) -> Sight:
    first = VIEWS[0]
    turn_to(tab, first, 900)
    tab.tell("script", first.name, tab.see("eyes.live()"))
    stops = _walk(tab, first.name)
    turn_to(tab, VIEWS[-1], 900)  # what is printed follows the medium, not the verb
    pdf = base64.b64decode(tab.ask("Page.printToPDF", **_PAPER)["data"])
    written = printed_pages(pdf)
    empty = [
        f"page {place} is empty"
        for place, is_full in enumerate(written, 1)
        if not is_full
    ]
    tab.tell("print", first.name, empty)
    kept = {"print": pdf} if pictures else {}
    for view in VIEWS:
        _judge(tab, view)
        if pictures:
            kept[view.name] = _picture(tab)
    figures = tab.see("eyes.figures()")
    tab.tell("figure", first.name, ["a figure has no name"] * figures.count(""))
    return Sight(
        title=tab.see("document.title"),
        words=tab.see("eyes.read()"),
        figures=tuple(figures),
        pages=len(written),
        stops=stops,
        problems=tuple(
            Problem(kind, text, tuple(views))
            for (kind, text), views in tab.problems.items()
        ),
        pictures=kept,
    )


def turn_to(tab: Tab, view: View, height: int) -> None:
    """Look from now on as a view says."""
    tab.ask(
        "Emulation.setDeviceMetricsOverride",
        width=view.width,
        height=height,
        deviceScaleFactor=1,
        mobile=view.width == PHONE,
    )
    scheme = {"name": "prefers-color-scheme", "value": view.scheme}
    tab.ask("Emulation.setEmulatedMedia", media=view.medium, features=[scheme])


def _judge(tab: Tab, view: View) -> None:
    """Look at a page in one view, with all its folds open."""
    turn_to(tab, view, 900)
    turn_to(tab, view, min(max(tab.see("eyes.unfold()"), 900), _TALLEST))
    tab.tell("sideways", view.name, tab.see(f"eyes.sideways({view.width})"))
    for kind, sees in (("overlap", "overlaps"), ("cut", "cut"), ("faint", "faint")):
        tab.tell(kind, view.name, tab.see(f"eyes.{sees}()"))
    if view.medium == "screen":
        for rule, text in tab.see(f"eyes.judged({view.contrast})"):
            tab.tell(rule, view.name, [text])


def _walk(tab: Tab, view: str) -> int:
    """Press the tabulator from stop to stop; tell what it misses or does not show."""
    count: int = tab.see("eyes.counted()")
    reached = set()
    for _ in range(min(count, _TABS) + 2):
        tab.press("Tab")
        stop = tab.see("eyes.focused()")
        reached.add(stop["place"])
        if stop["place"] >= 0 and not stop["seen"]:
            tab.tell("keyboard", view, [f"{stop['what']} shows no focus"])
    tab.see("document.activeElement.blur()")
    missed = set(range(min(count, _TABS))) - reached
    tab.tell(
        "keyboard", view, [f"{len(missed)} stops are not reached"] if missed else []
    )
    return count


def _picture(tab: Tab) -> bytes:
    return base64.b64decode(tab.ask("Page.captureScreenshot")["data"])
