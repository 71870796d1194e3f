"""Check: types, names, namespaces."""

import pytest

from simulator.plugins.provider.inputs import (
    BadInputError,
    ObjectType,
    checked,
    identifier,
    manifest,
    split_identifier,
    type_of_token,
    type_of_urn,
)
from simulator.plugins.provider.values import UNKNOWN, Properties, Secret

CONFIG_MAP = ObjectType("", "v1", "ConfigMap")
NODE_PATCH = ObjectType("", "v1", "Node", patch=True)


def check(inputs: Properties, previous: Properties | None = None, kind: ObjectType = CONFIG_MAP) -> Properties:
    """Check inputs of a resource `thing` in the namespace `default-ns`."""
    return checked(inputs, previous or {}, kind, logical_name="thing", namespace="default-ns", seed=b"seed")


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
    """Prevents objects from going to the wrong kind."""
    assert type_of_token(token) == expected
    assert type_of_urn(f"urn:pulumi:dev::p::hpc:a:B${token}::name") == expected


def test_other_tokens_are_refused() -> None:
    """Prevents a helm release from being sent as an object of kind Release."""
    with pytest.raises(BadInputError, match="is not the type of a Kubernetes object"):
        type_of_token("kubernetes:helm.sh:Release")


def test_checked_completes_the_inputs() -> None:
    """Prevents objects without kind, name or namespace, and values that only the server sets."""
    result = check({"data": {"a": None, "b": "1"}, "metadata": {"name": "n", "uid": "u", "resourceVersion": "1"}})
    assert result == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "n", "namespace": "default-ns"},
        "data": {"b": "1"},
    }


def test_autonaming_is_stable() -> None:
    """Prevents a new random name, and so a new object, at every update."""
    first = check({})
    assert first["metadata"]["name"].startswith("thing-")
    assert first["metadata"]["annotations"] == {"pulumi.com/autonamed": "true"}
    again = checked({}, first, CONFIG_MAP, logical_name="thing", namespace="", seed=b"other")
    assert again["metadata"]["name"] == first["metadata"]["name"]


def test_unknown_name_stays_unknown() -> None:
    """Prevents a name that comes from another resource from being replaced by a random one in previews."""
    assert check({"metadata": {"name": UNKNOWN}})["metadata"]["name"] is UNKNOWN
    assert check({"metadata": UNKNOWN})["metadata"] is UNKNOWN
    assert check({"metadata": Secret({"name": "n"})})["metadata"]["name"] == "n"


def test_patches_need_a_name() -> None:
    """Prevents a patch from making a new, randomly named object."""
    with pytest.raises(BadInputError, match=r"needs metadata\.name"):
        check({"metadata": {"labels": {"a": "b"}}}, kind=NODE_PATCH)
    with pytest.raises(BadInputError, match="generateName"):
        check({"metadata": {"generateName": "a-"}})


def test_string_data_is_folded() -> None:
    """Prevents keys that leave stringData from staying in the Secret: the server would not know whose they are."""
    secret = {"apiVersion": "v1", "kind": "Secret", "data": {"a": "eA=="}, "stringData": Secret({"b": "y"})}
    assert manifest(secret) == {"apiVersion": "v1", "kind": "Secret", "data": {"a": "eA==", "b": "eQ=="}}


def test_identifiers() -> None:
    """Prevents imports by namespace/name from looking in the wrong place."""
    assert identifier({"metadata": {"name": "n", "namespace": "ns"}}) == "ns/n"
    assert split_identifier("ns/n") == ("ns", "n")
    assert split_identifier("n") == ("", "n")
