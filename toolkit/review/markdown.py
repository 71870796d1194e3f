"""Markdown that nothing in it can break out of: for comments on GitHub and GitLab.

A value of a manifest is a code span, a fenced block or escaped HTML. There it is text to hosts and readers: no mention,
no link, no HTML, no command.
"""

import html
import re
from collections.abc import Iterable
from functools import lru_cache

from core import project
from core.wording import plural
from toolkit.review.section import Line, Section
from toolkit.review.sentences import parts

_SPAN = re.compile(r"`[^`]+`")
_TICKS = re.compile(r"`+")
# A word of these alone is shown as it is by every renderer; others become code.
_HARMLESS = re.compile(r"""[('"]*[\w./:;,%+=()?'→…-]*["'.,;:)?!]*""")
_LINKS = re.compile(r"://|www\.|GH-\d", re.IGNORECASE)
_UNDERSCORES = re.compile(r"^_|_$|__")
_LIST_MARK = re.compile(r"^(?:[-+=]+|\d+[.)])$")
_EMOJI = re.compile(r"^:[\w+-]+:$")
_BRACKETS = (("{", "}"), ("[", "]"))
_ENDS = ".,;:)"


def code(text: str) -> str:
    """Return a code span of a text on one line."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if not text.strip() or text[0] in "` " or text[-1] in "` " else ""
    return f"{ticks}{pad}{text or ' '}{pad}{ticks}"


def fenced(lines: Iterable[str], language: str = "") -> str:
    """Return a fenced block; its lines are to be visible text without line ends."""
    text = "\n".join(lines)
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def sentence(text: str) -> str:
    """Return a sentence of `toolkit.review.sentences` as Markdown."""
    shown = ""
    for marked, part in parts(text):
        piece = code(part) if marked else _plain(project.located(part), first=not shown)
        # Two spans that touch would be one.
        shown += f" {piece}" if shown.endswith("`") and piece.startswith("`") else piece
    return shown


def folded(summary: str, body: str) -> str:
    """Return a folded block; the summary is a sentence, and is in HTML."""
    shown = "".join(
        f"<code>{html.escape(part)}</code>" if marked else html.escape(part) for marked, part in parts(summary)
    )
    return f"<details><summary>{shown}</summary>\n\n{body}\n\n</details>"


def written(section: Section, lines: int | None = None, details: int | None = None) -> str:
    """Return a section with at most so many lines, and details of each; what is left out is counted."""
    shown = section.lines[:lines]
    text = [f"### {sentence(section.title)}", ""]
    for line in shown:
        text += _line(line, details)
    rest = len(section.lines) - len(shown)
    if rest:
        alarms = sum(line.alarm for line in section.lines[len(shown) :])
        alarm_count = f", {alarms:,} of them marked ⚠️" if alarms else ""
        text.append(f"- … {plural(rest, 'more line')}{alarm_count}")
    return "\n".join(text)


def _line(line: Line, most: int | None) -> Iterable[str]:
    yield f"- {'⚠️ ' if line.alarm else ''}{sentence(line.text)}"
    shown = line.details[:most]
    for detail in shown:
        yield f"  - {sentence(detail)}"
    if rest := len(line.details) - len(shown):
        yield f"  - … {rest:,} more"


def _plain(text: str, *, first: bool) -> str:
    return " ".join(_word(word, first and not index) for index, word in enumerate(_words(text)))


def _words(text: str) -> list[str]:
    """Return the words of a text; what is between brackets or backticks is one, so that it can be copied."""
    rest, units = text.split(" "), []
    while rest:
        length = next((end for end in range(1, len(rest) + 1) if _closed(" ".join(rest[:end]))), 1) if rest[0] else 1
        units.append(" ".join(rest[:length]))
        rest = rest[length:]
    return units


def _closed(text: str) -> bool:
    return text.count("`") % 2 == 0 and all(
        text.count(opening) <= text.count(closing) for opening, closing in _BRACKETS
    )


@lru_cache(maxsize=8192)
def _word(word: str, first: bool) -> str:
    safe = _HARMLESS.fullmatch(word) and not _LINKS.search(word) and not _UNDERSCORES.search(word)
    if not word or (safe and not (first and _LIST_MARK.match(word)) and not _EMOJI.match(word)):
        return word
    body = word.rstrip(_ENDS)
    rest = word[len(body) :]
    if _SPAN.fullmatch(body):
        return f"{code(body[1:-1])}{rest}"
    return f"{code(body)}{rest}" if body else code(word)
