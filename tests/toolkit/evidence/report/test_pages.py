"""Words, markup, facts and Markdown of reports."""

import pytest

from core.wording import plural
from tests.support.mutated import read_text
from tests.toolkit.evidence import samples
from tests.toolkit.evidence.tools.logs import MLPERF as MLP
from toolkit.evidence.records import Kept
from toolkit.evidence.report.comparison import compare
from toolkit.evidence.report.markdown import code, escaped, markdown
from toolkit.evidence.report.page import page
from toolkit.evidence.report.run_summary import missing, notable, outcome, title, versions
from toolkit.evidence.report.tables import Markup, element, joined
from toolkit.evidence.verdict import Proof, Status
from toolkit.evidence.wording import figure, size


def test_text_is_never_markup() -> None:
    """Text of a log is escaped."""
    hostile = "<script>&\"'"
    assert element("td", hostile, title=hostile) == (
        '<td title="&lt;script&gt;&amp;&quot;&#x27;">&lt;script&gt;&amp;&quot;&#x27;</td>'
    )
    assert element("pre", "a\tb\nc\x00\x1b[1m") == "<pre>a\tb\nc\ufffd\ufffd[1m</pre>"
    assert joined(Markup("<br>"), "<br>", None) == "<br>&lt;br&gt;"
    assert element("path", d="M0 0") == '<path d="M0 0"></path>', "in SVG nothing is closed by itself"
    assert element("meta", charset="utf-8") == '<meta charset="utf-8">'
    assert element("div", aria_hidden="true", class_=None, hidden=True) == '<div aria-hidden="true" hidden></div>'


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (8, "8 B"), (1000, "1000 B"), (1024, "1 KiB"), (268435456, "256 MiB"), (1 << 50, "1024 TiB")],
)
def test_sizes(count: int, text: str) -> None:
    """Sizes are written without rounding."""
    assert size(count).replace("\u00a0", " ") == text


def test_figures() -> None:
    """Figures have the digits that were measured."""
    assert [figure(value) for value in (0.0123, 5.704, 55.21, 127.96, 11264.11)] == [
        "0.0123", "5.7", "55.2", "128", "11,264",
    ]  # fmt: skip
    assert plural(1, "criterion", "criteria") + plural(2, "line") == "1 criterion2 lines"


def test_results_of_mlperf_are_labelled() -> None:
    """Results of MLPerf are labelled as unverified."""
    run, told = samples.bad(), "including MLPerf benchmarks (not verified by MLPerf)"
    scored = run.jobs[0].model_copy(update={"readings": read_text(MLP)})
    with_one = run.model_copy(update={"jobs": (scored,)})
    assert told in page(with_one)
    assert told in markdown(with_one)
    assert "MLPerf" not in samples.page_of_bad() + markdown(run)


def test_a_simulated_run_says_so_first() -> None:
    """The title of a simulated run starts with `Simulated`."""
    assert title(samples.good()) == "Simulated: stack dev, passed, 2026-11-21 22:49 UTC"
    assert title(samples.bad()) == "stack prod, failed, 2026-11-21 22:49 UTC"
    assert "\n> **Simulated**: no GPU" in markdown(samples.good())
    assert "imulated" not in markdown(samples.bad())


def test_the_outcome_is_the_exit_status_of_verify() -> None:
    """The outcome on the page is that of the exit status of verify."""
    run = samples.good()
    assert outcome(run).text == "Passed: 5 criteria"
    assert outcome(samples.bad()).text == "Failed: 1 of 5 criteria"
    without = run.model_copy(update={"verdicts": samples.bad().verdicts[1:]})
    assert (outcome(without).status, outcome(without).text) == (
        Status.MISSING,
        "Not enough evidence: 1 criterion has no evidence",
    )
    assert outcome(run.model_copy(update={"verdicts": ()})).text == "Not enough evidence: nothing was judged"


def test_what_is_missing_is_listed() -> None:
    """Logs that are absent, cut or partly unread are listed."""
    assert list(missing(samples.good())) == []
    assert list(missing(samples.bad())) == [
        "adas/cut: failed",
        "adas/cut: nccl-tests (nccl.log, lines 2-60): incomplete, no footer",
        "adas/cut: nccl-tests (nccl.log, lines 2-60): 7 lines that no parser could read: 44, ...",
        "adas/nccl-test-02x08: bus-bandwidth: no evidence",
    ]
    assert list(missing(samples.good().model_copy(update={"jobs": (), "verdicts": ()}))) == ["no jobs"]


def test_versions_name_the_job_where_jobs_differ() -> None:
    """Versions are shown with their jobs where jobs differ."""
    run = samples.good()
    assert versions(run)["NCCL"] == "2.5.6"
    other = run.jobs[4].model_copy(update={"versions": {"image": "tensorflow:20.04"}})
    found = versions(run.model_copy(update={"jobs": (*run.jobs[:2], other)}))
    assert found["image (adas/tf2-resnet50-02x08x02)"] == "tensorflow:20.04"
    assert found["image (adas/mofed-test, adas/nccl-test-01x08)"] == "tensorflow:20.03-tf2-py3"


def test_markdown_holds_what_a_review_needs() -> None:
    """The summary has the failure, its cause, the line behind it, and the figures."""
    text = markdown(samples.bad())
    assert "docs/coverage/sources.md" in text
    assert "docs/coverage/sources.md" in samples.page_of_bad()
    assert text.startswith("# ❌ Failed: 1 of 5 criteria\n")
    assert "- ❌ **hcas-used** of adas/nccl-test-02x08: 3 of 4 HCAs: mlx5\\_2 absent on worker-1" in text
    assert "  - a port is down: look at its cable" in text
    assert "adas/nccl-test-02x08.log:10 ` worker-1:30:30 [0] NCCL INFO NET/IB" in text
    assert "all\\_reduce 55 µs at 8 B" in text
    assert "| GPU driver | 440.33.01 |" in text
    worse = samples.good(1, slower=1.2)
    compared = compare(worse, [Kept(1, samples.good())])
    assert "10 regressions against run 1 of 2026-11-21 22:49 UTC." in markdown(worse, compared)


def test_what_has_one_cause_is_reported_once() -> None:
    """A cause is shown once, with all verdicts that it explains."""
    cause = "an HCA is down: look at `ibstatus`"
    names = ("job-ended", "ports-active", "ib-write-bandwidth")
    statuses = (Status.FAIL, Status.FAIL, Status.MISSING)
    jobs = ("adas/mofed-test", "adas/mofed-test", "adas/nccl-test-02x08")
    verdicts = tuple(
        samples.verdict(name, job, status, "failed", "succeeded", "Port number 1 state is Down", cause=cause)
        for name, job, status in zip(names, jobs, statuses, strict=True)
    )  # fmt: skip
    run = samples.good()
    text = markdown(run.model_copy(update={"verdicts": (*run.verdicts, *verdicts)}))
    assert [text.count(f"**{name}**") for name in names] == [1, 1, 1]
    assert text.count("  - an HCA is down: look at `ibstatus`\n") == 1
    assert text.count("Port number 1 state is Down") == 2, "a line of each job"
    assert text.count("ib-write-bandwidth") == 1, "not again among what is missing, and a pass is only counted"
    assert "- ⚠️ **single-gpu-pods** of adas/nccl-test-16x01: 5.68 GB/s" in text
    assert len(text.splitlines()) < 60
    assert len(notable(run, {Status.FAIL})) == 0


def test_markdown_of_logs_stays_text() -> None:
    """A log cannot break a table, notify people or become HTML."""
    assert escaped("a|b <img> *x* `y` _z_\n# t @team") == ("a\\|b \\<img\\> \\*x\\* \\`y\\` \\_z\\_ \\# t @\u200bteam")
    assert code("a ``b`` c") == "``` a ``b`` c ```"
    assert code(" \n ") == ""
    assert "\x00" not in markdown(samples.bad())
    for line in markdown(samples.bad()).splitlines():
        assert "<script>" not in line or "` <script>" in line


def test_what_is_no_line_of_a_file_has_no_number() -> None:
    """Nodes of a cluster, which are not file, are shown without a line number."""
    proofs = (Proof(file="(nodes of the cluster)", line=2, text="dgx02: 0 GPUs"), Proof(file="a.log", line=7, text="x"))
    failed = samples.bad().verdicts[0].model_copy(update={"proofs": proofs})
    run = samples.undrawn(samples.bad()).model_copy(update={"verdicts": (failed,)})
    for drawn in (markdown(run), page(run)):
        assert "dgx02: 0 GPUs" in drawn
        assert "a.log:7" in drawn
        assert "cluster):2" not in drawn
