"""Settings of workload images that the cluster builds."""

from typing import Annotated, Literal

from pydantic import Field

from components.base.model import DnsLabel, Image, Model, fields_of
from components.jobs import workload_images as recipes
from components.jobs.containerfiles import Ofed, Recipe, Ref, containerfile, other_driver
from components.jobs.image_build import BuiltImage, Git, ImageBuildArgs, Inline, reference
from components.jobs.workload_images import Sources

ImageArchitectures = dict[Image, Annotated[tuple[Literal["amd64", "arm64"], ...], Field(min_length=1)]]
"""Image, as jobs name it -> processors that it is for, by their names in images."""


class NgcRecipe(Model):
    """An NGC image, adapted to v2beta1 MPIJobs, with nccl-tests."""

    kind: Literal["ngc"]
    nccl_tests: Ref = Field(default="v2.13.10", description="revision of NVIDIA/nccl-tests")

    def of(self, base: Image) -> Recipe:
        """Return the recipe on a base."""
        return recipes.ngc(base, self.nccl_tests)


class HorovodRecipe(Model):
    """A Horovod image, or another one without verbs."""

    kind: Literal["horovod"]

    def of(self, base: Image) -> Recipe:
        """Return the recipe on a base."""
        return recipes.horovod(base)


class MultiNodeRecipe(Sources):
    """The host's OFED, nccl-tests, perftest and benchmarks."""

    kind: Literal["multi-node"]
    ofed: Ofed | None = Field(
        default=None, description="OFED of the nodes, where they have MLNX_OFED themselves; None: the base's own verbs"
    )

    def of(self, base: Image) -> Recipe:
        """Return the recipe on a base."""
        return recipes.multi_node(base, self.ofed, self)

    def other_driver(self, base: Image, host: str) -> str | None:
        """Say what is wrong with the image on nodes with the driver `host`; None where nothing is."""
        return other_driver(self.of(base), host)


class PyTorchRecipe(Model):
    """PyTorch from source, on a RHEL base with CUDA's compiler."""

    kind: Literal["pytorch"]
    pytorch: Ref = Field(description="revision of its sources: commit, tag or branch")
    architectures: tuple[str, ...] = Field(
        default=("7.0",), min_length=1, description="compute capabilities of the GPUs, as CUDA counts them"
    )

    def of(self, base: Image) -> Recipe:
        """Return the recipe on a base."""
        return recipes.pytorch_from_source(base, self.pytorch, self.architectures)


AnyRecipe = NgcRecipe | HorovodRecipe | MultiNodeRecipe | PyTorchRecipe


class BuildSettings(BuiltImage):
    """One image, built in a tenant's namespace; its jobs name it by `build`."""

    tenant: DnsLabel = Field(description="namespace of the tenant that builds it")
    name: DnsLabel = Field(description="name for jobs, and of the BuildConfig and ImageStream")
    source: Annotated[
        AnyRecipe | Inline | Git,
        Field(discriminator="kind", description="what is built: a recipe of this project, or a Containerfile"),
    ]
    at_once: bool = Field(
        default=True,
        description="build when this is new or changes, and wait for it; otherwise only when a user starts it",
    )

    def arguments(self, registry: str, pull_secret: str | None) -> ImageBuildArgs:
        """Return the arguments of the build: a recipe becomes a Containerfile of its own."""
        source = self.source
        if not isinstance(source, Inline | Git):
            source = Inline(containerfile=containerfile(source.of(self.base)))
        return ImageBuildArgs(
            namespace=self.tenant,
            image_name=self.name,
            **fields_of(BuiltImage, self),
            source=source,
            registry=registry,
            pull_secret=pull_secret,
            at_once=self.at_once,
        )

    def image(self, registry: str) -> str:
        """Return the name under which pods find the image; `registry` is the cluster's own."""
        return reference(self.arguments(registry, None))

    @property
    def has_nccl_tests(self) -> bool:
        """Whether nccl-tests are in the image, on its PATH."""
        return isinstance(self.source, NgcRecipe | MultiNodeRecipe)

    @property
    def has_sshd(self) -> bool | None:
        """Whether the image has sshd; None for a user's Containerfile."""
        return None if isinstance(self.source, Inline | Git) else not isinstance(self.source, PyTorchRecipe)
