"""Driver pods after an update whose wait for their policy has ended by the state of before."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from core.apis import kinds
from core.apis.kinds import Kind
from tests.support.messages import has
from tests.support.wait_objects import meta, pod
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.events import Account
from toolkit.cli.up import after_update

LIMIT = 60.0
NEW, FORMER = "595.91.07", "580.105.08"
POLICY = "kubernetes:nvidia.com/v1:ClusterPolicy"


@dataclass(frozen=True)
class Hub(Cluster):
    """A cluster with these objects, by the plural of their kind."""

    objects: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def list(self, kind: Kind, namespace: str = "", **_: str) -> list[dict[str, Any]]:
        """Return the objects of a kind, all or those of a namespace."""
        every = self.objects.get(kind.plural, [])
        return [each for each in every if namespace in ("", each["metadata"].get("namespace"))]


def hub(version: str, *, automatic: bool = False, template: int = 2) -> Hub:
    """Return a cluster whose policy asks for NEW, whose DaemonSet has `version`, and whose one pod has template 1."""
    spec = {"driver": {"version": NEW, "upgradePolicy": {"autoUpgrade": automatic}}}
    image = f"nvcr.io/nvidia/driver:{version}-rhcos4.20"
    generation = {"deprecated.daemonset.template.generation": str(template)}
    driver = {
        "metadata": meta("driver", owner="policy-uid", annotations=generation),
        "spec": {
            "updateStrategy": {"type": "OnDelete"},
            "template": {"spec": {"containers": [{"name": "driver", "image": image}]}},
        },
    }
    mine = pod("driver-1", owner="driver-uid", labels={"pod-template-generation": "1"})
    policy = {"metadata": meta("policy", ""), "spec": spec, "status": {"state": "ready"}}
    return Hub(
        Path("kubeconfig"),
        "context",
        objects={kinds.CLUSTER_POLICY.plural: [policy], kinds.DAEMON_SET.plural: [driver], kinds.POD.plural: [mine]},
    )


def kept(there: Hub, pause: Callable[[], None], *, op: str = "update") -> tuple[tuple[str, ...], float]:
    """Return the messages after an update with a step of the policy, and how long that took, in seconds."""
    now = [0.0]

    def wait(seconds: float) -> None:
        now[0] += seconds
        pause()

    account = Account(steps={"urn": [{"op": op, "type": POLICY, "old": {}}]})
    return after_update.former_drivers(account, there, LIMIT, lambda: now[0], wait), now[0]


def never() -> None:
    """Fail: nothing is to be waited for."""
    raise AssertionError("it waits")


@pytest.mark.parametrize("op", ["update", "same"])
def test_pods_that_nothing_replaces_fail_the_update(op: str) -> None:
    """The message has the pod and the command, also where the update has not changed the policy."""
    (message,), _ = kept(hub(NEW), never, op=op)
    assert has(message, "ClusterPolicy policy", "1 pods have an earlier template", "driver-1", "oc delete pod -n ns")


def test_nothing_is_reported_where_all_is_new_or_not_the_stacks_own(capsys: pytest.CaptureFixture[str]) -> None:
    """Pods of the present template are no message, nor is a policy that the update does not have; nothing waits."""
    assert kept(hub(NEW, template=1), never) == ((), 0)
    assert after_update.former_drivers(Account(), hub(NEW), LIMIT) == ()
    assert not capsys.readouterr().out


def test_an_operators_own_upgrade_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """With automatic upgrades the update has succeeded, and its end says what the operator still does."""
    assert kept(hub(NEW, automatic=True), never) == ((), 0)
    assert has(capsys.readouterr().out, "ClusterPolicy policy", "earlier template", "still to begin")


def test_an_operator_that_has_not_seen_its_policy_is_waited_for() -> None:
    """The DaemonSet must have the version that the policy names; without it the wait ends after `failed_after`."""
    there = hub(FORMER, template=1)

    def act() -> None:
        there.objects.update(hub(NEW).objects)

    messages, seconds = kept(there, act)
    assert len(messages) == 1
    assert seconds < 1
    messages, seconds = kept(hub(FORMER, template=1), lambda: None)
    assert (messages, LIMIT <= seconds <= LIMIT + 1) == ((), True)
