"""A change of a whole stack, wherever it was learnt: from the engine's events, from two renders, from a refresh."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from policies.manifests.values import entries, mapping, read
from toolkit.review.cluster_facts import Facts

CHANGED = "[another secret]"
"""The placeholder of a secret's new value where only this is known, that it is another one."""
UNKNOWN = "[unknown until the update]"
"""The placeholder of a value that is unknown until the update."""


class Op(StrEnum):
    """What becomes of one resource."""

    SAME = "same"
    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"
    FORGET = "forget"
    """It leaves the state and stays on the cluster."""
    ADOPT = "adopt"
    """It is on the cluster already, and comes into the state."""


@dataclass(frozen=True)
class Resource:
    """One resource of the program: an object of the cluster, a component, a provider."""

    urn: str
    type: str
    """Type token, e.g. `kubernetes:batch/v1:Job` or `hpc:tenants:Tenant`."""
    inputs: Mapping[str, Any]
    """What is declared: plain JSON data, in which REDACTED and UNKNOWN replace values."""
    parent: str = ""
    protect: bool = False
    retain_on_delete: bool = False
    live: Mapping[str, Any] = field(default_factory=dict)
    """What the state, or the cluster, has of it; empty where it is not known."""
    queried: bool = False
    """Whether `live` was read from the cluster for this review, and not from the state."""

    @property
    def name(self) -> str:
        """Logical name."""
        return self.urn.rpartition("::")[2]

    @property
    def is_object(self) -> bool:
        """Whether it is an object of the cluster."""
        return self.type.startswith("kubernetes:") and not self.type.startswith("kubernetes:index")

    @property
    def is_patch(self) -> bool:
        """Whether it only adds to an object of another owner."""
        return self.is_object and self.type.endswith("Patch")

    @property
    def api_version(self) -> str:
        """API group and version of an object, e.g. `batch/v1`, `v1`."""
        return self.type.split(":")[1].removeprefix("core/") if self.is_object else ""

    @property
    def kind(self) -> str:
        """Kind of an object; the last part of the type of others."""
        return self.type.rpartition(":")[2].removesuffix("Patch" if self.is_patch else "")

    @property
    def namespace(self) -> str:
        """Namespace of an object; empty where it has none, whatever the provider wrote into its inputs."""
        return "" if self._is_cluster_scoped else str(self._metadata.get("namespace") or "")

    @property
    def object_name(self) -> str:
        """Name of an object on the cluster; the logical name of others."""
        return str(self._metadata.get("name") or self.name)

    @property
    def manifest(self) -> dict[str, Any]:
        """The object as YAML has it."""
        return {"apiVersion": self.api_version, "kind": self.kind, **self.inputs}

    @property
    def _is_cluster_scoped(self) -> bool:
        """Whether the live object is known and has no namespace."""
        metadata = self.live.get("metadata")
        return isinstance(metadata, Mapping) and "name" in metadata and not metadata.get("namespace")

    @property
    def _metadata(self) -> Mapping[str, Any]:
        metadata = self.inputs.get("metadata")
        return metadata if isinstance(metadata, Mapping) else {}


@dataclass(frozen=True)
class Change:
    """What becomes of one resource: `before` is None for a create, `after` for a delete."""

    op: Op
    before: Resource | None
    after: Resource | None
    replaced_for: tuple[str, ...] = ()
    """Paths of the properties that force a replacement."""
    kept: tuple[str, ...] = ()
    """Paths of the properties that the program declares otherwise and the update leaves, by `ignore_changes`."""

    @property
    def resource(self) -> Resource:
        """The resource as it will be; as it was, where it goes."""
        resource = self.after or self.before
        assert resource is not None  # noqa: S101 - a change is of something
        return resource


@dataclass(frozen=True)
class Finding:
    """A finding of a policy."""

    policy: str
    mandatory: bool
    message: str
    remedy: str = ""
    new: bool | None = None
    """Whether the state before the change did not have it; None where that is not known."""


@dataclass(frozen=True)
class Ending:
    """An object that was deleted out of band, and that stays until its finalizers are gone."""

    kind: str
    path: str
    """`namespace/name`, or the name of what has no namespace."""
    finalizers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Review:
    """A change of one stack. Everything is sorted, so that the same change reads the same."""

    stack: str
    changes: tuple[Change, ...]
    """All resources of before and after, unchanged ones too, sorted by URN."""
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    """Warnings of the engine, a plugin or the program."""
    failed: str = ""
    """Why there is no whole answer; empty where there is."""
    cluster_queried: bool = True
    """Whether the cluster was queried: False for a comparison of two commits, and where it does not answer."""
    unanswered: str = ""
    """Why a cluster that was to be queried did not answer."""
    cautions: tuple[str, ...] = ()
    """What to know before all else, sentences of `toolkit.review.sentences`: an update that runs, or was cut off."""
    hazards: tuple[str, ...] = ()
    """Hazards of the cluster's site, sentences as the cautions; they change nothing, and are no drift."""
    unsettled: bool = False
    """Whether an update runs or was interrupted: the state may lack what that has done."""
    ending: tuple[Ending, ...] = ()
    """Objects of the stack that are being deleted, sorted."""
    leftovers: tuple[Resource, ...] = ()
    """Objects that an interrupted replacement left beside their successors; the next update deletes them. Sorted."""
    adoption: bool = False
    """Whether it reports what could be adopted."""
    drift: bool = False
    """Whether it reports drift: `before` is what is declared, `after` the live object."""
    repairs: tuple[Change, ...] = ()
    """What has drifted, in a review of an update, which leaves it: `before` is what is declared. Sorted by URN."""
    kubectl: str = "kubectl"
    """How kubectl is called for the stack's cluster."""
    compared: tuple[str, str] = ("", "")
    """Names of the two commits, for such a comparison."""
    facts: Facts = field(default_factory=Facts)
    """Facts of the settings that are in no resource."""

    @cached_property
    def changed(self) -> tuple[Change, ...]:
        """The changes that are any."""
        return tuple(change for change in self.changes if change.op is not Op.SAME)

    def objects(self, *, after: bool) -> Iterator[Resource]:
        """Yield the objects of the cluster as they were, or as they will be."""
        for change in self.changes:
            resource = change.after if after else change.before
            if resource is not None and resource.is_object:
                yield resource


def finished(resource: Resource) -> bool | None:
    """Return whether a job has finished; None where that is unknown."""
    if not mapping(resource.live, "status"):
        return None
    return any(
        read(condition, "type") in ("Complete", "Succeeded", "Failed") and str(read(condition, "status")) == "True"
        for condition in entries(resource.live, "status", "conditions")
    )


def status_source(resources: Iterable[Resource]) -> str:
    """Return where the status of jobs is from, as a part of a sentence; empty where the cluster was queried."""
    return "" if all(resource.queried for resource in resources) else " according to the stack's state"
