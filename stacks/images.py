"""Images of the catalogue's programs, as far as machines and releases must fit them."""

from collections.abc import Mapping
from types import MappingProxyType

from pydantic import Field

from components.model import Image, Model
from hardware.gpus import Architecture

SHARP = (2, 6)
"""First NCCL that reduces in the network (D-4.1)."""


class KnownImage(Model):
    """One image, by a tag that does not move."""

    reference: Image
    cuda: int = Field(gt=0, description="major version of CUDA")
    nccl: tuple[int, int] | None = Field(default=None, description="version of NCCL, as far as features depend on it")
    sshd: bool = Field(
        default=False, description="has sshd of OpenSSH 7.8 or later, by which launchers of v2beta1 reach workers"
    )
    source: str

    def unfit(self, architecture: Architecture) -> str | None:
        """Return why GPUs of an architecture cannot run it, or None if they can."""
        first, last = architecture.first_cuda, architecture.last_cuda
        if self.cuda < first:
            return f"has CUDA {self.cuda}, and {architecture.name} GPUs need {first} or later"
        if last is not None and self.cuda > last:
            return f"has CUDA {self.cuda}, and {architecture.name} GPUs are known up to {last}"
        return None


_KNOWN = (
    KnownImage(
        # Ubuntu 18.04, whose OpenSSH is 7.6.
        reference="nvcr.io/nvidia/tensorflow:20.03-tf2-py3",
        cuda=10,
        nccl=(2, 6),
        source="R-2.2-6, R-4.3-1; NVIDIA's release notes of TensorFlow 20.03",
    ),
    KnownImage(reference="nvcr.io/nvidia/tensorflow:19.10-py3", cuda=10, source="B-5.2; CUDA general knowledge"),
    KnownImage(
        reference="horovod/horovod:0.18.1-tf1.14.0-torch1.2.0-mxnet1.5.0-py3.6",
        cuda=10,
        source="B-4.1; CUDA general knowledge",
    ),
    KnownImage(reference="nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda10.2", cuda=10, source="E-42; CUDA by its tag"),
    KnownImage(
        reference="nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0-ubuntu22.04",
        cuda=12,
        source="E-42; CUDA by its tag",
    ),
)
IMAGES: Mapping[str, KnownImage] = MappingProxyType({image.reference: image for image in _KNOWN})
"""Known images by reference."""
