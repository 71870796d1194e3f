"""Settings of an environment in layers: the platform in one file, and tenants in files of their own that name it."""

from typing import Any, Literal

from pydantic import Field, field_validator

from components.base.model import DnsLabel, Model
from stacks.programs import Program
from stacks.settings.builds import BuildSettings, ImageArchitectures
from stacks.settings.platform import Settings
from stacks.settings.stack import Based
from stacks.settings.tenants import PullSecretSettings, SuiteSettings, TenantSettings
from stacks.settings.transforms import ExtraFields, ObjectName
from stacks.settings.workloads import Stage

TENANTS_PART = ("tenants", "builds", "programs", "image_architectures", "stages", "suite", "pull_secret")
"""Settings of tenants, which the file of a platform must not have."""
OBJECTS_PART = ("adopted", "extra", "objects")
"""Settings of objects, which each file of layers has of its own."""


class PlatformLayer(Settings):
    """The platform alone; its tenants are in other files, whose stacks are created and deleted independently."""

    layer: Literal["platform"] = Field(description="marks this stack as the platform that files of tenants name")
    tenants: tuple[TenantSettings, ...] = ()

    @field_validator(*TENANTS_PART, mode="before")
    @classmethod
    def _belongs_to_tenants(cls, _: Any) -> Any:
        raise ValueError(
            "belongs to tenants, and this file is the platform's (`layer: platform`); move it to a file with "
            "`platform:` and the name of this stack"
        )

    @property
    def has_tenants(self) -> bool:
        """Whether the stack declares tenants, and what is theirs."""
        return False


class Place(Model):
    """Where the cluster is found; the platform's file names which cluster it must be."""

    kubeconfig: str = Field(description="path, relative to the project's folder")
    context: str = Field(min_length=1, description="context in the kubeconfig")


class TenantsFile(Based):
    """Tenants of a platform whose settings are in another file."""

    platform: str = Field(
        pattern=r"^[A-Za-z0-9_.-]{1,100}$", description="stack whose file has `layer: platform` and everything else"
    )
    cluster: Place | None = Field(
        default=None,
        description="for users with another kubeconfig than the platform's team; None: as in the platform's file",
    )
    adopted: tuple[ObjectName, ...] = Field(
        default=(), description="objects of this stack that existed before it, and remain after it"
    )
    extra: ExtraFields = Field(
        default={}, description="fields of this stack's objects that no other setting has, as in the platform's file"
    )
    objects: tuple[str, ...] = Field(
        default=(), description="folders with manifests of this stack's own, as in the platform's file"
    )
    pull_secret: PullSecretSettings | None = None
    tenants: tuple[TenantSettings, ...] = Field(min_length=1)
    builds: tuple[BuildSettings, ...] = ()
    image_architectures: ImageArchitectures = Field(default={})
    programs: dict[DnsLabel, Program] = Field(default={})
    stages: tuple[Stage, ...] = ()
    suite: SuiteSettings | None = None


class Neighbours(Model):
    """Tenants of the same platform in another file."""

    file: str
    tenants: tuple[TenantSettings, ...]


class TenantsLayer(Settings):
    """Tenants on their platform, as one: from both files, and the platform's other tenants."""

    platform: str = Field(description="stack of the platform")
    neighbours: tuple[Neighbours, ...] = ()

    @property
    def has_platform(self) -> bool:
        """Whether the stack declares what all tenants depend on."""
        return False

    @property
    def others(self) -> tuple[tuple[str, TenantSettings], ...]:
        """Tenants of other stacks on the same platform, each with the file that it is in."""
        return tuple((neighbour.file, tenant) for neighbour in self.neighbours for tenant in neighbour.tenants)


def on(platform: PlatformLayer, own: TenantsFile, neighbours: tuple[Neighbours, ...]) -> TenantsLayer:
    """Return tenants on their platform."""
    fields = {name: getattr(platform, name) for name in platform.model_fields_set - {"layer"}}
    if own.cluster:
        fields["cluster"] = platform.cluster.model_copy(update=dict(own.cluster))
    tenants_fields = {name: getattr(own, name) for name in (*TENANTS_PART, *OBJECTS_PART)}
    return TenantsLayer.model_validate(fields | tenants_fields | {"platform": own.platform, "neighbours": neighbours})
