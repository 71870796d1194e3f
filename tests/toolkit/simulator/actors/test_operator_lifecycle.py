"""Operators from a Subscription to a running version by the real OLM, on a cluster that has nothing else."""

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
from toolkit.simulator.actors.packages import packages
from toolkit.simulator.cluster import Cluster
from toolkit.simulator.manifests import manifest
from toolkit.simulator.processes.supervisor import Processes

pytestmark = pytest.mark.cluster

FIRST, LAST = "nfd.4.4.0-202006011320", "nfd.4.4.0-202007240028.p0"
TODAY = packages()["nfd"].channels["stable"].versions[-1]
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
        (failed,) = (condition for condition in conditions if condition["type"] == "ResolutionFailed")
        assert failed["reason"] == "ConstraintsNotSatisfiable"
        assert "no operators found in package nfdd in the catalog referenced by subscription nfdd" in failed["message"]


def test_a_later_channel_replaces_what_is_installed(user: User) -> None:
    """A change to a later channel installs its head in the place of any earlier version; OLM never goes back."""

    def status() -> Object:
        found: Object = user.get(kinds.SUBSCRIPTION, "nfd", "channels").get("status") or {}
        return found

    with subscribed(user, "channels", "nfd", startingCSV=FIRST):
        user.eventually(lambda: status().get("installedCSV") == LAST)
        # OLM resolves nothing while both are there, and then not before something changes.
        user.eventually(lambda: user.find(CSV, FIRST, "channels") is None)
        user.patch(kinds.SUBSCRIPTION, "nfd", {"spec": {"channel": "stable"}}, "channels")
        user.eventually(lambda: (status().get("installedCSV"), status()["state"]) == (TODAY, "AtLatestKnown"))
        user.eventually(lambda: pods.phase(user.get(CSV, TODAY, "channels")) == "Succeeded")
        user.eventually(lambda: user.find(CSV, LAST, "channels") is None)
        user.patch(kinds.SUBSCRIPTION, "nfd", {"spec": {"channel": "4.4"}}, "channels")
        user.never(lambda: status()["installedCSV"] != TODAY)


def test_a_mode_that_the_operator_lacks_fails_its_version(user: User) -> None:
    """The GPU Operator cannot watch all namespaces, and its version says so."""
    package, namespace = "gpu-operator-certified", "everywhere"
    version = packages()[package].channels["stable"].versions[-1]
    with subscribed(user, namespace, package, channel="stable", source="certified-operators"):
        user.eventually(lambda: pods.phase(user.get(CSV, version, namespace)) == "Succeeded")
        user.patch(kinds.OPERATOR_GROUP, "g", {"spec": {"targetNamespaces": None}}, namespace)
        user.eventually(lambda: pods.phase(user.get(CSV, version, namespace)) == "Failed")
        assert user.get(CSV, version, namespace)["status"]["reason"] == "UnsupportedOperatorGroup"


def test_a_mirrors_catalogue_is_served_by_its_pod(user: User) -> None:
    """OLM makes a pod of a CatalogSource with an image, and installs from it what the index offers that it mirrors."""
    image = "mirror.example.com/redhat/redhat-operator-index:v4.20"
    mirror = manifest(kinds.CATALOG_SOURCE, "cs-redhat", MARKETPLACE, spec={"sourceType": "grpc", "image": image})
    user.apply(kinds.CATALOG_SOURCE, mirror)
    try:
        user.eventually(lambda: user.pods(MARKETPLACE, "olm.catalogSource=cs-redhat"))
        with subscribed(user, "mirrored", "nfd", source="cs-redhat", channel="stable"):
            user.eventually(lambda: pods.phase(user.get(CSV, TODAY, "mirrored")) == "Succeeded")
    finally:
        user.delete(kinds.CATALOG_SOURCE, "cs-redhat", MARKETPLACE)


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
