"""What OperatorHub of a simulated cluster offers."""

from core.simulated import SIMULATED_BY
from toolkit.simulator.actors.packages import packages
from toolkit.simulator.actors.packageserver import package_manifest

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
