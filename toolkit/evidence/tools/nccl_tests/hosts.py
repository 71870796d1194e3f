"""Where ranks ran: each pod and each GPU once."""

from collections import Counter

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, passed, proofs_at, readings_of
from toolkit.evidence.tools.nccl_tests.model import NcclTests
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
    short = all(
        count <= nodes for test in tests for count in Counter(device.bus_id for device in test.devices).values()
    )
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
)
