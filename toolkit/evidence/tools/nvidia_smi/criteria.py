"""What nvidia-smi must show: the GPUs that the pod was given, without memory errors."""

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Found, at, lines_of, of, passed
from toolkit.evidence.tools.nvidia_smi.model import NvidiaSmi
from toolkit.evidence.verdict import Job, Proof
from toolkit.evidence.wording import listed

MEMORY_SHARE = 0.05
"""How far the memory that a driver reports may be from the profile's: drivers reserve different shares."""


def _gpus(job: Job) -> Found | None:
    profile, shape = job.request.known_machine, job.request.shape
    count, memory = shape.gpus if shape else profile.gpus, profile.gpu.memory_mib
    bad: list[str] = []
    proofs: list[Proof] = []
    strange = False
    for one in of(job, NvidiaSmi):
        if len(one.rows) != count:
            bad.append(one.failed or plural(len(one.rows), "GPU"))
        other = [
            gpu for gpu in one.rows if memory and gpu.memory_mib and abs(gpu.memory_mib / memory - 1) > MEMORY_SHARE
        ]
        bad += [f"GPU {gpu.index}: {gpu.memory_mib} MiB" for gpu in other]
        strange = strange or bool(other)
        proofs += at(one.file, *[gpu.line for gpu in other or one.rows[-1:]] or [one.first_line])
    limit = f"{count}{f' of {memory} MiB' if memory else ''}"
    short = all(len(one.rows) <= count and not one.failed for one in of(job, NvidiaSmi)) and not strange
    return Found(passed(not bad), listed(bad, 4) if bad else plural(count, "GPU"), limit, tuple(proofs), short)


def _ecc(job: Job) -> Found | None:
    rows = [(one.file, gpu) for one in of(job, NvidiaSmi) for gpu in one.rows if gpu.uncorrected_ecc is not None]
    bad = [(file, gpu) for file, gpu in rows if gpu.uncorrected_ecc]
    if not rows:
        return None
    measured = (
        listed(f"GPU {gpu.index}: {gpu.uncorrected_ecc}" for _, gpu in bad)
        if bad
        else f"0 of {plural(len(rows), 'GPU')}"
    )
    proofs = lines_of(bad or rows[:1])
    return Found(passed(not bad), measured, proofs=proofs)


CRITERIA = (
    Criterion(
        name="gpus-present",
        title="The pod sees the GPUs assigned to it",
        limit="the shape's GPUs, else the profile's, with its memory",
        unit="GPUs",
        tolerance=f"{MEMORY_SHARE:.0%} of the memory: drivers reserve different shares of it",
        applies="jobs of a known profile with nvidia-smi output",
        source="R-4.4-2, S-6.1a",
        look=_gpus,
        when=lambda request: request.machine is not None,
    ),
    Criterion(
        name="gpu-ecc",
        title="GPU memory has no uncorrected errors",
        limit="0 uncorrected ECC errors",
        unit="errors",
        applies="jobs with nvidia-smi output",
        source="R-4.4-2",
        look=_ecc,
    ),
)
