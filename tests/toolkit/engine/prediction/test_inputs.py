"""Check: types, names, and the form that Go's types give."""

import pytest

from toolkit.engine.prediction.inputs import BadInputError, ObjectType, type_of_token
from toolkit.engine.prediction.typed_form import canonical_quantity, known_fields, normalized
from toolkit.engine.prediction.values import UNKNOWN, Secret, has_unknown, plain, with_dashes, with_underscores
from toolkit.simulator.provider.checks import type_of_urn

CONFIG_MAP = ObjectType("", "v1", "ConfigMap")
NODE_PATCH = ObjectType("", "v1", "Node", patch=True)

SIGNATURE = "4dabf18193072939515e22adb298388d"


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("kubernetes:core/v1:ConfigMap", CONFIG_MAP),
        ("kubernetes:core/v1:NodePatch", NODE_PATCH),
        ("kubernetes:kubeflow.org/v1alpha2:MPIJob", ObjectType("kubeflow.org", "v1alpha2", "MPIJob")),
        ("kubernetes:rbac.authorization.k8s.io/v1:Role", ObjectType("rbac.authorization.k8s.io", "v1", "Role")),
    ],
)
def test_type_of_token(token: str, expected: ObjectType) -> None:
    """A type token names one kind."""
    assert type_of_token(token) == expected
    assert type_of_urn(f"urn:pulumi:dev::p::hpc:a:B${token}::name") == expected


def test_other_tokens_are_refused() -> None:
    """A token without a version is refused in the official provider's words."""
    with pytest.raises(BadInputError, match='does not have both a group and a version: "core"'):
        type_of_token("kubernetes:core:ConfigMap")


def test_builtin_kinds_have_a_typed_form() -> None:
    """Quantities get their usual form; empty values that Go leaves out go, unless a pointer holds them."""
    container = {"name": "c", "tty": False, "args": [], "resources": {"limits": {"gpu": 8, "memory": "1024Mi"}}}
    spec = {"hostNetwork": False, "enableServiceLinks": False, "nodeName": "", "unknown": 1, "containers": [container]}
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": spec}
    shaped = {"name": "c", "resources": {"limits": {"gpu": "8", "memory": "1Gi"}}}
    assert normalized(pod) == {**pod, "spec": {"enableServiceLinks": False, "containers": [shaped]}}


def test_what_does_not_fit_stays_as_it_is() -> None:
    """Values of another type, unknown ones and custom kinds are left to the server."""
    for spec in ({"hostNetwork": "no", "nodeName": ""}, {"nodeName": "", "hostname": UNKNOWN}):
        pod = {"apiVersion": "v1", "kind": "Pod", "spec": spec}
        assert normalized(pod) == pod
    custom = {"apiVersion": "a.b/v1", "kind": "Pod", "spec": {"nodeName": "", "limits": {"cpu": 8}}}
    assert normalized(custom) == custom


def test_fields_of_kinds() -> None:
    """What a program can give a kind is known of builtin kinds only, and no status is among it."""
    known = known_fields("v1", "ConfigMap") or frozenset()
    assert known == {"apiVersion", "kind", "metadata", "data", "binaryData", "immutable"}
    assert "status" not in (known_fields("apps/v1", "Deployment") or ())
    assert known_fields("kubeflow.org/v1", "MPIJob") is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((8, "8"), (0.5, "500m"), ("1000m", "1"), ("1024Mi", "1Gi"), ("1.5Gi", "1536Mi"), ("2500m", "2500m")),
        *(("1e3", "1e3"), ("0", "0"), ("1073741824", "1073741824"), ("0.5Ki", "512"), ("1500", "1500"), ("2000", "2k")),
        *(("a", None), ("", None), ([], None), ("1 Gi", None)),
    ],
)
def test_quantities(value: object, expected: str | None) -> None:
    """Quantities are written as the server writes them; what is none is not guessed."""
    assert canonical_quantity(value) == expected


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
