"""Whether what ran is what was asked for: the test, the GPUs and the fabric, by what the logs call them."""

import re
from collections.abc import Iterator, Mapping
from math import isclose
from typing import NamedTuple

from evidence.criteria.criterion import NCCL, Criterion, Found, at, listed, nccl_logs, of, passed
from evidence.criteria.transport import hcas, uses_rdma
from evidence.model import NcclLog
from evidence.tools.nccl_tests.model import NcclTests
from evidence.tools.nccl_tests.primitives import PRIMITIVES
from evidence.tools.nvidia_smi import NvidiaSmi
from evidence.verdict import Asked, Job, Proof, Status
from hardware.profiles import PROFILES

TESTS: Mapping[str, str] = {
    "nccl-all-reduce": "all_reduce",
    "nccl-all-gather": "all_gather",
    "nccl-broadcast": "broadcast",
    "nccl-reduce": "reduce",
    "nccl-reduce-scatter": "reduce_scatter",
    "node-check": "all_reduce",
}
"""Program of docs/programs.md -> the primitive that it measures (R-4.4-1, R-4.4-15)."""
_LINK_LAYERS = {"infiniband": "IB", "roce": "RoCE"}
"""Fabric -> what `NET/IB : Using` calls its ports."""
_GPU = re.compile(
    r"\b(?P<family>[A-Z]{1,2}\d{1,4})[A-Z]?\b(?:.*?\b(?P<form>SXM|PCIE))?(?:.*?\b(?P<gb>\d{1,3}) ?GB)?", re.IGNORECASE
)


class _Model(NamedTuple):
    """What the name of a GPU says; None: the name does not say it."""

    family: str
    form: str | None
    memory_gb: str | None

    def differs(self, other: "_Model") -> bool:
        return any(one and two and one != two for one, two in zip(self, other, strict=True))


def _model(name: str) -> _Model | None:
    found = _GPU.search(name)
    return (
        None if found is None else _Model(found["family"].upper(), (found["form"] or "").upper() or None, found["gb"])
    )


def is_of(one: NcclTests, test: str, ranks: int | None) -> bool | None:
    """Tell whether a table is of a primitive, by its name, else by its bus factor; None: it does not tell."""
    if one.test is not None:
        return one.test == test
    count = one.group_ranks or ranks
    if one.bus_factor is None or count is None:
        return None
    return any(isclose(one.bus_factor, variant.factor(count)) for variant in PRIMITIVES[test].variants)


def _test(job: Job) -> Found | None:
    wanted = TESTS[job.asked.program or ""]
    ranks = job.asked.shape.total if job.asked.shape else None
    tests = of(job, NcclTests)
    told = [(one, is_of(one, wanted, ranks)) for one in tests]
    other = [one for one, same in told if same is False]
    silent = [one for one, same in told if same is None]
    proofs = tuple(proof for one in other or silent or tests for proof in at(one.file, *_first_row(one)))
    if other:
        return Found(Status.FAIL, listed(sorted({_called(one) for one in other})), wanted, proofs)
    if silent:
        return Found(Status.MISSING, "the table does not tell of which operation it is", wanted, proofs)
    return Found(Status.PASS, wanted, wanted, proofs)


def _called(one: NcclTests) -> str:
    return one.test or f"busbw = {one.bus_factor:g} x algbw"


def _first_row(one: NcclTests) -> tuple[int, ...]:
    return tuple(row.line for row in one.rows[:1]) or (one.first_line,)


def _names(job: Job) -> Iterator[tuple[str, int, str]]:
    """Yield the name of each GPU that a log shows, with its file and line."""
    for test in of(job, NcclTests):
        yield from ((test.file, device.line, device.name) for device in test.devices)
    for shown in of(job, NvidiaSmi):
        yield from ((shown.file, gpu.line, gpu.name) for gpu in shown.rows if gpu.name)


def _gpu(job: Job) -> Found | None:
    profile = PROFILES[job.asked.profile or ""]
    wanted = _model(profile.gpu.model)
    named = [(file, line, name, seen) for file, line, name in _names(job) if (seen := _model(name)) is not None]
    if wanted is None or not named:
        return None
    other = [one for one in named if wanted.differs(one[3])]
    names = listed(sorted({name.strip() for *_, name, _ in other or named}), 4)
    proofs = tuple(proof for file, line, *_ in (other or named)[:2] for proof in at(file, line))
    return Found(passed(not other), f"{len(other or named)} {names}", f"{profile.gpu.model} ({profile.name})", proofs)


def _layers(job: Job) -> Found | None:
    logs = [(file, log) for file, log in nccl_logs(job) if log.link_layers]
    if not logs:
        return None
    wanted = _LINK_LAYERS[job.asked.fabric or ""]
    other = sorted(
        {
            f"{name} is {layer}"
            for _, log in logs
            for name, layer in log.link_layers.items()
            if layer != wanted and name in _ours(job.asked, log)
        }
    )
    proofs = tuple(
        Proof(file=file, line=one.line, text=one.text)
        for file, log in logs
        if (one := log.proofs.get("NET/IB : Using")) is not None
    )
    return Found(passed(not other), listed(other, 4) if other else f"all {wanted}", f"{wanted} each", proofs)


def _ours(asked: Asked, log: NcclLog) -> frozenset[str]:
    """Return the HCAs that the job was to use, and those that it does use: storage has a fabric of its own."""
    return (hcas(asked) or frozenset(log.link_layers)) | frozenset(log.used_devices)


CRITERIA = (
    Criterion(
        name="test-asked-for",
        title="The operation that was measured is the one asked for",
        limit="the operation of the program, by its name, or by busbw / algbw where old versions print none",
        unit="",
        tolerance="",
        applies="programs that run nccl-tests",
        source="R-4.4-1, R-4.4-5, R-4.4-15",
        needs=("nccl-tests",),
        look=_test,
        when=lambda asked: asked.program in TESTS,
    ),
    Criterion(
        name="gpu-model",
        title="The GPUs are of the profile's model",
        limit="model, form and memory of the profile's GPU",
        unit="GPUs",
        tolerance="what a name does not say: old drivers shorten it",
        applies="jobs that name GPUs (nccl-tests, nvidia-smi), of a known profile",
        source="R-4.4-2, R-4.4-8, D-2.3",
        needs=("nccl-tests", "nvidia-smi"),
        look=_gpu,
        missed=False,
        when=lambda asked: asked.profile in PROFILES,
    ),
    Criterion(
        name="link-layers",
        title="Ports talk what was asked for: InfiniBand, or RoCE",
        limit="the fabric's link layer, on every HCA of the job",
        unit="HCAs",
        tolerance="HCAs that the job neither was given nor uses",
        applies="jobs over RDMA whose fabric is known",
        source="R-4.4-9, R-4.1-6",
        needs=(NCCL,),
        look=_layers,
        missed=False,
        when=lambda asked: uses_rdma(asked) and asked.fabric in _LINK_LAYERS,
    ),
)
