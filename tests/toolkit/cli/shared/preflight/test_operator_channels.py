"""Channels of operators, compared with a cluster's catalogues and with what OLM has installed there."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from core.apis import kinds
from stacks.checks.operator import subscriptions
from tests.support.messages import has
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.preflight import operator_channels
from toolkit.cli.shared.preflight.operator_channels import Examined
from toolkit.cli.shared.stack import Stack, read
from toolkit.cli.status.platform_parts import Part, with_channels
from toolkit.cli.up import after_update

GPU, NAMESPACE, CATALOGUE = "gpu-operator-certified", "nvidia-gpu-operator", "certified-operators"
SERVED = f"/apis/{kinds.PACKAGE_MANIFEST.api_version}"
SUBSCRIPTIONS = kinds.SUBSCRIPTION.path()
CHANNELS = {"v26.3": ("v26.3.2", "v26.3.1"), "v25.10": ("v25.10.1",), "stable": ("v26.3.2", "v26.3.1", "v25.10.1")}


@dataclass(frozen=True)
class Hub(Cluster):
    """A cluster that answers from a table: path -> what is there, or the status and message of a refusal."""

    answers: dict[str, Any] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def get(self, path: str, **query: str) -> dict[str, Any] | None:
        """Answer a GET; a list with a selector is that of a catalogue."""
        self.requests.append(path)
        selector = query.get("labelSelector")
        answer = self.answers.get(f"{path}?{selector}" if selector else path)
        if isinstance(answer, tuple):
            status, message = answer
            raise RefusedError("refused", "", f"{status}, {message}")
        return dict(answer) if answer is not None else None


def at(package: str) -> str:
    """Return the path of a PackageManifest."""
    return kinds.PACKAGE_MANIFEST.path("openshift-marketplace", package)


def manifest(
    package: str, source: str, channels: dict[str, tuple[str, ...]], *, entries: bool = True
) -> dict[str, Any]:
    """Return a PackageManifest; the first channel is the default one; `entries`: with versions below the head."""
    listed = [
        {
            "name": name,
            "currentCSV": f"{package}.{versions[0]}",
            **({"entries": [{"name": f"{package}.{each}"} for each in versions]} if entries else {}),
        }
        for name, versions in channels.items()
    ]
    status = {"catalogSource": source, "defaultChannel": next(iter(channels)), "channels": listed}
    return {"metadata": {"name": package, "namespace": "openshift-marketplace"}, "status": status}


def subscription(installed: str, state: str = "AtLatestKnown") -> dict[str, Any]:
    """Return the list of Subscriptions, with that of the GPU Operator."""
    status = {"installedCSV": f"{GPU}.{installed}", "state": state, "installPlanRef": {"name": "install-1"}}
    return {"items": [{"metadata": {"name": "gpu", "namespace": NAMESPACE}, "spec": {"name": GPU}, "status": status}]}


def stack(**changes: Any) -> Stack:
    """Return stack prod, whose GPU Operator has channel v26.3 and `changes`."""
    found = read("prod")
    operator = found.settings.gpu.operator.model_copy(update={"channel": "v26.3", **changes})  # type: ignore[union-attr]
    gpu = found.settings.gpu.model_copy(update={"operator": operator})
    return replace(found, settings=found.settings.model_copy(update={"gpu": gpu}))


def hub(wanted: Stack, **answers: Any) -> Hub:
    """Return a cluster that offers what a stack declares, and the GPU Operator as `CHANNELS` has it."""
    offered = {
        at(each.package): manifest(each.package, each.source, {each.channel: ("v1",)})
        for _, each in subscriptions(wanted.settings)
    }
    table = {SERVED: {"resources": []}, **offered, at(GPU): manifest(GPU, CATALOGUE, CHANNELS), **answers}
    return Hub(Path("kubeconfig"), "site", answers=table)


def gpu(found: Iterable[Examined]) -> Examined:
    """Return the GPU Operator's."""
    return next(each for each in found if each.operator.package == GPU)


def test_a_channel_that_the_catalogue_does_not_have_is_refused() -> None:
    """The message names the settings' field, the channel, the channels that exist, and the default one."""
    wanted = stack(channel="v26.9")
    with pytest.raises(Problem) as error:
        operator_channels.require(wanted, hub(wanted))
    assert has(
        str(error.value),
        *("Pulumi.prod.yaml", "gpu.operator.channel v26.9", f"openshift-marketplace/{CATALOGUE}", GPU),
        *("`v26.3`, `v25.10` and `stable`", "default: `v26.3`", "oc get packagemanifests"),
    )
    operator_channels.require(stack(), hub(wanted))


def test_a_second_object_of_an_operator_is_refused() -> None:
    """An update does not start beside a ClusterPolicy of another name; where none may be read it is warned of."""
    listed = kinds.CLUSTER_POLICY.path()
    there = {"items": [{"metadata": {"name": "cluster-policy"}}]}
    with pytest.raises(Problem) as error:
        operator_channels.require(stack(), hub(stack(), **{listed: there}))
    assert has(str(error.value), "gpu.policy", "ClusterPolicy cluster-policy", "set gpu.policy to cluster-policy")
    operator_channels.require(stack(), hub(stack(), **{listed: (403, "no")}))


def test_a_package_is_looked_for_in_its_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two catalogues with a package the declared one counts; one that has no such package is read again first."""
    wanted, pauses = stack(), list[float]()
    monkeypatch.setattr("time.sleep", pauses.append)
    other = manifest(GPU, "community-operators", {"alpha": ("v1",)})
    listed = f"{kinds.PACKAGE_MANIFEST.path('openshift-marketplace')}?catalog={CATALOGUE}"
    operator_channels.require(wanted, hub(wanted, **{at(GPU): other, listed: {"items": [manifest(GPU, "", CHANNELS)]}}))
    assert pauses == []
    with pytest.raises(Problem) as error:
        operator_channels.require(wanted, hub(wanted, **{at(GPU): other}))
    assert has(str(error.value), f"gpu.operator.package {GPU}", CATALOGUE, "does not have it")
    assert pauses


@pytest.mark.parametrize(
    ("changes", "installed", "parts"),
    [
        ({"channel": "v25.10"}, "v26.3.1", ("gpu.operator.channel v25.10", "v26.3.1", "never goes back", "`v26.3`")),
        ({"channel": "v25.10"}, "v25.10.0", ()),
        (
            {"channel": "stable", "starting_csv": f"{GPU}.v9"},
            "",
            ("gpu.operator.starting_csv", f"{GPU}.v9", "v25.10.1"),
        ),
        ({"channel": "stable", "starting_csv": f"{GPU}.v25.10.1"}, "", ()),
    ],
)
def test_what_olm_would_not_install_is_refused(changes: dict[str, Any], installed: str, parts: tuple[str, ...]) -> None:
    """OLM never goes back to an earlier version, and starts at none that the channel lacks."""
    wanted = stack(**changes)
    there = {SUBSCRIPTIONS: subscription(installed)} if installed else {}
    problem = gpu(operator_channels.examine(wanted.settings, hub(wanted, **there))).problem
    assert has(problem, *parts)
    assert bool(problem) == bool(parts)


@pytest.mark.parametrize("answers", [{SERVED: None, at(GPU): None}, {at(GPU): (403, "forbidden")}])
def test_what_cannot_be_read_is_a_warning(answers: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """A cluster without PackageManifests, or a user who may not read them, is a warning and no error."""
    wanted = stack()
    operator_channels.require(wanted, hub(wanted, **answers))
    printed = " ".join(capsys.readouterr().err.split())
    assert has(printed, "warning", "gpu.operator.channel v26.3 could not be checked")


@pytest.mark.parametrize(
    ("installed", "approval", "entries", "late", "parts"),
    [
        ("v26.3.2", "Automatic", True, False, ()),
        ("v26.3.1", "Automatic", True, True, ("v26.3.1", "behind", "v26.3.2", "channel v26.3")),
        ("v26.3.1", "Manual", True, False, ("v26.3.1", "behind", "v26.3.2", "channel v26.3")),
        ("v25.10.1", "Manual", True, True, ("v25.10.1", "channel v26.3 does not have", "v26.3.2")),
        ("v26.3.1", "Automatic", False, True, ("v26.3.1", "behind", "v26.3.2")),
        ("v25.10.1", "Automatic", False, True, ("v25.10.1", "does not have", "v26.3.2")),
    ],
)
def test_installed_is_compared_with_declared(
    installed: str, approval: str, entries: bool, late: bool, parts: tuple[str, ...]
) -> None:
    """Status shows what is not in the channel, or behind its head; with Manual the latter is a user's choice."""
    wanted = stack(approval=approval)
    offered = manifest(GPU, CATALOGUE, CHANNELS, entries=entries)
    found = operator_channels.examine(
        wanted.settings, hub(wanted, **{at(GPU): offered, SUBSCRIPTIONS: subscription(installed)})
    )
    assert has(gpu(found).difference, *parts)
    assert (bool(gpu(found).difference), gpu(found).late) == (bool(parts), late)
    part = Part(kinds.SUBSCRIPTION.kind, f"{NAMESPACE}/gpu", f"{GPU}.{installed}", good=True)
    (shown,) = with_channels([part], found)
    assert shown == replace(part, state=gpu(found).difference or part.state, good=not late)


def test_a_status_that_was_not_compared_says_so() -> None:
    """Status has the reason why an installed version was not compared with the channel."""
    wanted = stack()
    answers = {SUBSCRIPTIONS: subscription("v26.3.1"), SERVED: None, at(GPU): None}
    part = Part(kinds.SUBSCRIPTION.kind, f"{NAMESPACE}/gpu", f"{GPU}.v26.3.1", good=True)
    (shown,) = with_channels([part], operator_channels.examine(wanted.settings, hub(wanted, **answers)))
    assert has(shown.state, f"{GPU}.v26.3.1", "not compared with channel v26.3", "packages.operators.coreos.com")
    assert shown.good


def test_what_is_read_before_an_update_is_not_read_again_after_it() -> None:
    """Subscriptions are listed once for all operators, and the catalogues are read once where all is as declared."""
    wanted = stack(subscription="gpu")
    there = hub(wanted, **{SUBSCRIPTIONS: subscription("v26.3.2")})
    before = operator_channels.require(wanted, there)
    assert there.requests.count(SUBSCRIPTIONS) == 1
    there.requests.clear()
    assert after_update.behind(wanted, there, before) == ()
    assert there.requests == [SUBSCRIPTIONS]


def test_an_update_waits_for_operators_and_ends_when_olm_does_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """After an update an operator that OLM upgrades is waited for; one that stays as it was is reported in time."""
    wanted, now = stack(), [0.0]
    there = hub(wanted, **{SUBSCRIPTIONS: subscription("v26.3.1", "UpgradePending")})

    def pause(seconds: float) -> None:
        now[0] += seconds
        if now[0] > 100:
            there.answers[SUBSCRIPTIONS] = subscription("v26.3.2")

    before = operator_channels.examine(wanted.settings, there)
    assert after_update.behind(wanted, there, before, lambda: now[0], pause) == ()
    assert now[0] > 100
    assert has(capsys.readouterr().out, f"Subscription {NAMESPACE}/gpu", "v26.3.1", "behind", "v26.3.2")

    by_hand = stack(approval="Manual")
    there.answers[SUBSCRIPTIONS], now[0] = subscription("v25.10.1", "UpgradePending"), 90.0
    before = operator_channels.examine(by_hand.settings, there)
    assert after_update.behind(by_hand, there, before, lambda: now[0], pause) == ()
    assert has(capsys.readouterr().out, "v25.10.1", f"oc -n {NAMESPACE} patch installplan install-1", "approved")

    there.answers[SUBSCRIPTIONS] = subscription("v25.10.1")
    begin = now[0]
    (message,) = after_update.behind(
        wanted, there, before, lambda: now[0], lambda seconds: now.__setitem__(0, now[0] + seconds)
    )
    assert has(message, "gpu.operator", "v25.10.1", "channel v26.3", "v26.3.2", f"Subscription {NAMESPACE}/gpu")
    assert now[0] - begin <= 60
