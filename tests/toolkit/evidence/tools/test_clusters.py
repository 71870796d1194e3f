"""What clusters say: oc get nodes, mmlscluster, mmremotecluster; and as whom a pod runs."""

from pathlib import Path

from tests.support.mutated import only, read_text
from toolkit.evidence.tools.nodes import Nodes
from toolkit.evidence.tools.process import WhoAmI
from toolkit.evidence.tools.rdma_devices import RdmaDevices
from toolkit.evidence.tools.scale_clusters import MmLsCluster, MmRemoteCluster

LOGS = Path(__file__).parent.parent / "logs"


def test_the_papers_nodes() -> None:
    """A node that is not Ready is read as such."""
    found = only(Nodes, LOGS / "nodes" / "r-3.2.5-4.log")
    assert found.complete
    assert [(row.name.split(".")[0], row.roles, row.age, (row.internal_ip or "")[-2:]) for row in found.rows] == [
        ("dgx01", "worker", "6d3h", "19"),
        ("dgx02", "worker", "6d2h", "20"),
        ("master01", "master", "13d", "11"),
        ("master02", "master", "13d", "12"),
        ("master03", "master", "13d", "13"),
        ("worker03", "worker", "12d", "17"),
        ("worker04", "worker", "12d", "18"),
    ]
    assert {(row.version, row.ready, row.kernel) for row in found.rows} == {("v1.17.1", True, None)}
    assert {row.os_image for row in found.rows} == {"OpenShift Enterprise", "Red Hat Enterprise Linux CoreOS"}


def test_nodes_of_today() -> None:
    """Further columns of newer releases do not shift the others."""
    found = only(
        Nodes,
        "NAME    STATUS                        ROLES                  AGE    VERSION    INTERNAL-IP   EXTERNAL-IP   "
        "OS-IMAGE                KERNEL-VERSION          CONTAINER-RUNTIME\n"
        "gpu-1   NotReady,SchedulingDisabled   worker                 200d   v1.29.14   10.0.0.7      <none>        "
        "Red Hat Enterprise 9    5.14.0-427.el9.x86_64   cri-o://1.29.13\n"
        "gpu-2   Ready   worker   200d   v1.29\n",
    )
    (row,) = found.rows
    assert (row.ready, row.internal_ip, row.kernel, row.runtime) == (
        False,
        "10.0.0.7",
        "5.14.0-427.el9.x86_64",
        "cri-o://1.29.13",
    )
    assert (found.complete, found.unread_total) == (False, 1)


def test_the_scale_cluster() -> None:
    """The id of the Scale cluster and its nodes are read."""
    found = only(MmLsCluster, LOGS / "mmlscluster" / "r-3.3-2.log")
    assert (found.name, found.cluster_id, found.repository) == (
        "SpectrumScale.ocp4.scale.ibm.com",
        "16217308676014575381",
        "CCR",
    )
    assert [(row.number, row.daemon_name, row.address, row.admin_name, row.designation) for row in found.rows] == [
        (
            1,
            "scale00.ocp4.scale.com",
            "192.168.1.30",
            "scale00.ocp4.scale.ibm.com",
            ("quorum", "manager", "perfmon"),
        ),
        (2, "dgx01.ocp4.scale.com", "192.168.1.19", "dgx01.ocp4.scale.ibm.com", ("perfmon",)),
        (3, "dgx02.ocp4.scale.com", "192.168.1.20", "dgx02.ocp4.scale.ibm.com", ("perfmon",)),
    ]
    # The paper prints three nodes and `[ ... plus additional nodes ...]`.
    assert (found.shortened, found.incomplete) == (True, "nodes left out")


def test_the_remote_cluster() -> None:
    """The file systems of a remote cluster are read."""
    found = only(MmRemoteCluster, LOGS / "mmremotecluster" / "r-3.3-4.log")
    (row,) = found.rows
    assert (row.name, row.file_systems, row.contact_nodes) == (
        "ess3000.bda.scale.ibm.com",
        ("ess3000_4M (ess3000_4M)",),
        ("fscc-fab3-3-a-priv.bda.scale.com", "fscc-fab3-3-b-priv.bda.scale.com"),
    )
    assert row.digest == "9c58d9df69804393571044a9f08b005db12345e4cb87637cad83870a9f74c24d"
    assert found.complete


def test_users_of_pods() -> None:
    """A user is read by name or id; other figures alone on a line are none."""
    for text, user, uid, of_namespace in (
        ("+ whoami\nroot\n", "root", None, None),
        ("+ whoami\n1000680000\n", "1000680000", 1000680000, True),
        ("uid=0(root) gid=0(root) groups=0(root)\n", "root", 0, False),
        ("uid=1000680000(1000680000) gid=0(root) groups=0(root),1000680000\n", "1000680000", 1000680000, True),
        ("whoami: cannot find name for user ID 1000680000\n", "1000680000", 1000680000, True),
    ):
        found = only(WhoAmI, text)
        assert (found.user, found.uid, found.of_namespace, found.complete) == (user, uid, of_namespace, True)
    for text in ("1783342800\n", "65536\n", "root\n"):
        assert not [one for one in read_text(text) if isinstance(one, WhoAmI)]


def test_a_pod_without_devices() -> None:
    """A pod without devices is read with the error of ls."""
    found = only(RdmaDevices, "ls: cannot access '/dev/infiniband': No such file or directory\n")
    assert (found.rows, found.complete) == ((), False)
    assert found.failed == "ls: cannot access '/dev/infiniband': No such file or directory"
