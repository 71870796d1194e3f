"""What operators and OLM report in their own messages, and what of it is a failure."""

from pathlib import Path
from typing import Any

import pytest

from core.apis import kinds
from tests.support.messages import has
from tests.support.wait_objects import NOTHING, condition, ended, look, meta, pod, waits
from toolkit.cli.up.waits import rules
from toolkit.cli.up.waits.rules import RULES, judge_of
from toolkit.cli.up.waits.verdict import DONE, Look, Rule, Verdict

NO_CHANNEL = (
    "constraints not satisfiable: no operators found in channel 9.9 of package nfd in the catalog referenced by "
    "subscription nfd, subscription nfd exists"
)
UNHEALTHY = condition(
    "CatalogSourcesUnhealthy", "True", "UnhealthyCatalogSourceFound", "targeted catalogsource ns/redhat unhealthy"
)


def judged(kind: kinds.Kind, status: dict[str, Any], around: Look = NOTHING, **more: Any) -> Verdict:
    """Return the verdict on an object of a kind with a status."""
    spec = {"source": "redhat", "sourceNamespace": "ns"}
    obj = {"kind": kind.kind, "metadata": meta("x", generation=2), "spec": spec, "status": status, **more}
    return judge_of(kind.group, kind.kind)(obj, around)


def conditions(*some: dict[str, Any]) -> dict[str, Any]:
    """Return a status of conditions alone."""
    return {"conditions": list(some)}


DEPLOYMENT = {
    "metadata": meta("nfd", labels={"olm.owner": "x", "olm.owner.namespace": "ns"}),
    "spec": {"replicas": 1},
    "status": {},
}
CRASHING = look(
    (kinds.DEPLOYMENT, [DEPLOYMENT]),
    (kinds.REPLICA_SET, [{"metadata": meta("rs", owner="nfd-uid")}]),
    (kinds.POD, [pod("nfd-1", ended(2, 4, "panic: no rights"), owner="rs-uid")]),
)
CRASH = ("pod ns/nfd-1", "container main", "exit code 2", "4 restarts", "CrashLoopBackOff", "panic: no rights")
CATALOG = ("CatalogSourcesUnhealthy", "UnhealthyCatalogSourceFound", "targeted catalogsource ns/redhat unhealthy")
PLAN = {"kind": "InstallPlan", "metadata": meta("install-1"), "spec": {"approved": True}}
STEP = condition("Installed", "False", "InstallComponentFailed", "error validating existing CRs against new CRD")


@pytest.mark.parametrize(
    ("status", "around", "state", "parts"),
    [
        ({"installedCSV": "nfd.v1", "currentCSV": "nfd.v1", "state": "AtLatestKnown"}, NOTHING, "done", ()),
        (
            {"installedCSV": "nfd.v1", "currentCSV": "nfd.v2", "state": "UpgradePending"},
            NOTHING,
            "waiting",
            ("nfd.v1 is installed", "UpgradePending"),
        ),
        ({}, NOTHING, "waiting", ("not resolved",)),
        (
            conditions(condition("ResolutionFailed", "True", "ConstraintsNotSatisfiable", NO_CHANNEL)),
            NOTHING,
            "failing",
            ("ResolutionFailed", "ConstraintsNotSatisfiable", NO_CHANNEL),
        ),
        (
            conditions(condition("BundleUnpackFailed", "True", "BundleUnpackFailed", "job failed: DeadlineExceeded")),
            NOTHING,
            "failing",
            ("BundleUnpackFailed", "job failed: DeadlineExceeded"),
        ),
        (
            conditions(condition("BundleUnpacking", "True", "JobIncomplete", "unpack job not completed")),
            NOTHING,
            "waiting",
            ("JobIncomplete", "unpack job not completed"),
        ),
        (
            conditions(UNHEALTHY),
            NOTHING,
            "failing",
            (*CATALOG, "no CatalogSource ns/redhat"),
        ),
        (
            conditions(UNHEALTHY),
            look((kinds.CATALOG_SOURCE, [{"metadata": meta("redhat")}])),
            "waiting",
            CATALOG,
        ),
        (
            conditions(UNHEALTHY),
            look(
                (kinds.CATALOG_SOURCE, [{"metadata": meta("redhat")}]),
                (kinds.POD, [pod("redhat-1", waits("ErrImagePull", "denied"), labels={"olm.catalogSource": "redhat"})]),
            ),
            "failing",
            (*CATALOG, "pod ns/redhat-1", "container main", "ErrImagePull", "denied"),
        ),
        (
            {"installPlanRef": {"name": "install-1"}},
            look((kinds.INSTALL_PLAN, [{**PLAN, "status": {"phase": "Failed", **conditions(STEP)}}])),
            "failed",
            ("InstallPlan install-1", "InstallComponentFailed", "error validating existing CRs against new CRD"),
        ),
        (
            {"installPlanRef": {"name": "install-1"}},
            look(
                (kinds.INSTALL_PLAN, [{**PLAN, "spec": {"approved": False}, "status": {"phase": "RequiresApproval"}}])
            ),
            "waiting",
            (
                *("InstallPlan install-1", "approval", "`oc -n ns patch installplan install-1 --type merge"),
                """-p '{"spec":{"approved":true}}'`""",
            ),
        ),
        (
            conditions(condition("InstallPlanFailed", "True", "InstallComponentFailed", "no such namespace")),
            NOTHING,
            "failing",
            ("InstallPlanFailed", "InstallComponentFailed", "no such namespace"),
        ),
    ],
)
def test_subscriptions(status: dict[str, Any], around: Look, state: str, parts: tuple[str, ...]) -> None:
    """Failures that OLM retries count when they last; a failed plan is final; a catalogue that starts is waited for."""
    found = judged(kinds.SUBSCRIPTION, status, around)
    assert found.state == state
    assert (has(found.message, *parts), bool(found.message)) == (True, bool(parts))


OLD, NEW = "gpu-operator-certified.v25.10.1", "gpu-operator-certified.v26.3.2"
UNAPPROVED = {**PLAN, "spec": {"approved": False}, "status": {"phase": "RequiresApproval"}}


@pytest.mark.parametrize(
    ("approval", "installed", "current", "state", "parts"),
    [
        ("Automatic", NEW, NEW, "done", ()),
        ("Automatic", OLD, OLD, "failing", (OLD, "no upgrade", "channel v26.3", "oc get packagemanifest")),
        ("Manual", OLD, OLD, "failing", (OLD, "no upgrade", "channel v26.3", "oc get packagemanifest")),
        ("Manual", OLD, NEW, "waiting", ("InstallPlan install-1", "approval", "patch installplan")),
        ("Manual", NEW, "gpu-operator-certified.v26.3.3", "done", ()),
    ],
)
def test_subscriptions_after_a_change_of_the_channel(
    approval: str, installed: str, current: str, state: str, parts: tuple[str, ...]
) -> None:
    """What is installed must be of the channel: OLM that offers nothing is a failure, a plan waits for its approval."""
    spec = {"name": "gpu-operator-certified", "channel": "v26.3", "installPlanApproval": approval}
    status = {
        "installedCSV": installed,
        "currentCSV": current,
        "state": "AtLatestKnown" if installed == current else "UpgradePending",
        "installPlanRef": {"name": "install-1"},
    }
    found = judged(kinds.SUBSCRIPTION, status, look((kinds.INSTALL_PLAN, [UNAPPROVED])), spec=spec)
    assert found.state == state
    assert has(found.message, *parts)


@pytest.mark.parametrize(
    ("status", "around", "state", "parts"),
    [
        ({"phase": "Succeeded"}, NOTHING, "done", ()),
        (
            {"phase": "Installing", "reason": "InstallWaiting", "message": "waiting for deployment nfd"},
            look((kinds.DEPLOYMENT, [DEPLOYMENT])),
            "waiting",
            ("Installing", "InstallWaiting", "waiting for deployment nfd", "0 of 1 pods"),
        ),
        (
            {"phase": "Failed", "reason": "UnsupportedOperatorGroup", "message": "OwnNamespace is not supported"},
            NOTHING,
            "failing",
            ("Failed", "UnsupportedOperatorGroup", "OwnNamespace is not supported"),
        ),
        (
            {"phase": "Installing", "reason": "InstallWaiting"},
            CRASHING,
            "failing",
            ("nfd", *CRASH),
        ),
        (
            {"phase": "Failed", "reason": "InstallCheckFailed", "message": "install timeout"},
            CRASHING,
            "failing",
            ("Failed", "InstallCheckFailed", "install timeout", "Deployment nfd", *CRASH),
        ),
        (
            {
                "phase": "Pending",
                "reason": "RequirementsNotMet",
                "requirementStatus": [
                    {"kind": "CustomResourceDefinition", "name": "a.b", "status": "NotPresent"},
                    {"kind": "ServiceAccount", "name": "nfd", "status": "Present"},
                ],
            },
            NOTHING,
            "waiting",
            ("Pending", "RequirementsNotMet", "CustomResourceDefinition a.b", "NotPresent"),
        ),
    ],
)
def test_cluster_service_versions(status: dict[str, Any], around: Look, state: str, parts: tuple[str, ...]) -> None:
    """A version whose phase alternates while its pod fails has the pod's failure, which lasts."""
    found = judged(kinds.CLUSTER_SERVICE_VERSION, status, around)
    assert found.state == state
    assert (has(found.message, *parts), bool(found.message)) == (True, bool(parts))


DRIVER = {
    "metadata": meta("driver", owner="x-uid"),
    "status": {"desiredNumberScheduled": 2, "numberReady": 0},
}
NOT_READY = condition("Error", "True", "OperandNotReady", "states not ready: [state-driver]")


@pytest.mark.parametrize(
    ("status", "pods", "state", "parts"),
    [
        ({"state": "ready", **conditions(condition("Ready", "True", "Reconciled"))}, (), "done", ()),
        (
            {"state": "ready", **conditions(condition("Ready", "True", "NoGPUNodes", "No GPU node found"))},
            (),
            "waiting",
            ("ready", "NoGPUNodes", "No GPU node found"),
        ),
        (
            {"state": "notReady", **conditions(NOT_READY)},
            (pod("driver-1", waits("ContainerCreating"), owner="driver-uid"),),
            "waiting",
            ("DaemonSet driver", "0 of 2 pods", "pod driver-1", "container main", "ContainerCreating"),
        ),
        (
            {"state": "notReady", **conditions(NOT_READY)},
            (pod("driver-1", ended(1, 2, "NVRM: ignores this GPU"), owner="driver-uid"),),
            "failing",
            (
                *("pod ns/driver-1", "container main", "exit code 1", "2 restarts", "CrashLoopBackOff"),
                "NVRM: ignores this GPU",
            ),
        ),
        (
            {"state": "notReady", **conditions(condition("Error", "True", "ReconcileFailed", "no runtime class"))},
            (),
            "failing",
            ("ReconcileFailed", "no runtime class"),
        ),
        (
            {
                "state": "notReady",
                **conditions(condition("Error", "True", "ReconcileFailed", "old", observedGeneration=1)),
            },
            (),
            "waiting",
            ("DaemonSet driver", "0 of 2 pods"),
        ),
        (
            {"state": "ignored"},
            (),
            "failing",
            ("ignored", "ClusterPolicy"),
        ),
    ],
)
def test_cluster_policies(status: dict[str, Any], pods: tuple[Any, ...], state: str, parts: tuple[str, ...]) -> None:
    """Operands that are not ready yet are not a failure, whatever the condition is called; pods that end are."""
    around = look((kinds.DAEMON_SET, [DRIVER] if status["state"] == "notReady" else []), (kinds.POD, pods))
    found = judged(kinds.CLUSTER_POLICY, status, around)
    assert found.state == state
    assert (has(found.message, *parts), bool(found.message)) == (True, bool(parts))


def test_a_cluster_policy_that_is_ready_before_its_pods_is_waited_for() -> None:
    """The operator reports ready before the pods of its DaemonSets run; one of these that ends is a failure."""
    status = {"state": "ready", **conditions(condition("Ready", "True", "Reconciled", "all resources"))}
    starting = pod("driver-1", waits("ContainerCreating"), owner="driver-uid")
    found = judged(kinds.CLUSTER_POLICY, status, look((kinds.DAEMON_SET, [DRIVER]), (kinds.POD, [starting])))
    assert (found.state, has(found.message, "DaemonSet driver", "0 of 2 pods", "driver-1")) == ("waiting", True)
    crashing = look((kinds.DAEMON_SET, [DRIVER]), (kinds.POD, [pod("driver-1", ended(1, 3), owner="driver-uid")]))
    assert judged(kinds.CLUSTER_POLICY, status, crashing).state == "failing"
    assert judged(kinds.CLUSTER_POLICY, status).state == "done"


@pytest.mark.parametrize(
    ("reason", "state"),
    [("DriverNotReady", "waiting"), ("ConflictingNodeSelector", "failing"), ("ReconcileFailed", "failing")],
)
def test_nvidia_drivers(reason: str, state: str) -> None:
    """An NVIDIADriver that selects a node of another is a failure with its message; pods that start are not."""
    status = {"state": "notReady", **conditions(condition("Error", "True", reason, "node a100-01"))}
    found = judged(kinds.NVIDIA_DRIVER, status)
    assert found.state == state
    assert has(found.message, reason, "node a100-01")
    assert judged(kinds.NVIDIA_DRIVER, {"state": "ready"}).state == "done"


def test_nic_node_policies() -> None:
    """A NicNodePolicy that selects a node of another is a failure with the operator's reason."""
    reason = 'node selector overlap detected: node "dgx01" is selected by policies: [former, training]'
    found = judged(kinds.NIC_NODE_POLICY, {"state": "error", "reason": reason})
    assert (found.state, has(found.message, reason)) == ("failing", True)
    assert judged(kinds.NIC_NODE_POLICY, {"state": "ready", "reason": ""}).state == "done"


def test_nic_cluster_policies() -> None:
    """A part in state error is a failure with its message; one that is not ready is waited for."""
    states = [{"name": "state-OFED", "state": "notReady"}, {"name": "state-RDMA", "state": "ready"}]
    found = judged(kinds.NIC_CLUSTER_POLICY, {"state": "notReady", "appliedStates": states})
    assert found.state == "waiting"
    assert has(found.message, "state-OFED", "notReady")
    states[0] |= {"state": "error", "message": "failed to render objects: no kernel headers"}
    found = judged(kinds.NIC_CLUSTER_POLICY, {"state": "notReady", "appliedStates": states})
    assert found.state == "failing"
    assert has(found.message, "state-OFED", "error", "failed to render objects: no kernel headers")
    found = judged(kinds.MACVLAN_NETWORK, {"state": "error", "reason": "ipam: invalid CIDR"})
    assert found.state == "failing"
    assert has(found.message, "error", "ipam: invalid CIDR")
    assert judged(kinds.NIC_CLUSTER_POLICY, {"state": "ready"}).state == "done"
    crashing = look((kinds.DAEMON_SET, [DRIVER]), (kinds.POD, [pod("mofed-1", ended(1, 3), owner="driver-uid")]))
    assert judged(kinds.NIC_CLUSTER_POLICY, {"state": "notReady"}, crashing).state == "failing"


def test_machine_config_pools() -> None:
    """A pool is reported with its counts while nodes restart; a degraded node with the daemon's pod and its log."""
    counts = {"machineCount": 4, "updatedMachineCount": 1}
    updating = condition("Updating", "True", "", "All nodes are updating to rendered-gpu-1")
    found = judged(kinds.MACHINE_CONFIG_POOL, {**counts, **conditions(updating)})
    assert found.state == "waiting"
    assert has(found.message, "1 of 4 nodes", "All nodes are updating to rendered-gpu-1")
    why = 'Node dgx01 is reporting: "failed to start kubelet"'
    degraded = condition("NodeDegraded", "True", "1 nodes are reporting degraded status on sync", why)
    state = {"machineconfiguration.openshift.io/state": "Degraded"}
    daemon = pod("mcd-1", labels={"k8s-app": "machine-config-daemon"})
    daemon["metadata"]["namespace"] = "openshift-machine-config-operator"
    daemon["spec"]["nodeName"] = "dgx01"
    around = look((kinds.NODE, [{"metadata": meta("dgx01", "", annotations=state)}]), (kinds.POD, [daemon]))
    found = judged(kinds.MACHINE_CONFIG_POOL, {**counts, **conditions(updating, degraded)}, around)
    assert (found.state, found.key, found.container) == ("failing", "NodeDegraded", "machine-config-daemon")
    assert found.message.endswith(why)
    assert found.pod is daemon
    done = {"machineCount": 4, "updatedMachineCount": 4, **conditions(condition("Updated"))}
    assert judged(kinds.MACHINE_CONFIG_POOL, done).state == "done"


def test_network_policies_and_kubelet_configs() -> None:
    """A degraded policy has the error of its enactment; a KubeletConfig is judged by its last condition."""
    degraded = condition("Degraded", "True", "FailedToConfigure", "1/2 nodes failed to configure")
    error = condition("Failing", "True", "FailedToConfigure", "NmstateError: no such device")
    enactment = {"metadata": meta("dgx01.x", "", labels={"nmstate.io/policy": "x"}), "status": conditions(error)}
    around = look((kinds.NODE_NETWORK_CONFIGURATION_ENACTMENT, [enactment]))
    found = judged(kinds.NODE_NETWORK_CONFIGURATION_POLICY, conditions(degraded), around)
    assert found.state == "failing"
    assert has(found.message, "FailedToConfigure", "1/2 nodes failed to configure", "NmstateError: no such device")
    refused = condition("Failure", "False", "", "Error: could not find any MachineConfigPool")
    found = judged(kinds.KUBELET_CONFIG, conditions(condition("Success"), refused))
    assert (found.state, found.message) == ("failing", "Error: could not find any MachineConfigPool")
    assert judged(kinds.KUBELET_CONFIG, conditions(refused, condition("Success"))).state == "done"


def test_a_kind_without_a_rule_is_judged_by_its_operators_workloads() -> None:
    """A kind without a rule fails by its operator's workloads, and else has its own status as the message."""
    crashing = look((kinds.DAEMON_SET, [DRIVER]), (kinds.POD, [pod("csi-1", ended(1, 3), owner="driver-uid")]))
    assert judged(kinds.CSI_SCALE_OPERATOR, {}, crashing).state == "failing"
    found = judged(kinds.KUEUE, conditions(condition("Available", "False", "NotReady", "0 of 2 replicas")))
    assert found.state == "waiting"
    assert has(found.message, "Available", "False", "NotReady", "0 of 2 replicas")


def test_every_rule_judges_an_object_without_a_status() -> None:
    """An object without a status is waited for, whatever its kind."""
    for rule in RULES:
        for kind in rule.kinds:
            obj = {"kind": kind, "metadata": meta("x", generation=1), "spec": {}}
            assert rule.judge(obj, NOTHING).state == "waiting", f"{rule.group} {kind}"


def test_a_module_without_its_rule_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that defines no rules fails when it is imported."""
    monkeypatch.setattr(rules, "__path__", [*rules.__path__, str(tmp_path)])
    (tmp_path / "no_rule.py").write_text("")
    with pytest.raises(AttributeError, match=r"waits\.rules\.no_rule.*'RULES'"):
        rules._rules("no_rule")


def test_two_rules_for_a_kind_are_refused() -> None:
    """A kind is judged by one rule, so that no other is ignored."""
    with pytest.raises(TypeError, match=r"two rules judge Job of batch"):
        rules.judges([*RULES, Rule("batch", ("Job",), lambda _obj, _look: DONE)])
