"""Simulated clusters, started for real."""

import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from policies.scc import default_sccs
from tests.support.clusters import FULL, homes, require_tools, running
from toolkit.engine.errors import SimulatorError
from toolkit.simulator import cluster
from toolkit.simulator.access import rbac
from toolkit.simulator.access.pki import IDENTITIES, USER, Pki, tokens
from toolkit.simulator.api import Api
from toolkit.simulator.cluster import Cluster, ClusterSpec, NodeSpec
from toolkit.simulator.home import Layout
from toolkit.simulator.processes import ports, procfs
from toolkit.simulator.processes.supervisor import Processes

pytestmark = pytest.mark.cluster

NODES = (NodeSpec(name="master01", roles=("master",)), NodeSpec(name="dgx01", profile="dgx1-v100-16gb"))
SPEC = ClusterSpec(name="test-own", nodes=NODES, actors=False)
BARE = ClusterSpec(name="test-second", actors=False)


def connect(found: Cluster, user: str = USER) -> Api:
    """Return a connection to the cluster as `user`."""
    layout = Layout(found.home)
    pki = Pki(layout.pki)
    return Api(int(found.server.rpartition(":")[2]), tokens(pki)[user], pki.ca)


@pytest.fixture(scope="module")
def own() -> Iterator[Cluster]:
    """Run a cluster of this module's own, which its tests may break and mend."""
    with running(SPEC) as started:
        yield started


def test_nodes_come_up_ready_and_bare(own: Cluster) -> None:
    """Nodes come up without GPUs and RDMA resources: only their plugins bring these."""
    seen = {node.name: node for node in cluster.status(own.home).nodes}
    assert seen.keys() == {"master01", "dgx01"}
    assert all(node.state == "Ready" for node in seen.values())
    assert seen["dgx01"].profile == "dgx1-v100-16gb"
    assert seen["dgx01"].allocatable["cpu"] == "79500m"
    assert not [name for node in seen.values() for name in node.allocatable if "nvidia" in name or "rdma" in name]


def test_only_the_user_is_system_masters(own: Cluster) -> None:
    """Every identity but the user's is refused what RBAC does not grant; OLM's is granted everything."""
    user = connect(own)
    assert user.request("GET", "/api/v1/secrets").status == 200
    for identity in IDENTITIES:
        api = connect(own, identity.user)
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {"verb": "delete", "group": "", "resource": "namespaces"}},
        }
        answer = api.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
        assert answer.status == 201, identity
        assert answer.json()["status"]["allowed"] is (identity.user == rbac.OLM.user), identity


def test_a_pod_runs_with_a_token_of_its_service_account(own: Cluster) -> None:
    """ServiceAccount admission and the scheduler work."""
    api = connect(own)
    path = "/api/v1/namespaces/default/pods/probe"
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "probe", "annotations": {"hpc.sim/volumes": "ready", "hpc.sim/init": "done"}},
        "spec": {"containers": [{"name": "main", "image": "probe", "resources": {"requests": {"cpu": "40"}}}]},
    }
    assert api.request("POST", "/api/v1/namespaces/default/pods", pod).status == 201
    deadline = time.monotonic() + 240
    while (found := api.get(path))["status"]["phase"] != "Running" and time.monotonic() < deadline:
        time.sleep(0.1)
    assert found["status"]["phase"] == "Running"
    assert found["spec"]["nodeName"] == "dgx01"
    assert [volume for volume in found["spec"]["volumes"] if "projected" in volume]
    api.delete(path)


def test_openshift_is_there(own: Cluster) -> None:
    """The bootstrap creates what the platform's first objects need."""
    api = connect(own)
    pools = api.get("/apis/machineconfiguration.openshift.io/v1/machineconfigpools")["items"]
    assert {pool["metadata"]["name"] for pool in pools} == {"master", "worker"}
    sccs = api.get("/apis/security.openshift.io/v1/securitycontextconstraints")["items"]
    assert {scc["metadata"]["name"] for scc in sccs} == {scc["metadata"]["name"] for scc in default_sccs("4.4")}
    webhooks = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
    assert api.get(webhooks)["items"] == [], "a cluster without actors has no process that would answer"
    catalogues = api.get("/apis/operators.coreos.com/v1alpha1/namespaces/openshift-marketplace/catalogsources")
    assert "redhat-operators" in {item["metadata"]["name"] for item in catalogues["items"]}


def test_second_up_reuses_everything(own: Cluster) -> None:
    """A second start restarts nothing."""
    before = {process.name: process.pid for process in cluster.status(own.home).processes}
    assert cluster.up(SPEC, own.home).reused
    assert {process.name: process.pid for process in cluster.status(own.home).processes} == before


@pytest.mark.parametrize("victim", ["etcd", "kube-apiserver", "kube-controller-manager", "kwok"])
def test_killed_process_is_started_again(own: Cluster, victim: str) -> None:
    """`up` starts the process that is missing."""
    processes = Processes(own.home)
    record = processes.running()[victim]
    os.kill(record.pid, signal.SIGKILL)
    deadline = time.monotonic() + 240
    # A process with threads goes on running for a moment after SIGKILL (seen on a busy core).
    while processes.alive(record) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert cluster.status(own.home).state == "partial"
    again = cluster.up(SPEC, own.home)
    assert again.started == (victim,)
    assert cluster.status(own.home).state == "running"


def test_stopped_cluster_starts_with_its_data_and_port(own: Cluster) -> None:
    """Objects and the API server's address survive `down`."""
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept"}, "data": {"a": "b"}}
    path = "/api/v1/namespaces/default/configmaps"
    assert connect(own).request("POST", path, config).status == 201
    kubeconfig = own.kubeconfig.read_text()
    assert "kube-apiserver" in cluster.down(own.home)
    assert cluster.status(own.home).state == "stopped"
    assert cluster.down(own.home) == ()
    again = cluster.up(SPEC, own.home)
    assert again.server == own.server
    assert own.kubeconfig.read_text() == kubeconfig
    assert connect(own).get(f"{path}/kept")["data"] == {"a": "b"}


def test_nodes_follow_the_specification(own: Cluster) -> None:
    """Nodes are added and removed with the settings."""
    other = SPEC.model_copy(update={"nodes": (NODES[1], NodeSpec(name="worker03"))})
    cluster.up(other, own.home)
    assert {node.name for node in cluster.status(own.home).nodes} == {"dgx01", "worker03"}
    cluster.up(SPEC, own.home)
    assert {node.name for node in cluster.status(own.home).nodes} == {"dgx01", "master01"}


def test_taken_port_is_named_with_a_remedy(own: Cluster) -> None:
    """A taken API port is one error with its holder and the remedy."""
    cluster.down(own.home)
    port = int(own.server.rpartition(":")[2])
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind((ports.LOOPBACK, port))
        other.listen()
        with pytest.raises(SimulatorError, match=rf"port {port} .* taken by .*pid {os.getpid()}.*sim clean"):
            cluster.up(SPEC, own.home)
        assert cluster.status(own.home).state == "stopped"
    assert cluster.up(SPEC, own.home).server == own.server


def test_down_stops_what_was_never_recorded(own: Cluster) -> None:
    """`down` also stops processes that a crash kept from being recorded."""
    pids = Layout(own.home).home / "pids.json"
    running_before = Processes(own.home).running()
    pids.unlink()
    cluster.down(own.home)
    assert not any(
        (seen := procfs.stat(record.pid)) and not seen.dead and seen.started == record.started
        for record in running_before.values()
    )
    cluster.up(SPEC, own.home)


def test_two_clusters_side_by_side_and_one_removed(own: Cluster) -> None:
    """Two clusters share no port, and removing one leaves the other running."""
    with running(BARE) as second:
        assert second.server != own.server
        assert second.context != own.context
        recorded = Processes(second.home).running()
        assert set(cluster.clean(second.home)) == set(recorded)
        assert not second.home.exists()
        assert not [pid for pid in (record.pid for record in recorded.values()) if Path(f"/proc/{pid}/exe").exists()]
        assert cluster.status(second.home).state == "absent"
        assert cluster.status(own.home).state == "running"


def _up(folder: Path, answers: "multiprocessing.Queue[str]") -> None:
    try:
        cluster.up(SPEC, folder)
    except SimulatorError as error:
        answers.put(str(error))
    else:
        answers.put("up")


def test_second_up_at_once_ends_with_one_message(own: Cluster) -> None:
    """A second start at the same time ends with one message."""
    cluster.down(own.home)
    answers: multiprocessing.Queue[str] = multiprocessing.Queue()
    both = [multiprocessing.Process(target=_up, args=(own.home, answers)) for _ in range(2)]
    for one in both:
        one.start()
    found = sorted(answers.get(timeout=60) for _ in both)
    for one in both:
        one.join()
    assert found[1] == "up"
    assert "wait until it has ended" in found[0]


def test_failing_start_names_process_and_shows_its_log() -> None:
    """A failed start names the process with its log, and stops what it started."""
    require_tools(BARE)
    folder = homes() / f"test-broken-{os.getpid()}"
    try:
        broken = Layout(folder).etcd / "member"
        broken.parent.mkdir(parents=True)
        broken.write_text("not a folder")
        with pytest.raises(SimulatorError, match=r"(?s)etcd ended; the last lines of .*etcd\.log:.*member"):
            cluster.up(BARE, folder)
        assert cluster.status(folder).state == "stopped"
        assert Processes(folder).running() == {}
    finally:
        cluster.clean(folder)


def test_damaged_state_is_said_and_can_be_cleaned(own: Cluster) -> None:
    """A damaged cluster.json is one error, and the cluster can still be removed."""
    state = Layout(own.home).state
    good = state.read_text()
    state.write_text(good[: len(good) // 2])
    with pytest.raises(SimulatorError, match=r"cluster\.json is damaged.*sim clean"):
        cluster.up(SPEC, own.home)
    assert "damaged" in str(cluster.status(own.home).problem)
    assert cluster.down(own.home)
    state.write_text(good)
    cluster.up(SPEC, own.home)


def test_private_files_are_private(own: Cluster) -> None:
    """Keys and tokens are readable by their owner only."""
    layout = Layout(own.home)
    private = [layout.state, layout.kubeconfig, *layout.pki.iterdir(), *layout.identity("x").parent.iterdir()]
    assert {oct(path.stat().st_mode & 0o777) for path in private} == {"0o600"}


def listening(home: Path) -> list[str]:
    """Return the addresses that the cluster's processes listen on, as the kernel writes them."""
    mine = {pid for record in Processes(home).running().values() for pid in Processes(home).members(record)}
    inodes = set()
    for pid in mine:
        links = [str(handle.readlink()) for handle in Path(f"/proc/{pid}/fd").iterdir() if handle.is_symlink()]
        inodes |= {link[8:-1] for link in links if link.startswith("socket:[")}
    found = []
    for table in ("tcp", "tcp6"):
        for fields in map(str.split, Path(f"/proc/net/{table}").read_text().splitlines()[1:]):
            if fields[3] == "0A" and fields[9] in inodes:
                found.append(fields[1].partition(":")[0])
    return found


def test_every_server_is_on_loopback(own: Cluster) -> None:
    """Every server listens on loopback only."""
    # kwok simulates nodes before it serves their logs, and nobody waits for that port.
    deadline = time.monotonic() + 240
    while len(listening(own.home)) < 4 and time.monotonic() < deadline:
        time.sleep(0.1)
    found = listening(own.home)
    assert len(found) >= 4
    assert set(found) == {"0100007F"}


def test_other_clusters_home_is_refused(own: Cluster) -> None:
    """A cluster does not start in the home of another."""
    with pytest.raises(SimulatorError, match=r"is the home of the cluster 'test-own', not of 'test-second'"):
        cluster.up(BARE, own.home)


def test_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A home that cannot be written is one error."""
    require_tools(BARE)
    (tmp_path / "file").write_text("")
    with pytest.raises(SimulatorError, match=r"cannot start a cluster in .*file/x: .*HPC_SIM_HOME"):
        cluster.up(BARE, tmp_path / "file" / "x")


def test_whole_cluster_plays(simulated_cluster: Cluster) -> None:
    """`up` returns once the actors run, and fails when they exit."""
    found = cluster.status(simulated_cluster.home)
    assert found.state == "running"
    assert {process.name for process in found.processes} >= {"kwok", "actors", "kube-scheduler", "scc-admission"}
    assert all(process.rss_bytes > 0 for process in found.processes)
    assert found.rss_bytes < 1.5 * 2**30
    assert cluster.up(FULL, simulated_cluster.home).reused
