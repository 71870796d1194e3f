"""nvidia-smi: the GPUs that a pod or host sees; its table, and `--query-gpu=... --format=csv`."""

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, passed, proofs_at, readings_of, row_proofs
from toolkit.evidence.tools.nvidia_smi.model import Gpu, MigDevice, NvidiaSmi
from toolkit.evidence.tools.nvidia_smi.parser import NvidiaSmiParser
from toolkit.evidence.verdict import Job, Proof
from toolkit.evidence.wording import listed

__all__ = ["CRITERIA", "Gpu", "MigDevice", "NvidiaSmi", "NvidiaSmiParser"]

MEMORY_SHARE = 0.05
"""How far the memory that a driver reports may be from the profile's: drivers reserve different shares."""


def _gpus(job: Job) -> Outcome | None:
    profile, shape = job.request.known_machine, job.request.shape
    count, memory = shape.gpus if shape else profile.gpus, profile.gpu.memory_mib
    faults: list[str] = []
    proofs: list[Proof] = []
    differs = False
    outputs = readings_of(job, NvidiaSmi)
    for output in outputs:
        if len(output.rows) != count:
            faults.append(output.failed or plural(len(output.rows), "GPU"))
        other = [
            gpu for gpu in output.rows if memory and gpu.memory_mib and abs(gpu.memory_mib / memory - 1) > MEMORY_SHARE
        ]
        faults += [f"GPU {gpu.index}: {gpu.memory_mib} MiB" for gpu in other]
        differs = differs or bool(other)
        proofs += proofs_at(output.file, *[gpu.line for gpu in other or output.rows[-1:]] or [output.first_line])
    limit = f"{count}{f' of {memory} MiB' if memory else ''}"
    short = not differs and all(len(output.rows) <= count and not output.failed for output in outputs)
    return Outcome(
        passed(not faults), listed(faults, 4) if faults else plural(count, "GPU"), limit, tuple(proofs), short
    )


def _ecc(job: Job) -> Outcome | None:
    gpus = [(output.file, gpu) for output in readings_of(job, NvidiaSmi) for gpu in output.rows]
    rows = [(file, gpu) for file, gpu in gpus if gpu.uncorrected_ecc is not None]
    faulty = [(file, gpu) for file, gpu in rows if gpu.uncorrected_ecc]
    if not rows:
        return None
    named = listed(f"GPU {gpu.index}: {gpu.uncorrected_ecc}" for _, gpu in faulty)
    measured = named or f"0 of {plural(len(rows), 'GPU')}"
    return Outcome(passed(not faulty), measured, proofs=row_proofs(faulty or rows[:1]))


CRITERIA = (
    Criterion(
        name="gpus-present",
        title="The pod sees the GPUs assigned to it",
        limit="the shape's GPUs, else the profile's, with its memory",
        unit="GPUs",
        tolerance=f"{MEMORY_SHARE:.0%} of the memory: drivers reserve different shares of it",
        applies="jobs of a known profile with nvidia-smi output",
        source="R-4.4-2, S-6.1a",
        judge=_gpus,
        when=lambda request: request.machine is not None,
    ),
    Criterion(
        name="gpu-ecc",
        title="GPU memory has no uncorrected errors",
        limit="0 uncorrected ECC errors",
        unit="errors",
        applies="jobs with nvidia-smi output",
        source="R-4.4-2",
        judge=_ecc,
    ),
)
