"""The order in which SCCs are tried."""

from typing import Any

import pytest

from policies.scc import default_sccs, order
from tests.policies.scc.samples import OWN, scc


def test_of_a_current_cluster() -> None:
    """SCCs are ordered as refusals of a 4.21 cluster list them."""
    assert order(default_sccs("current")) == (
        "anyuid",
        "restricted-v2",
        "restricted-v3",
        "restricted",
        "nested-container",
        "nonroot-v2",
        "nonroot",
        "hostmount-anyuid",
        "hostmount-anyuid-v2",
        "hostnetwork-v2",
        "hostnetwork",
        "hostaccess",
        "privileged",
    )


RANGE = {"type": "MustRunAsRange"}
NON_ROOT = {"type": "MustRunAsNonRoot"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param({"priority": 1, "allowPrivilegedContainer": True}, {"priority": None}, id="priority"),
        pytest.param({"priority": 0}, {"priority": -1}, id="priority below nothing"),
        pytest.param({"allowHostPorts": True, "allowHostNetwork": True}, {"allowPrivilegedContainer": True}, id="priv"),
        pytest.param({"allowHostNetwork": True, "volumes": ["*"]}, {"allowHostPorts": True}, id="host ports"),
        pytest.param({"allowHostDirVolumePlugin": True}, {"allowHostNetwork": True}, id="host network"),
        pytest.param({"volumes": ["nfs"]}, {"allowHostDirVolumePlugin": True}, id="host volumes"),
        pytest.param({"volumes": ["none", "secret", "projected"]}, {"volumes": ["nfs"]}, id="other volumes"),
        pytest.param({"runAsUser": NON_ROOT}, {}, id="users"),
        pytest.param({"runAsUser": RANGE}, {"runAsUser": NON_ROOT}, id="a range of users"),
        pytest.param({"runAsUser": {**OWN, "uid": 1}}, {"runAsUser": RANGE}, id="one user"),
        pytest.param({"seLinuxContext": OWN, "allowedCapabilities": ["*"]}, {}, id="SELinux before capabilities"),
        pytest.param({"requiredDropCapabilities": ["all"]}, {"requiredDropCapabilities": ["A"] * 59}, id="drop all"),
        pytest.param({"requiredDropCapabilities": ["A"]}, {}, id="drop one"),
        pytest.param({}, {"allowedCapabilities": ["A"]}, id="allow one"),
        pytest.param({"allowedCapabilities": ["A"] * 29}, {"defaultAddCapabilities": ["A"]}, id="add one"),
        pytest.param({"defaultAddCapabilities": ["A"] * 13}, {"allowedCapabilities": ["ALL"]}, id="allow all"),
    ],
)
def test_pairs(first: dict[str, Any], second: dict[str, Any]) -> None:
    """A stricter SCC comes before a laxer one."""
    assert order([scc("a", **second), scc("z", **first)]) == ("z", "a")


def test_what_does_not_count_leaves_it_to_the_name() -> None:
    """Only the fields that the plugin weighs decide about the order."""
    lax = {"allowPrivilegeEscalation": True, "allowHostPID": True, "readOnlyRootFilesystem": False, "users": ["x"]}
    strict = {"allowPrivilegeEscalation": False, "allowHostPID": False, "readOnlyRootFilesystem": True, "users": []}
    assert order([scc("b", **strict), scc("a", **lax)]) == ("a", "b")


def test_the_last_of_a_name_counts() -> None:
    """Of several SCCs with one name the last counts."""
    assert order([scc("a", priority=5), scc("b"), scc("a")]) == ("a", "b")
