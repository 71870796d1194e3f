"""What is wrong between images and what is to run of them: the operator's generation, builds, and jobs' machines."""

import re
from collections.abc import Iterator

from core.apis.kinds import MPI_JOB_V2BETA1
from core.apis.names import CPU_ARCHITECTURES
from stacks.resolved import images
from stacks.resolved.jobs import ProgramJob
from stacks.settings.builds import BuildSettings, MultiNodeRecipe
from stacks.settings.fabric import InfiniBand, NetworkOperatorPlugin, Plugin, RdmaFabric
from stacks.settings.platform import Settings
from stacks.settings.workloads import Unstarted

_MPI_OPERATOR = re.compile(r"(^|/)mpi-operator:v?(?P<major>\d+)\.(?P<minor>\d+)")
"""Kubeflow's names; another image, or one by its digest, does not show its generation."""
_FIRST_V2BETA1 = (0, 3)
"""First version that is started for MPIJob v2beta1; images from then on do not know the old one's flags
(kubeflow/mpi-operator #414, #437)."""


def problems(settings: Settings) -> Iterator[str]:
    """Yield operator images of the wrong generation, and job images that no build creates."""
    yield from _mpi_operator(settings)
    yield from _ofed(settings)
    for stage in settings.stages:
        for job in stage.workloads:
            if isinstance(job, Unstarted):
                continue
            built = images.build(job, settings)
            if built and not built.at_once:
                yield (
                    f"builds: at_once false of {built.tenant}/{built.name}, and job {job.name} uses it: its pods would "
                    "wait for an image that is not built; leave at_once out, or build it and name it as the job's "
                    f"`image`, {built.image(settings.version.registry)}"
                )


def _ofed(settings: Settings) -> Iterator[str]:
    """Yield builds whose user space of MLNX_OFED is another than the nodes' driver; what is not known is not judged."""
    for pool in settings.gpu_pools:
        if isinstance(pool.fabric, RdmaFabric):
            yield from _ofed_of(pool.fabric.plugin, settings)


def _ofed_of(plugin: Plugin, settings: Settings) -> Iterator[str]:
    brought = plugin.driver.version if isinstance(plugin, NetworkOperatorPlugin) and plugin.driver else None
    host = brought or plugin.host_ofed_version
    for built in settings.builds if host else ():
        if host and isinstance(built.source, MultiNodeRecipe) and (why := built.source.other_driver(built.base, host)):
            yield f"builds: source.ofed of {built.tenant}/{built.name}: {why}, or leave `ofed` out"


def _mpi_operator(settings: Settings) -> Iterator[str]:
    operator, kind = settings.mpi_operator, settings.version.mpi_job
    match = _MPI_OPERATOR.search(operator.image) if operator else None
    if operator is None or kind is None or match is None:
        return
    today = kind.version == MPI_JOB_V2BETA1.version
    if ((int(match["major"]), int(match["minor"])) >= _FIRST_V2BETA1) != today:
        other = "0.3.0 or later, e.g. mpioperator/mpi-operator:0.8.2" if today else "mpioperator/mpi-operator:v0.2.3"
        yield (
            f"mpi_operator.image {operator.image} does not support MPIJob {kind.version}, which OpenShift "
            f"{settings.release} has here, and no job would start; give {other}"
        )


def of_job(job: ProgramJob, settings: Settings) -> Iterator[str]:
    """Yield why the image or the build that a job names cannot run on its machines."""
    workload, fabric, machine = job.workload, job.pool.fabric, job.pool.machine
    ssh = images.by_ssh(workload, settings)
    if workload.build is not None:
        yield from _build(job, settings, ssh=ssh)
        return
    if workload.image is None:
        if job.image is None:
            reasons = [
                f"{reference} {images.unfit(reference, machine, settings, ssh=ssh)}" for reference in job.program.images
            ]
            why = f" ({'; '.join(reasons)})" if reasons else ""
            yield f"image is missing, and the program has none that fits{why}; name one"
        return
    image = images.IMAGES.get(workload.image)
    if reason := images.unfit(workload.image, machine, settings, ssh=ssh):
        yield f"image {workload.image} {reason}; name another"
    elif isinstance(fabric, InfiniBand) and fabric.sharp and image and image.nccl and image.nccl < images.SHARP:
        yield f"image {workload.image} has NCCL {image.nccl[0]}.{image.nccl[1]}, and fabric.sharp needs 2.6 or later"


def _build(job: ProgramJob, settings: Settings, *, ssh: bool) -> Iterator[str]:
    workload = job.workload
    if workload.image is not None:
        yield f"build {workload.build} and image {workload.image}: give one of them"
    if job.build is None:
        yield f"build {workload.build} is none of the builds of tenant {workload.tenant}; add it, or name an image"
        return
    if reason := images.unfit(job.build.base, job.pool.machine, settings, ssh=False):
        yield f"build {workload.build}: its base {job.build.base} {reason}; name another"
    yield from _built_elsewhere(job, job.build, settings)
    if ssh and job.build.has_sshd is False:
        yield f"build {workload.build} has no sshd, as workers of MPIJob v2beta1 need it; take another source"


def _built_elsewhere(job: ProgramJob, build: BuildSettings, settings: Settings) -> Iterator[str]:
    """Yield that an image is built for other processors than those of the job's machines."""
    machine = job.pool.machine
    ofed = build.source.ofed if isinstance(build.source, MultiNodeRecipe) else None
    if ofed and ofed.platform != machine.cpu_architecture:
        yield (
            f"build {job.workload.build}: source.ofed.platform {ofed.platform}, and the processors of {machine.name} "
            f"are {machine.cpu_architecture}; give that, or name another build"
        )
    kinds = sorted({CPU_ARCHITECTURES[pool.machine.cpu_architecture] for pool in settings.gpu_pools})
    if len(kinds) > 1:
        yield (
            f"build {job.workload.build} runs on any worker, and those of pools are {' and '.join(kinds)}: its image "
            f"would be for either; name an image for {CPU_ARCHITECTURES[machine.cpu_architecture]} as the job's `image`"
        )
