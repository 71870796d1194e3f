"""Which HCAs NCCL uses between nodes: all that lie beside the job's GPUs, each channel the same at both ends."""

from core.apis.nccl import Transport
from core.wording import plural
from toolkit.evidence.criteria.transport import first_lines
from toolkit.evidence.criterion import NCCL, Criterion, Outcome, nccl_logs, passed
from toolkit.evidence.verdict import Job, Request, Status
from toolkit.evidence.wording import listed


def _hcas_used(job: Job) -> Outcome | None:
    hcas = job.request.hcas
    if not hcas:
        return None
    limit = f"{listed(sorted(hcas))} on every host"
    incomplete: list[str] = []
    proofs = first_lines(nccl_logs(job), "NET/IB : Using")
    hosts = 0
    for file, log in nccl_logs(job):
        by_host = dict(log.devices_by_host) or ({"": log.devices} if log.devices else {})
        hosts += len(by_host)
        for host, devices in sorted(by_host.items()):
            if absent := hcas - {*devices}:
                incomplete.append(f"{host or file} lacks {listed(sorted(absent))}")
    if not hosts:
        sockets = any(log.between_nodes for _, log in nccl_logs(job))
        return Outcome(Status.FAIL if sockets else Status.MISSING, "no HCA is named", limit)
    pods = job.request.shape.pods if job.request.shape else hosts
    if not incomplete and hosts < pods:
        return Outcome(Status.MISSING, f"all on {hosts} of {plural(pods, 'host')}", limit, proofs)
    if not incomplete and (idle := _idle(job, len(hcas))) is not None:
        return Outcome(*idle, limit, proofs, short=True)
    measured = listed(incomplete, 4) or f"all on {plural(hosts, 'host')}"
    return Outcome(passed(not incomplete), measured, limit, proofs)


def _idle(job: Job, count: int) -> tuple[Status, str] | None:
    """Return which HCAs alone have channels; None: enough for the job's GPUs and for its channels, or it is not known.

    Few channels need not use all: it is a failure where one HCA has twice as many as there are HCAs.
    """
    used = {name: channels for _, log in nccl_logs(job) for name, channels in log.used_devices.items()}
    channels = sum(used.values())
    if not used or channels < count or len(used) >= _beside(job.request, count):
        return None
    is_single = len(used) == 1 and channels >= 2 * count
    shown = ", ".join(f"{name}: {channels}" for name, channels in sorted(used.items()))
    return Status.FAIL if is_single else Status.WARN, f"all {count} named, and channels over {shown} alone"


def _beside(request: Request, count: int) -> int:
    """Return how many of a node's HCAs lie beside the GPUs that a job has of it."""
    profile = request.machine
    if profile is None or request.shape is None:
        return count
    nodes = len(request.nodes) or -(-request.shape.total // profile.gpus)
    gpus = max(1, min(request.shape.total // nodes, profile.gpus))
    if request.shape.gpus == 1:
        # A GPU alone takes the first of those that are equally near.
        count = min(count, len({hca.gpus for hca in profile.hcas}) or count)
    return -(-gpus * count // profile.gpus)


def _equal_hosts(job: Job) -> Outcome | None:
    logs = nccl_logs(job)
    names: dict[str, set[str]] = {}
    for _, log in logs:
        for host, devices in log.devices_by_host.items():
            names.setdefault(host, set()).update(devices)
    if len(names) < 2 or not any(names.values()):  # noqa: PLR2004 - one is compared with another
        return None
    fullest = max(names.values(), key=len)
    incomplete = [
        f"{host} lacks {listed(sorted(fullest - devices))}"
        if devices & fullest
        else f"{host} has {len(devices)} of {len(fullest)}"
        for host, devices in sorted(names.items())
        if len(devices) < len(fullest)
    ]
    # Virtual functions have names of their own in each pod; where hosts number their HCAs otherwise, some are equal.
    renumbered = [
        f"{host} has {listed(sorted(devices - fullest))} for {listed(sorted(fullest - devices))}"
        for host, devices in sorted(names.items())
        if len(devices) == len(fullest) and devices != fullest and devices & fullest
    ]
    proofs = first_lines(logs, "NET/IB : Using", "NET/IB : No device found")
    measured = (
        listed(incomplete or renumbered, 4) or f"{plural(len(fullest), 'HCA')} on each of {plural(len(names), 'host')}"
    )
    return Outcome(Status.FAIL if incomplete else Status.WARN if renumbered else Status.PASS, measured, proofs=proofs)


def _has_whole_nodes(request: Request) -> bool:
    """Return whether each pod has all GPUs of its node: a rank with one GPU uses the HCA beside it."""
    profile = request.machine
    return profile is not None and request.shape is not None and request.shape.gpus == profile.gpus


def _same_hca(job: Job) -> Outcome | None:
    logs = [(file, log) for file, log in nccl_logs(job) if len(log.used_devices) > 1]
    if not logs:
        return None
    crossed = [(file, log) for file, log in logs if log.crossed_devices]
    pairs = [f"{pair}: {plural(count, 'channel')}" for _, log in crossed for pair, count in log.crossed_devices.items()]
    proofs = first_lines(crossed or logs, "NET/IB : Using")
    used = listed(sorted({name for _, log in logs for name in log.used_devices}))
    measured = listed(pairs, 4) if crossed else f"over {used}"
    return Outcome(Status.WARN if crossed else Status.PASS, measured, proofs=proofs)


CRITERIA = (
    Criterion(
        name="hcas-used",
        title="NCCL uses every HCA on every host",
        limit="every HCA assigned to the pods, else every HCA of the profile: each is named, and has channels",
        unit="HCAs",
        tolerance="HCAs that are not next to a GPU of the job; with at least as many channels as HCAs, unused HCAs are "
        "a warning; with twice as many, all on one HCA, a failure",
        applies="jobs over RDMA whose HCAs are known",
        source="R-4.4-9, R-4.3-8",
        needs=(NCCL,),
        judge=_hcas_used,
        when=lambda request: request.uses_rdma and bool(request.hcas),
    ),
    Criterion(
        name="equal-hosts",
        title="The hosts of a job have the same HCAs",
        limit="as many HCAs on each host, and the same",
        unit="HCAs",
        tolerance="other names, as many, are a warning; virtual functions, with no name in common, are not compared",
        applies="jobs, but not over TCP, whose NCCL messages name the HCAs of several hosts",
        source="github.com/NVIDIA/nccl/issues/2428, github.com/NVIDIA/nccl/issues/1277",
        needs=(NCCL,),
        judge=_equal_hosts,
        when=lambda request: request.transport is not Transport.TCP,
        missed=False,
    ),
    Criterion(
        name="same-hca",
        title="Each channel stays on one plane of the fabric",
        limit="the same HCA at both ends",
        unit="channels",
        tolerance="a warning: crossing costs hops where planes are separate; channels with an unknown end are not "
        "compared",
        applies="jobs over RDMA in pods with all GPUs of their nodes, whose channels use several HCAs",
        source="D-3.6",
        needs=(NCCL,),
        judge=_same_hca,
        when=lambda request: request.uses_rdma and _has_whole_nodes(request),
    ),
)
