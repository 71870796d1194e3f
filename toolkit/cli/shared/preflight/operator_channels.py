"""Channels of operators in the settings, compared with the cluster's catalogues and with what OLM has installed.

It only reads: PackageManifests, which OLM's package server computes from the catalogues, and Subscriptions.
"""

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from components.operators.olm_operator import OlmSubscription
from core.apis import kinds, operators
from policies.manifests.values import entries, read
from stacks.checks.operator import subscriptions
from stacks.settings.layers import TenantsLayer
from stacks.settings.platform import Settings
from toolkit.cli.shared import metadata
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.console import print_warning
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.preflight import operator_conflicts
from toolkit.cli.shared.stack import Stack
from toolkit.review.sentences import enumerated

_ATTEMPTS, _PAUSE = 10, 1.0
"""How often a package that a catalogue lacks is read again, and seconds in between: catalogues may just be starting."""
_SHOWN = 12


@dataclass(frozen=True)
class Offer:
    """What a catalogue offers of a package."""

    default: str
    channels: Mapping[str, tuple[str, ...]]
    """Name -> versions, the head first; only that where the package server reports no other."""


@dataclass(frozen=True)
class Examined:
    """An operator of the settings: what the cluster offers and has of it."""

    place: str
    """Path in the settings."""
    operator: OlmSubscription
    offer: Offer | None = None
    """None: the catalogue does not have the package, or `unread`."""
    installed: str = ""
    """Name of the version that OLM has installed."""
    subscription: str = ""
    """NAMESPACE/NAME."""
    state: str = ""
    """Of the Subscription, in OLM's word."""
    plan: str = ""
    """Name of the newest InstallPlan, in the namespace of the Subscription."""
    unread: str = ""
    """Why it could not be compared."""
    unmanaged: bool = False
    """Whether another tool has installed it, so that no channel is compared."""
    conflicts: tuple[str, ...] = ()
    """Why OLM would install nothing, for what exists under other names."""

    @property
    def versions(self) -> tuple[str, ...]:
        """Versions of the channel, the head first."""
        return self.offer.channels.get(self.operator.channel, ()) if self.offer else ()

    @property
    def problem(self) -> str:
        """Why OLM cannot install what is declared; empty where it can."""
        operator = self.operator
        where = f"catalogue {operator.source_namespace}/{operator.source}"
        if self.unread or self.unmanaged:
            return ""
        if self.offer is None:
            return f"{self.place}.package {operator.package}: {where} does not have it; correct package or source"
        if operator.channel not in self.offer.channels:
            return (
                f"{self.place}.channel {operator.channel}: {where} has no such channel of {operator.package}; use "
                f"{self._channels} (default: `{self.offer.default}`)"
            )
        if not self.installed:
            return self._start(where)
        if self.versions and not self.in_channel and operators.is_later(self.installed, self.versions[0]):
            return (
                f"{self.place}.channel {operator.channel}: its head {self.versions[0]} is older than {self.installed}, "
                f"which is installed, and OLM never goes back; use a later channel of {self._channels}"
            )
        return ""

    def _start(self, where: str) -> str:
        starting, channel = self.operator.starting_csv, self.operator.channel
        if not starting or len(self.versions) <= 1 or starting in self.versions:
            return ""
        return (
            f"{self.place}.starting_csv {starting}: channel {channel} of {where} does not have it; use "
            f"{enumerated(list(self.versions), _SHOWN)}"
        )

    @property
    def _channels(self) -> str:
        return enumerated([f"`{name}`" for name in self.offer.channels] if self.offer else [], _SHOWN)

    @property
    def in_channel(self) -> bool:
        """Whether the channel has the version that is installed, as far as the catalogue lists versions."""
        if len(self.versions) > 1 or self.installed in self.versions:
            return self.installed in self.versions
        pattern = operators.numbered(self.operator.package, self.operator.channel)
        return bool(pattern and re.search(pattern, self.installed))

    @property
    def difference(self) -> str:
        """How what is installed differs from what is declared; empty where it does not, or is not installed yet."""
        if self.unmanaged:
            return next(iter(self.conflicts), "")
        if not self.installed or self.unread:
            return ""
        if self.problem:
            return f"{self.installed} is installed; {self.problem}"
        if not self.versions or self.installed == self.versions[0]:
            return ""
        channel, head = self.operator.channel, self.versions[0]
        if not self.in_channel:
            return f"{self.installed} is installed, which channel {channel} does not have; its head is {head}"
        return f"{self.installed} is installed, behind {head}, the head of channel {channel}"

    @property
    def late(self) -> bool:
        """Whether it differs from what is declared; within a channel a user may wait with `approval: Manual`."""
        return bool(self.difference) and not (self.operator.approval == "Manual" and self.in_channel)


def examine(settings: Settings, cluster: Cluster) -> list[Examined]:
    """Return the operators that a stack installs, as the cluster offers and has them; none for tenants on a platform.

    Raises Problem where the cluster does not answer.
    """
    if isinstance(settings, TenantsLayer):
        return []
    declared = [*subscriptions(settings)]
    try:
        existing = _Existing.of(cluster) if any(not operator.installed for _, operator in declared) else _Existing()
    except RefusedError as error:
        existing = _Existing(unread=error.reason)
    return [_examined(place, operator, cluster, existing) for place, operator in declared]


def updated(examined: Iterable[Examined], cluster: Cluster) -> list[Examined]:
    """Return the operators with what is installed now; what the catalogues offer is not read again."""
    try:
        existing = _Existing(cluster.list(kinds.SUBSCRIPTION))
    except RefusedError:
        return [*examined]
    return [result if result.unread or result.unmanaged else _installed(result, existing) for result in examined]


def require(stack: Stack, cluster: Cluster) -> list[Examined]:
    """Raise Problem where OLM cannot install an operator as the settings have it; call it before the engine starts.

    What could not be compared is a warning. Returns the operators of the settings.
    """
    for attempt in range(_ATTEMPTS):
        results = examine(stack.settings, cluster)
        if attempt + 1 == _ATTEMPTS or all(result.offer or result.unread or result.unmanaged for result in results):
            break
        time.sleep(_PAUSE)
    for result in results:
        if result.unread:
            print_warning(f"{result.place}.channel {result.operator.channel} could not be checked: {result.unread}")
    if problems := [
        *(text for result in results for text in result.conflicts),
        *_second_objects(stack.settings, cluster),
        *(result.problem for result in results if result.problem),
    ]:
        raise Problem(
            f"{stack.platform_file.name} declares operators that OLM cannot install on this cluster; nothing was "
            "changed\n" + "\n".join(problems),
            "`oc get packagemanifests` lists what the catalogues have, `oc get subscriptions,operatorgroups -A` what "
            "exists.",
        )
    return results


@dataclass(frozen=True)
class _Existing:
    subscriptions: Sequence[Mapping[str, Any]] = ()
    groups: Sequence[Mapping[str, Any]] = ()
    unread: str = ""
    """Why they could not be read."""

    @classmethod
    def of(cls, cluster: Cluster) -> "_Existing":
        return cls(cluster.list(kinds.SUBSCRIPTION), cluster.list(kinds.OPERATOR_GROUP))

    def subscription(self, operator: OlmSubscription) -> Mapping[str, Any]:
        inside = (
            subscription
            for subscription in self.subscriptions
            if metadata.namespace(subscription) == operator.namespace
        )
        return next(
            (subscription for subscription in inside if read(subscription, "spec", "name") == operator.package), {}
        )


def _second_objects(settings: Settings, cluster: Cluster) -> list[str]:
    try:
        return [] if isinstance(settings, TenantsLayer) else [*operator_conflicts.instance_conflicts(settings, cluster)]
    except RefusedError as error:
        print_warning(f"objects of operators under other names could not be read: {error.reason}")
        return []


def _examined(place: str, operator: OlmSubscription, cluster: Cluster, existing: _Existing) -> Examined:
    try:
        if operator.installed:
            problem = operator_conflicts.unmanaged_problem(place, operator, cluster)
            return Examined(place, operator, conflicts=(problem,) if problem else (), unmanaged=True)
        if existing.unread:
            return Examined(place, operator, unread=existing.unread)
        offer = _offer(operator, cluster)
    except RefusedError as error:
        return Examined(place, operator, unread=error.reason)
    served = offer is not None or cluster.get(f"/apis/{kinds.PACKAGE_MANIFEST.api_version}") is not None
    conflicting = operator_conflicts.conflicts(place, operator, existing.subscriptions, existing.groups)
    unread = "" if served else f"the cluster does not serve {kinds.PACKAGE_MANIFEST.api_version}"
    return _installed(Examined(place, operator, offer, conflicts=tuple(conflicting), unread=unread), existing)


def _installed(examined: Examined, existing: _Existing) -> Examined:
    subscription = existing.subscription(examined.operator)
    return replace(
        examined,
        installed=str(read(subscription, "status", "installedCSV") or ""),
        state=str(read(subscription, "status", "state") or ""),
        plan=str(read(subscription, "status", "installPlanRef", "name") or ""),
        subscription=metadata.path(subscription) if subscription else "",
    )


def _offer(operator: OlmSubscription, cluster: Cluster) -> Offer | None:
    """Return what the catalogue offers; the package server answers with any catalogue of several that have a package.

    The list of a whole catalogue is tens of MB, so it is read only then.
    """
    kind, inside = kinds.PACKAGE_MANIFEST, operator.source_namespace
    manifest = cluster.read(kind, inside, operator.package)
    if manifest is not None and read(manifest, "status", "catalogSource") != operator.source:
        manifest = next(_of_catalogue(operator, cluster), None)
    if manifest is None:
        return None
    channels = {
        str(channel.get("name")): tuple(
            dict.fromkeys(
                str(version)
                for version in (
                    channel.get("currentCSV"),
                    *(entry.get("name") for entry in entries(channel, "entries")),
                )
                if version
            )
        )
        for channel in entries(manifest, "status", "channels")
    }
    return Offer(str(read(manifest, "status", "defaultChannel") or next(iter(channels), "")), channels)


def _of_catalogue(operator: OlmSubscription, cluster: Cluster) -> Iterator[dict[str, Any]]:
    selector = f"catalog={operator.source}"
    for manifest in cluster.list(kinds.PACKAGE_MANIFEST, operator.source_namespace, labelSelector=selector):
        if metadata.name(manifest) == operator.package:
            yield manifest
