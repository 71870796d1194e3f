"""The simulated JobSet operator: what it makes, when, and what it says of the controller that is not there."""

from types import SimpleNamespace
from typing import Any

import pytest

from apis import kinds
from apis.kinds import Kind
from simulator.actors.kueue import ISSUERS
from simulator.actors.packages.jobset import AGAIN_SECONDS, NO_CONTROLLER, JobSetOperator

META = {"name": "cluster", "uid": "1", "generation": 3}
MANAGED = {"apiVersion": "operator.openshift.io/v1", "kind": "JobSetOperator", "metadata": META}
POD = {"metadata": {"namespace": "openshift-jobset-operator", "name": "jobset-operator-1"}}


class Cluster:
    """An API server with some definitions and one JobSetOperator."""

    def __init__(self, state: str, *definitions: str) -> None:
        self.resource: dict[str, Any] = {**MANAGED, "spec": {"managementState": state}}
        self.definitions: dict[str, Any] = {name: {"metadata": {"name": name}} for name in definitions}

    def find(self, kind: Kind, name: str) -> Any:
        """Return a definition, None for one that is not there."""
        return self.definitions.get(name) if kind == kinds.CUSTOM_RESOURCE_DEFINITION else None

    def apply(self, _kind: Kind, body: Any) -> None:
        """Keep a definition."""
        self.definitions[body["metadata"]["name"]] = body

    def patch(self, _kind: Kind, _name: str, body: Any, *, sub: str) -> None:
        """Change the status of the object."""
        assert sub == "status"
        self.resource |= body


class Operator(JobSetOperator):
    """The operator without its watches: `work` is what each of them calls."""

    def loop(self, work: Any, **_: Any) -> Any:
        """Keep what is called."""
        self.work = work
        return SimpleNamespace()

    def watch(self, *_: Any, **__: Any) -> Any:
        """Return what the watch of the object has."""
        cluster: Any = self.api
        return SimpleNamespace(synced=True, get=lambda _: cluster.resource)


def started(cluster: Cluster) -> tuple[Operator, list[str]]:
    """Return the operator, and the list to which it writes its log."""
    lines: list[str] = []
    runtime: Any = SimpleNamespace(account=lambda _: cluster)
    logs: Any = SimpleNamespace(append=lambda _, line: lines.append(line))
    operator = Operator(runtime, logs, POD)
    operator.start()
    return operator, lines


def test_it_serves_job_sets_and_says_that_nothing_starts_them() -> None:
    """The definition of JobSet belongs to the object, and log and condition say that no controller runs."""
    cluster = Cluster("Managed", ISSUERS)
    operator, lines = started(cluster)
    assert operator.work(("", "")) is None
    made = cluster.definitions["jobsets.jobset.x-k8s.io"]
    assert [version["name"] for version in made["spec"]["versions"]] == ["v1alpha2"]
    assert made["metadata"]["ownerReferences"][0]["uid"] == "1"
    (condition,) = cluster.resource["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["message"]) == ("Available", "True", NO_CONTROLLER)
    assert lines == [NO_CONTROLLER]


@pytest.mark.parametrize(
    ("state", "definitions", "again"), [("Managed", (), AGAIN_SECONDS), ("Removed", (ISSUERS,), None)]
)
def test_it_waits_for_cert_manager(state: str, definitions: tuple[str, ...], again: float | None) -> None:
    """Without cert-manager the operator logs that and tries again; an object that is not Managed is left alone."""
    cluster = Cluster(state, *definitions)
    operator, lines = started(cluster)
    assert operator.work(("", "")) == again
    assert "jobsets.jobset.x-k8s.io" not in cluster.definitions
    assert "status" not in cluster.resource
    assert any("cert-manager" in line for line in lines) is (again is not None)
