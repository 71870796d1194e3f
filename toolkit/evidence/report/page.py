"""A run as one page that needs nothing else: no network, no fonts, no script."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from core import project
from core.wording import plural
from toolkit.evidence.records import Run
from toolkit.evidence.report import confusion
from toolkit.evidence.report.changes import Comparison
from toolkit.evidence.report.confusion import ConfusionMatrix
from toolkit.evidence.report.goodput_section import goodput
from toolkit.evidence.report.history_section import history
from toolkit.evidence.report.metric_sections import metrics
from toolkit.evidence.report.plot_sections import bandwidth, link_rates, rail_maps, scaling
from toolkit.evidence.report.run_summary import SIMULATED, WORDS, about, counts, notable, outcome, stamp, title, when
from toolkit.evidence.report.table_sections import changes, criteria, job_table, lacking, version_table
from toolkit.evidence.report.tables import Markup, element, joined, mark, quoted
from toolkit.evidence.verdict import Status, Verdict

_CSS = Path(__file__).with_name("page.css")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""The page may load nothing, whatever is in a log."""


def page(
    run: Run,
    against: Comparison | None = None,
    matrix: ConfusionMatrix | None = None,
    rounds: Sequence[Run] = (),
) -> str:
    """Return the page of a run.

    `against` is what changed since earlier ones, `matrix` an evaluation of its model, `rounds` those of the suite.
    """
    head = joined(
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title(run)),
        element("style", Markup(_CSS.read_text())),
    )
    below = stamp(run)
    sections = (
        ("changes", "Changes", changes(against)),
        ("jobs", "Jobs", job_table(run)),
        ("bandwidth", "Bandwidth and latency", bandwidth(run.jobs, below)),
        ("links", "RDMA", link_rates(run.jobs, below)),
        ("scaling", "Scaling", scaling(run.jobs, below)),
        ("metrics", "Metrics", metrics(run.jobs, below)),
        ("goodput", "Goodput", goodput(run.jobs, below)),
        ("history", "History", history(rounds)),
        ("rails", "Rails", rail_maps(run.jobs, below)),
        ("confusion", "Confusion matrix", confusion.section(matrix, below)),
        ("criteria", "Criteria", criteria(run)),
        ("versions", "Versions", version_table(run)),
        ("missing", "Missing evidence", lacking(run)),
    )
    shown = [(anchor, name, content) for anchor, name, content in sections if content is not None]
    body = joined(
        _banner() if run.simulated else None,
        _header(run, against, [(anchor, name) for anchor, name, _ in shown]),
        element("main", *(_section(*section) for section in shown)),
        element("footer", f"Written by ./hpc report from the results of {when(run)} ({counts(run)}). {_SOURCES}"),
    )
    return f'<!doctype html>\n<html lang="en">\n{element("head", head)}\n{element("body", body)}\n</html>\n'


_SOURCES = project.located("Paper: IBM Redpaper REDP-5610. docs/coverage/sources.md explains the source ids.")


def _banner() -> Markup:
    first, _, rest = SIMULATED.partition(": ")
    return element("div", element("p", element("strong", f"{first}: "), rest), class_="banner")


def _header(run: Run, against: Comparison | None, anchors: Sequence[tuple[str, str]]) -> Markup:
    result = outcome(run)
    results = [
        element("li", mark(status, f"{run.count(status)} {WORDS[status]}"))
        for status in (Status.PASS, Status.FAIL, Status.WARN, Status.MISSING)
        if run.count(status) or status is Status.PASS
    ]
    if against is not None:
        text = f"{plural(against.regressions, 'regression')} against {against.name}"
        results.append(element("li", mark(Status.FAIL if against.regressions else Status.PASS, text), class_="long"))
    return element(
        "header",
        element("h1", mark(result.status, result.text)),
        element("p", about(run), class_="muted"),
        element("ul", *results, class_="result"),
        _notable(run),
        element("nav", *(element("a", name, href=f"#{anchor}") for anchor, name in anchors), aria_label="Sections"),
    )


def _notable(run: Run) -> Markup | None:
    """Return failures, and then warnings; what is missing has a section of its own."""
    groups = notable(run, {Status.FAIL, Status.WARN})
    pieces = [piece for group in groups for piece in _verdicts(group)]
    return element("ul", *pieces, class_="notable") if pieces else None


def _verdicts(group: Sequence[Verdict]) -> Iterator[Markup]:
    """Yield the verdicts that have one cause, which is below the last."""
    causes = group[-1].causes
    for verdict in group:
        about = f" of {verdict.job}: {verdict.measured or 'nothing measured'}; limit: {verdict.limit}"
        last = verdict is group[-1] and causes
        why = element("ul", *(element("li", quoted(cause)) for cause in causes)) if last else None
        yield element("li", mark(verdict.status), " ", element("strong", verdict.criterion), about, why)


def _section(anchor: str, name: str, content: Markup) -> Markup:
    return element("section", element("h2", name, id=anchor), content, aria_labelledby=anchor)
