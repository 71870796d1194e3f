"""The sections of the page that are tables and lists."""

from collections.abc import Iterator, Sequence

from core.wording import plural
from toolkit.evidence.records import Run
from toolkit.evidence.report.changes import Change, Comparison, as_text, assumptions, earlier_status
from toolkit.evidence.report.links import job_rows
from toolkit.evidence.report.run_summary import (
    WORDS,
    WORST_FIRST,
    by_job,
    counted,
    layouts,
    missing,
    versions,
)
from toolkit.evidence.report.tables import NONE, Markup, block, element, headed, joined, mark, quoted, stacked, table
from toolkit.evidence.verdict import Proof, Status, Verdict
from toolkit.evidence.wording import short


def changes(against: Comparison | None) -> Markup | None:
    """Return what changed since earlier runs; None where nothing was compared."""
    if against is None:
        return None
    pieces = [element("p", f"Compared with {against.name}.")]
    if against.status_changes:
        rows = [
            [mark(change.after), change.job, change.criterion, earlier_status(change), change.measured or NONE]
            for change in sorted(against.status_changes, key=lambda change: not change.regressed)
        ]
        pieces.append(stacked(("result", "job", "criterion", "change", "measured now"), rows, "turned", "Criteria"))
    if against.beyond_noise:
        pieces.append(_figures(against.beyond_noise))
    if against.within_noise:
        name = element("summary", f"{plural(len(against.within_noise), 'figure')} within the noise")
        pieces.append(element("details", name, _figures(against.within_noise)))
    if not against.changes:
        pieces.append(element("p", "The runs have no figures in common."))
    notes = element("ul", *(element("li", note) for note in against.notes)) if against.notes else None
    noise_note = element("p", " ".join(assumptions(against)), class_="muted")
    return joined(*pieces, noise_note, notes)


def _figures(changes: Sequence[Change]) -> Markup:
    rows = []
    for change in changes:
        *cells, result = as_text(change)
        rows.append([mark(change.status, result), *cells])
    heads = ("result", "job", "figure", "before", "now", "difference", "noise")
    return table(heads, rows, numbers={3, 4, 5, 6}, wide={1, 2})


def job_table(run: Run) -> Markup | None:
    """Return each job, and what is between jobs, with its verdict and the figures that it is known by."""
    rows = [[mark(status), *cells] for status, *cells in job_rows(run)]
    return stacked(("result", "job", "layout", "criteria", "figures"), rows, "jobs", "Jobs") if rows else None


_HEADS = ("result", "criterion", "measured", "limit", "source")


def criteria(run: Run) -> Markup:
    """Return the verdicts on each job with the log lines behind them; folded where nothing failed or is missing."""
    layout = layouts(run)
    folds = []
    for job, verdicts in by_job(run).items():
        about = f" {layout[job]}" if layout.get(job) else ""
        marks = [mark(status, f"{number} {WORDS[status]}") for status, number in counted(verdicts)]
        worst_first = sorted(verdicts, key=lambda verdict: WORST_FIRST.index(verdict.status))
        rows = [row for verdict in worst_first for row in _verdict(verdict)]
        inner = headed(_HEADS, rows, "verdicts", f"Criteria of {job}")
        name = element("summary", element("strong", job), element("span", about, class_="muted"), *marks)
        unfold = any(verdict.status in {Status.FAIL, Status.MISSING} for verdict in verdicts)
        folds.append(element("details", name, inner, class_="job", open=unfold))
    return joined(*folds) if folds else element("p", "No criterion applies to this evidence.")


def _verdict(verdict: Verdict) -> Iterator[Markup]:
    sources = [element("span", source_id, class_="id") for source_id in verdict.source.split(", ")]
    source = joined(*(piece for source_id in sources for piece in (Markup(", "), source_id)))[len(", ") :]
    cells = (mark(verdict.status), verdict.criterion, verdict.measured or NONE, verdict.limit, Markup(source))
    yield block(_HEADS, cells)
    causes = element("ul", *(element("li", quoted(cause)) for cause in verdict.causes)) if verdict.causes else None
    lines = _proofs(verdict.proofs)
    if causes or lines:
        cell = element("td", causes, lines, colspan=len(cells) - 1)
        yield element("tr", element("td"), cell, class_="more")


def _proofs(proofs: Sequence[Proof]) -> Markup | None:
    if not proofs:
        return None
    lines: list[str] = []
    for proof in proofs:
        where = element("span", proof.where(short(proof.file)), class_="where")
        lines += [where, f"\n{proof.text}\n" if proof.text else "\n"]
    summary = element("summary", f"{plural(len(proofs), 'log line')}")
    return element("details", summary, element("pre", *lines))


def version_table(run: Run) -> Markup | None:
    """Return the versions of the stack; None where none is known."""
    by_part = versions(run)
    return table(("part", "version"), [[part, version] for part, version in by_part.items()]) if by_part else None


def lacking(run: Run) -> Markup:
    """Return what the evidence lacks."""
    gaps = list(missing(run))
    if not gaps:
        return element("p", "Nothing: every log is complete, every line was parsed, and every criterion has evidence.")
    return element("ul", *(element("li", text) for text in gaps))
