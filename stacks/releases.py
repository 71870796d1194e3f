"""The API generations and versions of each OpenShift release, as the files of `stacks/releases/` say.

A file is called as its release, e.g. `4.20.yaml`, and adding one adds the release.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from components.base.model import DnsName, Model
from components.nodes.machine_config import Ignition
from components.nodes.node_feature_discovery import PciClass
from components.storage.scale_csi import Generation
from components.tenants.mpi_scc import Base
from core import data_files
from core.apis import kinds
from core.apis.kinds import Kind
from core.data_files import DataFileError, DataFiles
from core.errors import UserError

FOLDER = Path(__file__).with_suffix("")
_NAME = re.compile(r"\d+\.\d+")


def either(names: Iterable[str]) -> str:
    """Return one or more names as a choice: `a, b or c`."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


class ReleaseError(UserError):
    """A file of a release is wrong; the message has its path, and every field with value and remedy."""


def _version_of(kind: str) -> BeforeValidator:
    """Return what makes an API version into the kind: a file has `kubeflow.org/v2beta1` of an MPIJob."""

    def find(value: Any) -> Any:
        versions = [candidate for candidate in kinds.KINDS if candidate.kind == kind]
        version = next((candidate for candidate in versions if value in (candidate, candidate.api_version)), None)
        if version is None:
            expected = f"a version of {kind}: {either(candidate.api_version for candidate in versions)}"
            raise PydanticCustomError("literal_error", "is not {expected}", {"expected": expected})
        return version

    return BeforeValidator(find)


class Support(Model):
    """How long Red Hat supports a release."""

    until: date = Field(description="last day of maintenance support")
    extended_until: date | None = Field(default=None, description="last day of extended update support (EUS), term 1")
    source: str

    @property
    def last_day(self) -> date:
        """The last day with fixes of any kind."""
        return self.extended_until or self.until


class NodeFeatureLabels(Model):
    """PCI devices that become labels of nodes where node feature discovery has the configuration of its operator."""

    pci_classes: tuple[PciClass, ...] = Field(
        min_length=1, description="classes of these devices, or their beginnings: 03 is 0300 and 0302"
    )
    fields: tuple[Literal["class", "vendor"], ...] = Field(
        min_length=1,
        description="what a label names: [vendor] makes pci-10de.present, [class, vendor] pci-0302_10de.present",
    )
    source: str


class KnownVersions(Model):
    """Versions of an operator that its vendor lists for a release."""

    name: str
    package: DnsName | None = Field(
        default=None, description="in OperatorHub, as settings name it; None: not installed from there"
    )
    versions: tuple[Annotated[str, StringConstraints(pattern=r"^[0-9]+\.[0-9]+$")], ...] = Field(
        min_length=1, description="major and minor, from the oldest on"
    )
    source: str


class Release(Model):
    """One OpenShift release, as far as the platform depends on it. None: the release does not have it."""

    name: str = Field(description="major and minor version, from the name of the file")
    kubernetes: str = Field(
        pattern=r"^[0-9]+\.[0-9]+$",
        description="minor version of its Kubernetes, which decides what the API server serves",
    )
    support: Support | None = Field(default=None, description="None: its end is not known here")
    historical: str | None = Field(
        default=None, description="why stacks of this project have it even without support; None: they must not"
    )
    simulated_as: Literal["4.4", "current"] | None = Field(
        description="SCCs that a simulated cluster of it has; None: it is rendered and checked, and cannot be simulated"
    )
    simulated_kubernetes: str | None = Field(
        default=None,
        pattern=r"^[0-9]+\.[0-9]+$",
        description="minor version of Kubernetes that a simulated cluster of it serves; None: it cannot be simulated",
    )
    scc_base: Base = Field(description="the SCC of OpenShift that the one for MPI jobs is made from")
    runtime_hook: bool = Field(
        description="whether pods declare what they need of the driver for the container runtime's hook"
    )
    pod_resources: bool = Field(
        default=True, description="whether the kubelet says by a socket which pod has which GPU (Kubernetes 1.15)"
    )
    service_monitors: bool = Field(
        default=True, description="whether the cluster's own Prometheus scrapes what others' ServiceMonitors name"
    )
    port_states: bool = Field(
        default=True, description="whether its node_exporter has state and rate of InfiniBand ports (1.0 and later)"
    )
    pod_security: bool = Field(description="whether namespaces have labels of the pod security standards")
    registry: str = Field(description="the cluster's own registry, as pods name it")
    image_mirrors: Literal["digests", "digests-and-tags"] | None = Field(
        default="digests-and-tags",
        description="images for which its nodes can have a mirror configured: of digests alone "
        "(ImageContentSourcePolicy) or also of tags (ImageDigestMirrorSet and ImageTagMirrorSet, OpenShift 4.13)",
    )
    systems: Mapping[Literal["rhel7", "rhel8", "rhcos"], tuple[str, ...]] = Field(
        default={"rhcos": ()},
        min_length=1,
        description="operating systems that its workers can have -> their minor releases; none: those that the "
        "vendor of the machine supports",
    )
    ignition_version: Ignition | None = Field(default=None, description="of machine configurations")
    node_feature_discovery: Annotated[Kind, _version_of("NodeFeatureDiscovery")] | None = None
    node_feature_discovery_instance: str = Field(default="", description="name of its custom resource")
    node_feature_labels: NodeFeatureLabels | None = Field(
        default=None, description="what the operator labels by itself; v1alpha1 has no fields to change it"
    )
    special_resource: Annotated[Kind, _version_of("SpecialResource")] | None = None
    mpi_job: Annotated[Kind, _version_of("MPIJob")] | None = None
    indexed_jobs: bool = Field(
        default=True, description="whether Jobs can number their pods, as torchrun's need (Kubernetes 1.24)"
    )
    cron_job: Annotated[Kind, _version_of("CronJob")] = Field(
        default=kinds.CRON_JOB, description="version that it serves: v1 from Kubernetes 1.21 on"
    )
    scale_csi: Generation | None = Field(
        default=None, description="generation of the Spectrum Scale CSI driver; None: hosts have no client for it"
    )
    kueue_topology: tuple[str, ...] = Field(
        default=(),
        description="versions of the Red Hat build of Kueue that serve Topology of kueue.x-k8s.io/v1beta2, major and "
        "minor; none: topology-aware scheduling is refused",
    )
    choices: Mapping[str, tuple[str, ...]] = Field(
        default={}, description="path of a setting that selects a variant -> the values that this release supports"
    )
    lacks: Mapping[str, str] = Field(
        default={}, description="path of a setting that this release does not support -> what it lacks"
    )
    needs: Mapping[str, str] = Field(
        default={}, description="path of a setting that this release requires, where its parent is set -> what for"
    )
    operators: tuple[KnownVersions, ...] = ()
    notes: tuple[str, ...] = Field(default=(), description="what users should know of it, each with its source")

    @model_validator(mode="after")
    def _supported_or_historical(self) -> Self:
        if self.support is None and self.historical is None:
            raise ValueError("support is missing; give its last day, or say why the release is `historical`")
        return self

    @model_validator(mode="after")
    def _labels_of_node_feature_discovery(self) -> Self:
        if self.node_feature_discovery and self.node_feature_labels is None:
            raise ValueError("node_feature_labels is missing; give the PCI classes that its operator labels by itself")
        return self

    @model_validator(mode="after")
    def _served_where_simulated(self) -> Self:
        if (self.simulated_as is None) != (self.simulated_kubernetes is None):
            raise ValueError(
                f"simulated_as {self.simulated_as} and simulated_kubernetes {self.simulated_kubernetes}: give both, or "
                "neither for a release that cannot be simulated"
            )
        return self

    def listed(self, product: str) -> KnownVersions | None:
        """Return the versions of a product, called by its name or its package; None: no vendor lists any."""
        return next((known for known in self.operators if product in (known.name, known.package)), None)

    @property
    def last_day(self) -> date | None:
        """The last day on which stacks of this project may have the release; None where it is historical."""
        return None if self.historical or self.support is None else self.support.last_day


def load(folder: Path) -> Mapping[str, Release]:
    """Return the releases of a folder's files by name, from the oldest on; each is read when it is first requested.

    Raises ReleaseError for a file that is not called as a release, and for a wrong one when it is read.
    """
    for file in sorted(folder.glob("*.y*ml")):
        if file.suffix != ".yaml" or not _NAME.fullmatch(file.stem):
            raise ReleaseError(
                f"{data_files.display_path(file)}: no release is called so; "
                "call the file as its release, e.g. 4.20.yaml"
            )
    return DataFiles(folder, _read, order=lambda name: [int(part) for part in name.split(".")])


def _read(file: Path) -> Release:
    try:
        fields = data_files.read(file)
        if "name" in fields:
            path, value = data_files.display_path(file), fields["name"]
            raise DataFileError(f"{path}: name: a release has the name of its file (value: {value!r}); remove it")
        return data_files.validate(Release, {"name": file.stem, **fields}, file)
    except DataFileError as error:
        raise ReleaseError(str(error)) from None


RELEASES = load(FOLDER)


def _release_name(value: Any) -> str:
    if isinstance(value, str) and value in RELEASES:
        return value
    quoted = ", in quotes" if isinstance(value, float) else ""
    expected = f"{either(map(repr, RELEASES))}{quoted}"
    raise PydanticCustomError("literal_error", "is not {expected}", {"expected": expected})


ReleaseName = Annotated[str, BeforeValidator(_release_name)]
"""A release of OpenShift that has a file in `stacks/releases/`."""
