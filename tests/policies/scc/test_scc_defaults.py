"""Pods and SCCs as the API server decodes and defaults them."""

from typing import Any

import pytest

from policies.scc import InvalidPod, default_sccs
from policies.scc.defaults import defaulted_pod, defaulted_scc


def _spec(**fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = defaulted_pod({"spec": fields})["spec"]
    return found


def test_fields_that_a_pod_does_not_have() -> None:
    """A field that its level does not have is dropped, wherever it stands; the same name elsewhere stays."""
    container = {"name": "c", "privileged": True, "securityContext": {"fsGroup": 5, "privileged": True}}
    found = _spec(runAsUser=5, HostPID=True, containers=[container], volumes=[{"name": "v", "floppy": {}}])
    assert found["containers"] == [{"name": "c", "securityContext": {"privileged": True}}]
    assert found["volumes"] == [{"name": "v"}]
    assert found.keys() == {"containers", "volumes", "securityContext", "serviceAccountName"}
    assert defaulted_pod({"replicas": 3, "metadata": {"label": {}}}).keys() == {"metadata", "spec"}


def test_nulls() -> None:
    """A null is an absent field, and in a list an entry that is empty."""
    found = _spec(hostPID=None, securityContext=None, containers=[None, {"command": ["a", None], "ports": [None]}])
    assert "hostPID" not in found
    assert found["securityContext"] == {}
    assert found["containers"] == [{}, {"command": ["a", ""], "ports": [{}]}]
    assert defaulted_pod({"metadata": {"annotations": {"a": None}}})["metadata"]["annotations"] == {"a": ""}


def test_the_given_pod_stays() -> None:
    """Defaults are written into a copy."""
    given: dict[str, Any] = {"spec": {"containers": [{"securityContext": {}}]}}
    defaulted_pod(given)["spec"]["containers"][0]["securityContext"]["privileged"] = True
    assert given == {"spec": {"containers": [{"securityContext": {}}]}}


@pytest.mark.parametrize(
    ("fields", "place", "expected"),
    [
        ({"nodeName": 5}, "spec.nodeName", "a string"),
        ({"containers": [{"image": 5}]}, "spec.containers[0].image", "a string"),
        ({"containers": [{"tty": "x"}]}, "spec.containers[0].tty", "a boolean"),
        ({"containers": [{"command": "sleep"}]}, "spec.containers[0].command", "a list"),
        ({"tolerations": {}}, "spec.tolerations", "a list"),
        ({"nodeSelector": {"a": True}}, "spec.nodeSelector[a]", "a string"),
        ({"volumes": [{"emptyDir": "yes"}]}, "spec.volumes[0].emptyDir", "an object"),
        ({"volumes": [{"emptyDir": {"sizeLimit": "5 Gi"}}]}, "spec.volumes[0].emptyDir.sizeLimit", "a quantity"),
        ({"resources": {"limits": {"cpu": "a lot"}}}, "spec.resources.limits[cpu]", "a quantity"),
        ({"resources": {"limits": {"cpu": True}}}, "spec.resources.limits[cpu]", "a quantity"),
        ({"priority": 2**31}, "spec.priority", "an integer of 32 bits"),
        ({"terminationGracePeriodSeconds": 2**63}, "spec.terminationGracePeriodSeconds", "an integer of 64 bits"),
    ],
)
def test_what_cannot_be_decoded(fields: dict[str, Any], place: str, expected: str) -> None:
    """A field that decides nothing is named too when the API server could not decode it."""
    with pytest.raises(InvalidPod, match=f"expected {expected}, got ") as caught:
        _spec(**fields)
    assert caught.value.path == place


@pytest.mark.parametrize("quantity", ["500m", " 1Gi ", "1e3", 2, 1.5, None])
def test_quantities(quantity: object) -> None:
    """Quantities are not validated here."""
    resources = {"limits": {"cpu": quantity}}
    assert _spec(resources=resources)["resources"] == resources
    assert _spec(terminationGracePeriodSeconds=2**31)["terminationGracePeriodSeconds"] == 2**31


def test_a_value_too_large_to_show() -> None:
    """An error about a value of any depth or length is one line."""
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for value in (deep, 16**5000):
        with pytest.raises(InvalidPod, match="too large to show") as caught:
            _spec(nodeName=value)
        assert len(str(caught.value)) < 200


@pytest.mark.parametrize("release", ["4.4", "current"])
def test_what_a_cluster_holds_stays(release: Any) -> None:
    """An SCC that a cluster holds is its own defaulted form."""
    for scc in default_sccs(release):
        present = {key: value for key, value in scc.items() if value is not None}
        assert defaulted_scc(scc) == {"userNamespaceLevel": "AllowHostLevel", **present}


@pytest.mark.parametrize(
    ("given", "volumes"),
    [
        pytest.param({"allowHostDirVolumePlugin": True}, ["*"], id="none named, host allowed"),
        pytest.param({"volumes": None, "allowHostDirVolumePlugin": True}, ["*"], id="null, host allowed"),
        pytest.param({"volumes": []}, ["none"], id="empty"),
        pytest.param({"volumes": [], "allowHostDirVolumePlugin": True}, ["hostPath"], id="empty, host allowed"),
        pytest.param({"volumes": ["secret", "hostPath"]}, ["secret"], id="host not allowed"),
        pytest.param(
            {"volumes": ["secret"], "allowHostDirVolumePlugin": True}, ["hostPath", "secret"], id="host allowed"
        ),
        pytest.param({"volumes": ["*"], "allowHostDirVolumePlugin": True}, ["*"], id="all"),
        pytest.param({"volumes": ["*", "secret"], "allowHostDirVolumePlugin": True}, ["*", "secret"], id="all and one"),
    ],
)
def test_volumes(given: dict[str, Any], volumes: list[str]) -> None:
    """The list of volumes agrees with `allowHostDirVolumePlugin`, which goes first."""
    assert defaulted_scc(given)["volumes"] == volumes


@pytest.mark.parametrize("given", [{}, {"volumes": None}, {"volumes": ["*"]}, {"allowHostDirVolumePlugin": None}])
def test_all_volumes_but_those_of_the_host(given: dict[str, Any]) -> None:
    """Every type, named or left out, is every type but the host's where the older field does not allow it."""
    volumes = defaulted_scc(given)["volumes"]
    assert {"hostPath", "*"}.isdisjoint(volumes)
    assert {"secret", "csi", "cephFS", "storageOS", "image"} <= set(volumes)


@pytest.mark.parametrize("field", ["fsGroup", "supplementalGroups"])
@pytest.mark.parametrize("given", [None, {}, {"type": None}, {"type": ""}])
def test_strategies(field: str, given: dict[str, Any] | None) -> None:
    """A strategy for groups that is left out lets pods have any."""
    assert defaulted_scc({field: given})[field] == {"type": "RunAsAny"}
    assert defaulted_scc({field: {"type": "MustRunAs"}})[field] == {"type": "MustRunAs"}


def test_a_user_strategy_has_no_default() -> None:
    """Strategies for users and SELinux have no default."""
    assert {"runAsUser", "seLinuxContext"}.isdisjoint(defaulted_scc({"runAsUser": None}))


def test_the_rest() -> None:
    """Ranges outlive a strategy that is left out, unknown fields are dropped, and escalation is allowed by default."""
    found = defaulted_scc({"fsGroup": {"ranges": [], "rule": "x"}, "spec": {}, "runAsGroup": {"type": "MustRunAs"}})
    assert found["fsGroup"] == {"ranges": [], "type": "RunAsAny"}
    assert {"spec", "runAsGroup"}.isdisjoint(found)
    assert (found["users"], found["groups"], found["allowPrivilegeEscalation"]) == ([], [], True)
    assert defaulted_scc({"allowPrivilegeEscalation": False})["allowPrivilegeEscalation"] is False
    with pytest.raises(InvalidPod, match=r"^a\.volumes: "):
        defaulted_scc({"volumes": "secret"}, "a")
