"""What a cluster says of its operators: what catalogues offer, and what OLM or another tool has installed."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.apis.operators import OPERATORS
from policies.manifests.values import read
from toolkit.cli.shared import metadata
from toolkit.cli.shared.preflight import operator_conflicts

Object = Mapping[str, Any]
ALL_NAMESPACES, OWN_NAMESPACE = "AllNamespaces", "OwnNamespace"
_MPI_OPERATORS = ("mpi-operator", "training-operator")
"""Images of controllers of MPIJobs."""


@dataclass(frozen=True)
class Package:
    """An operator that OperatorHub offers."""

    name: str
    source: str
    source_namespace: str
    default_channel: str
    channels: Mapping[str, frozenset[str]]
    """Name -> what its head can watch: OwnNamespace, AllNamespaces and so on; empty: unknown."""


@dataclass(frozen=True)
class Subscription:
    """An operator with a Subscription."""

    package: str
    name: str
    namespace: str
    channel: str
    source: str
    source_namespace: str
    approval: str
    watches: tuple[str, ...] | None = None
    """Namespaces by its OperatorGroup, empty: all; None: it has not exactly one."""
    groups: tuple[str, ...] = ()
    """Names of the OperatorGroups of its namespace, of which OLM needs exactly one."""
    tool: str = ""
    """What manages it, e.g. Argo CD application gpus; empty: no mark of a tool."""
    plan: str = ""
    """Name of its InstallPlan that waits for approval; empty: none does."""
    trouble: str = ""
    """Why it is not installed; empty: it is."""


@dataclass(frozen=True)
class Controller:
    """The Deployment of an operator that OLM did not install."""

    package: str
    """Of the same operator in the catalogue."""
    namespace: str
    name: str
    version: str
    """Major and minor version by its image; empty: unknown."""
    tool: str
    """What manages it; empty: no mark of a tool."""


def package(obj: Object) -> Package:
    """Return what OperatorHub says of an operator."""
    channels = {
        str(channel.get("name")): frozenset(
            str(mode.get("type")) for mode in _maps(channel, "currentCSVDesc", "installModes") if mode.get("supported")
        )
        for channel in _maps(obj, "status", "channels")
    }
    return Package(
        name=str(read(obj, "status", "packageName") or metadata.name(obj)),
        source=str(read(obj, "status", "catalogSource") or ""),
        source_namespace=str(read(obj, "status", "catalogSourceNamespace") or metadata.namespace(obj)),
        default_channel=str(read(obj, "status", "defaultChannel") or next(iter(channels), "")),
        channels=channels,
    )


def subscriptions(
    objects: Iterable[Object], versions: Iterable[Object], groups: Iterable[Object]
) -> Iterator[Subscription]:
    """Yield the subscriptions; `versions` are the ClusterServiceVersions, `groups` the OperatorGroups."""
    watched: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for group in groups:
        namespaces = read(group, "spec", "targetNamespaces")
        names = tuple(map(str, namespaces)) if isinstance(namespaces, list) else ()
        watched.setdefault(metadata.namespace(group), []).append((metadata.name(group), names))
    phases = {(metadata.namespace(version), metadata.name(version)): version for version in versions}
    for obj in objects:
        installed = read(obj, "status", "installedCSV")
        version = phases.get((metadata.namespace(obj), str(installed)))
        own = watched.get(metadata.namespace(obj), [])
        approval = str(read(obj, "spec", "installPlanApproval") or "Automatic")
        pending = approval == "Manual" and read(obj, "status", "state") == "UpgradePending"
        yield Subscription(
            package=str(read(obj, "spec", "name") or ""),
            name=metadata.name(obj),
            namespace=metadata.namespace(obj),
            channel=str(read(obj, "spec", "channel") or ""),
            source=str(read(obj, "spec", "source") or ""),
            source_namespace=str(read(obj, "spec", "sourceNamespace") or ""),
            approval=approval,
            watches=own[0][1] if len(own) == 1 else None,
            groups=tuple(name for name, _ in own),
            tool=next(metadata.tools(obj), ""),
            plan=str(read(obj, "status", "installPlanRef", "name") or "") if pending and not installed else "",
            trouble=_trouble(obj, installed, version),
        )


def by_namespace(objects: Iterable[Object]) -> dict[str, tuple[str, ...]]:
    """Return the names of the objects of each namespace that has some."""
    names: dict[str, tuple[str, ...]] = {}
    for obj in objects:
        names[metadata.namespace(obj)] = (*names.get(metadata.namespace(obj), ()), metadata.name(obj))
    return names


def without_subscription(objects: Iterable[Object], versions: Iterable[Object]) -> Iterator[str]:
    """Yield the versions of operators that are there without a subscription; copies of global ones are none."""
    installed = {
        (metadata.namespace(subscription), read(subscription, "status", "installedCSV")) for subscription in objects
    }
    for version in versions:
        copied = "olm.copiedFrom" in metadata.labels(version)
        if not copied and (metadata.namespace(version), metadata.name(version)) not in installed:
            yield f"{metadata.namespace(version)}/{metadata.name(version)}"


def mpi_operators(deployments: Iterable[Object]) -> Iterator[str]:
    """Yield the Deployments of controllers of MPIJobs."""
    for deployment in deployments:
        if any(
            operator_conflicts.image_name(image) in _MPI_OPERATORS for image in operator_conflicts.images(deployment)
        ):
            yield f"{metadata.namespace(deployment)}/{metadata.name(deployment)}"


def controllers(deployments: Iterable[Object]) -> Iterator[Controller]:
    """Yield the operators' Deployments that OLM did not make."""
    packages = {image: operator.package for operator in OPERATORS.values() for image in operator.images}
    for deployment in deployments:
        if "olm.owner" in metadata.labels(deployment):
            continue
        for image in operator_conflicts.images(deployment):
            if package := packages.get(operator_conflicts.image_name(image)):
                version = operator_conflicts.minor_version(image.rpartition(":")[2])
                tool = next(metadata.tools(deployment), "")
                yield Controller(package, metadata.namespace(deployment), metadata.name(deployment), version, tool)
                break


def _trouble(subscription: Object, installed: Any, version: Object | None) -> str:
    conditions = _maps(subscription, "status", "conditions")
    truths = {condition.get("type"): condition for condition in conditions if condition.get("status") == "True"}
    if failed := truths.get("ResolutionFailed"):
        return str(failed.get("message") or "OLM cannot resolve it")
    if not installed:
        return f"it is {read(subscription, 'status', 'state') or 'not handled by OLM yet'}, and nothing is installed"
    phase = read(version, "status", "phase") if version else None
    if phase != "Succeeded":
        why = read(version, "status", "message") if version else None
        return f"its version {installed} is {phase or 'missing'}" + (f": {why}" if why else "")
    return ""


def _maps(tree: Object, *keys: str) -> list[Mapping[str, Any]]:
    """Return the objects in a list; nothing else is one of them."""
    entries = read(tree, *keys)
    return [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
