"""Whether machine, fabric and nodes of a job are the requested ones, by what the logs call them."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from core.wording import plural
from toolkit.evidence.criteria.transport import first_lines
from toolkit.evidence.criterion import NCCL, Criterion, Outcome, nccl_logs, passed, proofs_at, readings_of
from toolkit.evidence.model import NcclLog
from toolkit.evidence.tools.nccl_tests.model import NcclTests
from toolkit.evidence.tools.nvidia_smi import NvidiaSmi
from toolkit.evidence.verdict import Job, Request
from toolkit.evidence.wording import listed

_LINK_LAYERS = {"infiniband": "IB", "roce": "RoCE"}
"""Fabric -> what `NET/IB : Using` calls its ports."""
_GPU = re.compile(
    r"\b(?P<family>[A-Z]{1,2}\d{1,4})[A-Z]?\b(?:.*?\b(?P<form>SXM|PCIE))?(?:.*?\b(?P<gb>\d{1,3}) ?GB)?", re.IGNORECASE
)


class _Model(NamedTuple):
    """What the name of a GPU contains; None: it does not contain it."""

    family: str
    form: str | None
    memory_gb: str | None

    def differs(self, other: "_Model") -> bool:
        return any(own and others and own != others for own, others in zip(self, other, strict=True))


def _model(name: str) -> _Model | None:
    match = _GPU.search(name)
    return (
        None if match is None else _Model(match["family"].upper(), (match["form"] or "").upper() or None, match["gb"])
    )


class _Shown(NamedTuple):
    """A GPU that a log shows, and where."""

    gpu: tuple[object, ...]
    """What distinguishes it: a program prints its list again for each of its runs, and each pod has a GPU 0."""
    file: str
    line: int
    name: str


def _shown(job: Job) -> Iterator[_Shown]:
    for test in readings_of(job, NcclTests):
        for device in test.devices:
            yield _Shown((test.tool, device.host, device.bus_id), test.file, device.line, device.name)
    for table in readings_of(job, NvidiaSmi):
        yield from (
            _Shown((table.tool, table.source or table.file, gpu.index, gpu.bus), table.file, gpu.line, gpu.name)
            for gpu in table.rows
            if gpu.name
        )


def _gpu(job: Job) -> Outcome | None:
    profile = job.request.known_machine
    model = _model(profile.gpu.model)
    named = {shown.gpu: (shown, shown_model) for shown in _shown(job) if (shown_model := _model(shown.name))}
    if model is None or not named:
        return None
    other = {gpu: shown for gpu, (shown, shown_model) in named.items() if model.differs(shown_model)}
    gpus = other or {gpu: shown for gpu, (shown, _) in named.items()}
    names = listed(sorted({shown.name.strip() for shown in gpus.values()}), 4)
    proofs = tuple(proof for shown in [*gpus.values()][:2] for proof in proofs_at(shown.file, shown.line))
    # nvidia-smi and nccl-tests show the same GPUs.
    count = max(Counter(gpu[0] for gpu in gpus).values())
    return Outcome(passed(not other), f"{count} {names}", f"{profile.gpu.model} ({profile.name})", proofs)


def _layers(job: Job) -> Outcome | None:
    logs = [(file, log) for file, log in nccl_logs(job) if log.link_layers]
    if not logs:
        return None
    link_layer = _LINK_LAYERS[job.request.fabric or ""]
    layers = [(log, name, layer) for _, log in logs for name, layer in log.link_layers.items() if layer != link_layer]
    other = sorted({f"{name} is {layer}" for log, name, layer in layers if name in _ours(job.request, log)})
    proofs = first_lines(logs, "NET/IB : Using")
    return Outcome(passed(not other), listed(other, 4) if other else f"all {link_layer}", f"{link_layer} each", proofs)


def _ours(request: Request, log: NcclLog) -> frozenset[str]:
    """Return the HCAs that the job was to use, and those that it does use: storage has a fabric of its own."""
    return (request.hcas or frozenset(log.link_layers)) | frozenset(log.used_devices)


def _nodes(job: Job) -> Outcome | None:
    nodes, fewest = job.request.nodes, _fewest(job.request)
    if not nodes:
        return None
    return Outcome(passed(len(nodes) >= fewest), listed(nodes), f">= {plural(fewest, 'node')}")


def _fewest(request: Request) -> int:
    """Return the fewest nodes that have a job's GPUs: single GPUs of several nodes may as well be of one."""
    profile = request.machine
    return 1 if profile is None or request.shape is None else -(-request.shape.total // profile.gpus)


CRITERIA = (
    Criterion(
        name="gpu-model",
        title="The GPUs are of the profile's model",
        limit="model, form and memory of the profile's GPU",
        unit="GPUs",
        tolerance="what the reported name omits: old drivers shorten it",
        applies="jobs whose logs name GPUs (nccl-tests, nvidia-smi), of a known profile",
        source="R-4.4-2, R-4.4-8, D-2.3",
        needs=("nccl-tests", "nvidia-smi"),
        judge=_gpu,
        missed=False,
        when=lambda request: request.machine is not None,
    ),
    Criterion(
        name="link-layers",
        title="Ports use the requested link layer: InfiniBand, or RoCE",
        limit="the fabric's link layer, on every HCA of the job",
        unit="HCAs",
        tolerance="HCAs that are neither assigned to the job nor used by it",
        applies="jobs over RDMA whose fabric is known",
        source="R-4.4-9, R-4.1-6",
        needs=(NCCL,),
        judge=_layers,
        missed=False,
        when=lambda request: request.uses_rdma and request.fabric in _LINK_LAYERS,
    ),
    Criterion(
        name="nodes-used",
        title="The job ran on several nodes",
        limit="at least as many as its GPUs need",
        unit="nodes",
        applies="jobs with more GPUs than a node has, on a cluster",
        source="B-6.4",
        judge=_nodes,
        when=lambda request: _fewest(request) > 1,
    ),
)
