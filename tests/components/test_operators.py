"""Operators: from OperatorHub, and the MPI operator."""

import asyncio
from typing import Any

import pulumi
import pytest

from components.operators.mpi_operator_generations import RULES_V1ALPHA2
from components.operators.olm_operator import OlmOperator, OlmOperatorArgs, installed
from tests.support.recorded import component, environment, only_object, spec
from toolkit.simulator.provider.observations import Seen
from toolkit.simulator.provider.wait_annotation import wait_rule


def subscribed(**changes: Any) -> Any:
    """Return the registrations of a subscription."""
    args = OlmOperatorArgs.model_validate({"namespace": "openshift-nfd", "package": "nfd", "channel": "4.4"} | changes)
    return component(lambda: OlmOperator("nfd", args))


def test_version_and_approval_are_settings() -> None:
    """Starting version and approval are settings."""
    recorded = subscribed(starting_csv="nfd.v4.4.0", approval="Manual")
    assert spec(recorded, "Subscription") == {
        "name": "nfd",
        "channel": "4.4",
        "source": "redhat-operators",
        "sourceNamespace": "openshift-marketplace",
        "startingCSV": "nfd.v4.4.0",
        "installPlanApproval": "Manual",
    }


def test_heads_of_channels_need_no_version() -> None:
    """Without a version, startingCSV is absent."""
    assert "startingCSV" not in spec(subscribed(), "Subscription")


def test_ready_means_installed_and_succeeded() -> None:
    """An operator is ready when its version is installed and has succeeded."""
    recorded = subscribed(starting_csv="nfd.v4.4.0")
    subscription = only_object(recorded, "Subscription").inputs["metadata"]["annotations"]
    version = only_object(recorded, "ClusterServiceVersionPatch").inputs["metadata"]
    assert subscription["pulumi.com/waitFor"].startswith("jsonpath={[?(@.installedCSV")
    assert version["name"] == "nfd.v4.4.0"
    assert version["annotations"]["pulumi.com/waitFor"] == "jsonpath={.status.phase}=Succeeded"


@pytest.mark.parametrize(
    ("approval", "installed", "current", "state", "ready"),
    [
        ("Automatic", "v26.3.2", "v26.3.2", "AtLatestKnown", True),
        ("Automatic", "v25.10.1", "v25.10.1", "AtLatestKnown", False),  # OLM has not seen the change yet
        ("Automatic", "v25.10.1", "v26.3.2", "UpgradePending", False),
        ("Automatic", "v26.3.1", "v26.3.2", "UpgradePending", False),
        ("Automatic", "v26.3.1", "v26.3.1", "UpgradeAvailable", False),
        ("Manual", "v26.3.1", "v26.3.2", "UpgradePending", True),
        ("Manual", "v25.10.1", "v26.3.2", "UpgradePending", False),
    ],
)
def test_the_channel_is_waited_for(approval: str, installed: str, current: str, state: str, ready: bool) -> None:
    """An operator that had an earlier version is ready when it has one of the channel, and Automatic its head."""
    package = "gpu-operator-certified"
    recorded = subscribed(package=package, channel="v26.3", approval=approval)
    rule = wait_rule({**only_object(recorded, "Subscription").inputs})
    assert rule is not None
    status = {"installedCSV": f"{package}.{installed}", "currentCSV": f"{package}.{current}", "state": state}
    assert rule(Seen({"metadata": {"generation": 2}, "spec": {}, "status": status})).ready is ready


@pytest.mark.parametrize("channel", ["stable", "4.4"])
def test_a_channel_that_names_no_version_of_its_operator_is_no_condition(channel: str) -> None:
    """Any version that is the latest one known will do where the name of the channel promises none."""
    recorded = subscribed(package="special-resource-operator", channel=channel)
    rule = wait_rule({**only_object(recorded, "Subscription").inputs})
    assert rule is not None
    assert not rule(Seen({"status": {}})).ready
    version = "special-resource-operator.v0.0.1"
    latest = {"installedCSV": version, "currentCSV": version, "state": "AtLatestKnown"}
    assert rule(Seen({"status": latest})).ready


def test_a_subscription_that_is_not_ready_yet_is_previewed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A preview works on a Subscription without installedCSV; an update waits for it."""
    partial: dict[str, list[str]] = {"catalogHealth": []}
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    later = installed(partial)
    assert isinstance(later, pulumi.Output)
    assert not asyncio.run(_known(later))
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: False)
    with pytest.raises(ValueError, match=r"no status\.installedCSV"):
        installed(partial)
    assert installed({"installedCSV": "nfd.v4.4.0"}) == "nfd.v4.4.0"


async def _known(value: pulumi.Output[str]) -> bool:
    return await value.is_known()


def test_operator_watches_its_own_namespace() -> None:
    """The operator watches its own namespace alone."""
    assert spec(subscribed(), "OperatorGroup") == {"targetNamespaces": ["openshift-nfd"]}


def test_mpi_kind_is_served_as_the_papers_generation() -> None:
    """The definition of MPIJob is apiextensions.k8s.io/v1 and serves v1alpha2."""
    definition = spec(environment("dev"), "CustomResourceDefinition")
    version = definition["versions"][0]
    assert (definition["group"], version["name"], version["storage"]) == ("kubeflow.org", "v1alpha2", True)
    assert version["subresources"] == {"status": {}}
    replicas = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["mpiReplicaSpecs"]
    assert replicas["properties"]["Launcher"]["properties"]["replicas"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 1,
    }


def test_mpi_operator_may_hand_exec_on_to_launchers() -> None:
    """The MPI operator holds pods/exec, which it grants to launchers."""
    assert ("", ("pods/exec",), ("create",)) in RULES_V1ALPHA2
