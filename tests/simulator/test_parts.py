"""The small parts of a cluster: ports, files, keys, identities, state, nodes, command lines."""

import base64
import datetime
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from cryptography import x509
from pydantic import ValidationError

from simulator import cluster, files, home, identities, pki, ports, starting, state
from simulator.actors import rbac
from simulator.bootstrap import agents, nodes, objects
from simulator.commands import Plan
from simulator.errors import SimulatorError
from simulator.home import Layout
from simulator.spec import ClusterSpec, NodeSpec
from simulator.starting import choose_ports
from simulator.state import PortNumbers, State
from simulator.tool_table import NAMES

DGX = NodeSpec(name="dgx01", profile="dgx1-v100-16gb")


def listening() -> socket.socket:
    """Return a socket that listens on a free port of loopback."""
    server = socket.socket()
    server.bind((ports.LOOPBACK, 0))
    server.listen()
    return server


def test_free_port_is_free_and_not_of_the_kernels() -> None:
    """Prevents an API port that some outgoing connection holds at the next start."""
    low = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    port = ports.free()
    assert ports.is_free(port)
    assert port < low or low <= ports.FIRST


def test_no_free_port_is_said() -> None:
    """Prevents an endless search."""
    with listening() as server:
        port = server.getsockname()[1]
        assert not ports.is_free(port)
        with pytest.raises(SimulatorError, match=f"no free port between {port} and {port}"):
            ports.free(first=port, last=port)


def test_known_ports_are_kept_and_others_replaced() -> None:
    """Prevents an API server that moves, and a start that fails because a port that may move is taken."""
    known = choose_ports(None, frozenset())
    assert len(set(known.model_dump().values())) == len(PortNumbers.model_fields)
    assert choose_ports(known, frozenset()) == known
    with listening() as server:
        taken = known.model_copy(update={"etcd": server.getsockname()[1]})
        assert choose_ports(taken, frozenset({"etcd"})) == taken
        moved = choose_ports(taken, frozenset())
        assert moved.etcd != taken.etcd
        assert moved.model_copy(update={"etcd": taken.etcd}) == taken
        of_before = known.model_copy(update={"admission": 0})
        assert choose_ports(of_before, frozenset({"scc-admission"})).admission > 0
        own = known.model_copy(update={"api": server.getsockname()[1]})
        with pytest.raises(SimulatorError, match=rf"port {own.api} .*pid {os.getpid()}.*sim clean"):
            choose_ports(own, frozenset())


def test_write_is_atomic_and_private(tmp_path: Path) -> None:
    """Prevents half a kubeconfig, and one that others can read."""
    path = tmp_path / "deep" / "file"
    files.write_atomically(path, "one")
    files.write_atomically(path, "two")
    assert path.read_text() == "two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


def test_lock_names_its_holder_and_dies_with_it(tmp_path: Path) -> None:
    """Prevents a lock that a killed process leaves behind."""
    path = tmp_path / "lock"
    script = (
        "import sys, time, pathlib\nfrom simulator.files import locked\n"
        f"with locked(pathlib.Path({str(path)!r}), on_busy=lambda holder: None):\n"
        "    print('held', flush=True)\n    time.sleep(60)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(home.REPOSITORY)}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()

        def busy(who: str) -> None:
            raise SimulatorError(who)

        with pytest.raises(SimulatorError, match=str(holder.pid)), files.locked(path, on_busy=busy):
            pass
        holder.kill()
        holder.wait()
        with files.locked(path, on_busy=busy):
            assert path.read_text() == str(os.getpid())


def test_pki_is_made_once_and_lasts(tmp_path: Path) -> None:
    """Prevents certificates that end within the cluster's life, or that clients refuse for 127.0.0.1."""
    made = pki.create(tmp_path, "default")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert pki.create(tmp_path, "default") == made
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    authority = x509.load_pem_x509_certificate(made.ca.read_bytes())
    server = x509.load_pem_x509_certificate(made.certificate("server").read_bytes())
    server.verify_directly_issued_by(authority)
    names = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(address) for address in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    left = server.not_valid_after_utc - datetime.datetime.now(datetime.UTC)
    assert left > datetime.timedelta(days=3600)


def test_kubeconfigs_and_tokens(tmp_path: Path) -> None:
    """Prevents a kubeconfig of the wrong user, and a second identity in system:masters."""
    layout = Layout(tmp_path)
    made = pki.create(layout.pki, "lab")
    secret = identities.write_kubeconfigs(layout, made, cluster="lab", server="https://127.0.0.1:6443")
    assert len(set(secret.values())) == len(secret) == len(identities.IDENTITIES) + 1
    person = yaml.safe_load(layout.kubeconfig.read_text())
    assert person["current-context"] == "hpc-sim-lab"
    assert person["users"] == [{"name": "kube:admin", "user": {"token": secret["kube:admin"]}}]
    cluster = person["clusters"][0]["cluster"]
    assert cluster["server"] == "https://127.0.0.1:6443"
    assert base64.b64decode(cluster["certificate-authority-data"]) == made.ca.read_bytes()
    kubelet = yaml.safe_load(layout.identity("kubelet").read_text())
    assert kubelet["users"][0]["name"] == rbac.KUBELET.user
    masters = [line for line in made.tokens.read_text().splitlines() if "system:masters" in line]
    assert [line.split(",")[1] for line in masters] == ["kube:admin"]
    again = identities.write_kubeconfigs(layout, made, cluster="lab", server="https://127.0.0.1:6443")
    assert again == secret


def test_state_survives_and_damage_is_said(tmp_path: Path) -> None:
    """Prevents a traceback for a damaged cluster.json, and silence about one of another version."""
    layout = Layout(tmp_path / "lab")
    assert state.load(layout) is None
    kept = State(spec=ClusterSpec(name="lab", nodes=(DGX,)), ports=PortNumbers(api=1, etcd=2, etcd_peer=3, kubelet=4))
    state.save(layout, kept)
    assert state.load(layout) == kept
    assert layout.state.stat().st_mode & 0o777 == 0o600
    good = layout.state.read_text()
    for bad in (good[:30], "", "[]", good.replace('"version": 1', '"version": 2')):
        layout.state.write_text(bad)
        with pytest.raises(SimulatorError, match=r"cluster\.json is damaged or of another version.*sim clean"):
            state.load(layout)


def test_home_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevents clusters in an unexpected place, and names that leave it."""
    monkeypatch.delenv("HPC_SIM_HOME", raising=False)
    assert home.of("default") == home.REPOSITORY / ".sim" / "default"
    monkeypatch.setenv("HPC_SIM_HOME", str(tmp_path))
    assert home.of("default") == tmp_path / "default"
    for bad in ("", "../up", "A", "x" * 41, "-x"):
        with pytest.raises(SimulatorError, match="cluster name"):
            home.of(bad)
        with pytest.raises(ValidationError):
            ClusterSpec(name=bad)


def test_nodes_are_bare() -> None:
    """Prevents a GPU, an rdma/* resource or a feature label without the cause that brings it."""
    manifest = nodes.node(DGX)
    reported = nodes.status(DGX, kubelet_port=10250, version="1.34.2")["status"]
    assert reported["capacity"].keys() == reported["allocatable"].keys()
    assert reported["capacity"].keys() == {"cpu", "memory", "pods", "ephemeral-storage"}
    assert not [label for label in manifest["metadata"]["labels"] if "feature" in label or "nvidia" in label]
    assert manifest["metadata"]["annotations"] == {"hpc.sim/played-by": "kwok", "hpc.sim/profile": "dgx1-v100-16gb"}
    assert "taints" not in manifest["spec"]


def test_nodes_have_for_pods_what_such_machines_have_in_the_field() -> None:
    """Prevents jobs that run here and stay Pending there: nominal memory, and CPUs that OpenShift keeps."""
    reported = nodes.status(DGX, kubelet_port=10250, version="1.34.2")["status"]
    assert reported["capacity"]["cpu"] == "80"
    assert reported["allocatable"]["cpu"] == "79500m"
    capacity, allocatable = (int(reported[of]["memory"].removesuffix("Ki")) for of in ("capacity", "allocatable"))
    assert 503 * 1024**2 < capacity < 504 * 1024**2
    assert capacity - allocatable == (1024 + 100) * 1024


def test_every_node_has_the_agents_of_openshift() -> None:
    """Prevents a job that asks for all that the kubelet leaves from running here, where nothing else asked for any."""
    (container,) = agents.daemon_set()["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["requests"] == {"cpu": "304m", "memory": "788Mi"}


def test_only_pure_masters_are_tainted() -> None:
    """Prevents workloads on the control plane, and a compact cluster on which nothing can run."""
    master = nodes.node(NodeSpec(name="m", roles=("master",)))
    assert master["spec"]["taints"] == [{"key": "node-role.kubernetes.io/master", "effect": "NoSchedule"}]
    assert "node-role.kubernetes.io/master" in master["metadata"]["labels"]
    assert "taints" not in nodes.node(NodeSpec(name="m", roles=("master", "worker")))["spec"]


def test_bad_nodes_are_refused_before_anything_starts(tmp_path: Path) -> None:
    """Prevents a cluster that is half up when its settings turn out wrong."""

    class Unheard:
        def step(self, title: str) -> None:
            raise AssertionError(f"{title} was begun")

    for spec, message in (
        (ClusterSpec(nodes=(NodeSpec(name="n", profile="dgx9"),)), "node n: unknown hardware profile 'dgx9'"),
        (ClusterSpec(nodes=(DGX, DGX)), "nodes dgx01 appear twice"),
    ):
        with pytest.raises(SimulatorError, match=message):
            starting.start(spec, Layout(tmp_path / "x"), Unheard())  # type: ignore[arg-type]
        assert not (tmp_path / "x").exists()


def test_namespaces_of_accounts_exist() -> None:
    """Prevents a bootstrap that fails on a service account whose namespace it does not make."""
    made = {manifest["metadata"]["name"] for manifest in objects.namespaces()}
    asked = {manifest["metadata"].get("namespace") for manifest in objects.access()} - {None}
    assert asked <= made


def test_no_identity_has_everything() -> None:
    """Prevents a role that would hide what a controller's missing rule breaks."""
    for manifest in objects.access():
        for rule in manifest.get("rules", ()):
            assert "*" not in (*rule["apiGroups"], *rule["resources"], *rule["verbs"]), manifest["metadata"]["name"]


def test_command_lines(tmp_path: Path) -> None:
    """Prevents a server on another address than loopback, and secrets on a command line that all users can see."""
    layout = Layout(tmp_path)
    made = pki.create(layout.pki, "lab")
    secret = identities.tokens(made)
    plan = Plan(
        layout,
        made,
        PortNumbers(api=1, etcd=2, etcd_peer=3, kubelet=4),
        ClusterSpec(name="lab"),
        {name: Path("/bin") / name for name in NAMES},
    )
    everything = [
        plan.etcd(),
        plan.api_server(),
        plan.controller_manager(),
        plan.scheduler(),
        plan.kwok(),
        plan.actors(),
    ]
    assert len({command.name for command in everything}) == len(everything)
    for command in everything:
        line = " ".join(map(str, command.arguments))
        assert "0.0.0.0" not in line  # noqa: S104 - looked for, not bound to
        assert not any(token in line for token in secret.values())
    api = list(map(str, plan.api_server().arguments))
    assert "--bind-address=127.0.0.1" in api
    assert "--authorization-mode=RBAC" in api
    assert not any("disable-admission-plugins" in argument for argument in api)
    assert "--use-service-account-credentials=true" in map(str, plan.controller_manager().arguments)
    assert plan.kwok().fingerprint() == plan.kwok().fingerprint() != plan.etcd().fingerprint()


def test_a_disk_that_is_nearly_full_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prevents etcd's crash report from standing in for "no space left"."""
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=20 * 2**20))
    with pytest.raises(SimulatorError, match="only 20 MiB are free on the disk of"):
        cluster.up(ClusterSpec(name="small"), tmp_path / "small")


def test_a_cluster_has_the_mpi_operator_of_its_generation() -> None:
    """Prevents a cluster that builds both operators, or runs another than the one asked for."""
    plain, today = ClusterSpec(), ClusterSpec(mpi="v2beta1")
    assert [name for name in starting.needed_tools(plain) if name.startswith("mpi-")] == ["mpi-operator"]
    assert [name for name in starting.needed_tools(today) if name.startswith("mpi-")] == ["mpi-operator-v2beta1"]
