"""SCCs themselves."""

from typing import Any

from tests.support.messages import like
from tests.support.reviews import created, deleted, made, reported, review, same, updated
from toolkit.review.subjects import sccs


def scc(**fields: Any) -> Any:
    """Return an SCC that is narrow but for the given fields."""
    narrow = {"volumes": ["secret"], "runAsUser": {"type": "MustRunAsRange"}, "seLinuxContext": {"type": "MustRunAs"}}
    return made("security.openshift.io/v1:SecurityContextConstraints", {"metadata": {"name": "s"}, **narrow, **fields})


def test_a_new_one() -> None:
    """A new SCC is reported with its privileges."""
    new = scc(allowedCapabilities=["IPC_LOCK"], allowPrivilegedContainer=True, groups=["system:authenticated"])
    assert reported(sccs.find, review(created(new))) == [
        like("! SecurityContextConstraints s is new ... privileged containers ... IPC_LOCK"),
        "  it is given to groups system:authenticated",
    ]


def test_one_that_is_widened_in_many_ways() -> None:
    """Each additional privilege of an SCC is reported."""
    host = dict.fromkeys(("allowHostNetwork", "allowHostPID", "allowHostIPC", "allowHostPorts"), True)
    wide = scc(allowPrivilegedContainer=True, allowHostDirVolumePlugin=True, volumes=["hostPath", "secret"], **host)
    assert reported(sccs.find, review(updated(scc(), wide), drift=True)) == [
        "! SecurityContextConstraints s",
        like(
            "  it gives pods privileged containers ... directories of the node ... ports of the node ... IPC ... "
            "network ... processes"
        ),
        "  it allows volumes of type hostPath",
    ]
    of_every_type = "  it allows volumes of every type"
    host = scc(volumes=None, allowHostDirVolumePlugin=True)
    assert reported(sccs.find, review(created(host)))[1:] == [of_every_type]
    assert reported(sccs.find, review(created(scc(volumes=["*"]))))[1:] == [f"{of_every_type} but hostPath"]


def test_one_that_goes() -> None:
    """The deletion of an SCC is reported with what it gave."""
    assert reported(sccs.find, review(deleted(scc(allowedCapabilities=["IPC_LOCK"])))) == [
        like("SecurityContextConstraints s is deleted ... IPC_LOCK")
    ]


def test_one_that_changes() -> None:
    """Changed fields of an SCC are described."""
    before = scc(allowedCapabilities=["IPC_LOCK"], requiredDropCapabilities=["ALL"], priority=None)
    after = scc(allowedCapabilities=["SYS_PTRACE"], users=["kim"], priority=20, allowPrivilegeEscalation=False)
    assert reported(sccs.find, review(updated(before, after))) == [
        "! SecurityContextConstraints s",
        "  it gives pods SYS_PTRACE",
        "  it no longer gives pods IPC_LOCK",
        "  it no longer allows privilege escalation",
        like("  its priority is 20 (was not set) ... place 1 of 14 (was 2)"),
        like("  it no longer takes away ... ALL"),
        "  it is given to users kim",
    ]


def test_a_change_that_means_nothing() -> None:
    """Another order of a list is not a change."""
    before, after = scc(groups=["a", "b"]), scc(groups=["b", "a"])
    assert reported(sccs.find, review(updated(before, after))) == []
    assert reported(sccs.find, review(same(before))) == []


def test_entries_that_are_no_names() -> None:
    """Privileges are listed in a fixed order."""
    broken = [{"a": [{"b": "c"}, {"d": "e"}]}, 7, "kim"]
    assert reported(sccs.find, review(updated(scc(), scc(users=broken)))) == [
        "! SecurityContextConstraints s",
        like("  it is given to users (no name) and kim"),
    ]
