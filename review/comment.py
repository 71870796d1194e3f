"""A review as a comment of a pull request: what matters first, within what hosts take.

GitHub takes 65,536 characters for a comment. Space is given to the summary first, then to the sections, then to the
differences of single objects, the most important first. What does not fit is counted, and where to see it is said.
"""

import re
from collections import Counter
from collections.abc import Iterator

from review import markdown, summary, titles
from review.importance import importance, shown
from review.model import Change, Op, Review
from review.properties import difference
from review.section import Section
from review.subjects import sections
from review.words import count, enumerated, name
from review.worlds import Worlds

LEAST = 6_000
"""The smallest limit: what is never cut has room in it."""
_OBJECT = 5_000
"""Characters that the difference of one object may take."""
_SHORTEST = 40
"""Characters of a line of a section, hardly any has fewer: more lines than fit by this are not even written."""
_RESERVED = 700
"""Characters for the line that counts what was left out."""
_SHARE = 0.7
"""Of the space, what sections may take while there are differences to show."""
_LADDER = (*((None, details) for details in (20, 5, 2, 1, 0)), *((lines, 0) for lines in (50, 20, 10, 3, 0)))
"""How sections shrink: at most so many lines, with so many details each."""


def write(review: Review, *, limit: int = 60_000) -> str:
    """Return Markdown of at most `limit` characters; the same review gives the same text.

    Its first line is hidden and names the stack, so that a bot finds its comment again. Raises ValueError for a limit
    below LEAST.
    """
    if limit < LEAST:
        raise ValueError(f"a comment cannot be kept below {limit} characters; give it {LEAST} or more")
    worlds = Worlds(review)
    said = "\n\n".join(_head(review, worlds))
    room = limit - len(said) - _RESERVED
    changed = shown(review)
    body, cut = _sections(list(sections(worlds)), int(room * _SHARE) if changed else room)
    room -= len(body)
    told = f"\n\n{body}" if body else ""
    return f"{said}{told}{_differences(worlds, changed, room, cut)}\n"


def marker(stack: str, command: str = "diff") -> str:
    """Return the hidden line by which the comment of a stack is found; what other commands tell is another comment."""
    safe = re.sub(r"[^A-Za-z0-9_.-]|-(?=-)|-$", lambda found: f"%{ord(found[0]):02X}", stack)
    return f"<!-- hpc {command} stack={safe[:200]} -->"


def _head(review: Review, worlds: Worlds) -> Iterator[str]:
    command = "drift" if review.drift else "adopt" if review.adoption else "diff"
    yield f"{marker(review.stack, command)}\n## {markdown.sentence(summary.heading(review))}"
    failed, items = summary.failure(review)
    if failed:
        yield f"⚠️ **{markdown.sentence(failed)}**"
    if items:
        yield "\n".join(f"- {markdown.sentence(item)}" for item in items)
    for caution in summary.cautions(review):
        yield f"⚠️ {markdown.sentence(caution)}"
    yield markdown.sentence(summary.counts(worlds))
    if unasked := summary.unasked(review):
        yield markdown.sentence(unasked)


def _sections(found: list[Section], room: int) -> tuple[str, bool]:
    """Return the sections within `room`, and whether anything was left out.

    Those that are not vital shrink first, the last ones first.
    """
    most = room // _SHORTEST
    texts = [markdown.written(each, most, most) for each in found]
    order = sorted(range(len(found)), key=lambda index: (found[index].vital, -index))
    size = sum(map(len, texts)) + 2 * len(texts)
    cut = any(len(each.lines) > most for each in found)
    for vital in (False, True):
        for lines, details in _LADDER:
            for index in order:
                if size <= room:
                    return "\n\n".join(texts), cut
                if found[index].vital is vital:
                    shorter = markdown.written(found[index], lines, details)
                    size += len(shorter) - len(texts[index])
                    texts[index], cut = shorter, True
    return "\n\n".join(texts), cut


def _differences(worlds: Worlds, changed: list[Change], room: int, cut: bool) -> str:
    """Return what differs in each object, folded, the most important first as long as there is room."""
    blocks: list[tuple[str, str]] = []
    left: list[Change] = []
    for change in sorted(changed, key=importance):
        if _told(worlds, change):
            continue
        block = "" if left else _difference(worlds, change)
        if left or len(block) + 2 > room:
            left.append(change)
        else:
            room -= len(block) + 2
            blocks.append((change.resource.urn, block))
    text = "\n\n### Differences of single objects\n\n" if blocks else ""
    text += "\n\n".join(block for _, block in blocks)
    if left or cut:
        text += f"\n\n{markdown.sentence(_left_out(worlds, left))}"
    return text


def _told(worlds: Worlds, change: Change) -> bool:
    """Say whether a section has told all of a change: a job that runs again by its number alone."""
    return bool(change.op is Op.REPLACE and worlds.raised(change)) and not difference(change)


def _difference(worlds: Worlds, change: Change) -> str:
    lines, size = [], 0
    for line in difference(change):
        size += len(line) + 1
        if size > _OBJECT:
            lines.append("… more lines differ")
            break
        lines.append(line)
    title = f"{titles.title(change.resource)} {worlds.done(change)}"
    body = markdown.fenced(lines, "diff") if lines else "Nothing of what is declared differs."
    return markdown.folded(title, body)


def _left_out(worlds: Worlds, left: list[Change]) -> str:
    command = "drift" if worlds.review.drift else "diff"
    how = f"{name(f'./hpc {command} --stack {worlds.review.stack}')} shows all of it."
    if not left:
        return f"Lists above were shortened to keep this comment within its limit; {how}"
    kinds = Counter((change.resource.kind, worlds.done(change)) for change in left)
    ranked = sorted(kinds.items(), key=lambda each: (-each[1], each[0]))
    told = enumerated([f"{number:,} {name(kind, 60)} {done}" for (kind, done), number in ranked], 5)
    what = f"the differences of {count(len(left), 'object')} ({told})"
    return f"Left out to keep this comment within its limit: {what}; {how}"
