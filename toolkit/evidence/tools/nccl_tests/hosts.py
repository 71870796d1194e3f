"""Where ranks ran: each pod and each GPU once."""

from collections import Counter

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Found, at, of, passed
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


def _bus_ids(job: Job) -> Found | None:
    nodes = _whole_nodes(job.request)
    tests = [one for one in of(job, NcclTests) if one.devices]
    if nodes is None:
        return None
    if not tests:
        return Found(Status.MISSING, "no list of devices")
    bad: list[str] = []
    lines: list[Proof] = []
    for one in tests:
        counts = Counter(device.bus_id for device in one.devices)
        wrong = {bus for bus, count in counts.items() if count != nodes}
        bad += [f"{bus}: {counts[bus]} times" for bus in sorted(wrong)]
        shown = [device.line for device in one.devices if device.bus_id in wrong] or [one.devices[0].line]
        lines += at(one.file, *shown[:4])
    measured = listed(bad, 4) if bad else f"each of {len({d.bus_id for one in tests for d in one.devices})}: {nodes}"
    short = all(count <= nodes for one in tests for count in Counter(each.bus_id for each in one.devices).values())
    short = short and not any(one.rows for one in tests)
    return Found(passed(not bad), measured, f"each bus id {nodes} times", tuple(lines), short)


def _host_names(job: Job) -> Found | None:
    tests, shape = [one for one in of(job, NcclTests) if one.devices], job.request.shape
    if shape is None:
        return None
    limit = f"{plural(shape.pods, 'host')}, ranks of each: {shape.gpus}"
    if not tests:
        return Found(Status.MISSING, "no list of devices", limit)
    bad: list[str] = []
    lines: list[Proof] = []
    short = True
    for one in tests:
        counts = Counter(device.host for device in one.devices)
        wrong = [host for host, count in counts.items() if count != shape.gpus]
        bad += [plural(len(counts), "host")] if len(counts) != shape.pods else []
        bad += [f"{host}: {plural(counts[host], 'rank')}" for host in wrong]
        short = short and len(counts) <= shape.pods and max(counts.values()) <= shape.gpus
        shown = [device.line for device in one.devices if device.host in wrong] or [one.devices[0].line]
        lines += at(one.file, *shown[:4])
    return Found(passed(not bad), listed(bad, 4) if bad else limit, limit, tuple(lines), short)


CRITERIA = (
    Criterion(
        name="host-names",
        title="Every pod took part, under a distinct host name",
        limit="as many hosts as pods, each with one rank per GPU of the pod",
        unit="hosts",
        applies="runs of nccl-tests in several pods",
        source="N-6.8",
        look=_host_names,
        when=lambda request: request.shape is not None and request.shape.pods > 1,
    ),
    Criterion(
        name="bus-ids",
        title="Each GPU of each node has one rank",
        limit="each bus id as often as there are nodes",
        unit="ranks",
        applies="runs of nccl-tests that fill whole nodes of a known profile",
        source="R-4.4-14",
        look=_bus_ids,
        when=lambda request: _whole_nodes(request) is not None,
    ),
)
