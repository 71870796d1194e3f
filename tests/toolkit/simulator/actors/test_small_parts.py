"""Small pure functions of the actors."""

import base64
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cryptography import x509

from core.apis import names
from core.apis.kinds import EVENT
from toolkit.simulator import pods
from toolkit.simulator.access.pki import Authority
from toolkit.simulator.actors import launcher, namespaces, podlogs, scale_csi
from toolkit.simulator.actors.api import CSI_DRIVER, stated
from toolkit.simulator.actors.packages import from_manifests
from toolkit.simulator.actors.service_ca import serving, without_ca


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
    """A mirrored or pinned image is known by the last part of its repository."""
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
    """The controller gets the init image that the Deployment names."""
    assert from_manifests.own_flags("v1alpha2", arguments) == ["-kubectl-delivery-image", "d:1"]
    assert from_manifests.own_flags("v1alpha2", ["-v=2"])[1] == "mpioperator/kubectl-delivery:latest"


def test_only_the_operator_of_2020_delivers_a_kubectl() -> None:
    """The operator of today gets only flags that it knows."""
    found = from_manifests.own_flags(
        "v2beta1", ["-alsologtostderr", "--lock-namespace", "mpi-operator", "--kube-api-qps=50"]
    )
    assert found == ["-kube-api-qps", "50", "-kube-api-burst", "10"]


def test_hosts() -> None:
    """A launcher waits for all workers of its hostfile."""
    assert launcher.hosts("job-worker-0 slots=8\njob-worker-1 slots=8\n") == ["job-worker-0", "job-worker-1"]


@pytest.mark.parametrize(
    ("command", "waits"), [("until ssh host true; do sleep 1; done", True), ("echo ready", False), (None, False)]
)
def test_a_launcher_of_today_waits_only_if_it_asks_by_ssh(command: str | None, waits: bool) -> None:
    """The launcher of a queued job starts beside its workers, whatever its policy says."""
    asking = [{"name": "workers", "command": ["sh", "-c", command]}] if command else []
    marks = {launcher.SSH_ROLE: "launcher", launcher.SSH_JOB_NAME: "job"}
    pod = {"metadata": {"labels": marks, "namespace": "adas"}, "spec": {"initContainers": asking}}
    runtime: Any = SimpleNamespace(
        config_maps=SimpleNamespace(get=lambda *_: {"data": {"hostfile": "job-worker-0.job.adas.svc slots=8\n"}}),
        pods=SimpleNamespace(get=lambda *_: None),
    )
    assert launcher.waits_for_workers(pod, runtime) is waits


def test_cri_lines() -> None:
    """A line of a log has time, stream and tag before its text, as kwok reads it."""
    text = podlogs.cri(["a b"], datetime(2020, 6, 25, 17, 23, tzinfo=UTC))
    assert text == "2020-06-25T17:23:00.000000000Z stdout F a b\n"


def test_csi_driver_mounts_every_gui_secret() -> None:
    """The driver needs the secret of each of its clusters."""
    clusters = [{"id": "1", "secrets": "local"}, {"id": "2", "secrets": "remote"}]
    made = scale_csi.operands("ns", {"clusters": clusters, "pluginNodeSelector": [{"key": "scale", "value": "true"}]})
    pod = made[-1][1]["spec"]["template"]["spec"]
    mounted = [volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume]
    assert mounted == ["local", "remote"]
    assert pod["nodeSelector"] == {"scale": "true"}


def test_paths() -> None:
    """Paths are those of the API server."""
    assert EVENT.path("ns", "e") == "/api/v1/namespaces/ns/events/e"
    assert EVENT.path() == "/api/v1/events"
    assert CSI_DRIVER.path("ignored", "d", "status") == "/apis/storage.k8s.io/v1/csidrivers/d/status"


def test_conditions_keep_their_time() -> None:
    """A status that did not change is not written again."""
    obj: dict[str, Any] = {"status": {}}
    same = {"B": ("True", "x", ""), "A": ("False", "y", "")}
    obj["status"]["conditions"] = stated(obj, same)
    assert [one["type"] for one in obj["status"]["conditions"]] == ["A", "B"]
    obj["status"]["conditions"][0]["lastTransitionTime"] = "before"
    assert stated(obj, same) == obj["status"]["conditions"]
    changed = stated(obj, {"A": ("True", "y", "")})[0]
    assert changed["status"] == "True"
    assert changed["lastTransitionTime"] != "before"


def test_trainer_keeps_its_configuration_but_for_where_it_listens() -> None:
    """Its election happens in its own namespace, which a process outside the cluster does not know."""
    given = {
        "webhook": {"port": 9443},
        "metrics": {"bindAddress": ":8080"},
        "leaderElection": {"leaderElect": True},
        "certManagement": {"enable": False},
    }
    found = from_manifests.listening(given, "kubeflow-system", 21000)
    assert found["webhook"] == {"host": "127.0.0.1", "port": 21000}
    assert found["metrics"]["bindAddress"] == found["health"]["healthProbeBindAddress"] == "0"
    assert found["leaderElection"] == {"leaderElect": True, "resourceNamespace": "kubeflow-system"}
    assert found["certManagement"] == given["certManagement"]
    assert "leaderElection" not in from_manifests.listening({}, "kubeflow-system", 21000)


def test_categories_are_those_openshift_gives_to_a_block() -> None:
    """Namespaces have SELinux categories of their own; c25,c5 with 1000610000 is a pair seen on real clusters."""
    assert namespaces.categories(61) == "s0:c25,c5"
    assert len({namespaces.categories(block) for block in range(2000)}) == 2000


def test_a_new_namespace_gets_a_free_block() -> None:
    """Two namespaces have no user id in common."""
    used = namespaces.taken([{names.SCC_UID_RANGE: "1000010000/10000"}, {names.SCC_UID_RANGE: "1000020005/10000"}])
    assert used == {1, 2, 3}
    given = namespaces.missing({}, used)
    assert given == {
        names.SCC_UID_RANGE: "1000040000/10000",
        names.SCC_SUPPLEMENTAL_GROUPS: "1000040000/10000",
        names.SCC_MCS: "s0:c6,c5",
    }


def test_what_is_there_is_kept() -> None:
    """A range that the namespace already has is not overwritten."""
    own = {names.SCC_UID_RANGE: "1075480000/10000", names.SCC_MCS: "s0:c27,c24"}
    assert namespaces.missing(own, {1}) == {names.SCC_SUPPLEMENTAL_GROUPS: "1075480000/10000"}
    full = own | {names.SCC_SUPPLEMENTAL_GROUPS: "5/5"}
    assert namespaces.missing(full, set()) == {}


def test_unreadable_ranges_take_nothing() -> None:
    """A range that cannot be parsed concerns its own namespace only."""
    assert namespaces.taken([{names.SCC_UID_RANGE: "what/ever"}, {}]) == set()


SERVICE: dict[str, Any] = {
    "metadata": {
        "name": "manager",
        "namespace": "kubeflow-system",
        "uid": "1",
        "annotations": {names.SERVING_CERTIFICATES: "pair"},
    }
}


def test_an_annotated_service_gets_a_pair_for_its_names(tmp_path: Path) -> None:
    """The certificate is for the Service's names and of the CA, which is the same at the cluster's next start."""
    authority = Authority.stored(tmp_path, "service-ca")
    secret = serving(SERVICE, authority)
    assert (secret["metadata"]["name"], secret["metadata"]["namespace"]) == ("pair", "kubeflow-system")
    certificate = x509.load_pem_x509_certificate(base64.b64decode(secret["data"]["tls.crt"]))
    again = Authority.stored(tmp_path, "service-ca")
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(again.certificate))
    found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    host = "manager.kubeflow-system.svc"
    assert found.get_values_for_type(x509.DNSName) == [host, f"{host}.cluster.local"]


def test_annotated_webhooks_get_the_ca_once() -> None:
    """Each webhook of a configuration gets it; without the annotation, or with the CA, nothing is written."""
    hook = {"name": "one", "clientConfig": {"service": {"name": "manager"}}}
    marked: dict[str, Any] = {"metadata": {"annotations": {names.INJECT_CA: "true"}}, "webhooks": [hook]}
    bundle = base64.b64encode(b"ca").decode()
    assert without_ca(marked, b"ca") == [{"name": "one", "clientConfig": {"caBundle": bundle}}]
    assert without_ca({"metadata": {}, "webhooks": [hook]}, b"ca") == []
    assert without_ca({**marked, "webhooks": without_ca(marked, b"ca")}, b"ca") == []
