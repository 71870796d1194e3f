"""The page of a report in Chromium: it is readable wherever it is opened, and loads nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.support.recorded import ROOT
from tests.toolkit.evidence import samples
from toolkit.evidence.records import Kept, Run, append
from toolkit.evidence.report.changes import Comparison
from toolkit.evidence.report.comparison import compare
from toolkit.evidence.verdict import Shape

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page
    # Not loaded where these tests are only collected: Playwright and matplotlib would cost the unit layer a second.

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE, PAPER, DESK = 360, 720, 1280  # pixels; paper is A4 with margins
MOST = 1_000_000  # bytes of a page
TEXT, GRAPHIC = 4.5, 3.0  # WCAG 2.2, AA: contrast of text, and of what a drawing is made of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None,
        reason="no Chromium: apt-get install chromium; on Ubuntu, where that is a snap, google-chrome",
    ),
]

CONTRASTS = """() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = colour => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (let each = element; each; each = each.parentElement) {
      const colour = rgba(getComputedStyle(each).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const found = {};
  const note = (kind, element, colour) => {
    const a = light(rgba(colour)), b = light(behind(element));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const key = `${kind} ${element.tagName} ${element.getAttribute('class') || ''} ${colour}`;
    found[key] = Math.min(found[key] ?? 99, ratio);
  };
  for (const element of document.body.querySelectorAll(':not(style)')) {
    const style = getComputedStyle(element);
    const drawn = element.namespaceURI.endsWith('svg');
    if ([...element.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
      note('text', element, drawn ? style.fill : style.color);
    else if (drawn && element.closest('figure, .key') && ['path', 'rect', 'circle', 'use'].includes(element.localName)
             && style.stroke !== 'none' && !element.closest('.grid, [id*=grid], [id*=tick], defs'))
      note('graphic', element, style.stroke);
  }
  return found;
}"""


class Opened(NamedTuple):
    """A page in the browser, with what it complained of and requested."""

    page: Page
    complaints: list[str]
    requests: list[str]


def report(run: Run, compared: Comparison | None = None) -> str:
    """Return the page of a run."""
    from toolkit.evidence.report.page import page  # noqa: PLC0415

    return page(run, compared)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write each kind of report once: all well, all kinds of trouble, and a comparison."""
    folder = tmp_path_factory.mktemp("reports")
    worse = samples.good(1, slower=1.2)
    reports: dict[str, tuple[Run, Comparison | None]] = {
        "good": (samples.linked(samples.good()), None),
        "crowded": (samples.crowded(), None),
        "bad": (samples.bad(), None),
        "compared": (worse, compare(worse, [Kept(1, samples.good())])),
    }
    for name, (run, compared) in reports.items():
        (folder / f"{name}.html").write_text(report(run, compared), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in reports}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Chromium once."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def contexts() -> Iterator[list[BrowserContext]]:
    """Close what a test opens."""
    opened: list[BrowserContext] = []
    yield opened
    for each in opened:
        each.close()


def opened(browser: Browser, contexts: list[BrowserContext], file: Path, width: int, scheme: Any = "light") -> Opened:
    """Open a report."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    contexts.append(context)
    page = context.new_page()
    found = Opened(page, [], [])
    page.on("console", lambda message: found.complaints.append(message.text))
    page.on("pageerror", lambda error: found.complaints.append(str(error)))
    page.on("request", lambda request: found.requests.append(request.url))
    page.on("dialog", lambda dialog: found.complaints.append(dialog.message))
    page.goto(file.as_uri())
    return found


@pytest.mark.parametrize("name", ["good", "bad", "compared"])
def test_the_page_needs_nothing_else(
    name: str, files: dict[str, Path], browser: Browser, contexts: list[BrowserContext]
) -> None:
    """The page needs no network and no script, and lines of a log stay text."""
    found = opened(browser, contexts, files[name], DESK)
    assert found.complaints == []
    assert found.requests == [files[name].as_uri()]
    assert found.page.locator("script, link, img, iframe").count() == 0
    assert files[name].stat().st_size < MOST


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_every_plot_is_there(
    width: int, files: dict[str, Path], browser: Browser, contexts: list[BrowserContext]
) -> None:
    """Each plot has a size, curves, readable text and a description."""
    page = opened(browser, contexts, files["good"], width).page
    drawings = page.locator("figure > svg")
    assert drawings.count() == 2 + 2 * 3 + 1 + 3 + 1, "overview, three layouts, links, bars, map"
    for number in range(drawings.count()):
        one = drawings.nth(number)
        box = one.bounding_box()
        assert box is not None
        assert box["width"] > width * 0.3
        assert box["height"] > 100
        assert len(one.get_attribute("aria-label") or "") > 20
        drawn = one.locator("path:visible, rect:visible").evaluate_all(
            "all => all.map(e => e.getBoundingClientRect().width)"
        )
        assert max(drawn) > box["width"] * 0.2
        assert "simulated, stack dev, 2026-11-21 22:49 UTC" in one.locator("text").all_text_contents()
    limits = page.locator("figure svg text", has_text="limit")
    assert limits.count() == 2 * 3 + 1, "a label of each layout and measure, and of links"
    heights = page.locator("figure svg text").evaluate_all("all => all.map(e => e.getBoundingClientRect().height)")
    assert min(heights) > 9
    outside = page.locator("figure > svg").evaluate_all(
        """all => all.flatMap(svg => [...svg.querySelectorAll('text')].filter(text => {
             const a = svg.getBoundingClientRect(), b = text.getBoundingClientRect();
             return b.left < a.left - 1 || b.right > a.right + 1 || b.top < a.top - 1 || b.bottom > a.bottom + 1;
           }).map(text => text.textContent))"""
    )
    assert outside == []


@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("name", ["good", "bad", "crowded"])
def test_no_text_of_a_plot_covers_another(
    name: str, width: int, files: dict[str, Path], browser: Browser, contexts: list[BrowserContext]
) -> None:
    """Labels of a plot do not cover each other where curves end in one place."""
    page = opened(browser, contexts, files[name], width).page
    covered = page.locator("figure > svg").evaluate_all(
        """all => all.flatMap(svg => {
             const boxes = [...svg.querySelectorAll('text')].map(text => [text, text.getBoundingClientRect()]);
             return boxes.flatMap(([one, a], at) => boxes.slice(at + 1).filter(([, b]) =>
               Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
               Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.3 * Math.min(a.height, b.height)
             ).map(([other]) => `${one.textContent} | ${other.textContent}`));
           })"""
    )
    assert covered == []


def test_jobs_of_one_layout_share_a_pair_of_plots(
    files: dict[str, Path], browser: Browser, contexts: list[BrowserContext]
) -> None:
    """Jobs of one layout share a pair of plots, with each run in it."""
    page = opened(browser, contexts, files["crowded"], DESK).page
    headings = page.locator("#bandwidth ~ h3").all_inner_texts()
    assert len(headings) == len(set(headings))
    (mine,) = (each for each in headings if "01x08" in each)
    assert mine == "all_reduce, 01x08 adas/node-0, adas/node-1, adas/node-2, 8 ranks, 3 runs"
    assert page.locator("figcaption", has_text="01x08").all_inner_texts()[:2] == [
        "all_reduce, 01x08: bus bandwidth, GB/s",
        "all_reduce, 01x08: time, µs",
    ]


def test_figures_and_plots_come_before_the_proofs(
    files: dict[str, Path], browser: Browser, contexts: list[BrowserContext]
) -> None:
    """Figures and plots are above the evidence."""
    page = opened(browser, contexts, files["good"], DESK).page
    assert page.locator("h2").all_inner_texts() == [
        "Jobs", "Bandwidth and latency", "RDMA", "Scaling", "Rails", "Criteria", "Versions", "Missing evidence",
    ]  # fmt: skip
    first = page.locator("figure").first.bounding_box()
    assert first is not None
    assert first["y"] < 2 * 800
    row = page.locator(".jobs tr", has_text="adas/nccl-test-02x08").inner_text()
    assert "pass" in row
    assert "all_reduce 55 µs at 8\u00a0B" in row


@pytest.mark.parametrize("name", ["good", "bad", "compared"])
def test_a_phone_scrolls_in_one_direction_only(
    name: str, files: dict[str, Path], browser: Browser, contexts: list[BrowserContext]
) -> None:
    """A phone scrolls the page in one direction only; wide tables scroll inside."""
    page = opened(browser, contexts, files[name], PHONE).page
    for _ in range(2):
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["bad", "compared"])
def test_everything_can_be_read(
    name: str, scheme: str, files: dict[str, Path], browser: Browser, contexts: list[BrowserContext]
) -> None:
    """Text and lines have enough contrast in light and in dark."""
    page = opened(browser, contexts, files[name], DESK, scheme).page
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    channels = [int(each) for each in re.findall(r"\d+", background)]
    assert (sum(channels) < 200) == (scheme == "dark")
    found: dict[str, float] = page.evaluate(CONTRASTS)
    assert len([key for key in found if key.startswith("text")]) > 20
    assert len([key for key in found if key.startswith("graphic")]) > 5
    least = {"text": TEXT, "graphic": GRAPHIC}
    assert {key: round(ratio, 2) for key, ratio in found.items() if ratio < least[key.split()[0]]} == {}


def test_colour_is_never_all_there_is(files: dict[str, Path], browser: Browser, contexts: list[BrowserContext]) -> None:
    """Verdicts have a word and an icon, curves a dash, beside their colour."""
    page = opened(browser, contexts, files["bad"], DESK).page
    marks = page.locator("td .status")
    told = {
        (marks.nth(n).text_content(), marks.nth(n).locator("path").get_attribute("d")) for n in range(marks.count())
    }
    assert {word for word, _ in told} == {"pass", "fail", "warning", "missing"}
    assert len(told) == 4
    dashes = (
        page.locator(".key")
        .first.locator("path")
        .evaluate_all("all => all.map(e => getComputedStyle(e).strokeDasharray + getComputedStyle(e).strokeWidth)")
    )
    assert len(set(dashes)) == len(dashes)
    assert page.locator(".map .failed").count() >= 3
    assert "✕ failed" in (page.locator(".map").text_content() or "")


def test_jobs_in_which_all_is_well_are_folded(
    files: dict[str, Path], browser: Browser, contexts: list[BrowserContext]
) -> None:
    """Jobs that passed are folded; a phone shows a failed one as blocks."""
    page = opened(browser, contexts, files["bad"], PHONE).page
    jobs = page.locator("details.job")
    open_now = {
        (each.locator("strong").inner_text(), each.get_attribute("open") is not None)
        for each in (jobs.nth(number) for number in range(jobs.count()))
    }
    assert open_now == {("adas/mofed-test", False), ("adas/nccl-test-02x08", True), ("adas/nccl-test-16x01", False)}
    told = page.locator("header .notable > li")
    assert [told.nth(n).locator("strong").inner_text() for n in range(told.count())] == ["hcas-used", "single-gpu-pods"]
    limit = page.locator("details.job[open] td[data-head=limit]").first
    assert limit.is_visible()
    assert (limit.bounding_box() or {"x": PHONE})["x"] < PHONE / 4


def test_lines_of_logs_open_by_keyboard(
    files: dict[str, Path], browser: Browser, contexts: list[BrowserContext]
) -> None:
    """Lines of logs open by keyboard, unchanged."""
    page = opened(browser, contexts, files["bad"], DESK).page
    first = page.locator("details.job", has_text="hcas-used").locator(".more details").first
    line = first.locator("pre")
    assert not line.is_visible()
    first.locator("summary").focus()
    page.keyboard.press("Enter")
    assert line.is_visible()
    assert "<script>alert(1)</script> & </pre><img src=http://127.0.0.1:9/x" in line.inner_text()


def test_a_simulated_run_says_so(files: dict[str, Path], browser: Browser, contexts: list[BrowserContext]) -> None:
    """Title and banner of a simulated run, and only of one, name the simulation."""
    page = opened(browser, contexts, files["good"], PHONE).page
    assert page.title().startswith("Simulated: ")
    banner = page.locator(".banner")
    assert banner.is_visible()
    assert banner.inner_text().startswith("Simulated: ")
    assert (banner.bounding_box() or {"y": 1})["y"] == 0
    measured = opened(browser, contexts, files["bad"], PHONE).page
    assert "imulated" not in measured.title()
    assert measured.locator(".banner").count() == 0


@pytest.mark.parametrize("name", ["bad", "compared"])
def test_printed_pages_show_what_is_folded(
    name: str, files: dict[str, Path], browser: Browser, contexts: list[BrowserContext]
) -> None:
    """Printed pages show what is folded, on white."""
    page = opened(browser, contexts, files[name], PAPER, "dark").page
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".more pre").first.is_visible()


def test_the_command_writes_what_is_looked_at_here(
    tmp_path: Path, browser: Browser, contexts: list[BrowserContext]
) -> None:
    """The command writes the page that these tests open."""
    runs = tmp_path / "runs.jsonl"
    append(runs, samples.good())
    append(runs, samples.good(1, slower=1.2))
    command = [f"{ROOT}/hpc", "report", "--run", f"{runs}", "--against", "1", "-o", f"{tmp_path}/out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    found = opened(browser, contexts, tmp_path / "out" / "report.html", DESK)
    assert found.complaints == []
    assert found.page.locator("h2").first.inner_text() == "Changes"
    assert found.page.locator("#changes ~ * .fail").count() == 10
    assert found.page.locator("figure > svg").count() == 12


def test_the_same_run_gives_the_same_page(files: dict[str, Path]) -> None:
    """The same run gives the same page: ids and dates are those of the run."""
    again = report(samples.bad())
    assert again == files["bad"].read_text(encoding="utf-8")
    ids = re.findall(r'\bid="([^"]+)"', again)
    assert len(ids) == len(set(ids)), "an id is there twice, so a drawing shows parts of another"
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', again)) <= set(ids)


@pytest.mark.parametrize("rows", [0, 1, 2, 26])
def test_odd_tables_are_drawn(rows: int) -> None:
    """Tables that are cut, or have a size or time of 0, inf or nan, are plotted."""
    table = samples.nccl_tests(Shape(pods=2, gpus=8))
    bandwidths = (0.0, float("inf"), float("nan"))
    odd = [
        row.model_copy(
            update={"out_of_place": row.out_of_place.model_copy(update={"time_us": 0.0, "busbw_gb_s": busbw})}
        )
        for row, busbw in zip(table.rows[1:], bandwidths, strict=False)
    ]
    nothing = table.rows[0].model_copy(update={"bytes": 0})
    for printed in (table.rows[:rows], (nothing, *odd, *table.rows[4:])[:rows]):
        cut = table.model_copy(update={"rows": printed})
        jobs = (samples.job("odd", "nccl-all-reduce", Shape(pods=2, gpus=8), cut), *samples.jobs(rate=0)[-2:])
        drawn = report(samples.good().model_copy(update={"jobs": jobs}))
        assert drawn.count("<figure>") == (2 if rows else 0) + (rows == len(table.rows)) + 2, "curves, and bars"
        assert not [path for path in re.findall(r'\bd="([^"]*)"', drawn) if "nan" in path or "inf" in path]


@pytest.mark.parametrize("average", [0.0, float("inf"), 11264.11])
def test_odd_links_are_drawn(average: float) -> None:
    """Links without traffic or without other figures are plotted."""
    link = samples.link("client")
    row = link.bandwidth[0].model_copy(update={"average_mb_s": average})
    odd = link.model_copy(update={"bandwidth": (row,), "role": None, "device": None, "program": None, "title": None})
    job = samples.job("odd", "rdma-test", Shape(pods=2, gpus=1), odd)
    job = job.model_copy(update={"request": job.request.model_copy(update={"profile": None, "fabric": None})})
    drawn = report(samples.good().model_copy(update={"jobs": (job,)}))
    assert drawn.count("<figure>") == (average < float("inf"))
    assert not [path for path in re.findall(r'\bd="([^"]*)"', drawn) if "nan" in path or "inf" in path]
