"""The inputs of a resource: its type, name and annotations, their form for the API, what a state has beside them."""

import hashlib
from dataclasses import dataclass
from typing import Any

from toolkit.engine.prediction.values import MISSING, Properties, plain

AUTONAMED = "pulumi.com/autonamed"
# The API groups whose objects the server reads into types, and so normalises; others it keeps as they are.
_BUILTIN_GROUPS = frozenset(
    {"", "apps", "autoscaling", "batch", "policy"}
    | {
        f"{name}.k8s.io"
        for name in (
            *("admissionregistration", "apiextensions", "apiregistration", "authentication", "authorization"),
            *("certificates", "coordination", "discovery", "events", "flowcontrol.apiserver", "networking", "node"),
            *("rbac.authorization", "resource", "scheduling", "storage"),
        )
    }
)
INPUTS = "__inputs"
FIELD_MANAGER = "__fieldManager"
INITIAL_API_VERSION = "__initialApiVersion"


class RefusedError(Exception):
    """An operation failed; the text names the object and carries the server's message."""


class BadInputError(RefusedError):
    """A type that is none of Kubernetes."""


@dataclass(frozen=True)
class ObjectType:
    """Group, version and kind. `patch` is set for a `<Kind>Patch` resource: fields on an object of someone else."""

    group: str
    version: str
    kind: str
    patch: bool = False

    @property
    def api_version(self) -> str:
        """As in a manifest."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def builtin(self) -> bool:
        """Whether the server normalises objects of this type."""
        return self.group in _BUILTIN_GROUPS

    def __str__(self) -> str:
        return f"{self.api_version} {self.kind}"


def type_of_token(token: str) -> ObjectType:
    """Return the type that a token such as `kubernetes:apps/v1:Deployment` names. Raises BadInputError."""
    _, _, type_name = token.partition(":")
    module, _, kind = type_name.partition(":")
    group, slash, version = module.rpartition("/")
    if not slash:
        raise BadInputError(f'apiVersion does not have both a group and a version: "{module}"')
    patch = kind.endswith("Patch") and len(kind) > len("Patch")
    return ObjectType("" if group == "core" else group, version, kind.removesuffix("Patch") if patch else kind, patch)


def with_metadata(manifest: Properties, **fields: Any) -> Properties:
    """Return the manifest with these fields of its metadata set, or removed where MISSING; unknown metadata stay."""
    recorded = manifest.get("metadata", {})
    if not isinstance(recorded, dict):
        return manifest
    metadata = {key: value for key, value in {**recorded, **fields}.items() if value is not MISSING}
    return {**manifest, "metadata": metadata} if metadata or "metadata" in manifest else manifest


def name_of(manifest: Properties) -> str:
    """`metadata.name`, empty when there is none yet."""
    name = metadata_of(manifest).get("name")
    return name if isinstance(name, str) else ""


def namespace_of(manifest: Properties) -> str:
    """`metadata.namespace`, empty when there is none."""
    namespace = metadata_of(manifest).get("namespace")
    return namespace if isinstance(namespace, str) else ""


def annotation(manifest: Properties, key: str) -> str:
    """Return an annotation's value, empty when it is not set."""
    value = annotations_of(manifest).get(key)
    return value if isinstance(value, str) else ""


def annotations_of(manifest: Properties) -> Properties:
    """`metadata.annotations`, empty when there are none, or they are unknown."""
    annotations = metadata_of(manifest).get("annotations")
    return annotations if isinstance(annotations, dict) else {}


def metadata_of(manifest: Properties) -> Properties:
    """`metadata`, plain; empty where it is unknown."""
    metadata = plain(manifest.get("metadata"))
    return metadata if isinstance(metadata, dict) else {}


def field_manager(urn: str, inputs: Properties, outputs: Properties) -> str:
    """Return the name under which fields are owned: the annotation's, the recorded one, or one made from the URN.

    The same for the same resource, so that an object whose create was interrupted is recognised as ours.
    """
    named = annotation(inputs, "pulumi.com/patchFieldManager")
    old = outputs.get(FIELD_MANAGER)
    return named or (
        old if isinstance(old, str) else f"pulumi-kubernetes-{hashlib.sha256(urn.encode()).hexdigest()[:8]}"
    )
