"""The simulated JobSet operator: what it makes, when, and how its controller is called."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from core.apis import kinds
from core.apis.kinds import Kind
from core.apis.operators import JOB_SET_OPERATOR
from toolkit.simulator.actors.job_manifests import ISSUERS
from toolkit.simulator.actors.packages import jobset
from toolkit.simulator.actors.packages.jobset import AGAIN_SECONDS, MANAGER, NO_TOOL, JobSetOperator

META = {"name": "cluster", "uid": "1", "generation": 3}
MANAGED = {"apiVersion": "operator.openshift.io/v1", "kind": "JobSetOperator", "metadata": META}
NAMESPACE = "openshift-jobset-operator"
POD = {"metadata": {"namespace": NAMESPACE, "name": "jobset-operator-1"}}
PORT = 20002


class Cluster:
    """An API server with some definitions and one JobSetOperator."""

    def __init__(self, state: str, *definitions: str) -> None:
        self.resource: dict[str, Any] = {**MANAGED, "spec": {"managementState": state}}
        self.made: dict[tuple[str, str], Any] = {
            (kinds.CUSTOM_RESOURCE_DEFINITION.kind, name): {"metadata": {"name": name}} for name in definitions
        }

    def find(self, kind: Kind, name: str) -> Any:
        """Return an object, None for one that is not there."""
        return self.made.get((kind.kind, name))

    def apply(self, kind: Kind, body: Any) -> None:
        """Keep an object."""
        self.made[kind.kind, body["metadata"]["name"]] = body

    def set_status(self, _kind: Kind, _resource: Any, status: Any) -> None:
        """Change the status of the JobSetOperator."""
        self.resource["status"] = status

    @property
    def available(self) -> tuple[str, str]:
        """Status and message of the one condition."""
        (condition,) = self.resource["status"]["conditions"]
        assert condition["type"] == "Available"
        return condition["status"], condition["message"]


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Give a folder like that of JobSet's manifests, with less in it."""
    service = {"name": "webhook-service", "namespace": "system"}
    hooks = [
        {
            "name": plural,
            "clientConfig": {"service": {**service, "path": f"/mutate-{plural}"}},
            "rules": [{"apiGroups": [group], "resources": [plural]}],
        }
        for group, plural in (("jobset.x-k8s.io", "jobsets"), ("", "pods"))
    ]
    found = (
        {"kind": "CustomResourceDefinition", "metadata": {"name": "jobsets.jobset.x-k8s.io"}, "spec": {}},
        {"kind": "ClusterRole", "metadata": {"name": "manager-role"}, "rules": [{"resources": ["jobs"]}]},
        {
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": "mutating-webhook-configuration"},
            "webhooks": hooks,
        },
    )
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all(found))
    return tmp_path


def operator(cluster: Cluster, tools: dict[str, Path]) -> tuple[JobSetOperator, list[str]]:
    """Return the operator as it is once it has seen everything, and the list to which it writes its log."""
    lines: list[str] = []
    settings = SimpleNamespace(tools=tools, ports={"jobset": PORT})
    runtime: Any = SimpleNamespace(account=lambda _: cluster, settings=settings, server=SimpleNamespace(ca="ca"))
    logs: Any = SimpleNamespace(append=lambda _, line: lines.append(line))
    made = JobSetOperator(runtime, logs, POD)
    seen: dict[Kind, Any] = {
        JOB_SET_OPERATOR: SimpleNamespace(get=lambda _: cluster.resource),
        kinds.DEPLOYMENT: SimpleNamespace(get=lambda name, _: cluster.made.get(("Deployment", name))),
    }
    made.caches = seen
    return made, lines


def test_all_that_it_makes_belongs_to_the_object(published: Path) -> None:
    """Definition, controller and webhooks go with the object; it is Available when the controller is."""
    cluster = Cluster("Managed", ISSUERS)
    found, _ = operator(cluster, {"jobset-manifests": published})
    assert found.reconcile() is None
    for key in (
        ("CustomResourceDefinition", "jobsets.jobset.x-k8s.io"),
        ("Deployment", MANAGER),
        ("ClusterRole", MANAGER),
        ("MutatingWebhookConfiguration", "jobset-mutating-webhook-configuration"),
    ):
        assert cluster.made[key]["metadata"]["ownerReferences"][0]["uid"] == "1", key
    assert cluster.available == ("False", "")
    cluster.made["Deployment", MANAGER]["status"] = {"conditions": [{"type": "Available", "status": "True"}]}
    assert found.reconcile() is None
    assert cluster.available == ("True", "")


def test_its_webhooks_are_called_on_loopback(published: Path) -> None:
    """Webhooks have an address and a CA, and look at pods of JobSets alone."""
    made = jobset.operands(published, NAMESPACE, PORT, "ca")
    (hooks,) = (body["webhooks"] for kind, body in made if kind == kinds.MUTATING_WEBHOOK_CONFIGURATION)
    client = {"url": f"https://127.0.0.1:{PORT}/mutate-jobsets", "caBundle": "Y2E="}
    assert hooks[0]["clientConfig"] == client
    assert "objectSelector" not in hooks[0]
    assert hooks[1]["objectSelector"] == jobset.OF_JOB_SET


def test_its_controller_listens_on_loopback_alone() -> None:
    """Of the controller's servers only that of the webhooks runs, with the certificate that is there."""
    found = jobset.configuration(PORT, Path("/certificates"))
    assert found["webhook"] == {"host": "127.0.0.1", "port": PORT, "certDir": "/certificates"}
    assert found["health"]["healthProbeBindAddress"] == found["metrics"]["bindAddress"] == "0"
    assert found["internalCertManagement"] == {"enable": False}


def test_a_cluster_without_the_tool_says_so() -> None:
    """Where the cluster was started without the controller, the object says that and is not Available."""
    cluster = Cluster("Managed", ISSUERS)
    found, _ = operator(cluster, {})
    assert found.reconcile() is None
    assert cluster.available == ("False", NO_TOOL)


@pytest.mark.parametrize(
    ("state", "definitions", "again"), [("Managed", (), AGAIN_SECONDS), ("Removed", (ISSUERS,), None)]
)
def test_it_waits_for_cert_manager(
    published: Path, state: str, definitions: tuple[str, ...], again: float | None
) -> None:
    """Without cert-manager the operator logs that and tries again; an object that is not Managed is left alone."""
    cluster = Cluster(state, *definitions)
    found, lines = operator(cluster, {"jobset-manifests": published})
    assert found.reconcile() == again
    assert ("Deployment", MANAGER) not in cluster.made
    assert "status" not in cluster.resource
    assert any("cert-manager" in line for line in lines) is (again is not None)
