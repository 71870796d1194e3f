"""What Check does to a resource's inputs: type, name, namespace; and their form for the API."""

import base64
import hashlib
from dataclasses import dataclass
from typing import Any

from simulator.plugins.provider.values import Properties, Secret, plain, with_dashes

AUTONAMED = "pulumi.com/autonamed"
# Set by the server; they are no part of what a program can ask for.
_READ_ONLY = (
    *("creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields"),
    *("resourceVersion", "selfLink", "uid"),
)
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


class BadInputError(Exception):
    """Inputs that cannot be an object; `field` is the path of the offending field."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field
        self.reason = reason


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
    package, _, rest = token.partition(":")
    module, _, kind = rest.partition(":")
    group, slash, version = module.rpartition("/")
    if package != "kubernetes" or not slash or not kind:
        raise BadInputError(
            "", f"{token!r} is not the type of a Kubernetes object (kubernetes:<group>/<version>:<Kind>)"
        )
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


def checked(
    inputs: Properties,
    previous: Properties,
    kind: ObjectType,
    *,
    logical_name: str,
    namespace: str,
    seed: bytes,
    proposed_name: str = "",
) -> Properties:
    """Return inputs as they are recorded: typed, named, and in a namespace.

    `namespace` is the default for this kind, empty for kinds without namespaces. An object without a name gets the one
    it has (`previous`), the engine's proposal, or the resource's name and eight random characters.
    Raises BadInputError.
    """
    result: Properties = _without_nulls(with_dashes(inputs))
    result.setdefault("apiVersion", kind.api_version)
    result.setdefault("kind", kind.kind)
    found = result.setdefault("metadata", {})
    found = plain(found) if isinstance(found, Secret) else found
    if not isinstance(found, dict):
        return result
    metadata: Properties = dict(found)
    for field in _READ_ONLY:
        metadata.pop(field, None)
    result["metadata"] = metadata
    if metadata.get("generateName"):
        raise BadInputError(
            "metadata.generateName", "generateName cannot be used with server-side apply; set metadata.name"
        )
    if not metadata.get("name"):
        if kind.patch:
            raise BadInputError(
                "metadata.name", f"a {kind.kind}Patch needs metadata.name: the name of the {kind.kind} to change"
            )
        _autoname(metadata, previous, logical_name, proposed_name, seed)
    if namespace and not metadata.get("namespace"):
        metadata["namespace"] = namespace
    return result


def _without_nulls(value: Any) -> Any:
    match value:
        case dict():
            return {key: _without_nulls(item) for key, item in value.items() if item is not None}
        case list():
            return [_without_nulls(item) for item in value]
        case _:
            return value


def _autoname(metadata: Properties, previous: Properties, logical_name: str, proposed: str, seed: bytes) -> None:
    old = plain(previous).get("metadata", {})
    was_autonamed = isinstance(old, dict) and old.get("annotations", {}).get(AUTONAMED) == "true"
    suffix = hashlib.sha256(seed or logical_name.encode()).hexdigest()[:8]
    metadata["name"] = old["name"] if was_autonamed else proposed or f"{logical_name}-{suffix}"
    annotations = metadata.get("annotations", {})
    if isinstance(annotations, dict):
        metadata["annotations"] = {**annotations, AUTONAMED: "true"}


def manifest(inputs: Properties) -> Properties:
    """Return the object that is sent to the API: no secrets' wrapping, and a Secret's stringData folded into its data.

    The server folds them as well, but would then not say who owns the keys of `data`.
    """
    result: Properties = with_dashes(plain(inputs))
    if result.get("kind") != "Secret" or result.get("apiVersion") not in ("v1", "core/v1"):
        return result
    texts = result.get("stringData")
    if isinstance(texts, dict):
        data = result.get("data")
        result = {key: value for key, value in result.items() if key != "stringData"}
        result["data"] = {**(data if isinstance(data, dict) else {}), **{k: _base64(v) for k, v in texts.items()}}
    return result


def _base64(text: Any) -> Any:
    return base64.b64encode(text.encode()).decode() if isinstance(text, str) else text


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
    annotations = _metadata(manifest).get("annotations")
    value = annotations.get(key) if isinstance(annotations, dict) else None
    return value if isinstance(value, str) else ""


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
