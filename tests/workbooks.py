"""Excel workbooks in tests, written cell by cell as the format has them."""

import datetime as dt
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape

_EPOCH: Final = dt.datetime(1899, 12, 30)  # noqa: DTZ001 times of workbooks have no zone
_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_STYLES: Final = (
    f'<styleSheet xmlns="{_MAIN}"><fonts count="1"><font/></fonts><fills count="1">'
    '<fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1">'
    '<xf/></cellStyleXfs><cellXfs count="3"><xf/><xf numFmtId="14" '
    'applyNumberFormat="1"/><xf numFmtId="22" applyNumberFormat="1"/></cellXfs>'
    "</styleSheet>"
)
"""0 for plain cells, 1 for days, 2 for days with a clock."""


def write_workbook(path: Path, sheets: dict[str, Sequence[Sequence[Any]]]) -> Path:
    """Write sheets of rows; an Exception stands for the error that it names."""
    names, places = list(sheets), range(1, len(sheets) + 1)
    with zipfile.ZipFile(path, "w") as file:

        def put(name: str, content: str) -> None:
            file.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{content}')

        parts = "".join(
            f'<Override PartName="/xl/worksheets/sheet{place}.xml" '
            f'ContentType="{_TYPE}.worksheet+xml"/>'
            for place in places
        )
        put(
            "[Content_Types].xml",
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main'
            f'+xml"/><Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles'
            f'+xml"/>{parts}</Types>',
        )
        put("_rels/.rels", _relations([("officeDocument", "xl/workbook.xml")]))
        put(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
            + "".join(
                f'<sheet name="{escape(names[place - 1])}" sheetId="{place}" '
                f'r:id="r{place}"/>'
                for place in places
            )
            + "</sheets></workbook>",
        )
        targets = [("worksheet", f"worksheets/sheet{place}.xml") for place in places]
        put(
            "xl/_rels/workbook.xml.rels",
            _relations([*targets, ("styles", "styles.xml")]),
        )
        put("xl/styles.xml", _STYLES)
        for place in places:
            rows = "".join(
                f"<row>{''.join(map(_cell, row))}</row>"
                for row in sheets[names[place - 1]]
            )
            put(
                f"xl/worksheets/sheet{place}.xml",
                f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>',
            )
    return path


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    listed = "".join(
        f'<Relationship Id="r{place}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for place, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{listed}</Relationships>'


def _cell(cell: Any) -> str:
    kind = next(kind for kind in _WRITTEN if isinstance(cell, kind))
    attributes, content = _WRITTEN[kind](cell)
    return f"<c {attributes}>{content}</c>"


def _value(attributes: str, value: Any) -> tuple[str, str]:
    return attributes, f"<v>{value}</v>"


_WRITTEN: Final[Mapping[type, Callable[[Any], tuple[str, str]]]] = {
    type(None): lambda _: ("", ""),
    bool: lambda cell: _value('t="b"', int(cell)),
    dt.datetime: lambda cell: _value('s="2"', (cell - _EPOCH) / dt.timedelta(days=1)),
    dt.date: lambda cell: _value('s="1"', (cell - _EPOCH.date()).days),
    Exception: lambda cell: _value('t="e"', cell),
    int: lambda cell: _value("", cell),
    float: lambda cell: _value("", repr(cell)),
    str: lambda cell: ('t="inlineStr"', f"<is><t>{escape(cell)}</t></is>"),
}
"""By type, the narrower first: its attributes and what is within it."""
