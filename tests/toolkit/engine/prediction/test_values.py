"""Property values between protobuf and Python."""

from toolkit.engine.prediction.values import UNKNOWN, Secret, has_unknown, plain, with_dashes, with_underscores

SIGNATURE = "4dabf18193072939515e22adb298388d"


def test_plain_and_unknown() -> None:
    """Plain values have no wrapping, and unknown ones are found."""
    assert plain({"a": Secret([Secret(1)])}) == {"a": [1]}
    assert has_unknown({"a": Secret([{"b": UNKNOWN}])})
    assert not has_unknown({"a": [1]})


def test_schema_keys_are_spelled_for_the_api_and_for_the_sdk() -> None:
    """Schema keys such as x-kubernetes-preserve-unknown-fields are spelled for the API and for the SDK."""
    typed = {"schema": [{"x_kubernetes_preserve_unknown_fields": True, "x_other_key": 1}]}
    dashed = {"schema": [{"x-kubernetes-preserve-unknown-fields": True, "x_other_key": 1}]}
    assert with_dashes(typed) == dashed
    assert with_underscores(dashed) == typed
