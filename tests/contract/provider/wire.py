"""Property values on the engine's wire: from and to plain data, with `$secret` and `$unknown` spelled out.

Written from the protocol (pulumi/sdk, go/common/resource/plugin/rpc.go), not from the stand-in's code, which it tests.
"""

from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf import struct_pb2

SECRET, UNKNOWN = "$secret", "$unknown"
_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270"
_UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_UNKNOWN_TEXTS = frozenset(
    {
        _UNKNOWN_TEXT,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)


def is_mark(value: Any) -> bool:
    """Whether a value is a secret or an unknown, and no object."""
    return isinstance(value, Mapping) and len(value) == 1 and next(iter(value)) in (SECRET, UNKNOWN)


def encode(properties: Mapping[str, Any]) -> struct_pb2.Struct:
    """Return the properties as the engine sends them."""
    return struct_pb2.Struct(fields={key: _encode(value) for key, value in properties.items()})


def _encode(value: Any) -> struct_pb2.Value:
    if is_mark(value):
        return _encode(_UNKNOWN_TEXT if UNKNOWN in value else {_SIGNATURE: _SECRET_SIGNATURE, "value": value[SECRET]})
    if isinstance(value, Mapping):
        return struct_pb2.Value(struct_value=encode(value))
    if isinstance(value, list):
        return struct_pb2.Value(list_value=struct_pb2.ListValue(values=[_encode(item) for item in value]))
    if value is None:
        return struct_pb2.Value(null_value=struct_pb2.NULL_VALUE)
    field = "bool_value" if isinstance(value, bool) else "string_value" if isinstance(value, str) else "number_value"
    return struct_pb2.Value(**{field: value})


def decode(struct: struct_pb2.Struct) -> dict[str, Any]:
    """Return what a plugin answered as plain data."""
    return {key: _decode(value) for key, value in struct.fields.items()}


def _decode(value: struct_pb2.Value) -> Any:
    kind = value.WhichOneof("kind")
    return _DECODERS[kind](getattr(value, kind)) if kind else None


def _object(struct: struct_pb2.Struct) -> Any:
    found = decode(struct)
    return {SECRET: found["value"]} if found.get(_SIGNATURE) == _SECRET_SIGNATURE else found


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "null_value": lambda _: None,
    "bool_value": bool,
    "number_value": lambda number: int(number) if number.is_integer() else number,
    "string_value": lambda text: {UNKNOWN: True} if text in _UNKNOWN_TEXTS else text,
    "list_value": lambda items: [_decode(item) for item in items.values],
    "struct_value": _object,
}
