"""Property values: between the engine's protobuf form and Python's, with secrets and unknown values preserved."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf import struct_pb2

from core.pulumi_values import OUTPUT, RESOURCE, SECRET, SIGNATURE, UNKNOWN_STRING

Properties = dict[str, Any]

_UNKNOWNS = frozenset(
    {
        UNKNOWN_STRING,
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
    """Python values of a protobuf struct; whole numbers are ints."""
    return {key: _decode(value) for key, value in struct.fields.items()}


def _decode(value: struct_pb2.Value) -> Any:
    kind = value.WhichOneof("kind")
    return _DECODERS[kind](getattr(value, kind)) if kind else None


def _decode_struct(struct: struct_pb2.Struct) -> Any:
    if SIGNATURE not in struct.fields:
        return decode(struct)
    special = _SPECIAL.get(struct.fields[SIGNATURE].string_value)
    if special is None:
        raise ValueError("assets and archives cannot be part of a Kubernetes object; pass their text instead")
    return special(struct.fields)


def _output(fields: Mapping[str, struct_pb2.Value]) -> Any:
    value = _decode(fields["value"]) if "value" in fields else UNKNOWN
    return Secret(value) if "secret" in fields and fields["secret"].bool_value else value


_SPECIAL: dict[str, Callable[[Mapping[str, struct_pb2.Value]], Any]] = {
    SECRET: lambda fields: Secret(_decode(fields["value"])),
    OUTPUT: _output,
    RESOURCE: lambda fields: _decode(fields["id"] if "id" in fields else fields["urn"]),
}


def _number(number: float) -> int | float:
    return int(number) if number.is_integer() else number


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "null_value": lambda _: None,
    "bool_value": bool,
    "number_value": _number,
    "string_value": lambda text: UNKNOWN if text in _UNKNOWNS else text,
    "list_value": lambda items: [_decode(item) for item in items.values],
    "struct_value": _decode_struct,
}


def encode(properties: Mapping[str, Any]) -> struct_pb2.Struct:
    """Return the protobuf form of Python values."""
    return struct_pb2.Struct(fields={key: _encode(value) for key, value in properties.items()})


def _encode(value: Any) -> struct_pb2.Value:
    build = next((build for types, build in _ENCODERS if isinstance(value, types)), None)
    if build is None:
        raise TypeError(f"a {type(value).__name__} cannot be a property value")
    return build(value)


def _encode_secret(value: Secret) -> struct_pb2.Value:
    fields = {SIGNATURE: _encode(SECRET), "value": _encode(value.value)}
    return struct_pb2.Value(struct_value=struct_pb2.Struct(fields=fields))


def _encode_list(value: list[Any]) -> struct_pb2.Value:
    return struct_pb2.Value(list_value=struct_pb2.ListValue(values=[_encode(item) for item in value]))


# In this order: a bool is an int as well.
_ENCODERS: tuple[tuple[type | tuple[type, ...], Callable[[Any], struct_pb2.Value]], ...] = (
    (Secret, _encode_secret),
    (Unknown, lambda _: struct_pb2.Value(string_value=UNKNOWN_STRING)),
    (type(None), lambda _: struct_pb2.Value(null_value=struct_pb2.NULL_VALUE)),
    (bool, lambda value: struct_pb2.Value(bool_value=value)),
    ((int, float), lambda value: struct_pb2.Value(number_value=value)),
    (str, lambda value: struct_pb2.Value(string_value=value)),
    (Mapping, lambda value: struct_pb2.Value(struct_value=encode(value))),
    ((list, tuple), _encode_list),
)


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

    The `data` and `stringData` of a Secret, also of an embedded one where there are inputs, are secret in any case.
    """
    if not isinstance(outputs, dict):
        return outputs
    if outputs.get("kind") == "Secret":
        return {key: _secret(value) if key in ("data", "stringData") else value for key, value in outputs.items()}
    if not isinstance(inputs, dict):
        return outputs
    return {key: _marked(value, inputs[key]) if key in inputs else value for key, value in outputs.items()}


def _secret(value: Any) -> Secret:
    return value if isinstance(value, Secret) else Secret(value)


def _marked(output: Any, source: Any) -> Any:
    if isinstance(output, dict) and isinstance(source, dict):
        return mark_secrets(output, source)
    return _secret(output) if has_secret(source) else output
