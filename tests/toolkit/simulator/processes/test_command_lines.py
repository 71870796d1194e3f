"""Command lines of a cluster's processes."""

from pathlib import Path

import yaml

from toolkit.engine.tools.table import NAMES
from toolkit.simulator.access import pki
from toolkit.simulator.access.pki import tokens
from toolkit.simulator.home import Layout
from toolkit.simulator.processes import configurations
from toolkit.simulator.processes.command_lines import Plan
from toolkit.simulator.state import ClusterSpec, PortNumbers, ScaleGui


def test_services_are_reached_where_controllers_of_jobs_are(tmp_path: Path) -> None:
    """The API server of a cluster without them calls nothing by a Service, and reaches its kubelets itself."""
    made, ports = pki.create(Layout(tmp_path).pki, "lab"), PortNumbers(api=1, etcd=2, etcd_peer=3, kubelet=4)
    tokens(made)
    tools = {name: Path("/bin") / name for name in NAMES}
    for controllers in ((), ("jobset", "trainer")):
        spec = ClusterSpec(name="lab", job_controllers=controllers)
        plan = Plan(Layout(tmp_path), made, ports, spec, tools)
        flags = [str(each) for each in plan.api_server().arguments if "egress" in str(each)]
        assert flags == [f"--egress-selector-config-file={Layout(tmp_path).egress_config}"] * bool(controllers)
        assert yaml.safe_load(configurations.egress())["egressSelections"][0]["name"] == "cluster"


def test_command_lines(tmp_path: Path) -> None:
    """Servers listen on loopback, and no command line holds a secret."""
    layout = Layout(tmp_path)
    made = pki.create(layout.pki, "lab")
    secret = tokens(made)
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
        plan.scale_gui(ScaleGui(cluster_id="1", file_systems=("fs1", "fs2"))),
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


def test_a_node_is_missed_after_what_the_cluster_says(tmp_path: Path) -> None:
    """After 50 s by default, with a lease of 40 s; a shorter time shortens all that leads to it."""
    made, ports = pki.create(Layout(tmp_path).pki, "lab"), PortNumbers(api=1, etcd=2, etcd_peer=3, kubelet=4)
    tools = {name: Path("/bin") / name for name in NAMES}
    flags: dict[int, list[str]] = {}
    for seconds, spec in ((50, ClusterSpec()), (10, ClusterSpec(node_grace_seconds=10))):
        plan = Plan(Layout(tmp_path), made, ports, spec, tools)
        flags[seconds] = [str(each) for each in (*plan.controller_manager().arguments, *plan.kwok().arguments)]
    assert {
        "--node-monitor-grace-period=50s",
        "--node-monitor-period=5s",
        "--node-eviction-rate=0.1",
        "--node-lease-duration-seconds=40",
    } <= {*flags[50]}
    assert {
        "--node-monitor-grace-period=10s",
        "--node-monitor-period=1s",
        "--node-eviction-rate=0.5",
        "--node-lease-duration-seconds=8",
    } <= {*flags[10]}
