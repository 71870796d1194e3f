"""Property values between the engine's protobuf form and Python's, with secrets and unknowns kept."""

from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf import struct_pb2

from core.pulumi_values import OUTPUT, RESOURCE, SECRET, SIGNATURE, UNKNOWN_STRING
from toolkit.engine.prediction.values import UNKNOWN, Properties, Secret, Unknown

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
