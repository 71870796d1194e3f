"""Images of programs, as far as machines and releases must fit them."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pydantic import Field

from components.base.model import Image, Model
from core.apis.kinds import MPI_JOB_V2BETA1
from core.apis.names import CPU_ARCHITECTURES
from core.hardware.gpus import Architecture
from core.hardware.profiles import Profile
from stacks.settings.builds import BuildSettings
from stacks.settings.platform import Settings
from stacks.settings.workloads import MpiWorkload, Started

SHARP = (2, 6)
"""First NCCL that reduces in the network."""


class KnownImage(Model):
    """One image, by a tag that does not move."""

    reference: Image
    cuda: int = Field(gt=0, description="major version of CUDA")
    cuda_minor: int | None = Field(default=None, ge=0, description="minor version; None: not looked up")
    nccl: tuple[int, int] | None = Field(default=None, description="version of NCCL, as far as features depend on it")
    sshd: bool = Field(
        default=False, description="has sshd of OpenSSH 7.8 or later, by which launchers of v2beta1 reach workers"
    )
    amd64_alone: bool = Field(default=False, description="is not for arm64 processors")
    source: str

    def unfit(self, architecture: Architecture, *, ssh: bool) -> str | None:
        """Return why it cannot run on GPUs of an architecture, or (`ssh`) under v2beta1; None if it can."""
        first, last = architecture.first_cuda, architecture.last_cuda
        minor = architecture.first_cuda_minor
        if self.cuda == first and minor > (self.cuda_minor or 0):
            own = f"{self.cuda}.{'?' if self.cuda_minor is None else self.cuda_minor}"
            return f"has CUDA {own}, and {architecture.name} GPUs need {first}.{minor} or later"
        if self.cuda < first:
            return f"has CUDA {self.cuda}, and {architecture.name} GPUs need {first} or later"
        if last is not None and self.cuda > last:
            return f"has CUDA {self.cuda}, and {architecture.name} GPUs are known up to {last}"
        if ssh and not self.sshd:
            return "has no sshd of OpenSSH 7.8 or later, as workers of MPIJob v2beta1 need it"
        return None


_KNOWN = (
    KnownImage(
        # Ubuntu 18.04, whose OpenSSH is 7.6.
        reference="nvcr.io/nvidia/tensorflow:20.03-tf2-py3",
        cuda=10,
        nccl=(2, 6),
        amd64_alone=True,
        source="R-2.2-6, R-4.3-1; NVIDIA's release notes of TensorFlow 20.03",
    ),
    KnownImage(
        reference="nvcr.io/nvidia/tensorflow:24.03-tf2-py3",
        cuda=12,
        source="NVIDIA's release notes of TensorFlow 24.03; that sshd is not in it: components.jobs.workload_images",
    ),
    KnownImage(
        reference="nvcr.io/nvidia/tensorflow:25.02-tf2-py3",
        cuda=12,
        cuda_minor=8,
        source="NVIDIA's release notes of TensorFlow 25.02; CUDA by general knowledge",
    ),
    KnownImage(
        reference="nvcr.io/nvidia/tensorflow:23.03-tf1-py3",
        cuda=12,
        source="NVIDIA's release notes of TensorFlow 23.03, the last of version 1",
    ),
    KnownImage(
        reference="nvcr.io/nvaie/tensorflow:21.07-tf1-py3",
        cuda=11,
        source="N-5.1; NVIDIA's release notes of TensorFlow 21.07. Accounts with an AI Enterprise licence only",
    ),
    KnownImage(
        reference="nvcr.io/nvidia/tensorflow:19.10-py3",
        cuda=10,
        nccl=(2, 4),
        amd64_alone=True,
        source="B-5.2; NVIDIA's release notes of TensorFlow 19.10",
    ),
    KnownImage(
        reference="horovod/horovod:0.18.1-tf1.14.0-torch1.2.0-mxnet1.5.0-py3.6",
        cuda=10,
        amd64_alone=True,
        source="B-4.1; CUDA general knowledge",
    ),
    KnownImage(
        reference="nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda10.2",
        cuda=10,
        amd64_alone=True,
        source="E-42; CUDA by its tag",
    ),
    KnownImage(
        reference="nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0-ubuntu22.04",
        cuda=12,
        cuda_minor=5,
        source="E-42; CUDA by its tag",
    ),
)
# Those for amd64 alone are of CUDA 10: for servers with arm64 CUDA begins with 11 (general knowledge).
IMAGES: Mapping[str, KnownImage] = MappingProxyType({image.reference: image for image in _KNOWN})
"""Known images by reference."""


def by_ssh(workload: Started, settings: Settings) -> bool:
    """Say whether the pods of a workload reach each other by SSH."""
    kind = settings.version.mpi_job
    return isinstance(workload, MpiWorkload) and kind is not None and kind.version == MPI_JOB_V2BETA1.version


def build(workload: Started, settings: Settings) -> BuildSettings | None:
    """Return the build whose image a workload names; None for none, or one that is not there."""
    key = (workload.tenant, workload.build)
    return next((image_build for image_build in settings.builds if (image_build.tenant, image_build.name) == key), None)


def image(workload: Started, built: BuildSettings | None, machine: Profile, settings: Settings) -> str | None:
    """Return the image of a workload: its own, a build's, or the program's; None where there is none that fits."""
    if built:
        return built.image(settings.version.registry)
    references = settings.program(workload.program).images
    return workload.image or default(references, machine, settings, ssh=by_ssh(workload, settings))


def default(references: Sequence[str], machine: Profile, settings: Settings, *, ssh: bool) -> str | None:
    """Return the first of these images that runs on a machine and, if wanted, by SSH.

    Of images that are neither known here nor declared it is taken for granted.
    """
    return next((reference for reference in references if unfit(reference, machine, settings, ssh=ssh) is None), None)


def unfit(reference: str, machine: Profile, settings: Settings, *, ssh: bool) -> str | None:
    """Return why an image cannot run on a machine; None if it can, or nothing is known of it."""
    record = IMAGES.get(reference)
    if record and (reason := record.unfit(machine.architecture, ssh=ssh)):
        return reason
    declared = settings.image_architectures.get(reference) or (("amd64",) if record and record.amd64_alone else ())
    needed = CPU_ARCHITECTURES[machine.cpu_architecture]
    if declared and needed not in declared:
        return f"is for {' and '.join(declared)} alone, and the processors of {machine.name} are {needed}"
    return None
