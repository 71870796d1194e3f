"""Versions of components, read from objects of a cluster and from a state."""

from typing import Any

from core.apis import kinds
from core.apis.kinds import Kind
from toolkit.cli.shared.preflight import installed_versions


def obj(kind: Kind, name: str, **fields: Any) -> dict[str, Any]:
    """Return an object as a cluster has it."""
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}, **fields}


def subscription(package: str, channel: str, installed: str = "") -> dict[str, Any]:
    """Return a Subscription, with the version that OLM has installed."""
    status = {"installedCSV": installed} if installed else {}
    return obj(kinds.SUBSCRIPTION, package, spec={"name": package, "channel": channel}, status=status)


def deployment(image: str) -> dict[str, Any]:
    """Return a Deployment with one container."""
    return obj(kinds.DEPLOYMENT, "controller", spec={"template": {"spec": {"containers": [{"image": image}]}}})


OBJECTS = (
    obj(
        kinds.CLUSTER_VERSION,
        "version",
        status={
            "desired": {"version": "4.21.3"},
            "history": [{"state": "Partial", "version": "4.21.3"}, {"state": "Completed", "version": "4.20.12"}],
        },
    ),
    subscription("gpu-operator-certified", "stable", "gpu-operator-certified.v25.10.1"),
    subscription("nvidia-network-operator", "v26.4"),
    subscription("nfd", "stable", "nfd.4.20.0-202511"),
    subscription("somebody-elses", "v1.2"),
    obj(kinds.CLUSTER_POLICY, "gpu-cluster-policy", spec={"driver": {"version": "580.105.08"}}),
    deployment("ghcr.io/kubeflow/trainer/trainer-controller-manager:v2.2.1"),
    deployment("mirror.example.com:5000/mpioperator/mpi-operator:0.8.2@sha256:" + "0" * 64),
    deployment("registry.example.com/other:1.0"),
)
EXPECTED = {
    "openshift": "4.20.12",
    "gpu-operator": "25.10",
    "network-operator": "26.4",
    "gpu-driver": "580",
    "trainer": "2.2",
    "mpi-operator": "0.8",
}


def test_what_runs_on_a_cluster() -> None:
    """OpenShift has come to its last completed version; operators have what OLM has installed, else their channel."""
    assert installed_versions.of_objects(installed_versions.listing(OBJECTS)) == EXPECTED


def test_what_an_update_has_declared() -> None:
    """A state has the inputs of objects, and the release that its platform's output names."""
    inputs = [{"inputs": {key: item[key] for key in item if key != "status"}} for item in OBJECTS]
    versions = installed_versions.of_state([*inputs, {"type": "pulumi:pulumi:Stack"}], "4.20")
    assert versions["openshift"] == "4.20"
    assert "gpu-operator" not in versions, "channel stable names no version"
    assert versions["network-operator"] == "26.4"


def test_a_driver_that_is_not_the_operators_is_none() -> None:
    """A ClusterPolicy with its driver off brings none."""
    policy = obj(kinds.CLUSTER_POLICY, "gpu-cluster-policy", spec={"driver": {"enabled": False, "version": "580.1.2"}})
    assert installed_versions.of_objects(installed_versions.listing([policy])) == {}
