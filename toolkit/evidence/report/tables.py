"""HTML as values, tables and marks: what is not markup is escaped, so that no line of a log is part of the page."""

from collections.abc import Container, Iterable, Mapping, Sequence
from html import escape

from toolkit.evidence.report.run_summary import WORDS
from toolkit.evidence.verdict import Status
from toolkit.evidence.wording import printable

_VOID = frozenset({"br", "col", "hr", "meta"})
"""Of HTML; what is empty in SVG is closed all the same."""


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(name: str, /, *content: str | None, **attributes: str | float | bool | None) -> Markup:
    """Return an element with its content, of which all is escaped that is not a Markup; None is left out.

    Attributes: class_ for class, aria_label for aria-label; True is one without a value, None and False are left out.
    """
    words = [name, *(_attribute(key, value) for key, value in attributes.items() if value not in {None, False})]
    opening = f"<{' '.join(words)}>"
    return Markup(opening if name in _VOID else f"{opening}{joined(*content)}</{name}>")


def joined(*content: str | None) -> Markup:
    """Return pieces after each other, escaped where they are not Markup."""
    return Markup(
        "".join(
            piece if isinstance(piece, Markup) else escape(printable(piece)) for piece in content if piece is not None
        )
    )


def quoted(text: str) -> Markup:
    """Return text in which what is between backquotes is code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return joined(text)
    return joined(*(element("code", part) if place % 2 else part for place, part in enumerate(parts)))


def _attribute(key: str, value: str | float | bool | None) -> str:
    name = key.rstrip("_").replace("_", "-")
    return name if value is True else f'{name}="{escape(printable(str(value)))}"'


NONE = "-"
"""Shown where there is no value."""
_ICONS: Mapping[Status, str] = {
    Status.PASS: "M3 9l4 4 8-9",
    Status.FAIL: "M4 4l10 10M14 4L4 14",
    Status.WARN: "M9 2L17 16H1ZM9 7v4M9 13.6v.2",
    Status.MISSING: "M5.4 6a3.6 3.6 0 1 1 5.3 3.2C9.5 9.9 9 10.6 9 11.8M9 15.6v.2",
}


def mark(status: Status, text: str | None = None) -> Markup:
    """Return a status as icon, word and colour; the word alone is enough."""
    icon = element("svg", element("path", d=_ICONS[status]), viewBox="0 0 18 18", aria_hidden="true")
    return element("span", icon, text or WORDS[status], class_=f"status {status}")


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Container[int] = (),
    wide: Container[int] = (),
    caption: str | None = None,
) -> Markup:
    """Return a table that scrolls inside itself; `numbers` are the columns of figures, `wide` those with much text."""

    def kind(column: int) -> str | None:
        return "number" if column in numbers else "wide" if column in wide else None

    top = element("tr", *(element("th", head, class_=kind(column), scope="col") for column, head in enumerate(heads)))
    body = [
        element("tr", *(element("td", cell, class_=kind(column)) for column, cell in enumerate(row))) for row in rows
    ]
    inner = element(
        "table", element("caption", caption) if caption else None, element("thead", top), element("tbody", *body)
    )
    return scrolling(caption or ", ".join(head for head in heads if head), inner)


def stacked(heads: Sequence[str], rows: Iterable[Sequence[str]], class_: str, name: str) -> Markup:
    """Return a table whose rows become blocks on a phone."""
    return headed(heads, (block(heads, row) for row in rows), class_, name)


def block(heads: Sequence[str], row: Sequence[str]) -> Markup:
    """Return a row of such a table."""
    return element("tr", *(element("td", cell, data_head=head) for head, cell in zip(heads, row, strict=True)))


def headed(heads: Sequence[str], rows: Iterable[Markup], class_: str, name: str) -> Markup:
    """Return such a table of rows that are markup already."""
    columns = element("colgroup", *(element("col", class_=head) for head in heads))
    top = element("thead", element("tr", *(element("th", head, scope="col") for head in heads)))
    return scrolling(name, element("table", columns, top, element("tbody", *rows), class_=f"stacked {class_}"))


def scrolling(name: str, inner: Markup) -> Markup:
    """Return what scrolls inside itself where it is too wide; by keyboard, too."""
    return element("div", inner, class_="scroll", tabindex="0", role="region", aria_label=name)
