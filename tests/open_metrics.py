"""A strict reader of gauges in the text format of OpenMetrics 1.0.

It raises on everything that the specification does not allow, also where collectors are
lenient: descriptors after samples, names twice, samples apart from their family.
"""

import re
from collections.abc import Mapping
from typing import Final

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]
_NAME: Final = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_LABEL: Final = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"'
_SAMPLE: Final = re.compile(
    rf"({_NAME})(?:\{{({_LABEL}(?:,{_LABEL})*)?\}})? "
    r"([-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?Inf|NaN)"
)
_DESCRIPTOR: Final = re.compile(rf"# (TYPE|UNIT|HELP) ({_NAME}) (.*)")
_PLAIN: Final[Mapping[str, str]] = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


def read_gauges(text: str) -> Samples:  # noqa: PLR0915 one rule after the other
    """Return the samples of a text by name and labels."""
    assert text.endswith("# EOF\n"), "it must end with # EOF"
    samples: Samples = {}
    family, described, seen = "", set[str](), set[str]()
    for line in text.removesuffix("# EOF\n").split("\n")[:-1]:
        if descriptor := _DESCRIPTOR.fullmatch(line):
            kind, name, words = descriptor.groups()
            if name != family:
                assert name not in seen, f"{name} is in two places"
                family, described = name, set()
                seen.add(name)
            assert kind not in described, f"two of {kind}"
            assert "sample" not in described, f"{kind} after samples"
            assert kind != "TYPE" or words == "gauge"
            assert kind != "UNIT" or name.endswith(f"_{words}")
            assert not re.search(r"\\(?![\\n\"])", words)
            described.add(kind)
            continue
        found = _SAMPLE.fullmatch(line)
        assert found is not None, line
        assert found[1] == family, f"{found[1]} has no descriptor before it"
        assert "TYPE" in described
        described.add("sample")
        pairs = re.findall(_LABEL, found[2] or "")
        assert len(dict(pairs)) == len(pairs), "a label twice"
        labels = frozenset((name, _unescaped(value)) for name, value in pairs)
        assert (family, labels) not in samples, f"{line} is there twice"
        samples[family, labels] = float(found[7])
    return samples


def _unescaped(text: str) -> str:
    """Return a label's value."""
    return re.sub(r"\\[\\\"n]", lambda sign: _PLAIN[sign[0]], text)
