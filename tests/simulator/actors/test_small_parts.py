"""Small pure functions of the actors."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from simulator.actors import launcher, mpi, podlogs, pods, scale_csi
from simulator.actors.api import path
from simulator.actors.conditions import updated
from simulator.actors.sim_kinds import CSI_DRIVER, EVENT


@pytest.mark.parametrize(
    ("image", "name"),
    [
        ("mpi-operator", "mpi-operator"),
        ("mpioperator/mpi-operator:v0.2.3", "mpi-operator"),
        ("localhost:5000/a/mpi-operator", "mpi-operator"),
        ("quay.io/x/mpi-operator:1@sha256:abc", "mpi-operator"),
    ],
)
def test_image_name(image: str, name: str) -> None:
    """Prevents a mirrored or pinned image from not being played."""
    assert pods.basename(image) == name


@pytest.mark.parametrize(
    "arguments",
    [
        ["-alsologtostderr", "--kubectl-delivery-image", "d:1"],
        ["-kubectl-delivery-image=d:1"],
        ["/opt/mpi-operator", "--kubectl-delivery-image=d:1", "-v=2"],
    ],
)
def test_delivery_image(arguments: list[str]) -> None:
    """Prevents launchers with another init image than the Deployment names."""
    assert mpi.own_flags("v1alpha2", arguments) == ["-kubectl-delivery-image", "d:1"]
    assert mpi.own_flags("v1alpha2", ["-v=2"])[1] == "mpioperator/kubectl-delivery:latest"


def test_only_the_operator_of_2020_delivers_a_kubectl() -> None:
    """Prevents the operator of today from ending at a flag that it does not know."""
    found = mpi.own_flags("v2beta1", ["-alsologtostderr", "--lock-namespace", "mpi-operator", "--kube-api-qps=50"])
    assert found == ["-kube-api-qps", "50", "-kube-api-burst", "10"]


def test_hosts() -> None:
    """Prevents a launcher that does not wait for all workers of its hostfile."""
    assert launcher.hosts("job-worker-0 slots=8\njob-worker-1 slots=8\n") == ["job-worker-0", "job-worker-1"]


@pytest.mark.parametrize(
    ("command", "waits"), [("until ssh host true; do sleep 1; done", True), ("echo ready", False), (None, False)]
)
def test_a_launcher_of_today_waits_only_if_it_asks_by_ssh(command: str | None, waits: bool) -> None:
    """Prevents queued jobs that work here alone: their launcher comes beside the workers, whatever its policy says."""
    asking = [{"name": "workers", "command": ["sh", "-c", command]}] if command else []
    marks = {launcher.SSH_ROLE: "launcher", launcher.SSH_JOB_NAME: "job"}
    pod = {"metadata": {"labels": marks, "namespace": "adas"}, "spec": {"initContainers": asking}}
    runtime: Any = SimpleNamespace(
        config_map=lambda *_: {"data": {"hostfile": "job-worker-0.job.adas.svc slots=8\n"}},
        pods=SimpleNamespace(get=lambda *_: None),
    )
    assert launcher.waits_for_workers(pod, runtime) is waits


def test_cri_lines() -> None:
    """Prevents logs that kwok refuses: it wants time, stream and tag before the text."""
    text = podlogs.cri(["a b"], datetime(2020, 6, 25, 17, 23, tzinfo=UTC))
    assert text == "2020-06-25T17:23:00.000000000Z stdout F a b\n"


def test_csi_driver_mounts_every_gui_secret() -> None:
    """Prevents a driver that starts without the secret of one of its clusters."""
    clusters = [{"id": "1", "secrets": "local"}, {"id": "2", "secrets": "remote"}]
    made = scale_csi.operands("ns", {"clusters": clusters, "pluginNodeSelector": [{"key": "scale", "value": "true"}]})
    pod = made[-1][1]["spec"]["template"]["spec"]
    mounted = [volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume]
    assert mounted == ["local", "remote"]
    assert pod["nodeSelector"] == {"scale": "true"}


def test_paths() -> None:
    """Prevents requests to another object than the one meant."""
    assert path(EVENT, "ns", "e") == "/api/v1/namespaces/ns/events/e"
    assert path(EVENT, None) == "/api/v1/events"
    assert path(CSI_DRIVER, "ignored", "d", "status") == "/apis/storage.k8s.io/v1/csidrivers/d/status"


def test_conditions_keep_their_time() -> None:
    """Prevents an endless loop: a status that differs from itself would be written at every look."""
    obj: dict[str, Any] = {"status": {}}
    obj["status"]["conditions"] = updated(obj, B=(True, "x"), A=(False, "y"))
    assert [one["type"] for one in obj["status"]["conditions"]] == ["A", "B"]
    obj["status"]["conditions"][0]["lastTransitionTime"] = "before"
    assert updated(obj, B=(True, "x"), A=(False, "y")) == obj["status"]["conditions"]
    assert updated(obj, A=(True, "y"))[0]["status"] == "True"
