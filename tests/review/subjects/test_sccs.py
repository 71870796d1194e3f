"""SCCs themselves."""

from typing import Any

from review.subjects import sccs
from tests.support.reviews import created, deleted, made, review, same, told, updated


def scc(**fields: Any) -> Any:
    """Return an SCC that is narrow but for the given fields."""
    narrow = {"volumes": ["secret"], "runAsUser": {"type": "MustRunAsRange"}, "seLinuxContext": {"type": "MustRunAs"}}
    return made("security.openshift.io/v1:SecurityContextConstraints", {"metadata": {"name": "s"}, **narrow, **fields})


def test_a_new_one() -> None:
    """Prevents a new SCC that nobody knows the powers of."""
    new = scc(allowedCapabilities=["IPC_LOCK"], allowPrivilegedContainer=True, groups=["system:authenticated"])
    assert told(sccs.find, review(created(new))) == [
        "! SecurityContextConstraints s is new: it lets pods have privileged containers (all of the node) and IPC_LOCK",
        "  it is given to groups system:authenticated",
    ]


def test_one_that_is_widened_in_many_ways() -> None:
    """Prevents the node's network, told of in the difference alone, behind privileged containers."""
    host = dict.fromkeys(("allowHostNetwork", "allowHostPID", "allowHostIPC", "allowHostPorts"), True)
    wide = scc(allowPrivilegedContainer=True, allowHostDirVolumePlugin=True, volumes=["hostPath", "secret"], **host)
    assert told(sccs.find, review(updated(scc(), wide), drift=True)) == [
        "! SecurityContextConstraints s",
        "  it lets pods have privileged containers (all of the node), directories of the node, ports of the node, "
        "the node's IPC, the node's network and the node's processes",
        "  it allows volumes of type hostPath",
    ]
    assert told(sccs.find, review(created(scc(volumes=["*"]))))[1:] == ["  it allows volumes of every type"]


def test_one_that_goes() -> None:
    """Prevents a deletion that is told as one of any object."""
    assert told(sccs.find, review(deleted(scc(allowedCapabilities=["IPC_LOCK"])))) == [
        "SecurityContextConstraints s is deleted: it lets pods have IPC_LOCK"
    ]


def test_one_that_changes() -> None:
    """Prevents fields in place of words."""
    before = scc(allowedCapabilities=["IPC_LOCK"], requiredDropCapabilities=["ALL"], priority=None)
    after = scc(allowedCapabilities=["SYS_PTRACE"], users=["kim"], priority=20, allowPrivilegeEscalation=False)
    assert told(sccs.find, review(updated(before, after))) == [
        "! SecurityContextConstraints s",
        "  it lets pods have SYS_PTRACE",
        "  it no longer lets pods have IPC_LOCK",
        "  it no longer allows privilege escalation",
        "  its priority is 20 (was not set): it is tried at place 1 of 14 (was 2)",
        "  it no longer takes away capabilities ALL",
        "  it is given to users kim",
    ]


def test_a_change_that_means_nothing() -> None:
    """Prevents noise about another order of a list."""
    before, after = scc(groups=["a", "b"]), scc(groups=["b", "a"])
    assert told(sccs.find, review(updated(before, after))) == []
    assert told(sccs.find, review(same(before))) == []


def test_entries_that_are_no_names() -> None:
    """Prevents a comment that is another one each time: a set of sets has no order."""
    broken = [{"a": [{"b": "c"}, {"d": "e"}]}, 7, "kim"]
    assert told(sccs.find, review(updated(scc(), scc(users=broken)))) == [
        "! SecurityContextConstraints s",
        "  it is given to users (no name) and kim",
    ]
