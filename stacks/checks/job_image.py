"""What is wrong between a job's image and its machines."""

from collections.abc import Iterator

from core.apis.names import CPU_ARCHITECTURES
from stacks.resolved import images
from stacks.resolved.jobs import ProgramJob
from stacks.settings.builds import BuildSettings, MultiNodeRecipe
from stacks.settings.fabric import InfiniBand
from stacks.settings.platform import Settings


def problems(job: ProgramJob, settings: Settings) -> Iterator[str]:
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
            yield f"image is missing, and the program has none that fits{_reasons_text(reasons)}; name one"
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


def _reasons_text(reasons: list[str]) -> str:
    return f" ({'; '.join(reasons)})" if reasons else ""
