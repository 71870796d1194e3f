"""Workloads as batch files: Slurm's options for sbatch, and the container's for srun alone, which Pyxis reads."""

import re
import shlex
from collections.abc import Iterator, Mapping

from stacks.settings.site.scheduler import SlurmSettings
from stacks.site.batch_job import BatchJob, PodJob
from stacks.site.site import Site
from toolkit.site.groups.slurm.nodes import gpu_type
from toolkit.site.output import File, Open

_PORT = 29400
"""torchrun's own default (torch.distributed.run)."""
_KUBERNETES_UNITS: Mapping[str, str] = {"Gi": "G", "Mi": "M"}


def files(site: Site, settings: SlurmSettings) -> Iterator[File | Open]:
    """Yield a file for each workload that has all it needs outside of the cluster, and what others lack."""
    kind = next(gpu_type(host.machine) for host in site.gpu_hosts if host.machine)
    for job in site.jobs:
        if isinstance(job, PodJob):
            yield Open(f"{job.name} has no batch file: {job.why}", job.remedy)
        elif missing := list(_missing(job, settings)):
            yield from missing
        else:
            yield File(
                f"slurm/jobs/{job.tenant}/{job.name}.sbatch",
                _text(job, settings, kind),
                sources=("D-5.5", "D-5.6"),
                executable=True,
            )


def _missing(job: BatchJob, settings: SlurmSettings) -> Iterator[Open]:
    if job.data_set is not None:
        yield Open(
            f"{job.name}: proof of its data set {job.data_set}", "none: pods alone have it; run it on the cluster"
        )
    if job.build is not None and job.build not in settings.images:
        yield Open(f"{job.name}: image of build {job.build}", "push it, and name it in `site.scheduler.images`")
    elif job.build is None and job.image is None:
        yield Open(f"{job.name}: its image", "give the workload an image")
    for volume in dict.fromkeys(mount.volume for mount in job.mounts if mount.volume not in settings.volumes):
        yield Open(f"{job.name}: folder of volume {volume} on the nodes", "name it in `site.scheduler.volumes`")


def pyxis_image(image: str) -> str:
    """Return an image as Enroot has it, where # ends the registry: nvcr.io#nvidia/tensorflow:24.03."""
    registry, slash, rest = image.partition("/")
    has_registry = slash and ("." in registry or ":" in registry)
    return f"{registry}#{rest}" if has_registry else image


def _text(job: BatchJob, settings: SlurmSettings, kind: str) -> str:
    image = settings.images[job.build] if job.build else job.image or ""
    # Since 22.05 srun does not take this over from sbatch.
    cpus = f"--cpus-per-task={max(1, job.cpus // job.tasks)}"
    options = [
        f"--job-name={job.name}",
        f"--nodes={job.nodes}",
        f"--ntasks-per-node={job.tasks}",
        cpus,
        f"--mem={_memory(job.memory)}",
        f"--gpus-per-node={kind}:{job.gpus}",
        *(["--switches=1"] if job.together and job.nodes > 1 else []),
    ]
    exports = [f"export {key}={_quoted(value)}" for key, value in sorted(job.environment.items())]
    mounts = [
        f"{_source(settings.volumes[mount.volume], mount.folder)}:{mount.at}{':ro' if mount.read_only else ''}"
        for mount in job.mounts
    ]
    words = [
        "srun",
        cpus,
        *(["--mpi=pmix"] if job.starter == "mpi" else []),
        f"--container-image={shlex.quote(pyxis_image(image))}",
        *([f"--container-mounts={shlex.quote(','.join(mounts))}"] if mounts else []),
        *([f"--container-workdir={shlex.quote(job.working_directory)}"] if job.working_directory else []),
        "--no-container-mount-home",
    ]
    command = shlex.join(job.command)
    if job.starter == "torch":
        exports += [
            f"export PET_NNODES={job.nodes} PET_NPROC_PER_NODE={job.gpus} PET_MASTER_PORT={_PORT}",
            'PET_MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
            "export PET_MASTER_ADDR",
            "# Each node expands its own number.",
            "# shellcheck disable=SC2016",
        ]
        command = f"sh -c {shlex.quote(f'PET_NODE_RANK=$SLURM_NODEID exec torchrun {command}')}"
    lines = ["#!/bin/bash", *(f"#SBATCH {option}" for option in options), "set -euo pipefail", *exports]
    return "\n".join([*lines, " \\\n  ".join([*words, command])]) + "\n"


def _quoted(value: str) -> str:
    """Return a value for the shell; one that begins with = would look like a comparison."""
    return f"'{value}'" if value.startswith("=") and shlex.quote(value) == value else shlex.quote(value)


def _source(folder: str, below: str) -> str:
    return f"{folder.rstrip('/')}/{below}".rstrip("/")


def _memory(quantity: str) -> str:
    match = re.fullmatch(r"(\d+)(Gi|Mi)", quantity)
    if match is None:
        raise ValueError(f"{quantity}: memory of a job is whole Gi or Mi")
    return f"{match[1]}{_KUBERNETES_UNITS[match[2]]}"
