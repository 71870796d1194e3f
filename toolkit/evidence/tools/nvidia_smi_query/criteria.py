"""Whether the GPUs of a node have faults, by `nvidia-smi -q`."""

from collections.abc import Iterator

from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of, row_proofs
from toolkit.evidence.tools.nvidia_smi_query.model import NvidiaSmiQuery, QueriedGpu
from toolkit.evidence.verdict import Job
from toolkit.evidence.wording import listed

SLOWED = frozenset({"HW Slowdown", "HW Thermal Slowdown", "HW Power Brake Slowdown", "SW Thermal Slowdown"})
"""Reasons of lower clocks that are faults; the power cap is none, it is active under full load."""
REGISTERED = "Completed"


def _faults(gpu: QueriedGpu) -> Iterator[str]:
    if gpu.ecc == "Disabled":
        yield "has ECC off"
    if gpu.uncorrected:
        yield f"has {gpu.uncorrected} uncorrectable memory errors"
    if gpu.remap_pending:
        yield "has rows to remap"
    if gpu.remap_failed:
        yield "could not remap rows"
    if slowed := [reason for reason in gpu.reasons if reason in SLOWED]:
        yield f"is slowed ({', '.join(slowed)}, {gpu.celsius} degrees)"
    if gpu.width is not None and gpu.most_width is not None and gpu.width < gpu.most_width:
        yield f"has {gpu.width} PCIe lanes, not {gpu.most_width}"
    if gpu.power_limit_w is not None and gpu.default_limit_w is not None and gpu.power_limit_w < gpu.default_limit_w:
        yield f"has a power limit of {gpu.power_limit_w:g} W, not {gpu.default_limit_w:g}"
    if gpu.fabric is not None and gpu.fabric != REGISTERED:
        yield f"is not registered with the NVSwitches ({gpu.fabric})"


def _judge(job: Job) -> Outcome | None:
    queries = readings_of(job, NvidiaSmiQuery)
    faulty = [(query, gpu, why) for query in queries for gpu in query.rows for why in _faults(gpu)]
    measured = (
        listed(f"GPU {gpu.bus} {why}" for _, gpu, why in faulty)
        if faulty
        else listed(query.figures() for query in queries)
    )
    return Outcome(
        passed(not faulty),
        measured,
        proofs=row_proofs((query.file, gpu) for query, gpu, _ in faulty) or opening_proofs(queries),
    )


CRITERIA = (
    Criterion(
        name="queried-gpu-faults",
        title="nvidia-smi -q shows no GPU fault",
        limit="ECC on, no uncorrectable error, no row to remap, not slowed by hardware or temperature, all PCIe lanes, "
        "no lowered power limit, registered with the NVSwitches; what the driver does not report is not a fault",
        applies="logs of nvidia-smi -q",
        source="docs.nvidia.com/deploy/nvidia-smi",
        judge=_judge,
    ),
)
