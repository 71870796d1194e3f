"""Property values in the engine's form, and which outputs are secret."""

import pytest
from google.protobuf import struct_pb2

from toolkit.engine.prediction.values import UNKNOWN, Secret
from toolkit.simulator.provider.state import mark_secrets
from toolkit.simulator.provider.structs import decode, encode

SIGNATURE = "4dabf18193072939515e22adb298388d"


def test_round_trip_keeps_secrets_unknowns_and_whole_numbers() -> None:
    """Secrets, unknowns and whole numbers survive the engine's form."""
    value = {"a": 8, "b": 1.5, "c": [True, "x", {"d": Secret({"e": "f"})}], "g": UNKNOWN, "h": 0, "i": False, "j": []}
    found = decode(encode(value))
    assert found == value
    assert type(found["a"]) is int
    assert found["i"] is False


def test_nulls_are_kept() -> None:
    """Nulls in the server's answers are in the state as they are in the official provider's."""
    values = {"a": None, "b": [None], "c": {"d": None}}
    assert decode(encode(values)) == values


def test_outputs_and_references_are_plain_values() -> None:
    """Outputs and resource references in their wrapped form are plain values."""
    struct = struct_pb2.Struct()
    struct.update(
        {
            "output": {SIGNATURE: "d0e6a833031e9bbcd3f4e8bde6ca49a4", "value": 1, "secret": True},
            "later": {SIGNATURE: "d0e6a833031e9bbcd3f4e8bde6ca49a4"},
            "resource": {SIGNATURE: "5cf8f73096256a8f31e491e813e4eb8e", "urn": "u", "id": "i"},
        }
    )
    assert decode(struct) == {"output": Secret(1), "later": UNKNOWN, "resource": "i"}


def test_assets_are_refused_with_a_remedy() -> None:
    """An asset is refused with a remedy."""
    struct = struct_pb2.Struct()
    struct.update({"a": {SIGNATURE: "c44067f5952c0a294b673a41bacd8c17", "text": "x"}})
    with pytest.raises(ValueError, match="pass their text instead"):
        decode(struct)


def test_secrets_of_inputs_mark_outputs() -> None:
    """An output that repeats a secret input is secret."""
    inputs = {"data": {"a": Secret("x"), "b": "y"}, "list": [{"c": Secret("z")}]}
    outputs = {"data": {"a": "x", "b": "y", "c": "server"}, "list": [{"c": "z"}], "status": {}}
    assert mark_secrets(outputs, inputs) == {
        "data": {"a": Secret("x"), "b": "y", "c": "server"},
        "list": Secret([{"c": "z"}]),
        "status": {},
    }


def test_data_of_a_secret_is_always_secret() -> None:
    """The data of a Secret is secret, also where it was given in plain text."""
    assert mark_secrets({"kind": "Secret", "data": {"a": "eA=="}}, {}) == {
        "kind": "Secret",
        "data": Secret({"a": "eA=="}),
    }
