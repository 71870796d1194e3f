"""SCCs with the defaults that the API server gives them."""

from typing import Any

import pytest

from policies.scc import InvalidPod, default_sccs
from policies.scc.defaults import defaulted_scc


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
