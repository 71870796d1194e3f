"""A run as Markdown, short enough for a pull request."""

from collections.abc import Iterator, Sequence

from evidence.records import Run
from evidence.report.bars import result
from evidence.report.change import Comparison, assumptions, told, turn
from evidence.report.facts import SIMULATED, WORDS, by_job, counted, counts, layout, missing, outcome, versions, when
from evidence.report.series import sweeps
from evidence.report.words import figure, plural, printable, short, size
from evidence.verdict import Job, Status, Verdict

_MARKS = {Status.PASS: "✅", Status.FAIL: "❌", Status.WARN: "⚠️", Status.MISSING: "❔"}
_MISSING_SHOWN = 20


def markdown(run: Run, against: Comparison | None = None) -> str:
    """Return the summary of a run; `against` is what changed since earlier ones."""
    return "\n".join([*_lines(run, against), ""])


def _lines(run: Run, against: Comparison | None) -> Iterator[str]:
    found = outcome(run)
    yield f"# {_MARKS[found.status]} {escaped(found.text)}"
    yield ""
    if run.simulated:
        yield f"> **{SIMULATED.partition(': ')[0]}**: {SIMULATED.partition(': ')[2]}"
        yield ""
    yield f"Stack {escaped(run.stack)}, {plural(len(run.jobs), 'job')}, judged {when(run)}: {counts(run)}."
    for verdict in run.verdicts:
        if verdict.status in {Status.FAIL, Status.MISSING}:
            yield from _failure(verdict)
    if against is not None:
        yield from _changes(against)
    yield from _jobs(run)
    yield from _table("Versions", ("part", "version"), [list(one) for one in versions(run).items()])
    lacks = list(missing(run))
    if lacks:
        yield from ("", "## What is missing", "")
        yield from (f"- {escaped(text)}" for text in lacks[:_MISSING_SHOWN])
        if len(lacks) > _MISSING_SHOWN:
            yield f"- and {len(lacks) - _MISSING_SHOWN} more, in the page"


def _failure(verdict: Verdict) -> Iterator[str]:
    yield ""
    measured = verdict.measured or "nothing measured"
    yield (
        f"- {_MARKS[verdict.status]} **{escaped(verdict.criterion)}** of {escaped(verdict.job)}: "
        f"{escaped(measured)}; asked: {escaped(verdict.limit)} ({escaped(verdict.source)})"
    )
    yield from (f"  - {escaped(cause)}" for cause in verdict.causes)
    for proof in verdict.proofs[:3]:
        yield f"  - {escaped(f'{short(proof.file)}:{proof.line}')} {code(proof.text)}".rstrip()


def _changes(against: Comparison) -> Iterator[str]:
    yield from ("", "## Changes", "")
    yield f"{plural(against.regressions, 'regression')} against {escaped(against.name)}."
    turned = [[_MARKS[one.after], one.job, one.criterion, turn(one), one.measured] for one in against.turned]
    yield from _rows(("", "job", "criterion", "change", "measured now"), turned)
    rows = []
    for one in against.beyond:
        difference, noise, result = told(one)
        before, after = f"{figure(one.before)} {one.unit}", f"{figure(one.after)} {one.unit}"
        rows.append([_MARKS[one.status], one.job, one.what, before, after, difference, noise, result])
    yield from _rows(("", "job", "figure", "before", "now", "difference", "noise", "result"), rows)
    if against.within:
        yield from ("", f"{plural(len(against.within), 'figure')} within the noise.")
    notes = (" ".join(assumptions(against)), *against.notes)
    for note in filter(None, notes):
        yield from ("", escaped(note))


def _jobs(run: Run) -> Iterator[str]:
    told_of = {job.asked.job: figures(job) for job in run.jobs}
    about = {job.asked.job: layout(job) for job in run.jobs}
    rows = []
    for job, verdicts in by_job(run).items():
        found = counted(verdicts)
        told = ", ".join(f"{number} {WORDS[status]}" for status, number in found)
        rows.append([_MARKS[found[0][0]], job, about.get(job, ""), told, told_of.get(job, "")])
    yield from _table("Jobs", ("", "job", "layout", "criteria", "figures"), rows)


def figures(job: Job) -> str:
    """Return the few figures that a job is known by."""
    told = []
    for one in sweeps([job]):
        if one.out_of_place:
            first, last = one.out_of_place[0], one.out_of_place[-1]
            told.append(
                f"{one.test} {figure(first.time_us)} µs at {size(first.bytes)}, "
                f"{figure(last.busbw_gb_s)} GB/s at {size(last.bytes)}"
            )
    found = result(job)
    if found is not None:
        told.append(f"{figure(found[0])} {found[1]}")
    return "; ".join(told)


def _table(name: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield from ("", f"## {name}")
        yield from _rows(heads, rows)


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield ""
        yield f"| {' | '.join(heads)} |"
        yield f"|{' --- |' * len(heads)}"
        yield from (f"| {' | '.join(escaped(cell) for cell in row)} |" for row in rows)


def escaped(text: str) -> str:
    """Return text in which nothing is Markdown or HTML, on one line."""
    flat = " ".join(printable(text).split())
    return "".join(f"\\{each}" if each in "\\`*_[]<>|#~" else each for each in flat).replace("@", "@\u200b")


def code(text: str) -> str:
    """Return a line of a log as code, whatever backquotes are in it."""
    flat = " ".join(printable(text).split())
    if not flat:
        return ""
    fence = "`"
    while fence in flat:
        fence += "`"
    return f"{fence} {flat} {fence}"
