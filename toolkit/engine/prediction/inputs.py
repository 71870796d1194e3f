"""What Check does to a resource's inputs: type, name, namespace; and their form for the API."""

import hashlib
from dataclasses import dataclass
from typing import Any

from toolkit.engine.prediction.results import RefusedError
from toolkit.engine.prediction.typed_form import normalized
from toolkit.engine.prediction.values import MISSING, Properties, Unknown, plain, with_dashes

AUTONAMED = "pulumi.com/autonamed"
PATCH_FORCE = "pulumi.com/patchForce"
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


def type_of_urn(urn: str) -> ObjectType:
    """Return the type in a URN (its token is the last of the `$`-joined parents' and its own)."""
    return type_of_token(urn.split("::")[2].rpartition("$")[2])


def type_of_object(manifest: Properties, default: ObjectType) -> ObjectType:
    """Return the type a manifest says it has, else `default`."""
    api_version, kind = manifest.get("apiVersion"), manifest.get("kind")
    if not isinstance(api_version, str) or not isinstance(kind, str):
        return default
    group, _, version = api_version.rpartition("/")
    # `core/v1` is not an API version, but the official provider reads it as one.
    return ObjectType("" if group == "core" else group, version, kind, default.patch)


@dataclass(frozen=True)
class Naming:
    """What a name is made of: the logical name, the engine's seed, and its proposal; or that none may be made."""

    logical_name: str
    seed: bytes = b""
    proposed: str = ""
    disabled: bool = False


def checked(inputs: Properties, previous: Properties, kind: ObjectType, naming: Naming) -> Properties:
    """Return inputs as they are recorded, plain: in their typed form, and named.

    An object without a name gets the one that was made for it before (`previous`), the engine's proposal, or the
    resource's name and eight random characters. Raises RefusedError.
    """
    result = normalized(with_dashes(plain(inputs)))
    if kind.patch and not name_of(result):
        raise RefusedError("patch resources require the `.metadata.name` field to be set")
    metadata = plain(inputs.get("metadata"))
    unknown_name = isinstance(metadata, dict) and isinstance(metadata.get("name"), Unknown)
    unknown_generated = isinstance(metadata, dict) and isinstance(metadata.get("generateName"), Unknown)
    if name_of(result) or unknown_name:
        return result
    old = with_dashes(plain(previous))
    if old:
        if annotation(old, AUTONAMED) == "true":
            return _autonamed(result, name_of(old))
    elif not generated(result) and not unknown_generated:
        if naming.disabled:
            raise RefusedError("autonaming is disabled, resource requires the .metadata.name field to be set")
        suffix = hashlib.sha256(naming.seed or naming.logical_name.encode()).hexdigest()[:8]
        return _autonamed(result, naming.proposed or f"{naming.logical_name}-{suffix}")
    if generated(result) or unknown_generated:
        raise RefusedError("the `.metadata.generateName` field is not supported in Server-Side Apply mode")
    return result


def _autonamed(inputs: Properties, name: str) -> Properties:
    """Return the inputs with a name and the mark that it was made; unknown metadata and annotations stay unknown."""
    result = with_metadata(inputs, name=name)
    annotations = _metadata(result).get("annotations", {})
    if not isinstance(annotations, dict):
        return result
    return with_metadata(result, annotations={**annotations, AUTONAMED: "true"})


def with_metadata(manifest: Properties, **fields: Any) -> Properties:
    """Return the manifest with these fields of its metadata set, or removed where MISSING; unknown metadata stay."""
    recorded = manifest.get("metadata", {})
    if not isinstance(recorded, dict):
        return manifest
    metadata = {key: value for key, value in {**recorded, **fields}.items() if value is not MISSING}
    return {**manifest, "metadata": metadata} if metadata or "metadata" in manifest else manifest


def generated(manifest: Properties) -> str:
    """`metadata.generateName`, empty when there is none."""
    name = _metadata(manifest).get("generateName")
    return name if isinstance(name, str) else ""


def manifest(inputs: Properties) -> Properties:
    """Return the object that is sent to the API: no secrets' wrapping, keys as the API spells them."""
    result: Properties = with_dashes(plain(inputs))
    return result


def name_of(manifest: Properties) -> str:
    """`metadata.name`, empty when there is none yet."""
    name = _metadata(manifest).get("name")
    return name if isinstance(name, str) else ""


def namespace_of(manifest: Properties) -> str:
    """`metadata.namespace`, empty when there is none."""
    namespace = _metadata(manifest).get("namespace")
    return namespace if isinstance(namespace, str) else ""


def annotation(manifest: Properties, key: str) -> str:
    """Return an annotation's value, empty when it is not set."""
    value = annotations_of(manifest).get(key)
    return value if isinstance(value, str) else ""


def annotations_of(manifest: Properties) -> Properties:
    """`metadata.annotations`, empty when there are none, or they are unknown."""
    annotations = _metadata(manifest).get("annotations")
    return annotations if isinstance(annotations, dict) else {}


def _metadata(manifest: Properties) -> Properties:
    metadata = plain(manifest.get("metadata"))
    return metadata if isinstance(metadata, dict) else {}


def identifier(live: Properties) -> str:
    """Return the resource's id in the state: `namespace/name`, or `name`."""
    namespace = namespace_of(live)
    return f"{namespace}/{name_of(live)}" if namespace else name_of(live)


def split_identifier(identifier: str) -> tuple[str, str]:
    """Namespace (empty if none) and name of an id."""
    namespace, _, name = identifier.rpartition("/")
    return namespace, name
