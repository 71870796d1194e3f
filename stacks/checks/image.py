"""What is wrong between images and what is to run of them: the MPI operator's generation, and who builds them."""

import re
from collections.abc import Iterator

from core.apis.kinds import MPI_JOB_V2BETA1
from stacks.resolved import images
from stacks.settings.builds import MultiNodeRecipe
from stacks.settings.fabric import NetworkOperatorPlugin, Plugin, RdmaFabric
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
