"""Property values: between the engine's protobuf form and Python's, with secrets and unknowns kept.

The signatures are the protocol's (pulumi/sdk: go/common/resource/plugin/rpc.go, resource/sig.go).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf import struct_pb2

Properties = dict[str, Any]

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 (a marker of the protocol, not a secret)
_RESOURCE = "5cf8f73096256a8f31e491e813e4eb8e"
_OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
_UNKNOWN_STRING = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_UNKNOWNS = frozenset(
    {
        _UNKNOWN_STRING,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # bool
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # array
        "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # object
    }
)
# The typed SDKs cannot spell these keys of CRD schemas with dashes; the API has no other keys like them.
_SCHEMA_KEYS = (
    *("x_kubernetes_embedded_resource", "x_kubernetes_int_or_string", "x_kubernetes_list_map_keys"),
    *("x_kubernetes_list_type", "x_kubernetes_map_type", "x_kubernetes_preserve_unknown_fields"),
    "x_kubernetes_validations",
)
_TO_DASHES = {key: key.replace("_", "-") for key in _SCHEMA_KEYS}
_TO_UNDERSCORES = {dashed: key for key, dashed in _TO_DASHES.items()}


class Unknown:
    """A value that is known only after the update (there is one instance, UNKNOWN)."""

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __deepcopy__(self, memo: object) -> "Unknown":
        return self


UNKNOWN = Unknown()


@dataclass(frozen=True)
class Secret:
    """A value that the engine encrypts in the state and hides in its output."""

    value: Any


class MissingPropertyType:
    """The type of MISSING: no value at all, where None would be a value."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = MissingPropertyType()


def decode(struct: struct_pb2.Struct) -> Properties:
    """Python values of a protobuf struct. Nulls are dropped, as the official provider does; whole numbers are ints."""
    return {key: _decode(value) for key, value in struct.fields.items() if value.WhichOneof("kind") != "null_value"}


def _decode(value: struct_pb2.Value) -> Any:
    match value.WhichOneof("kind"):
        case "struct_value":
            return _decode_struct(value.struct_value)
        case "list_value":
            return [_decode(item) for item in value.list_value.values]
        case "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else number
        case "string_value":
            text = value.string_value
            return UNKNOWN if text in _UNKNOWNS else text
        case "bool_value":
            return value.bool_value
        case _:
            return None


def _decode_struct(struct: struct_pb2.Struct) -> Any:
    signature = struct.fields[_SIGNATURE].string_value if _SIGNATURE in struct.fields else ""
    if signature == _SECRET:
        return Secret(_decode(struct.fields["value"]))
    if signature == _OUTPUT:
        value = _decode(struct.fields["value"]) if "value" in struct.fields else UNKNOWN
        return Secret(value) if struct.fields["secret"].bool_value else value
    if signature == _RESOURCE:
        return _decode(struct.fields["id"]) if "id" in struct.fields else _decode(struct.fields["urn"])
    if signature:
        raise ValueError("assets and archives cannot be part of a Kubernetes object; pass their text instead")
    return decode(struct)


def encode(properties: Mapping[str, Any]) -> struct_pb2.Struct:
    """Return the protobuf form of Python values; nulls are dropped."""
    struct = struct_pb2.Struct()
    for key, value in properties.items():
        if value is not None:
            struct.fields[key].CopyFrom(_encode(value))
    return struct


def _encode(value: Any) -> struct_pb2.Value:
    match value:
        case Secret():
            fields = {_SIGNATURE: _encode(_SECRET), "value": _encode(value.value)}
            return struct_pb2.Value(struct_value=struct_pb2.Struct(fields=fields))
        case Unknown():
            return struct_pb2.Value(string_value=_UNKNOWN_STRING)
        case None:
            return struct_pb2.Value(null_value=struct_pb2.NULL_VALUE)
        case bool():
            return struct_pb2.Value(bool_value=value)
        case int() | float():
            return struct_pb2.Value(number_value=value)
        case str():
            return struct_pb2.Value(string_value=value)
        case Mapping():
            return struct_pb2.Value(struct_value=encode(value))
        case list() | tuple():
            items = [_encode(item) for item in value]
            return struct_pb2.Value(list_value=struct_pb2.ListValue(values=items))
        case _:
            raise TypeError(f"a {type(value).__name__} cannot be a property value")


def plain(value: Any) -> Any:
    """Return the value without secrets' wrapping; unknowns stay. This is the form that rules and the API see."""
    match value:
        case Secret():
            return plain(value.value)
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case list():
            return [plain(item) for item in value]
        case _:
            return value


def _rename(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case dict():
            return {names.get(key, key): _rename(item, names) for key, item in value.items()}
        case list():
            return [_rename(item, names) for item in value]
        case Secret():
            return Secret(_rename(value.value, names))
        case _:
            return value


def with_dashes(value: Any) -> Any:
    """`x_kubernetes_...` keys as the API spells them."""
    return _rename(value, _TO_DASHES)


def with_underscores(value: Any) -> Any:
    """`x-kubernetes-...` keys as the typed SDKs spell them; the state has this form."""
    return _rename(value, _TO_UNDERSCORES)


def any_value(value: Any, test: Callable[[Any], bool]) -> bool:
    """Whether the value or one inside it passes the test."""
    if test(value):
        return True
    match value:
        case Secret():
            return any_value(value.value, test)
        case dict():
            return any(any_value(item, test) for item in value.values())
        case list():
            return any(any_value(item, test) for item in value)
        case _:
            return False


def has_unknown(value: Any) -> bool:
    """Whether something in the value is not known yet."""
    return any_value(value, lambda item: isinstance(item, Unknown))


def has_secret(value: Any) -> bool:
    """Whether something in the value is secret."""
    return any_value(value, lambda item: isinstance(item, Secret))


def mark_secrets(outputs: Any, inputs: Any) -> Any:
    """Return the outputs with everything secret whose input was: objects field by field, a list as a whole.

    The `data` and `stringData` of a Secret, wherever it is embedded, are secret in any case.
    """
    if not isinstance(outputs, dict):
        return outputs
    inputs = inputs if isinstance(inputs, dict) else {}
    is_secret_object = outputs.get("kind") == "Secret"
    return {
        key: _marked(value, inputs.get(key), always=is_secret_object and key in ("data", "stringData"))
        for key, value in outputs.items()
    }


def _marked(output: Any, source: Any, *, always: bool) -> Any:
    if isinstance(output, Secret):
        return output
    if always:
        return Secret(output)
    if isinstance(output, dict) and (source is None or isinstance(source, dict)):
        return mark_secrets(output, source)
    return Secret(output) if has_secret(source) else output
