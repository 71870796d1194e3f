"""Operators from a Subscription to a running version, on a cluster that has nothing else."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from core.apis import kinds
from tests.support.clusters import FULL
from tests.support.user import User
from toolkit.simulator import cluster, pods
from toolkit.simulator.actors.api import Object
from toolkit.simulator.cluster import Cluster
from toolkit.simulator.manifests import manifest
from toolkit.simulator.processes.supervisor import Processes

pytestmark = pytest.mark.cluster

FIRST, LAST = "nfd.4.4.0-202006011320", "nfd.4.4.0-202007240028.p0"
CSV = kinds.CLUSTER_SERVICE_VERSION
MARKETPLACE = "openshift-marketplace"


@pytest.fixture(scope="module")
def user(simulated_cluster: Cluster) -> User:
    """Give access as the user."""
    return User.of(simulated_cluster.kubeconfig)


@contextmanager
def subscribed(user: User, namespace: str, package: str, **spec: Any) -> Iterator[None]:
    """Subscribe to a package of channel 4.4 in a namespace of its own, which goes afterwards."""
    wanted = {"name": package, "channel": "4.4", "source": "redhat-operators", "sourceNamespace": MARKETPLACE, **spec}
    for kind, body in (
        (kinds.NAMESPACE, manifest(kinds.NAMESPACE, namespace)),
        (kinds.OPERATOR_GROUP, manifest(kinds.OPERATOR_GROUP, "g", namespace, spec={"targetNamespaces": [namespace]})),
        (kinds.SUBSCRIPTION, manifest(kinds.SUBSCRIPTION, package, namespace, spec=wanted)),
    ):
        user.apply(kind, body)
    yield
    user.delete(kinds.NAMESPACE, namespace)
    user.eventually(lambda: user.find(kinds.NAMESPACE, namespace) is None, seconds=300)


def test_manual_approval_and_starting_version(user: User, simulated_cluster: Cluster) -> None:
    """Manual approval holds an installation, also over a kill of the actors, and an upgrade."""

    def plans() -> list[Object]:
        found = user.list(kinds.INSTALL_PLAN, "manual")["items"]
        return [plan for plan in found if pods.phase(plan) == "RequiresApproval"]

    def status() -> Object:
        found: Object = user.get(kinds.SUBSCRIPTION, "nfd", "manual").get("status") or {}
        return found

    with subscribed(user, "manual", "nfd", installPlanApproval="Manual", startingCSV=FIRST):
        (plan,) = user.eventually(plans)
        assert plan["spec"]["clusterServiceVersionNames"] == [FIRST]
        user.never(lambda: user.find(CSV, FIRST, "manual"))
        assert status()["state"] == "UpgradePending"

        os.kill(Processes(simulated_cluster.home).records()["actors"].pid, signal.SIGKILL)
        user.patch(kinds.INSTALL_PLAN, plan["metadata"]["name"], {"spec": {"approved": True}}, "manual")
        user.never(lambda: user.find(CSV, FIRST, "manual"))
        assert "actors" in cluster.up(FULL, simulated_cluster.home).started
        user.eventually(lambda: status().get("installedCSV") == FIRST)
        user.eventually(lambda: pods.phase(user.get(CSV, FIRST, "manual")) == "Succeeded")
        (plan,) = user.eventually(plans)
        assert plan["spec"]["clusterServiceVersionNames"] == [LAST]
        user.eventually(lambda: status()["state"] == "UpgradePending")
        assert (status()["installedCSV"], status()["currentCSV"]) == (FIRST, LAST)
        user.patch(kinds.INSTALL_PLAN, plan["metadata"]["name"], {"spec": {"approved": True}}, "manual")
        user.eventually(lambda: status()["state"] == "AtLatestKnown")
        assert status()["installedCSV"] == LAST
    user.eventually(lambda: not user.list(kinds.CLUSTER_ROLE, selector=f"olm.owner={FIRST}")["items"])


def test_unknown_package_says_so(user: User) -> None:
    """A Subscription of an unknown package has a condition that says so."""
    with subscribed(user, "typo", "nfdd"):
        user.eventually(lambda: user.condition(kinds.SUBSCRIPTION, "nfdd", "typo", "ResolutionFailed"))
        conditions = user.get(kinds.SUBSCRIPTION, "nfdd", "typo")["status"]["conditions"]
        assert "package nfdd" in conditions[0]["message"]


def test_packages_come_and_go_with_their_catalogue(user: User) -> None:
    """A package is listed while a catalogue that has it is there; of two catalogues the other one lists it then."""
    inside, name = MARKETPLACE, "ibm-spectrum-scale-csi-operator"
    nowhere = "gpu-operator-certified"

    def source(package: str) -> str | None:
        found = user.find(kinds.PACKAGE_MANIFEST, package, inside)
        return found["status"]["catalogSource"] if found else None

    user.eventually(lambda: (source(name), source(nowhere)) == ("certified-operators",) * 2)
    catalogue = user.get(kinds.CATALOG_SOURCE, "certified-operators", inside)
    user.delete(kinds.CATALOG_SOURCE, "certified-operators", inside)
    try:
        user.eventually(lambda: (source(name), source(nowhere)) == ("community-operators", None))
    finally:
        kept = {"metadata": {"name": "certified-operators", "namespace": inside}, "spec": catalogue["spec"]}
        user.create(kinds.CATALOG_SOURCE, {**catalogue, **kept}, inside)
    user.eventually(lambda: (source(name), source(nowhere)) == ("certified-operators",) * 2)
