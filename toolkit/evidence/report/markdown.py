"""A run as Markdown, short enough for a pull request."""

from collections.abc import Iterator, Sequence

from core import project
from core.wording import plural, table
from toolkit.evidence.records import Run
from toolkit.evidence.report.changes import Comparison, as_text, assumptions, earlier_status
from toolkit.evidence.report.links import job_rows
from toolkit.evidence.report.run_summary import (
    SIMULATED,
    about,
    counts,
    gaps,
    notable,
    outcome,
    versions,
)
from toolkit.evidence.verdict import Status, Verdict
from toolkit.evidence.wording import printable, short

_MARKS = {Status.PASS: "✅", Status.FAIL: "❌", Status.WARN: "⚠️", Status.MISSING: "❔"}
_MISSING_SHOWN, _LINES = 20, 3


def markdown(run: Run, against: Comparison | None = None) -> str:
    """Return the summary of a run; `against` is what changed since earlier ones."""
    return "\n".join([*_lines(run, against), ""])


def _lines(run: Run, against: Comparison | None) -> Iterator[str]:
    result = outcome(run)
    yield f"# {_MARKS[result.status]} {escaped(result.text)}"
    yield ""
    if run.simulated:
        yield f"> **{SIMULATED.partition(': ')[0]}**: {SIMULATED.partition(': ')[2]}"
        yield ""
    yield f"{escaped(about(run))}: {counts(run)}."
    groups = notable(run, {Status.FAIL, Status.MISSING, Status.WARN})
    for group in groups:
        yield from _verdicts(group)
    if against is not None:
        yield from _changes(against)
    yield from _jobs(run)
    if parts := versions(run):
        lines = _rows(("part", "version"), [*parts.items()])
        yield from ("", "<details><summary>Versions</summary>", *lines, "", "</details>")
    evidence_gaps = list(gaps(run))
    if evidence_gaps:
        yield from ("", "## Missing evidence", "")
        yield from (f"- {escaped(text)}" for text in evidence_gaps[:_MISSING_SHOWN])
        if len(evidence_gaps) > _MISSING_SHOWN:
            yield f"- and {len(evidence_gaps) - _MISSING_SHOWN} more on the page"
    if groups:
        yield from ("", project.located("docs/coverage/sources.md explains the source ids."))


def _verdicts(group: Sequence[Verdict]) -> Iterator[str]:
    """Yield the verdicts that have one cause, and below the last the cause and the lines that show it."""
    yield ""
    for verdict in group:
        yield (
            f"- {_MARKS[verdict.status]} **{escaped(verdict.criterion)}** of {escaped(verdict.job)}: "
            f"{escaped(verdict.measured or 'nothing measured')}; limit: {escaped(verdict.limit)} "
            f"({escaped(verdict.source)})"
        )
    yield from (f"  - {_quoted(cause)}" for cause in group[-1].causes)
    shown = max(1, _LINES // len(group))
    for proof in dict.fromkeys(proof for verdict in group for proof in verdict.proofs[:shown]):
        yield f"  - {escaped(proof.where(short(proof.file)))} {code(proof.text)}".rstrip()


def _changes(against: Comparison) -> Iterator[str]:
    yield from ("", "## Changes", "")
    yield f"{plural(against.regressions, 'regression')} against {escaped(against.name)}."
    status_changes = [
        [_MARKS[change.after], change.job, change.criterion, earlier_status(change)]
        for change in against.status_changes
    ]
    yield from _rows(("", "job", "criterion", "change"), status_changes)
    rows = [[_MARKS[change.status], *as_text(change)] for change in against.beyond_noise]
    yield from _rows(("", "job", "figure", "before", "now", "difference", "noise", "result"), rows)
    if against.within_noise:
        yield from ("", f"{plural(len(against.within_noise), 'figure')} within the noise.")
    notes = (" ".join(assumptions(against)), *against.notes)
    for note in filter(None, notes):
        yield from ("", escaped(note))


def _jobs(run: Run) -> Iterator[str]:
    if rows := [[_MARKS[status], *cells] for status, *cells in job_rows(run)]:
        yield from ("", "## Jobs", *_rows(("", "job", "layout", "criteria", "figures"), rows))


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield from ("", table(heads, [[escaped(cell) for cell in row] for row in rows]))


def _quoted(text: str) -> str:
    """Return text in which what is between backquotes is code."""
    parts = _flat(text).split("`")
    if len(parts) % 2 == 0:
        return escaped(text)
    return "`".join(part if place % 2 else _literal(part) for place, part in enumerate(parts))


def escaped(text: str) -> str:
    """Return text in which nothing is Markdown or HTML, on one line."""
    return _literal(_flat(text))


def _literal(flat: str) -> str:
    return "".join(f"\\{character}" if character in "\\`*_[]<>|#~" else character for character in flat).replace(
        "@", "@\u200b"
    )


def _flat(text: str) -> str:
    return " ".join(printable(text).split())


def code(text: str) -> str:
    """Return a line of a log as code, whatever backquotes are in it."""
    flat = _flat(text)
    if not flat:
        return ""
    fence = "`"
    while fence in flat:
        fence += "`"
    return f"{fence} {flat} {fence}"
