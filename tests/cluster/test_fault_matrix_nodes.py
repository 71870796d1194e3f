"""Faults of today's nodes, as their own test finds them: a platform over Ethernet, each node with another fault.

The platform is that of an example, without RDMA and with one master and one worker, for the sake of time.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from core.apis import kinds
from core.progress import SILENT
from core.pulumi_values import REDACTED
from stacks.environment import build, placeholder_accounts
from stacks.loading.settings import Settings, parse
from tests.support.clusters import running
from tests.support.field import Field
from tests.support.matrix import check
from tests.support.recorded import ROOT, component
from tests.support.stack_settings import data
from tests.support.user import User
from toolkit.cli.nodes import node_marks
from toolkit.cli.shared import cluster_client
from toolkit.cli.shared.simulated import spec as simulated_spec
from toolkit.cli.verify.expectations import requests
from toolkit.cli.verify.job_logs import collect
from toolkit.evidence.fitness import Fitness, Fitnesses, fitness, is_node_test
from toolkit.evidence.judge import judge
from toolkit.render.manifests import manifests
from toolkit.render.reference import faults
from toolkit.simulator import names
from toolkit.simulator.cluster import ClusterSpec
from toolkit.simulator.performance.job import NodeFaults

pytestmark = pytest.mark.cluster

STACK = "h100-roce"
ROWS = {name: fault for name, fault in faults.data().items() if fault.get("stack") == STACK}
FAULTS: Mapping[str, NodeFaults] = {
    "gpu-at-x8": NodeFaults(pcie_width={3: 8}),
    "nvlinks-in-recovery": NodeFaults(nvlinks_in_recovery={2: 4}),
    "slow-gpu": NodeFaults(sm_mhz={5: 900}),
    "no-fabric-manager": NodeFaults(fabric_manager=False),
}
OF_NODE = {f"dgx0{number}.h100.example.com": name for number, name in enumerate(FAULTS, 1)}
JOB_OF_ROW = {name: f"preflight-{node.partition('.')[0]}" for node, name in OF_NODE.items()}
FIT, ANYWHERE = "needs-a-fit-node", "runs-anywhere"


def _settings() -> Settings:
    content = data(STACK)
    common = {"kind": "job", "tenant": "training", "program": "cuda-vector-add"}
    (test,) = next(stage for stage in content["stages"] if stage["name"] == "nodes")["workloads"]
    content["nodes"] = [
        {"name": "master01.h100.example.com", "roles": ["master"]},
        {"name": "worker01.h100.example.com", "roles": ["worker"]},
        next(node for node in content["nodes"] if "machine" in node),
    ]
    stages = [
        {"name": "nodes", "workloads": [test, {**common, "name": ANYWHERE}]},
        {"name": "fit", "fit_nodes": True, "workloads": [{**common, "name": FIT}]},
    ]
    return parse(
        {**content, "fabric": {"kind": "ethernet"}, "builds": [], "mpi_operator": None, "stages": stages}, STACK
    )


SETTINGS = _settings()
HEALTHY = tuple(manifests(component(lambda: build(SETTINGS, placeholder_accounts(SETTINGS, REDACTED), ROOT))))
SPEC = ClusterSpec(
    name="test-faults-nodes",
    nodes=simulated_spec.nodes(SETTINGS),
    release="current",
    mpi="v2beta1",
)


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    """Give the platform, without engine and policies."""
    with running(SPEC) as started:
        api = User.of(started.kubeconfig)
        cluster = cluster_client.Cluster(started.kubeconfig, started.context)
        made = Field(api, cluster, SETTINGS, HEALTHY, tmp_path_factory.mktemp("logs"))
        made.install()
        yield made


def _verdicts(field: Field) -> Fitnesses:
    """Return what `./hpc nodes` finds."""
    wanted = [one for one in requests(field.settings, {}) if is_node_test(one)]
    with SILENT.step("reading") as step:
        jobs = collect(field.cluster, wanted, field.seen(), field.folder, step)
    return fitness([*OF_NODE], jobs, judge(jobs))


def _set(field: Field, faults: Mapping[str, NodeFaults | None]) -> None:
    for node, one in faults.items():
        field.api.annotate(kinds.NODE, node, {names.FAULTS: one.model_dump_json() if one else None})


def _marked(field: Field) -> dict[str, Any]:
    nodes = (field.api.get(kinds.NODE, node)["metadata"]["labels"] for node in OF_NODE)
    return {node: labels.get("hpc.pulumi/unfit") for node, labels in zip(OF_NODE, nodes, strict=True)}


def test_every_row_is_brought_about() -> None:
    """Every row of the page is caused by a test, and names the job that finds it."""
    assert {name: row["job_name"] for name, row in ROWS.items()} == JOB_OF_ROW


def test_each_fault_is_found_and_keeps_jobs_away(field: Field) -> None:
    """Without faults all nodes are fit. With one on each its cause is found, jobs stay away, and come back after it."""
    tests = JOB_OF_ROW.values()
    with field.running(HEALTHY, *tests):
        assert {one.fitness for one in _verdicts(field).nodes} == {Fitness.FIT}
    _set(field, {node: FAULTS[name] for node, name in OF_NODE.items()})
    with field.running(HEALTHY, *tests):
        found = _verdicts(field)
        reasons = {one.node: (one.fitness, one.reason) for one in found.nodes}
        assert reasons == {node: (Fitness.UNFIT, ROWS[name]["cause"]) for node, name in OF_NODE.items()}, found
        nodes = field.cluster.list(kinds.NODE)
        node_marks.write(field.cluster, node_marks.changes(found.nodes, nodes))
    assert _marked(field) == {node: ROWS[name]["cause"] for node, name in OF_NODE.items()}
    with field.running(HEALTHY, FIT, ANYWHERE, until=frozenset({"Succeeded", "hindered"})):
        states = {one.name: one for one in field.seen() if one.name in (FIT, ANYWHERE)}
        assert states[ANYWHERE].state == "Succeeded"
        assert states[FIT].hindrances, "it has no node without a fault"
    _set(field, dict.fromkeys(OF_NODE))
    with field.running(HEALTHY, *tests):
        again = _verdicts(field)
        assert {one.fitness for one in again.nodes} == {Fitness.FIT}, again
        node_marks.write(field.cluster, node_marks.changes(again.nodes, field.cluster.list(kinds.NODE)))
    assert {*_marked(field).values()} == {None}
    with field.running(HEALTHY, FIT, until=frozenset({"Succeeded"})):
        pass


@pytest.mark.parametrize("row", JOB_OF_ROW)
def test_each_row_is_as_the_page_has_it(field: Field, row: str) -> None:
    """End, exit status, criterion, cause and line of `./hpc verify` are those of the page."""
    node = next(node for node, name in OF_NODE.items() if name == row)
    _set(field, {node: FAULTS[row]})
    try:
        check(field, [*HEALTHY], ROWS[row])
    finally:
        _set(field, {node: None})
