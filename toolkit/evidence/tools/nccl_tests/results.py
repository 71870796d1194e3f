"""Whether what nccl-tests computed is right, agrees with itself, and was computed by each GPU of each pod once."""

from collections import Counter
from collections.abc import Iterator

from core.wording import plural
from toolkit.evidence.criterion import (
    Criterion,
    Outcome,
    closing_proofs,
    line_proofs,
    passed,
    proofs_at,
    readings_of,
    row_proofs,
)
from toolkit.evidence.tools.nccl_tests.model import Figures, NcclTests, Row
from toolkit.evidence.verdict import Job, Proof, Request, Status
from toolkit.evidence.wording import listed


def _whole_nodes(request: Request) -> int | None:
    """Return how many nodes a job fills; None: it does not fill them, or it is not known."""
    profile = request.machine
    if profile is None or request.shape is None or request.shape.total % profile.gpus:
        return None
    nodes = request.shape.total // profile.gpus
    # The scheduler may spread single GPUs over more nodes than have to be.
    return nodes if len(request.nodes) in (0, nodes) else None


def _bus_ids(job: Job) -> Outcome | None:
    nodes = _whole_nodes(job.request)
    tests = [test for test in readings_of(job, NcclTests) if test.devices]
    if nodes is None:
        return None
    if not tests:
        return Outcome(Status.MISSING, "no list of devices")
    faults: list[str] = []
    lines: list[Proof] = []
    for test in tests:
        counts = Counter(device.bus_id for device in test.devices)
        wrong = {bus for bus, count in counts.items() if count != nodes}
        faults += [f"{bus}: {counts[bus]} times" for bus in sorted(wrong)]
        shown = [device.line for device in test.devices if device.bus_id in wrong] or [test.devices[0].line]
        lines += proofs_at(test.file, *shown[:4])
    measured = (
        listed(faults, 4) if faults else f"each of {len({d.bus_id for test in tests for d in test.devices})}: {nodes}"
    )
    short = all(max(Counter(device.bus_id for device in test.devices).values()) <= nodes for test in tests)
    short = short and not any(test.rows for test in tests)
    return Outcome(passed(not faults), measured, f"each bus id {nodes} times", tuple(lines), short)


def _host_names(job: Job) -> Outcome | None:
    tests, shape = [test for test in readings_of(job, NcclTests) if test.devices], job.request.shape
    if shape is None:
        return None
    limit = f"{plural(shape.pods, 'host')}, ranks of each: {shape.gpus}"
    if not tests:
        return Outcome(Status.MISSING, "no list of devices", limit)
    faults: list[str] = []
    lines: list[Proof] = []
    short = True
    for test in tests:
        counts = Counter(device.host for device in test.devices)
        wrong = [host for host, count in counts.items() if count != shape.gpus]
        faults += [plural(len(counts), "host")] if len(counts) != shape.pods else []
        faults += [f"{host}: {plural(counts[host], 'rank')}" for host in wrong]
        short = short and len(counts) <= shape.pods and max(counts.values()) <= shape.gpus
        shown = [device.line for device in test.devices if device.host in wrong] or [test.devices[0].line]
        lines += proofs_at(test.file, *shown[:4])
    return Outcome(passed(not faults), listed(faults, 4) if faults else limit, limit, tuple(lines), short)


LARGEST_ERROR = 5e-07


def halves(row: Row) -> Iterator[Figures]:
    """Yield both halves of a row, or the one that is there."""
    yield row.out_of_place
    if row.in_place is not None:
        yield row.in_place


def _correct(job: Job) -> Outcome | None:
    tests = readings_of(job, NcclTests)
    rows = [(test.file, row) for test in tests for row in test.rows]
    if not rows:
        return Outcome(Status.MISSING, "no row of the table")
    wrong = [(file, row) for file, row in rows if not all(map(_right, halves(row)))]
    bounds = sum(test.out_of_bounds or 0 for test in tests)
    unchecked = [(file, row) for file, row in rows if not any(map(_checked, halves(row)))]
    if not wrong and not bounds and unchecked:
        measured = f"{len(unchecked)} of {plural(len(rows), 'row')} not checked"
        return Outcome(Status.MISSING, measured, proofs=row_proofs(unchecked[:1]))
    measured = f"{plural(len(wrong), 'row')} wrong, {bounds} out of bounds"
    return Outcome(passed(not wrong and not bounds), measured, proofs=row_proofs(wrong[:5]) or closing_proofs(tests))


def _checked(half: Figures) -> bool:
    return half.wrong is not None or half.error is not None


def _right(half: Figures) -> bool:
    return not half.wrong and (half.error is None or half.error <= LARGEST_ERROR)


def _consistent(job: Job) -> Outcome | None:
    tests = readings_of(job, NcclTests)
    rows = [(test.file, contradiction) for test in tests for contradiction in test.contradictions]
    averages = [test for test in tests if test.average_agrees is False]
    if not rows and not averages:
        agree = sum(len(test.rows) for test in tests)
        if not agree:
            return Outcome(Status.MISSING, "no row of the table")
        return Outcome(Status.PASS, plural(agree, "row agrees", "rows agree"))
    reasons = [contradiction.why for _, contradiction in rows] + [
        f"average {test.average_busbw_gb_s:g} printed, {test.average_recomputed_gb_s:g} by the rows"
        for test in averages
        if test.average_busbw_gb_s is not None and test.average_recomputed_gb_s is not None
    ]
    proofs = (*row_proofs((file, contradiction.row) for file, contradiction in rows), *closing_proofs(averages))
    return Outcome(Status.FAIL, listed(reasons, 3), proofs=proofs)


def _no_failure(job: Job) -> Outcome | None:
    failures = [(test.file, line) for test in readings_of(job, NcclTests) for line in test.failures]
    if not failures and not all(test.rows for test in readings_of(job, NcclTests)):
        return Outcome(Status.MISSING, "no row of the table, and no line that explains it")
    if not failures:
        return Outcome(Status.PASS, "none")
    measured = plural(len(failures), "line reports a failure", "lines report a failure")
    return Outcome(Status.FAIL, measured, proofs=line_proofs(failures))


def _ranks(job: Job) -> Outcome | None:
    shape = job.request.shape
    counted = [(test, test.ranks) for test in readings_of(job, NcclTests) if test.ranks is not None]
    if shape is None:
        return None
    if not counted:
        return Outcome(Status.MISSING, "no list of devices")
    test, ranks = min(counted, key=lambda pair: pair[1] == shape.total)
    lines = [device.line for device in test.devices]
    proofs = proofs_at(test.file, *(lines[:1] + lines[-1:]))
    # The list is whole before the first row comes.
    short = ranks < shape.total and not test.rows
    return Outcome(passed(ranks == shape.total), plural(ranks, "rank"), plural(shape.total, "rank"), proofs, short)


CRITERIA = (
    Criterion(
        name="host-names",
        title="Every pod took part, under a distinct host name",
        limit="as many hosts as pods, each with one rank per GPU of the pod",
        unit="hosts",
        applies="runs of nccl-tests in several pods",
        source="N-6.8",
        judge=_host_names,
        when=lambda request: request.shape is not None and request.shape.pods > 1,
    ),
    Criterion(
        name="bus-ids",
        title="Each GPU of each node has one rank",
        limit="each bus id as often as there are nodes",
        unit="ranks",
        applies="runs of nccl-tests that fill whole nodes of a known profile",
        source="R-4.4-14",
        judge=_bus_ids,
        when=lambda request: _whole_nodes(request) is not None,
    ),
    Criterion(
        name="results-correct",
        title="Collective operations return correct results",
        limit="0 wrong, 0 out of bounds, error <= 5e-07",
        unit="rows",
        tolerance="old versions print a relative error; the largest in the Redpaper is 5e-07",
        applies="runs of nccl-tests",
        source="R-4.4-4, R-4.4-8",
        judge=_correct,
    ),
    Criterion(
        name="figures-agree",
        title="The table is consistent",
        limit="busbw = algbw x bus factor, average = mean of busbw",
        unit="rows",
        tolerance="rounding of the printed figures",
        applies="runs of nccl-tests",
        source="R-4.4-5",
        judge=_consistent,
    ),
    Criterion(
        name="test-ran",
        title="The test reports no failure",
        limit="no line that reports a failure",
        unit="lines",
        applies="runs of nccl-tests",
        source="R-4.4-8",
        judge=_no_failure,
    ),
    Criterion(
        name="ranks-are-gpus",
        title="Every GPU of the job has a rank",
        limit="pods x GPUs",
        unit="ranks",
        applies="runs of nccl-tests whose shape is known",
        source="R-4.3-2, B-1.2, N-8.4",
        judge=_ranks,
        when=lambda request: request.shape is not None,
    ),
)
