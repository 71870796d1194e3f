"""SCCs as a cluster stores them."""

from typing import Any

import pytest

from policies.scc import InvalidPod, default_sccs
from policies.scc.stored import stored


@pytest.mark.parametrize("release", ["4.4", "current"])
def test_what_a_cluster_holds_stays(release: Any) -> None:
    """Prevents a dump of a cluster from being changed on the way in."""
    for scc in default_sccs(release):
        assert stored(scc) == scc


@pytest.mark.parametrize(
    ("given", "volumes"),
    [
        pytest.param({"allowHostDirVolumePlugin": True}, ["*"], id="none named, host allowed"),
        pytest.param({"volumes": []}, ["none"], id="empty"),
        pytest.param({"volumes": [], "allowHostDirVolumePlugin": True}, ["hostPath"], id="empty, host allowed"),
        pytest.param({"volumes": ["secret", "hostPath"]}, ["secret"], id="host not allowed"),
        pytest.param(
            {"volumes": ["secret"], "allowHostDirVolumePlugin": True}, ["hostPath", "secret"], id="host allowed"
        ),
        pytest.param({"volumes": ["*"], "allowHostDirVolumePlugin": True}, ["*"], id="all"),
    ],
)
def test_volumes(given: dict[str, Any], volumes: list[str]) -> None:
    """Prevents a verdict on a list of volumes that no cluster would hold."""
    assert stored(given)["volumes"] == volumes


def test_all_volumes_but_those_of_the_host() -> None:
    """Prevents `*` from letting the host's folders in where the old field forbids them."""
    for given in ({}, {"volumes": ["*"]}):
        volumes = stored(given)["volumes"]
        assert {"hostPath", "*"}.isdisjoint(volumes)
        assert {"secret", "csi", "cephFS", "storageOS"} <= set(volumes)


def test_the_rest() -> None:
    """Prevents an SCC that leaves something out from being called broken."""
    found = stored({"fsGroup": {"ranges": []}})
    assert found["fsGroup"] == {"ranges": [], "type": "RunAsAny"}
    assert found["supplementalGroups"] == {"type": "RunAsAny"}
    assert (found["users"], found["groups"], found["allowPrivilegeEscalation"]) == ([], [], True)
    assert stored({"allowPrivilegeEscalation": False})["allowPrivilegeEscalation"] is False
    with pytest.raises(InvalidPod, match="volumes"):
        stored({"volumes": "secret"})
