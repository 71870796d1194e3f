"""Objects of a user's own, from their manifests: of any kind, applied as they are written."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import pulumi
from pydantic import AfterValidator, Field

from components.base.component import Component, CustomObject, stateful
from components.base.model import Model
from core.apis import kinds
from core.apis.kinds import KINDS, Kind

_VERSIONS = ("v1", "v1beta1", "v1beta2", "v1alpha1", "v1alpha2", "v2", "v2beta1")
"""A manifest that moves to another of them keeps its object: without an alias the engine would delete it."""
_FIRST = (kinds.NAMESPACE, kinds.CUSTOM_RESOURCE_DEFINITION)
"""What others may be in, or be of."""
_STATEFUL = (*_FIRST, kinds.PERSISTENT_VOLUME, kinds.PERSISTENT_VOLUME_CLAIM)
_IDENTITY = ("apiVersion", "kind", "metadata")


class Manifest(Model):
    """An object as its manifest has it."""

    fields: dict[str, Any] = Field(description="all of the manifest")

    @property
    def kind(self) -> Kind:
        """Its kind, in the version of the manifest."""
        group, _, version = str(self.fields["apiVersion"]).rpartition("/")
        name = str(self.fields["kind"])
        known_kind = next((kind for kind in KINDS if (kind.group, kind.kind) == (group, name)), None)
        others = tuple(
            other for other in (*(known_kind.other_versions if known_kind else ()), *_VERSIONS) if other != version
        )
        return Kind(
            group, version, name, known_kind.plural if known_kind else "", other_versions=tuple(dict.fromkeys(others))
        )

    @property
    def namespace(self) -> str:
        """Its namespace; empty for an object of the cluster."""
        return str(self.fields["metadata"].get("namespace") or "")

    @property
    def name(self) -> str:
        """How the settings name it: Kind/namespace/name."""
        return "/".join(part for part in (self.fields["kind"], self.namespace, self.fields["metadata"]["name"]) if part)

    def among(self, kinds: Sequence[Kind]) -> bool:
        """Say whether it is of one of these kinds, in whatever version."""
        return any((kind.group, kind.kind) == (self.kind.group, self.kind.kind) for kind in kinds)


def _sorted(manifests: tuple[Manifest, ...]) -> tuple[Manifest, ...]:
    return tuple(sorted(manifests, key=lambda manifest: (manifest.name, manifest.kind.group)))


class OwnObjectsArgs(Model):
    """The objects of a stack's own."""

    manifests: Annotated[tuple[Manifest, ...], AfterValidator(_sorted)] = Field(
        exclude=True, description="in whatever order; the component's inputs in the state do not have them again"
    )
    protect: bool = Field(
        default=False, description="refuse to delete namespaces, volumes, claims and definitions of kinds among them"
    )


class OwnObjects(Component):
    """All of them, after `ready`, and those in a namespace of `teams` after what is known when that is ready.

    Namespaces and definitions of kinds come first. Outputs: `names`, known when all are there. `applied` has the same
    by namespace.
    """

    names: pulumi.Output[list[str]]

    def __init__(
        self,
        name: str,
        args: OwnObjectsArgs,
        ready: Sequence[pulumi.Output[Any]] = (),
        teams: Mapping[str, pulumi.Output[Any]] | None = None,
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("objects:OwnObjects", name, args, opts)
        tenants = teams or {}
        first: list[pulumi.Resource] = []
        by_namespace: dict[str, list[CustomObject]] = {}
        for manifest in sorted(args.manifests, key=lambda manifest: not manifest.among(_FIRST)):
            own = [tenants[manifest.namespace]] if manifest.namespace in tenants else []
            options = stateful(protect=args.protect and manifest.among(_STATEFUL))
            early = manifest.among(_FIRST)
            declared = CustomObject(
                manifest.name,
                manifest.kind,
                manifest.fields["metadata"],
                {key: value for key, value in manifest.fields.items() if key not in _IDENTITY},
                self.child(*ready, *own, *([] if early else first), **options),
            )
            first += [declared] if early else []
            by_namespace.setdefault(manifest.namespace, []).append(declared)
        self.applied: Mapping[str, pulumi.Output[Any]] = {
            space: pulumi.Output.all(*(resource.id for resource in objects)) for space, objects in by_namespace.items()
        }
        everything = pulumi.Output.all(*self.applied.values())
        self.outputs(names=everything.apply(lambda _: [manifest.name for manifest in args.manifests]))
