"""The ImageSetConfiguration that oc-mirror v2 reads, of the fields that we use; it refuses unknown ones, as this does.

After openshift/oc-mirror, v2/internal/pkg/api/v2alpha1/type_config.go.
"""

from typing import Literal

from pydantic import Field

from core.model import Model


class Channel(Model):
    """ReleaseChannel."""

    name: str
    type: Literal["ocp", "okd"] = "ocp"
    minVersion: str = ""
    maxVersion: str = ""
    shortestPath: bool = False
    full: bool = False


class Platform(Model):
    """Platform."""

    graph: bool = False
    channels: tuple[Channel, ...] = ()
    architectures: tuple[str, ...] = ()
    release: str = ""
    kubeVirtContainer: bool = False


class PackageChannel(Model):
    """IncludeChannel."""

    name: str
    minVersion: str = ""
    maxVersion: str = ""


class IncludedPackage(PackageChannel):
    """IncludePackage."""

    channels: tuple[PackageChannel, ...] = ()
    defaultChannel: str = ""


class Catalogue(Model):
    """Operator."""

    catalog: str = Field(pattern=r"^[a-z0-9./-]+:v\d+\.\d+$")
    packages: tuple[IncludedPackage, ...] = ()
    targetCatalog: str = ""
    targetTag: str = ""
    full: bool = False
    skipDependencies: bool = False


class Image(Model):
    """AdditionalImage and BlockedImage."""

    name: str


class Mirror(Model):
    """Mirror, without Helm charts and samples."""

    platform: Platform = Platform()
    operators: tuple[Catalogue, ...] = ()
    additionalImages: tuple[Image, ...] = ()
    blockedImages: tuple[Image, ...] = ()


class ImageSetConfiguration(Model):
    """The whole."""

    apiVersion: Literal["mirror.openshift.io/v2alpha1"]
    kind: Literal["ImageSetConfiguration"]
    archiveSize: int = 0
    mirror: Mirror
