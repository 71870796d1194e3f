"""Steps that an update would do, compared with what runs on the cluster."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from core.apis import kinds
from core.apis.kinds import Kind
from stacks.settings.stack import AllowedVersion
from toolkit.cli.diff import transition_findings
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.preflight import transitions
from toolkit.cli.shared.stack import Stack, read
from toolkit.review import renders

GPU = "gpu-operator-certified"


@dataclass(frozen=True)
class Served(Cluster):
    """A cluster with Subscriptions alone."""

    subscriptions: tuple[dict[str, Any], ...] = ()
    forbidden: tuple[Kind, ...] = ()

    def list(self, kind: Kind, namespace: str | None = None, **query: str) -> list[dict[str, Any]]:  # noqa: ARG002
        """List a kind, unless it may not be read."""
        if kind in self.forbidden:
            raise RefusedError("refused", "", "403, forbidden")
        return [*self.subscriptions] if kind is kinds.SUBSCRIPTION else []


def subscription(version: str, package: str = GPU) -> dict[str, Any]:
    """Return a Subscription, and what OLM has installed."""
    return {
        "apiVersion": kinds.SUBSCRIPTION.api_version,
        "kind": kinds.SUBSCRIPTION.kind,
        "metadata": {"name": package},
        "spec": {"name": package, "channel": f"v{version}"},
        "status": {"installedCSV": f"{package}.v{version}.0"},
    }


def served(*installed: dict[str, Any]) -> Cluster:
    """Return a cluster with operators."""
    return Served(Path("kubeconfig"), "context", subscriptions=installed)


def allowing(stack: Stack, **entry: str) -> Stack:
    """Return a stack whose settings accept a version."""
    return replace(stack, settings=stack.settings.model_copy(update={"allow": (AllowedVersion(**entry),)}))


def test_a_step_over_a_stop_is_refused_before_anything_changes() -> None:
    """From 25.10 to 26.7 the update names the stop, the command that shows the way, and how to accept it."""
    with pytest.raises(Problem) as caught:
        transitions.require(read("prod"), served(subscription("25.10")))
    message = str(caught.value)
    assert "gpu.operator.channel v26.7: GPU Operator 25.10 to 26.7 is not supported in one step" in message
    assert "go to 26.3 first" in message
    assert "./hpc upgrade check --stack prod" in message
    assert 'value: "25.10 to 26.7"' in message


def test_supported_steps_and_none_are_silent() -> None:
    """The next major version is no matter, nor what runs already."""
    for version in ("26.3", "26.7"):
        assert transitions.require(read("prod"), served(subscription(version))) == ()


def test_an_accepted_step_is_reported() -> None:
    """A step that the settings accept is done, and every update says what it is."""
    stack = allowing(read("prod"), what="gpu.operator.channel", value="25.10 to 26.7", reason="vendor's case 12")
    (sentence,) = transitions.require(stack, served(subscription("25.10")))
    assert "not supported in one step" in sentence


def test_what_no_source_knows_is_a_warning() -> None:
    """Kueue's channels have edges that no public source names: the update says so, with what to do first."""
    (sentence,) = transitions.require(read("prod"), served(subscription("1.2", "kueue-operator")))
    assert "no source says whether it is supported" in sentence
    assert "cert-manager" in sentence


def test_what_may_not_be_read_is_said() -> None:
    """Where Deployments may not be listed, the update says that versions are not judged."""
    cluster = Served(Path("kubeconfig"), "context", forbidden=(kinds.DEPLOYMENT,))
    (sentence,) = transitions.require(read("prod"), cluster)
    assert "deployments: 403, forbidden" in sentence


def test_tenants_bring_no_versions() -> None:
    """The stack of tenants alone changes no operator."""
    assert transitions.require(read("two-layers-tenants"), served(subscription("25.10"))) == ()


def test_two_commits_are_judged_in_the_same_way() -> None:
    """A pull request that skips a stop has a mandatory finding, without a cluster."""
    settings = read("prod").settings
    kind = kinds.SUBSCRIPTION
    before = renders.read(
        {
            "type": f"kubernetes:{kind.api_version}:{kind.kind}",
            "urn": f"urn:pulumi:prod::hpc::kubernetes:{kind.api_version}:{kind.kind}::gpu",
            "inputs": {key: value for key, value in subscription("25.10").items() if key != "status"},
        }
    )
    (finding,) = transition_findings.of([before], settings)
    assert finding.mandatory
    assert "go to 26.3 first" in finding.message
    assert [*transition_findings.of([before], read("two-layers-tenants").settings)] == []
