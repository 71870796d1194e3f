"""Faults of today's platform over Ethernet: a launcher that is too early, and a pod network with small packets."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from core.apis import kinds, names
from stacks.settings.fabric import Ethernet
from tests.support.clusters import running
from tests.support.field import Field, Manifest, edited, named, refusals
from tests.support.matrix import JOB, check, healthy, judged
from tests.support.recorded import environment
from tests.support.user import User
from toolkit.cli.shared import cluster_client
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.simulated import spec as simulated_spec
from toolkit.evidence.verdict import Status
from toolkit.render.manifests import manifests
from toolkit.render.reference import faults

pytestmark = pytest.mark.cluster

STACK = "robotic-drive-ethernet"
HEALTHY = tuple(manifests(environment(STACK)))
ROWS = {name: fault for name, fault in faults.data().items() if fault.get("stack") == STACK}
JUMBO = 8900
"""Bytes: of pods on a network of 9000, below OVN-Kubernetes."""


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    """Give the platform of Robotic Drive, without engine and policies."""
    stack = stacks.read(STACK)
    spec = simulated_spec.of(stack).model_copy(update={"name": "test-faults-today"})
    with running(spec) as started:
        api = User.of(started.kubeconfig)
        cluster = cluster_client.Cluster(started.kubeconfig, started.context)
        made = Field(api, cluster, stack.settings, HEALTHY, tmp_path_factory.mktemp("logs"))
        made.install()
        yield made


def early(found: list[Manifest]) -> None:
    """Let the launcher start at once, as the operator's own default is."""
    named(found, JOB)["spec"]["launcherCreationPolicy"] = "AtStartup"


@contextmanager
def cordoned(field: Field) -> Iterator[None]:
    """Take no pods on the nodes with GPUs: workers come later than the launcher."""
    nodes = [node.name for node in field.settings.gpu_nodes]
    try:
        for node in nodes:
            field.api.patch(kinds.NODE, node, {"spec": {"unschedulable": True}})
        yield
    finally:
        for node in nodes:
            field.api.patch(kinds.NODE, node, {"spec": {"unschedulable": None}})


def jumbo(field: Field) -> Field:
    """Return the same platform with settings for the MTU of its pod network."""
    assert isinstance(field.settings.fabric, Ethernet)
    fabric = field.settings.fabric.model_copy(update={"pod_mtu": JUMBO})
    return replace(field, settings=field.settings.model_copy(update={"fabric": fabric}))


def test_every_row_is_brought_about() -> None:
    """Every row of the page is caused by a test."""
    assert ROWS.keys() == {"launcher-first", "overlay-mtu"}


def test_without_a_fault_the_job_passes(field: Field) -> None:
    """Without a fault the job passes, so that a row fails by its fault alone."""
    healthy(field, JOB)


def test_a_launcher_that_is_first_does_not_get_through(field: Field) -> None:
    """A launcher that starts before its workers is diagnosed as that, and not as a fault of the network."""
    row = ROWS["launcher-first"]
    broken = edited(HEALTHY, early)
    assert refusals(field.settings, broken) <= refusals(field.settings, HEALTHY)
    with cordoned(field):
        check(field, broken, row)


def test_a_launcher_that_waits_is_never_first(field: Field) -> None:
    """With launcherCreationPolicy WaitForWorkersReady there is no launcher before all workers are ready."""
    with cordoned(field), field.running(HEALTHY, JOB, until=frozenset({"hindered"})):
        selector = f"training.kubeflow.org/job-name={JOB},training.kubeflow.org/job-role=launcher"
        assert field.api.pods("managed-machine-learning", selector) == []
        failed = {one.criterion for one in field.verified(JOB).verdicts if one.status is Status.FAIL}
        assert failed == {"nodes-offer"}, "the nodes are cordoned, and the job's evidence is missing, not wrong"


def test_an_overlay_does_not_get_through(field: Field) -> None:
    """Pods with an MTU of 1450 on a network for 9000 fail verification where the settings say so, and else warn."""
    wanted = jumbo(field)
    with wanted.running(HEALTHY, JOB):
        judged(wanted.verified(JOB), ROWS["overlay-mtu"])
        verified = field.verified(JOB)
        assert verified.status == 0
        assert [one.status for one in verified.of("pod-mtu")] == ["warn"]
        before = field.api.get(kinds.NETWORK_CONFIG, names.NETWORK_CONFIG)["status"]
        grown = {"status": before | {"clusterNetworkMTU": JUMBO}}
        field.api.patch(kinds.NETWORK_CONFIG, names.NETWORK_CONFIG, grown)
        try:
            found = wanted.verified(JOB)
        finally:
            field.api.patch(kinds.NETWORK_CONFIG, names.NETWORK_CONFIG, {"status": before})
    assert found.status == 0, found
