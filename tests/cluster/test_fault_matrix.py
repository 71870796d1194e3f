"""Faults of the field on the Redpaper's lab, past the policies: what stops each, and that none gets through.

Each row of docs/reference/faults.yaml is brought about here: first in the manifests, for the policies, and then on
a cluster.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.apis import kinds
from core.pulumi_values import REDACTED
from stacks.environment import build, placeholder_accounts
from stacks.loading.settings import parse
from tests.support import platform, prometheus
from tests.support.clusters import running
from tests.support.field import Field, Manifest, edited, named, refusals
from tests.support.lab import eventually
from tests.support.matrix import JOB, LISTENER, RDMA_TEST, check, healthy
from tests.support.prometheus import page
from tests.support.recorded import ROOT, component
from tests.support.stack_settings import changed
from tests.support.user import User
from toolkit.cli.shared import cluster_client
from toolkit.cli.shared.simulated import spec as simulated_spec
from toolkit.render.manifests import manifests
from toolkit.render.reference import faults
from toolkit.simulator import cluster, names
from toolkit.simulator.cluster import ClusterSpec
from toolkit.simulator.performance.job import NodeFaults

pytestmark = pytest.mark.cluster

EXPORTER = {"image": "nvidia/dcgm-exporter:1.7.2-2.0.0-rc.9-ubuntu18.04"}
SETTINGS = parse(changed("dev", gpu__exporter=EXPORTER), "dev")
SPEC = ClusterSpec(name="test-faults", nodes=simulated_spec.nodes(SETTINGS))
HEALTHY = tuple(manifests(component(lambda: build(SETTINGS, placeholder_accounts(SETTINGS, REDACTED), ROOT))))
ROWS = {name: fault for name, fault in faults.data().items() if "stack" not in fault}
MEMLOCK = "50-worker-crio-memlock"


def _replica(found: list[Manifest], role: str) -> Any:
    return named(found, JOB)["spec"]["mpiReplicaSpecs"][role]["template"]["spec"]["containers"][0]


def _say(before: str, after: str, found: list[Manifest]) -> None:
    command = _replica(found, "Launcher")["command"]
    command[command.index(before)] = after


def _processes(count: str, found: list[Manifest]) -> None:
    command = _replica(found, "Launcher")["command"]
    command[command.index("-np") + 1] = count


def _no_machine_config(found: list[Manifest]) -> None:
    found.remove(named(found, MEMLOCK))


def _nothing_asked_for(found: list[Manifest]) -> None:
    del _replica(found, "Worker")["securityContext"]["capabilities"]["add"]


def _neither(found: list[Manifest]) -> None:
    _no_machine_config(found)
    _nothing_asked_for(found)


def _nothing_allowed(found: list[Manifest]) -> None:
    named(found, "scc-for-mpi")["allowedCapabilities"] = []


def _strange_device(found: list[Manifest]) -> None:
    data = named(found, "rdma-devices")["data"]
    data["config.json"] = data["config.json"].replace('"ib2"', '"ib9"')


def _nothing(_: list[Manifest]) -> None:
    """Leave manifests as they are: the fault is of a machine."""


@dataclass(frozen=True)
class Fault:
    """The changes that cause a row: in manifests, and on nodes; `settle` waits until the platform shows it."""

    edit: Callable[[list[Manifest]], None] = _nothing
    settle: Callable[[Field], None] = lambda _: None
    node: Callable[[Field], None] = lambda _: None
    repair: Callable[[Field], None] = lambda _: None


def _memlock(value: str | None, field: Field) -> None:
    def rolled_out() -> bool:
        nodes = [field.api.get(kinds.NODE, name) for name in platform.DGX]
        return all(
            node["metadata"]["annotations"].get(names.MEMLOCK) == value and not node["spec"].get("unschedulable")
            for node in nodes
        )

    eventually(rolled_out, f"memlock is not {value}")


def _plugin(field: Field) -> None:
    field.restart("rdma-shared-dp-ds", "kube-system")
    config = json.loads(field.api.get(kinds.CONFIG_MAP, "rdma-devices", "kube-system")["data"]["config.json"])
    wanted = {entry["resourceName"]: len(entry["devices"]) for entry in config["configList"]}
    assert len(wanted) == len(SETTINGS.rdma_resources)
    field.offered()


def _down(ports: str | None, field: Field) -> None:
    field.api.annotate(kinds.NODE, platform.DGX[1], {names.PORTS_DOWN: ports})


def _redirected(redirected: bool, field: Field) -> None:
    text = NodeFaults(acs=True).model_dump_json() if redirected else None
    field.api.annotate(kinds.NODE, platform.DGX[1], {names.FAULTS: text})


def _hot(celsius: dict[int, int], field: Field) -> None:
    text = NodeFaults(celsius=celsius).model_dump_json() if celsius else None
    field.api.annotate(kinds.NODE, platform.DGX[1], {names.FAULTS: text})


def _tainted(field: Field) -> None:
    taint = {"key": "repair", "value": "yes", "effect": "NoExecute"}
    field.api.patch(kinds.NODE, platform.DGX[1], {"spec": {"taints": [taint]}})
    eventually(lambda: field.api.offers(platform.DGX[1], "nvidia.com/gpu") == 0, "the node keeps its GPUs")


def _untainted(field: Field) -> None:
    field.api.patch(kinds.NODE, platform.DGX[1], {"spec": {"taints": None}})
    field.offered()


_WITHOUT_MEMLOCK = {"settle": partial(_memlock, None), "repair": partial(_memlock, names.UNLIMITED)}
FAULTS = {
    "memlock": Fault(_no_machine_config, **_WITHOUT_MEMLOCK),
    "memlock-rdma-test": Fault(_no_machine_config, **_WITHOUT_MEMLOCK),
    "ipc-lock": Fault(_nothing_allowed),
    "ipc-lock-not-requested": Fault(_neither, **_WITHOUT_MEMLOCK),
    "strange-device": Fault(_strange_device, settle=_plugin, repair=_plugin),
    "ib-disabled": Fault(partial(_say, "NCCL_IB_DISABLE=0", "NCCL_IB_DISABLE=1")),
    "gdr-off": Fault(partial(_say, "NCCL_NET_GDR_LEVEL=1", "NCCL_NET_GDR_LEVEL=0")),
    "hca-down": Fault(node=partial(_down, '["mlx5_2"]'), repair=partial(_down, None)),
    "acs": Fault(node=partial(_redirected, True), repair=partial(_redirected, False)),
    "no-gpu-stack": Fault(node=_tainted, repair=_untainted),
    "too-few-processes": Fault(partial(_processes, "1")),
    "too-many-processes": Fault(partial(_processes, "3")),
}


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    """Give the lab's platform, without engine and policies."""
    with running(SPEC) as started:
        api = User.of(started.kubeconfig)
        client = cluster_client.Cluster(started.kubeconfig, started.context)
        made = Field(api, client, SETTINGS, HEALTHY, tmp_path_factory.mktemp("logs"))
        api.apply(kinds.NAMESPACE, named(HEALTHY, platform.CSI))
        for secret in platform.SECRETS:
            api.apply(kinds.SECRET, platform.secret(secret))
        made.install()
        yield made


def test_exporter_of_2020_is_scraped_and_its_alert_fires(field: Field, tmp_path: Path) -> None:
    """The exporter of our own runs on both nodes with its list, Prometheus finds it, and a hot GPU is named."""
    address = str(cluster.status(field.cluster.kubeconfig.parent).metrics)

    def exporters() -> dict[str, str]:
        found = (each["labels"] for each in json.loads(page(address, "targets")))
        return {each["instance"]: each["__metrics_path__"] for each in found if each["job"] == "dcgm-exporter"}

    eventually(lambda: exporters().keys() == {*platform.DGX}, "not found", lambda: field.api.pods("dcgm-exporter"))
    for path in exporters().values():
        text = page(address, path)
        assert len(re.findall(r'^DCGM_FI_DEV_GPU_TEMP\{gpu="\d"', text, re.MULTILINE)) == 8
        assert "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS" in text
        assert "REMAP" not in text
    rules = prometheus.declared(field.api)
    with prometheus.running(prometheus.configured(address, rules, tmp_path), tmp_path) as server:
        server.eventually(lambda: len(server.query("DCGM_FI_DEV_GPU_TEMP")) == 16, "not all GPUs are scraped")
        server.evaluated()
        server.expect()
        _hot({3: 92}, field)
        server.expect("GpuTooHot")
        ((alert, _),) = server.query(prometheus.FIRING)
        assert (alert["instance"], alert["gpu"]) == (platform.DGX[1], "3")
        _hot({}, field)
        server.expect()


def test_every_row_is_brought_about() -> None:
    """Every row of the page is caused by a test."""
    assert FAULTS.keys() == ROWS.keys()


@pytest.mark.parametrize("name", ROWS)
def test_policies(name: str) -> None:
    """A preview refuses exactly the faults for which the page names a policy."""
    policy = ROWS[name]["policy"]
    found = refusals(SETTINGS, edited(HEALTHY, FAULTS[name].edit)) - refusals(SETTINGS, HEALTHY)
    assert policy in found if policy else found == set()


@pytest.mark.parametrize("jobs", [(JOB,), (LISTENER, RDMA_TEST)], ids=lambda jobs: jobs[0])
def test_without_a_fault_the_job_passes(field: Field, jobs: tuple[str, ...]) -> None:
    """Without a fault the job passes, so that a row fails by its fault alone."""
    healthy(field, *jobs)


@pytest.mark.parametrize("name", FAULTS)
def test_no_fault_gets_through(field: Field, name: str) -> None:
    """A platform with this fault fails verification, also where the policies were bypassed."""
    fault, row = FAULTS[name], ROWS[name]
    with ExitStack() as later:
        later.callback(fault.repair, field)
        broken = later.enter_context(field.broken(fault.edit))
        fault.settle(field)
        fault.node(field)
        check(field, broken, row)


def test_ipc_lock_alone_is_not_what_decides(field: Field) -> None:
    """With an unlimited memlock limit a job passes without IPC_LOCK, as on a real kernel."""
    with field.running(edited(HEALTHY, _nothing_asked_for), JOB):
        assert field.verified(JOB).status == 0
