"""Settings of operators from OperatorHub that need no more than their subscription, and of Kubeflow Trainer."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from components.base.model import DnsName, Model
from components.operators.olm_operator import OlmSubscription
from components.operators.trainer import TrainerImages
from core.apis.operators import OPERATORS, Recommended
from stacks.releases import RELEASES, Release


class NodeFeatureDiscoverySettings(OlmSubscription):
    """The operator of node feature discovery, with the object by which it starts its workers."""

    instance: DnsName | None = Field(
        default=None,
        description="name of the NodeFeatureDiscovery; None: that of the console's sample. Two in a namespace would "
        "have the same workers, so an existing one is named",
    )


class OperatorSettings(Model):
    """Operators in addition to those of other settings; omitted fields, as in `{}`, follow their documentation."""

    cert_manager: OlmSubscription | None = Field(
        default=None,
        description="cert-manager, which Kueue and webhooks of other operators need; None: the cluster has it",
    )
    jobset: OlmSubscription | None = Field(
        default=None, description="Red Hat's JobSet operator, which needs cert-manager; None: no JobSets"
    )
    node_health_check: OlmSubscription | None = Field(
        default=None, description="the operator that finds lost nodes, for `node_health`; None: none, or unused"
    )
    self_node_remediation: OlmSubscription | None = Field(
        default=None,
        description="the operator that restarts them and frees their pods, by a privileged pod on every node; it "
        "shares the namespace of `node_health_check` where that is the same",
    )


def shares_namespace(name: str, settings: OperatorSettings) -> bool:
    """Return whether an operator runs in the namespace that the stack creates for the one beside it."""
    own: OlmSubscription | None = getattr(settings, name)
    other: OlmSubscription | None = getattr(settings, OPERATORS[name].beside, None)
    return own is not None and other is not None and not other.installed and own.namespace == other.namespace


def _recommended() -> Mapping[str, Recommended]:
    """Return how each operator of the settings is subscribed to, by field: an entry of `core.apis.operators`.

    Raises TypeError for a field without one.
    """
    declared = {name: operator.recommended for name, operator in OPERATORS.items()}
    recommendations = {
        name: recommendation for name in OperatorSettings.model_fields if (recommendation := declared.get(name))
    }
    if lacking := OperatorSettings.model_fields.keys() - recommendations.keys():
        raise TypeError(f"core/apis/operators.py: none has `recommended` for operators.{min(lacking)} of the settings")
    return recommendations


_RECOMMENDED = _recommended()


def completed(settings: Any, release: str | None) -> Any:
    """Return `operators` of a settings file with what it leaves out.

    Raises ValueError, which names field and remedy, for an operator that does not support the release, and where the
    channel for the release is not known.
    """
    if not isinstance(settings, Mapping) or release is None or release not in RELEASES:
        return settings
    version = RELEASES[release]
    subscriptions = {
        name: subscription
        for name, subscription in settings.items()
        if name in _RECOMMENDED and isinstance(subscription, Mapping)
    }
    if problems := [
        text for name, subscription in subscriptions.items() if (text := _problem(name, subscription, version))
    ]:
        raise ValueError("; ".join(problems))
    complete = {
        name: _subscription(name, version, subscription) | dict(subscription)
        for name, subscription in subscriptions.items()
    }
    for name, subscription in complete.items():
        other = complete.get(OPERATORS[name].beside, {"installed": True})
        if not other.get("installed") and other["namespace"] == subscription["namespace"]:
            subscription.setdefault("operator_group", other.get("operator_group", other["package"]))
    return {**settings, **complete}


def _problem(name: str, subscription: Mapping[str, Any], release: Release) -> str:
    package, recommended = OPERATORS[name].package, _RECOMMENDED[name]
    if _minor(release) < recommended.kubernetes:
        fitting = [version.name for version in RELEASES.values() if _minor(version) >= recommended.kubernetes]
        elsewhere = f", or use release {' or '.join(fitting)}" if fitting else ""
        return (
            f"{name}: package {package} needs Kubernetes {'.'.join(map(str, recommended.kubernetes))}, and OpenShift "
            f"{release.name} has {release.kubernetes}; leave it out{elsewhere}"
        )
    if release.name not in recommended.channels and "channel" not in subscription:
        return (
            f"{name}.channel is missing, and that of package {package} for OpenShift {release.name} is not known here; "
            f"add one that `oc get packagemanifest {package}` shows"
        )
    return ""


def _subscription(name: str, release: Release, subscription: Mapping[str, Any]) -> dict[str, Any]:
    recommended = _RECOMMENDED[name]
    return {
        "package": OPERATORS[name].package,
        "namespace": recommended.namespace,
        **({} if subscription.get("installed") else {"source": recommended.source}),
        "own_namespace_only": recommended.own_namespace_only,
        "channel": recommended.channels.get(release.name),
    }


def _minor(release: Release) -> tuple[int, ...]:
    return tuple(map(int, release.kubernetes.split(".")))


NO_TRAINER = "none"


class UpstreamTrainer(TrainerImages):
    """Kubeflow's own release, which the stack installs; it needs `operators.jobset`."""

    kind: Literal["upstream"]


class InstalledTrainer(Model):
    """The cluster already has it, version 2.2 or later, e.g. as part of Red Hat OpenShift AI (from 3.4 on)."""

    kind: Literal["installed"]


def _trainer_or_none(value: Any) -> Any:
    return None if value == NO_TRAINER else value


TrainerSettings = Annotated[
    Annotated[UpstreamTrainer | InstalledTrainer, Field(discriminator="kind")] | None,
    BeforeValidator(
        _trainer_or_none, json_schema_input_type=UpstreamTrainer | InstalledTrainer | Literal["none"] | None
    ),
]
"""How the platform gets Kubeflow Trainer; `none` is None."""
