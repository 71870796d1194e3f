"""What clusters say: oc get nodes, mmlscluster, mmremotecluster; and as whom a pod runs."""

from pathlib import Path

from evidence.reader import read
from evidence.tools.mmlscluster import MmLsCluster
from evidence.tools.mmremotecluster import MmRemoteCluster
from evidence.tools.nodes import Nodes
from evidence.tools.rdma_devices import RdmaDevices
from evidence.tools.whoami import WhoAmI
from tests.support.mutated import read_text

LOGS = Path(__file__).parent.parent / "logs"


def test_the_papers_nodes() -> None:
    """Prevents a node that has not joined from being overlooked (R-3.2.5-4)."""
    (found,) = read(LOGS / "nodes" / "r-3.2.5-4.log")
    assert isinstance(found, Nodes)
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
    """Prevents columns of newer releases from shifting those that are read."""
    (found,) = read_text(
        "NAME    STATUS                        ROLES                  AGE    VERSION    INTERNAL-IP   EXTERNAL-IP   "
        "OS-IMAGE                KERNEL-VERSION          CONTAINER-RUNTIME\n"
        "gpu-1   NotReady,SchedulingDisabled   worker                 200d   v1.29.14   10.0.0.7      <none>        "
        "Red Hat Enterprise 9    5.14.0-427.el9.x86_64   cri-o://1.29.13\n"
        "gpu-2   Ready   worker   200d   v1.29\n"
    )
    assert isinstance(found, Nodes)
    (row,) = found.rows
    assert (row.ready, row.internal_ip, row.kernel, row.runtime) == (
        False,
        "10.0.0.7",
        "5.14.0-427.el9.x86_64",
        "cri-o://1.29.13",
    )
    assert (found.complete, found.unread_total) == (False, 1)


def test_the_scale_cluster() -> None:
    """Prevents volumes of another cluster's id (R-3.3-2)."""
    (found,) = read(LOGS / "mmlscluster" / "r-3.3-2.log")
    assert isinstance(found, MmLsCluster)
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
    """Prevents a file system that nobody exports (R-3.3-4)."""
    (found,) = read(LOGS / "mmremotecluster" / "r-3.3-4.log")
    assert isinstance(found, MmRemoteCluster)
    (row,) = found.rows
    assert (row.name, row.file_systems, row.contact_nodes) == (
        "ess3000.bda.scale.ibm.com",
        ("ess3000_4M (ess3000_4M)",),
        ("fscc-fab3-3-a-priv.bda.scale.com", "fscc-fab3-3-b-priv.bda.scale.com"),
    )
    assert row.digest == "9c58d9df69804393571044a9f08b005db12345e4cb87637cad83870a9f74c24d"
    assert found.complete


def test_users_of_pods() -> None:
    """Prevents any figure alone on a line from being a user, and root from being one of a namespace."""
    for text, user, uid, of_namespace in (
        ("+ whoami\nroot\n", "root", None, None),
        ("+ whoami\n1000680000\n", "1000680000", 1000680000, True),
        ("uid=0(root) gid=0(root) groups=0(root)\n", "root", 0, False),
        ("uid=1000680000(1000680000) gid=0(root) groups=0(root),1000680000\n", "1000680000", 1000680000, True),
        ("whoami: cannot find name for user ID 1000680000\n", "1000680000", 1000680000, True),
    ):
        (found,) = read_text(text)
        assert isinstance(found, WhoAmI)
        assert (found.user, found.uid, found.of_namespace, found.complete) == (user, uid, of_namespace, True)
    for text in ("1783342800\n", "65536\n", "root\n"):
        assert not [one for one in read_text(text) if isinstance(one, WhoAmI)]


def test_a_pod_without_devices() -> None:
    """Prevents a pod that was given no device from being one that nobody looked into."""
    (found,) = read_text("ls: cannot access '/dev/infiniband': No such file or directory\n")
    assert isinstance(found, RdmaDevices)
    assert (found.rows, found.complete) == ((), False)
    assert found.failed == "ls: cannot access '/dev/infiniband': No such file or directory"
