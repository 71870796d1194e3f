"""A review as a comment of a pull request: what matters first, within what hosts take.

GitHub takes 65,536 characters for a comment. Space is given to the summary first, then to the sections, then to the
differences of single objects, the most important first. What does not fit is counted, with the command that shows it.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator

from core.wording import plural
from toolkit.review import markdown, sentences, summary
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Change, Op, Review
from toolkit.review.object_diff import difference
from toolkit.review.section import Section
from toolkit.review.sentences import enumerated, name
from toolkit.review.subjects import sections
from toolkit.review.summary import described_changes, importance

LEAST = 6_000
"""The smallest limit: what is never cut has room in it."""
_OBJECT = 5_000
"""Characters that the difference of one object may take."""
_WHOLE = 10_000
"""Lines of an object's difference in a review that has no limit."""
_SHORTEST = 40
"""Characters of a line of a section, hardly any has fewer: more lines than fit by this are not even written."""
_RESERVED = 1_000
"""Characters for the line that counts what was left out."""
_SHARE = 0.7
"""Of the space, what sections may take while there are differences to show."""
_LADDER = (*((None, details) for details in (20, 5, 2, 1, 0)), *((lines, 0) for lines in (50, 20, 10, 3, 0)))
"""How sections shrink: at most so many lines, with so many details each."""


def write(review: Review, *, limit: int | None = 60_000) -> str:
    """Return Markdown of at most `limit` characters, or all of it for None; the same review gives the same text.

    Its first line is hidden and names the stack, so that a bot finds its comment again. Raises ValueError for a limit
    below LEAST.
    """
    if limit is not None and limit < LEAST:
        raise ValueError(f"a limit of {limit} characters is too small for a comment; use {LEAST} or more")
    indexed = IndexedReview(review)
    head = "\n\n".join(_head(review, indexed))
    room = (sys.maxsize if limit is None else limit) - len(head) - _RESERVED
    changed = described_changes(review)
    body, cut = _sections(list(sections(indexed)), int(room * _SHARE) if changed else room)
    room -= len(body)
    reported = f"\n\n{body}" if body else ""
    return f"{head}{reported}{_differences(indexed, changed, room, cut, whole=limit is None)}\n"


def marker(stack: str, command: str = "diff") -> str:
    """Return the hidden line by which the comment of a stack is found; other commands have comments of their own."""
    safe = re.sub(r"[^A-Za-z0-9_.-]|-(?=-)|-$", lambda match: f"%{ord(match[0]):02X}", stack)
    return f"<!-- hpc {command} stack={safe[:200]} -->"


def _head(review: Review, indexed: IndexedReview) -> Iterator[str]:
    command = "drift" if review.drift else "adopt" if review.adoption else "diff"
    yield f"{marker(review.stack, command)}\n## {markdown.sentence(summary.heading(review))}"
    failed, items = summary.failure(review)
    if failed:
        yield f"⚠️ **{markdown.sentence(failed)}**"
    if items:
        yield "\n".join(f"- {markdown.sentence(item)}" for item in items)
    for caution in summary.cautions(review):
        yield f"⚠️ {markdown.sentence(caution)}"
    yield markdown.sentence(summary.counts(indexed))
    if limits := summary.not_queried(review):
        yield markdown.sentence(limits)


def _sections(sections: list[Section], room: int) -> tuple[str, list[str]]:
    """Return the sections within `room`, and the titles of those that were shortened.

    Those that are not vital shrink first, the last ones first.
    """
    limit = room // _SHORTEST
    texts = [markdown.written(section, limit, limit) for section in sections]
    order = sorted(range(len(sections)), key=lambda index: (sections[index].vital, -index))
    size = sum(map(len, texts)) + 2 * len(texts)
    shortened = {index for index, section in enumerate(sections) if len(section.lines) > limit}
    for vital in (False, True):
        for lines, details in _LADDER:
            for index in order:
                if size <= room:
                    return "\n\n".join(texts), _titles(sections, shortened)
                if sections[index].vital is vital:
                    shorter = markdown.written(sections[index], lines, details)
                    size += len(shorter) - len(texts[index])
                    if shorter != texts[index]:
                        texts[index] = shorter
                        shortened.add(index)
    return "\n\n".join(texts), _titles(sections, shortened)


def _titles(sections: list[Section], shortened: set[int]) -> list[str]:
    return [sections[index].title.partition(" (")[0] for index in sorted(shortened)]


def _differences(
    indexed: IndexedReview, changed: list[Change], room: int, cut: list[str], *, whole: bool = False
) -> str:
    """Return what differs in each object, folded, the most important first as long as there is room."""
    blocks: list[tuple[str, str]] = []
    left: list[Change] = []
    for change in sorted(changed, key=importance):
        if change.op is Op.REPLACE and indexed.run_change(change) and not difference(change):
            continue  # a section has reported all of it: a job that runs again by its number alone
        block = "" if left else _difference(indexed, change, whole=whole)
        if left or len(block) + 2 > room:
            left.append(change)
        else:
            room -= len(block) + 2
            blocks.append((change.resource.urn, block))
    text = "\n\n### Differences of single objects\n\n" if blocks else ""
    text += "\n\n".join(block for _, block in blocks)
    if left or cut:
        text += f"\n\n{markdown.sentence(_omissions(indexed, left, cut))}"
    return text


def _difference(indexed: IndexedReview, change: Change, *, whole: bool) -> str:
    lines, size = [], 0
    for line in difference(change, _WHOLE) if whole else difference(change):
        size += len(line) + 1
        if size > _OBJECT and not whole:
            lines.append("… more lines differ")
            break
        lines.append(line)
    title = f"{sentences.title(change.resource)} {indexed.participle(change)}"
    body = markdown.fenced(lines, "diff") if lines else "Nothing of what is declared differs."
    return markdown.folded(title, body)


def _omissions(indexed: IndexedReview, left: list[Change], cut: list[str]) -> str:
    """Return what was left out: of which sections, and the differences of which objects."""
    command = "drift" if indexed.review.drift else "diff"
    how = f"{name(f'./hpc {command} --stack {indexed.review.stack}')} shows all of it."
    lines = f"lines of {enumerated(cut)}" if cut else ""
    if not left:
        return f"Left out to keep this comment within its limit: {lines}; {how}"
    kinds = Counter((change.resource.kind, indexed.participle(change)) for change in left)
    ranked = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    listed = enumerated([f"{number:,} {name(kind, 60)} {done}" for (kind, done), number in ranked], 5)
    what = f"the differences of {plural(len(left), 'object')} ({listed})"
    also = f", and {lines}" if lines else ""
    return f"Left out to keep this comment within its limit: {what}{also}; {how}"
