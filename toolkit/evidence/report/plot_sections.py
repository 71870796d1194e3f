"""The sections of the page that have drawings."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from core.wording import plural
from toolkit.evidence.report import bar_plots, plots
from toolkit.evidence.report.bars import nccl_bars, training_bars
from toolkit.evidence.report.links import Link, links
from toolkit.evidence.report.rails import drawing, rails
from toolkit.evidence.report.sweeps import Sweep, sweeps
from toolkit.evidence.report.tables import NONE, Markup, element, joined, mark, table
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import figure, size, some


class _Sign(NamedTuple):
    text: str
    colour: str
    width: float
    dash: str = ""
    marker: str = ""


_KEY = (
    _Sign("out-of-place", "s1", 1.7, marker="circle"),
    _Sign("in-place", "s2", 1.7, "5 3", "square"),
    _Sign("each run, out-of-place", "s1", 0.7),
    _Sign("measured in the paper", "paper", 4.2, "4.2 6"),
    _Sign("limit", "bad", 2.6),
)


def bandwidth(jobs: Sequence[Job], stamp: str) -> Markup | None:
    """Return the curves of every table of nccl-tests; None where there are none. `stamp` is written in each plot."""
    all_sweeps = sweeps(jobs)
    if not all_sweeps:
        return None
    pieces: list[Markup | None] = [element("p", "Layouts are written as pods x GPUs per pod.", class_="muted")]
    for test in dict.fromkeys(sweep.test for sweep in all_sweeps):
        layouts = [sweep for sweep in all_sweeps if sweep.test == test]
        if len(layouts) > 1:
            several = ", median of several runs" if any(len(sweep.runs) > 1 for sweep in layouts) else ""
            pieces += [element("h3", f"{test}, all layouts, out-of-place{several}"), _overview(test, layouts, stamp)]
    for number, sweep in enumerate(all_sweeps):
        pieces += [
            element("h3", sweep.title, element("span", _about(sweep), class_="muted")),
            _sweep(sweep, f"sweep{number}", stamp),
        ]
    return joined(*pieces)


def _about(sweep: Sweep) -> str:
    ranks = plural(sweep.ranks, "rank") if sweep.ranks else None
    parts = [some(sweep.jobs), sweep.request.transport, ranks, plural(len(sweep.runs), "run")]
    return f" {', '.join(str(part) for part in parts if part)}"


def _figure(caption: str, *content: Markup) -> Markup:
    return element("figure", element("figcaption", caption), *content)


def _plots(figures: Iterable[Markup]) -> Markup:
    return element("div", *figures, class_="plots")


def _overview(test: str, layouts: Sequence[Sweep], stamp: str) -> Markup:
    name = test.replace("_", "")
    return _plots(
        _figure(f"{test}: {caption}", plots.overview(layouts, measure, f"{name}-{measure}", stamp))
        for measure, caption in plots.CAPTIONS.items()
    )


def _sweep(sweep: Sweep, name: str, stamp: str) -> Markup:
    key = _key(sweep)
    drawn = _plots(
        _figure(f"{sweep.title}: {caption}", plots.sweep(sweep, measure, f"{name}-{measure}", stamp), key)
        for measure, caption in plots.CAPTIONS.items()
    )
    return joined(drawn, _figures(sweep))


def _key(sweep: Sweep) -> Markup:
    """Return what the lines mean, as far as they are there."""
    several = len(sweep.runs) > 1
    drawn_series = (sweep.out_of_place, sweep.in_place, several, sweep.paper, sweep.limits)
    signs = [
        sign._replace(text=f"{sign.text}, median") if several and sign.marker else sign
        for sign, drawn in zip(_KEY, drawn_series, strict=True)
        if drawn
    ]
    return element("ul", *(_sign(sign) for sign in signs), class_="key")


def _sign(sign: _Sign) -> Markup:
    stroke = f"stroke:var(--{sign.colour})"
    style = f"{stroke};stroke-width:{sign.width}"
    pieces = [element("path", d="M1 6H33", style=style, stroke_dasharray=sign.dash or None)]
    if sign.marker == "circle":
        pieces.append(element("circle", cx=17, cy=6, r=2.8, style=f"fill:var(--{sign.colour})"))
    elif sign.marker == "square":
        pieces.append(element("rect", x=14, y=3, width=6, height=6, style=f"fill:var(--surface);{stroke}"))
    return element("li", element("svg", *pieces, viewBox="0 0 34 12", aria_hidden="true"), sign.text)


def _figures(sweep: Sweep) -> Markup:
    inside = {point.bytes: point for point in sweep.in_place}
    paper = {point.bytes: point for point in sweep.paper}
    heads = [
        "size",
        "time, µs",
        "GB/s",
        *(("in-place µs", "GB/s") if inside else ()),
        *(("paper µs", "GB/s") if paper else ()),
    ]
    rows = []
    for point in sweep.out_of_place:
        row: list[str] = [size(point.bytes), f"{point.time_us:g}", f"{point.busbw_gb_s:.2f}"]
        for other in (inside, paper):
            if other:
                same = other.get(point.bytes)
                row += [f"{same.time_us:g}", f"{same.busbw_gb_s:.2f}"] if same else [NONE, NONE]
        rows.append(row)
    summary = element("summary", f"Figures for {plural(len(rows), 'size')}")
    return element("details", summary, table(heads, rows, numbers={*range(len(heads))}))


def link_rates(jobs: Sequence[Job], stamp: str) -> Markup | None:
    """Return what single links carry, as bars and as figures; None where no link was measured."""
    measured = links(jobs)
    if not measured:
        return None
    drawn = []
    for number, program in enumerate(dict.fromkeys(link.program for link in measured)):
        same = [link for link in measured if link.program == program]
        drawn.append(_figure(f"{program}: MB/s (1 MB = 2^20 bytes)", bar_plots.rates(same, f"links{number}", stamp)))
    heads = ("job", "program", "HCA", "side", "message", "MB/s", "limit", "line rate", "share")
    rows = [_link(link) for link in measured]
    return joined(_plots(drawn), table(heads, rows, numbers={4, 5, 6, 7, 8}))


def _link(link: Link) -> Sequence[str]:
    return (
        link.job,
        link.program,
        link.device or NONE,
        link.role or NONE,
        size(link.bytes),
        figure(link.mb_s),
        f"≥ {figure(link.least_mb_s)}" if link.least_mb_s else NONE,
        f"{figure(link.line_mb_s)} ({link.line_gbps:g} Gb/s)" if link.line_mb_s else NONE,
        f"{link.mb_s / link.line_mb_s:.1%}" if link.line_mb_s else NONE,
    )


def scaling(jobs: Sequence[Job], stamp: str) -> Markup | None:
    """Return the bars of rates and of bandwidth by GPUs; None where there are none."""
    charts = [*training_bars(jobs), *nccl_bars(sweeps(jobs))]
    if not charts:
        return None
    return _plots(
        _figure(
            f"{chart.title}, {chart.unit}",
            bar_plots.bars(chart, f"bars{number}", stamp),
            element("p", chart.note, class_="muted"),
        )
        for number, chart in enumerate(charts)
    )


def rail_maps(jobs: Sequence[Job], stamp: str) -> Markup | None:
    """Return the maps of the machines with the state of their ports and the channels of each job."""
    pieces: list[Markup] = []
    for rail_map in rails(jobs):
        name = element("span", f" {rail_map.profile.name}", class_="muted")
        pieces.append(element("h3", rail_map.profile.model, name))
        if rail_map.profile.hcas:
            pieces.append(element("figure", drawing(rail_map, stamp), class_="rails"))
        for device, reasons in rail_map.failed.items():
            pieces.append(element("p", mark(Status.FAIL, device), f" {'; '.join(reasons)}"))
        if rail_map.by_job:
            names = [hca.name for hca in rail_map.profile.hcas]
            names += sorted({device for used in rail_map.by_job.values() for device in used} - {*names})
            rows = [[job, *(str(used.get(name, 0)) for name in names)] for job, used in rail_map.by_job.items()]
            columns = {*range(1, len(names) + 1)}
            heads = ("job", *names)
            pieces.append(table(heads, rows, numbers=columns, caption="NCCL channels over each HCA"))
        elif rail_map.profile.hcas:
            pieces.append(element("p", "No NCCL log shows which HCAs carried traffic.", class_="muted"))
    return joined(*pieces) if pieces else None
