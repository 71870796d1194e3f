"""The simulated GPU Operator makes of every recorded ClusterPolicy what the real one did."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from core.apis.names import GPU_DEPLOY
from tests.contract.gpu_operator import recorded
from tests.contract.gpu_operator.cases import load, merged
from toolkit.simulator.actors import gpu_operands, gpu_operator
from toolkit.simulator.actors.devices import MIG_STRATEGY
from toolkit.simulator.actors.gpus import MODULE_TYPE

pytestmark = pytest.mark.unit
Object = dict[str, Any]
CASES, RECORD = load(), recorded.load()["cases"]
MADE = [case for case in CASES.cases if "refused" not in RECORD[case.name]]
DIFFERENT = {
    (difference["what"], name)
    for difference in yaml.safe_load(Path(__file__).with_name("differences.yaml").read_text())
    for name in difference["cases"]
}
"""Part and case in which the two are known to differ, with reasons in the file."""


def same(what: str) -> pytest.MarkDecorator:
    """Return every case in which a part is the same."""
    cases = [case for case in MADE if (what, case.name) not in DIFFERENT]
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


LATER = f"{GPU_DEPLOY}client"
"""Label that came with 26.7, which the simulated operator is (controllers/state_manager.go)."""
VARIABLES = (MIG_STRATEGY, MODULE_TYPE, "DCGM_EXPORTER_COLLECTORS")
"""Of containers, those that what is simulated reads."""
VALIDATIONS = frozenset({"driver-validation", "toolkit-validation", "plugin-validation"})
"""Init containers that wait in the simulation."""


def nodes_of(name: str) -> list[Object]:
    """Return the nodes of a case as they were before."""
    (case,) = (case for case in CASES.cases if case.name == name)
    given = CASES.nodes(case)
    return [{"metadata": {"name": node, "labels": labels, "annotations": {}}} for node, labels in given.items()]


def labelled(node: Object, spec: Object) -> Object:
    """Return a node with the operator's labels."""
    found = merged(node["metadata"]["labels"], gpu_operator.node_labels(node, spec))
    return {"metadata": {**node["metadata"], "labels": found}}


@same("labels")
def test_nodes_have_the_same_labels(case: Any) -> None:
    """Labels decide where each operand runs."""
    spec = CASES.policy(case)
    for node in nodes_of(case.name):
        had = node["metadata"]["labels"]
        found = labelled(node, spec)["metadata"]["labels"]
        changed = {key: value for key, value in found.items() if had.get(key) != value and key != LATER}
        changed |= {key: None for key in had if key not in found}
        assert changed == RECORD[case.name]["nodes"][node["metadata"]["name"]]["labels"]


def test_every_case_is_recorded_and_every_difference_is_one() -> None:
    """There are no leftovers of cases that are gone."""
    assert [case.name for case in CASES.cases if case.name not in RECORD] == []
    assert RECORD.keys() <= {case.name for case in CASES.cases}
    assert {name for _, name in DIFFERENT} <= {case.name for case in MADE}


def daemon_sets(case: Any) -> dict[str, Object]:
    """Return the DaemonSets that the simulated operator makes."""
    spec = CASES.policy(case)
    nodes = [labelled(node, spec) for node in nodes_of(case.name)]
    if not any(map(gpu_operator.has_gpu, nodes)):
        return {}
    made = [gpu_operands.manifests(each, "ns", spec) for each in gpu_operator.operands(spec, nodes)]
    bodies = [body for group in made for _, body in group if body["kind"] == "DaemonSet"]
    return {body["metadata"]["name"]: body for body in bodies}


def compared(shape: Object) -> Object:
    """Return the part of a DaemonSet's shape that is compared."""
    first = shape["containers"][0]
    variables = {name: value for name, value in first.get("env", {}).items() if name in VARIABLES}
    return {
        "selector": shape["selector"],
        "tolerations": shape.get("tolerations", []),
        "priority": shape.get("priority", ""),
        "update": shape["update"],
        "host_pid": shape.get("host_pid", False),
        "containers": [container["name"] for container in shape["containers"]],
        "waits": [each["name"] for each in shape.get("init", []) if each["name"] in VALIDATIONS],
        "variables": variables,
    }


@same("daemon-sets")
def test_the_same_daemon_sets_are_made(case: Any) -> None:
    """Where their pods run, what runs in them, and what it waits for."""
    found = {name: compared(recorded.shape(each)) for name, each in daemon_sets(case).items()}
    wanted = {name: compared(shape) for name, shape in RECORD[case.name]["daemon_sets"].items()}
    assert found == wanted


@same("status")
@pytest.mark.parametrize("ready", [False, True])
def test_a_policy_says_the_same_of_itself(case: Any, *, ready: bool) -> None:
    """Before its pods are ready, and after."""
    spec = CASES.policy(case)
    nodes = [labelled(node, spec) for node in nodes_of(case.name)]
    sets: dict[str, Object | None] = {
        each.state: pods_of(each, nodes, ready=ready) for each in gpu_operator.operands(spec, nodes)
    }
    found = gpu_operator.status({"metadata": {"name": "p"}}, sets, nodes)
    conditions = {each["type"]: [each["status"], each["reason"], each["message"]] for each in found["conditions"]}
    wanted = RECORD[case.name]["ready" if ready else "waiting"]
    assert {"state": found["state"], "conditions": conditions} == wanted


def pods_of(operand: gpu_operands.Operand, nodes: list[Object], *, ready: bool) -> Object:
    """Return a DaemonSet with a pod on every node that it selects."""
    (body,) = (body for _, body in gpu_operands.manifests(operand, "ns", {}) if body["kind"] == "DaemonSet")
    selector = body["spec"]["template"]["spec"]["nodeSelector"].items()
    count = sum(all(node["metadata"]["labels"].get(key) == value for key, value in selector) for node in nodes)
    status = {
        "observedGeneration": 1,
        "desiredNumberScheduled": count,
        "updatedNumberScheduled": count,
        "numberAvailable": count if ready else 0,
    }
    return {"metadata": {"generation": 1}, "spec": body["spec"], "status": status}
