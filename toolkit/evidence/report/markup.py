"""HTML as values: what is not markup is escaped, so that a line of a log is never read as part of the page."""

from html import escape

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
