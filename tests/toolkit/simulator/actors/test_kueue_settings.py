"""What the simulated operator makes of a Kueue object, and of the manifests that Kueue publishes."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from components.operators.kueue_operator import KueueOperatorArgs, spec
from core.apis import kinds
from core.apis.kinds import Kind
from toolkit.simulator.actors import job_manifests, kueue, kueue_settings

Manifest = dict[str, Any]
NAMESPACE = "openshift-kueue-operator"
PORT = 20001


def resource(**changes: Any) -> Manifest:
    """Return the object of our component."""
    return {"metadata": {"name": "cluster", "uid": "1", "generation": 1}, "spec": spec(KueueOperatorArgs(**changes))}


def configured(**changes: Any) -> Manifest:
    """Return the manager's configuration for the object of our component."""
    return kueue_settings.configuration(resource(**changes), NAMESPACE, kueue.WEBHOOK_SERVICE, kueue.SECRET)


def hook(name: str, group: str, *resources: str) -> Manifest:
    """Return a webhook as Kueue publishes it."""
    service = {"name": "webhook-service", "namespace": "system", "path": f"/{name}"}
    return {
        "name": name,
        "clientConfig": {"service": service},
        "rules": [{"apiGroups": [group], "resources": [*resources]}],
    }


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Give a folder like that of Kueue's manifests, with less in it."""
    hooks = [
        hook("own", "kueue.x-k8s.io", "workloads", "workloads/status"),
        hook("job", "batch", "jobs"),
        hook("mpi", "kubeflow.org", "mpijobs", "mpijobs/status"),
        hook("pod", "", "pods"),
    ]
    definitions = [
        {
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.kueue.x-k8s.io"},
            "spec": {"names": {"plural": plural}, "versions": [{"name": "v1beta1"}, {"name": "v1beta2"}]},
        }
        for plural in ("workloads", "topologies")
    ]
    named = {"resources": ["mutatingwebhookconfigurations"], "resourceNames": ["mutating-webhook-configuration"]}
    other = {"resources": ["customresourcedefinitions"], "resourceNames": ["workloads.kueue.x-k8s.io"]}
    role = {
        "kind": "ClusterRole",
        "metadata": {"name": "manager-role"},
        "rules": [{"resources": ["pods"]}, named, other],
    }
    configurations = [
        {"kind": kind, "metadata": {"name": name}, "webhooks": hooks}
        for kind, name in job_manifests.CONFIGURATIONS.items()
    ]
    (tmp_path / "manifests.yaml").write_text(yaml.safe_dump_all(configurations))
    (tmp_path / "role.yaml").write_text(yaml.safe_dump(role))
    (tmp_path / "crds.yaml").write_text(yaml.safe_dump_all(definitions))
    return tmp_path


def test_the_manager_manages_what_the_object_names() -> None:
    """Frameworks have Kueue's own names, and only labelled namespaces are managed."""
    found = configured(frameworks=("BatchJob", "MPIJob", "TrainJob"))
    integrations = ["batch/job", "kubeflow.org/mpijob", "trainer.kubeflow.org/trainjob"]
    assert found["integrations"]["frameworks"] == integrations
    assert found["managedJobsNamespaceSelector"] == {"matchLabels": {"kueue.openshift.io/managed": "true"}}
    assert found["namespace"] == NAMESPACE


@pytest.mark.parametrize(("unlabelled", "managed"), [("ignored", False), ("held", True)])
def test_jobs_without_a_queue_are_managed_where_the_object_says_so(unlabelled: str, managed: bool) -> None:
    """The label policy None holds jobs that name no queue."""
    assert configured(unlabelled=unlabelled)["manageJobsWithoutQueueName"] is managed


@pytest.mark.parametrize(("admission", "blocks"), [("Parallel", False), ("Sequential", True)])
def test_gangs_are_waited_for_where_the_object_says_so(admission: str, blocks: bool) -> None:
    """Sequential admission blocks the next job until all pods of the one before are ready."""
    ready = configured(pods_ready={"admission": admission, "start": 60, "recovery": 0})["waitForPodsReady"]
    requeuing = {"backoffLimitCount": 5, "backoffBaseSeconds": 60, "backoffMaxSeconds": 3600}
    times = {"timeout": "60s", "recoveryTimeout": "0s", "requeuingStrategy": requeuing}
    assert ready == {**times, "blockAdmission": blocks}
    assert "waitForPodsReady" not in configured()


def test_before_version_1_5_a_gang_has_five_minutes() -> None:
    """An object without times is one of the operator up to 1.4."""
    gang = {"policy": "ByWorkload", "byWorkload": {"admission": "Parallel"}}
    manifest = {"metadata": {"name": "cluster"}, "spec": {"config": {"gangScheduling": gang}}}
    found = kueue_settings.configuration(manifest, NAMESPACE, kueue.WEBHOOK_SERVICE, kueue.SECRET)
    assert found["waitForPodsReady"] == {"timeout": "5m", "blockAdmission": False}


def test_the_manager_listens_on_loopback_alone() -> None:
    """Of its servers only that of the webhooks runs, on the cluster's own port."""
    found = kueue_settings.listening(configured(), "127.0.0.1", PORT, "/certificates")
    assert found["webhook"] == {"host": "127.0.0.1", "port": PORT, "certDir": "/certificates"}
    assert found["health"]["healthProbeBindAddress"] == found["metrics"]["bindAddress"] == "0"
    assert found["integrations"] == configured()["integrations"]


def test_webhooks_are_called_for_its_own_kinds_and_the_jobs_that_it_manages(published: Path) -> None:
    """Webhooks of other kinds are left out; those of jobs are called in managed namespaces only."""
    chosen = kueue_settings.frameworks(resource())
    for _, body in kueue.webhooks(published, NAMESPACE, PORT, chosen):
        assert body["metadata"]["name"].startswith("kueue-")
        found = {each["name"]: each for each in body["webhooks"]}
        assert found.keys() == {"own", "job", "mpi"}
        assert "namespaceSelector" not in found["own"]
        assert found["mpi"]["namespaceSelector"] == {"matchLabels": {"kueue.openshift.io/managed": "true"}}
        client = {"name": "kueue-webhook-service", "namespace": NAMESPACE, "port": PORT, "path": "/job"}
        assert found["job"]["clientConfig"] == {"service": client}


def test_versions_that_differ_are_converted(published: Path) -> None:
    """A kind whose versions differ is converted by the manager, others as they are."""
    first, second = kueue.definitions(published, NAMESPACE, PORT)
    client = first["spec"]["conversion"]["webhook"]["clientConfig"]["service"]
    assert client == {"name": "kueue-webhook-service", "namespace": NAMESPACE, "port": PORT, "path": "/convert"}
    assert "conversion" not in second["spec"]


class Certified:
    """An API server with a certificate that is, or is not, Ready."""

    def __init__(self, ready: str | None) -> None:
        self.made: list[str] = []
        words = {"type": "Ready", "status": ready, "message": "Issuing certificate as Secret does not exist"}
        self.found = None if ready is None else {"status": {"conditions": [words]}}
        self.shown: Manifest = {}

    def find(self, kind: Kind, name: str, _namespace: str | None = None) -> Any:
        """Return a definition that is served, or the certificate."""
        versions = [{"name": "v2beta1", "served": True}]
        return self.found if kind == kinds.CERTIFICATE else {"metadata": {"name": name}, "spec": {"versions": versions}}

    def apply(self, kind: Kind, _body: Manifest) -> None:
        """Keep the name of a kind."""
        self.made.append(kind.kind)

    def set_status(self, _kind: Kind, _resource: Manifest, status: Manifest) -> None:
        """Keep a status."""
        self.shown = {entry["type"]: entry for entry in status["conditions"]}


@pytest.mark.parametrize(
    ("ready", "made", "why"),
    [
        (None, ["Issuer", "Certificate"], "it has no conditions yet"),
        ("False", [], "Issuing certificate as Secret does not exist"),
    ],
)
def test_nothing_is_made_before_the_certificate_is_ready(
    published: Path, ready: str | None, made: list[str], why: str
) -> None:
    """The operator asks cert-manager for a certificate, waits for it, and its object says what cert-manager says."""
    api = Certified(ready)
    body = {"apiVersion": "kueue.openshift.io/v1", "kind": "Kueue", **resource()}
    tools = {"kueue-manifests": published}
    runtime: Any = SimpleNamespace(account=lambda _: api, settings=SimpleNamespace(tools=tools, ports={"kueue": PORT}))
    logs: Any = SimpleNamespace(append=lambda *_: None)
    found = kueue.KueueOperator(runtime, logs, {"metadata": {"namespace": NAMESPACE, "name": "one"}})
    seen: dict[Kind, Any] = {kinds.KUEUE: SimpleNamespace(get=lambda _: body)}
    found.caches = seen
    assert found.reconcile() == kueue.AGAIN_SECONDS
    assert api.made == made
    assert api.shown["Available"]["status"] == "False"
    assert api.shown["Available"]["message"] == f"certificate {NAMESPACE}/webhook-cert is not ready: {why}"


def test_the_manager_has_the_rights_that_kueue_publishes(published: Path) -> None:
    """Names of webhook configurations in its role are those of this installation."""
    plain, hooks, definitions = job_manifests.rules(published, "kueue-")
    assert "resourceNames" not in plain
    assert hooks["resourceNames"] == ["kueue-mutating-webhook-configuration"]
    assert definitions["resourceNames"] == ["workloads.kueue.x-k8s.io"]


def test_another_configuration_is_another_pod(published: Path) -> None:
    """The manager starts again with a new configuration, and never beside the former one."""
    made = [
        {kind.kind: body for kind, body in kueue.operands(one, published, NAMESPACE, PORT)}["Deployment"]["spec"]
        for one in (resource(), resource(unlabelled="held"), resource())
    ]
    first, second, again = (each["template"]["metadata"]["annotations"] for each in made)
    assert first == again != second
    assert made[0]["strategy"] == {"type": "Recreate"}
