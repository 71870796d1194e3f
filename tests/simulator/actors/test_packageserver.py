"""What OperatorHub of a simulated cluster offers."""

import pytest

from apis import kinds
from simulator.actors.packages import packages
from simulator.actors.packageserver import package_manifest
from simulator.names import SIMULATED_BY
from tests.simulator.actors.conftest import Person

SOURCE = {"metadata": {"name": "redhat-operators", "namespace": "olm"}, "spec": {"displayName": "Red Hat Operators"}}


def test_a_package_is_listed_as_openshift_lists_it() -> None:
    """Catalogue, channels with the default one, and what each can watch are where `oc get packagemanifest` has them."""
    listed = package_manifest(packages()["kueue-operator"], SOURCE)
    status = listed["status"]
    assert (listed["metadata"]["namespace"], status["catalogSource"], status["catalogSourceNamespace"]) == (
        "olm",
        "redhat-operators",
        "olm",
    )
    assert status["defaultChannel"] == status["channels"][0]["name"]
    modes = {mode["type"]: mode["supported"] for mode in status["channels"][0]["currentCSVDesc"]["installModes"]}
    assert modes["AllNamespaces"]
    assert SIMULATED_BY in listed["metadata"]["annotations"]


@pytest.mark.cluster
def test_packages_come_and_go_with_their_catalogue(user: Person) -> None:
    """A package is listed while a catalogue that has it is there; of two catalogues the other one lists it then."""
    inside, name = "openshift-marketplace", "ibm-spectrum-scale-csi-operator"
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
