"""What Check does to a resource's inputs: their typed form, a name, and the id that the state has."""

import hashlib
from dataclasses import dataclass

from toolkit.engine.prediction.inputs import (
    AUTONAMED,
    ObjectType,
    RefusedError,
    annotation,
    metadata_of,
    name_of,
    namespace_of,
    type_of_token,
    with_metadata,
)
from toolkit.engine.prediction.typed_form import normalized
from toolkit.engine.prediction.values import Properties, Unknown, plain, with_dashes

PATCH_FORCE = "pulumi.com/patchForce"


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
    annotations = metadata_of(result).get("annotations", {})
    if not isinstance(annotations, dict):
        return result
    return with_metadata(result, annotations={**annotations, AUTONAMED: "true"})


def generated(manifest: Properties) -> str:
    """`metadata.generateName`, empty when there is none."""
    name = metadata_of(manifest).get("generateName")
    return name if isinstance(name, str) else ""


def identifier(live: Properties) -> str:
    """Return the resource's id in the state: `namespace/name`, or `name`."""
    namespace = namespace_of(live)
    return f"{namespace}/{name_of(live)}" if namespace else name_of(live)


def split_identifier(identifier: str) -> tuple[str, str]:
    """Namespace (empty if none) and name of an id."""
    namespace, _, name = identifier.rpartition("/")
    return namespace, name


def manifest(inputs: Properties) -> Properties:
    """Return the object that is sent to the API: no secrets' wrapping, keys as the API spells them."""
    result: Properties = with_dashes(plain(inputs))
    return result
