"""What is wrong with the operators that settings install: their modes, versions and namespaces."""

import re
from collections import defaultdict
from collections.abc import Iterator

from pydantic import BaseModel

from components.operators.mpi_operator import OPERATOR
from components.operators.olm_operator import OlmSubscription
from components.operators.trainer import NAMESPACE
from core.apis.names import SCC_EXEMPT_NAMESPACES
from core.apis.operators import OPERATORS
from stacks.checks import Unlisted, repeated
from stacks.releases import RELEASES, KnownVersions, Release, either
from stacks.resolved.versions import version_in
from stacks.settings.operators import UpstreamTrainer, shares_namespace
from stacks.settings.platform import Settings


def problems(settings: Settings) -> Iterator[str]:
    """Yield operators that could not run: by their install mode, what they need, or a namespace that is taken."""
    yield from _install_modes(settings)
    yield from _trainer(settings)
    yield from _namespaces(settings)


def _install_modes(settings: Settings) -> Iterator[str]:
    """Yield every operator that is to watch its own namespace only and supports no less than the whole cluster."""
    clusterwide = {operator.package for operator in OPERATORS.values() if operator.clusterwide}
    for place, operator in subscriptions(settings):
        if operator.own_namespace_only and not operator.installed and operator.package in clusterwide:
            yield (
                f"{place}.own_namespace_only: {operator.package} has no install mode but AllNamespaces: OLM would end "
                "with UnsupportedOperatorGroup; set it to false"
            )


def subscriptions(part: BaseModel, place: str = "") -> Iterator[tuple[str, OlmSubscription]]:
    """Yield the operators of settings with their paths; none is in a list."""
    for name in type(part).model_fields:
        value = getattr(part, name)
        if isinstance(value, OlmSubscription):
            yield f"{place}{name}", value
        elif isinstance(value, BaseModel):
            yield from subscriptions(value, f"{place}{name}.")


def unlisted(settings: Settings) -> Iterator[Unlisted]:
    """Yield every version that is not listed for the release, that of Kubeflow Trainer too.

    It is refused where a vendor lists it for other releases only. One of a known package that is listed for no release,
    or of a package not for this one, is a warning.
    """
    for place, operator in subscriptions(settings):
        listed = settings.version.listed(operator.package)
        for field in ("channel", "starting_csv"):
            value = getattr(operator, field) or ""
            version = version_in(value)
            if version is None or (listed and version in listed.versions):
                continue
            # Only now: it reads the files of all releases.
            if (others := _other_releases(settings.version, operator.package)) or listed:
                elsewhere = tuple(name for name, product in others.items() if version in product.versions)
                on = f"for OpenShift {settings.release}"
                if listed and elsewhere:
                    reason = f"{listed.name} {version} is not {on} ({listed.source})"
                    remedy = f"use {either(listed.versions)}, or release {either(elsewhere)}"
                else:
                    reason = f"no vendor's list in docs/reference/releases.md has {version} {on}"
                    remedy = "check that they fit" + (f", or use {either(listed.versions)}" if listed else "")
                yield Unlisted(f"{place}.{field}", value, reason, remedy, refused=bool(listed and elsewhere))
    yield from _unlisted_trainer(settings)


def version_of_image(image: str) -> str | None:
    """Return major and minor version in the tag of an image; None: it has none."""
    match = _TAG.search(image)
    return match["minor"] if match else None


def _other_releases(release: Release, package: str) -> dict[str, KnownVersions]:
    products = ((other.name, other.listed(package)) for other in RELEASES.values() if other is not release)
    return {name: product for name, product in products if product}


_TRAINER = "Kubeflow Trainer"
"""As the files of releases call it."""
_TAG = re.compile(r":v?(?P<minor>\d+\.\d+)[^:/@]*(@.*)?$")


def _trainer(settings: Settings) -> Iterator[str]:
    trainer = settings.trainer
    if not isinstance(trainer, UpstreamTrainer):
        return
    if settings.operators.jobset is None:
        yield (
            "trainer: Kubeflow Trainer makes a JobSet of every TrainJob, and operators.jobset is missing; add "
            "`operators: {jobset: {}}`, or set `trainer: {kind: installed}` where the cluster has both"
        )


def _unlisted_trainer(settings: Settings) -> Iterator[Unlisted]:
    trainer = settings.trainer
    if not isinstance(trainer, UpstreamTrainer):
        return
    version = version_of_image(trainer.image)
    listed = settings.version.listed(_TRAINER)
    if version and listed and version not in listed.versions:
        reason = f"{_TRAINER} {version} is not known for OpenShift {settings.release}"
        yield Unlisted("trainer.image", trainer.image, reason, f"use {either(listed.versions)}")


_OPENSHIFTS = frozenset(
    {
        *SCC_EXEMPT_NAMESPACES,
        "openshift-config",
        "openshift-image-registry",
        "openshift-ingress",
        "openshift-machine-api",
        "openshift-machine-config-operator",
        "openshift-marketplace",
        "openshift-monitoring",
        "openshift-operator-lifecycle-manager",
        "openshift-operators",
    }
)
"""Namespaces that every cluster has, so that no operator of the stack can get one of them."""
_SYSTEM = ("openshift-", "kube-")
"""Prefixes of the system's namespaces, also of those of OpenShift's own operators."""


def _namespaces(settings: Settings) -> Iterator[str]:
    """Yield names that are given twice, or that the cluster itself uses."""
    yield from repeated(
        "priority_classes: class_name", (priority_class.class_name for priority_class in settings.priority_classes)
    )
    users: defaultdict[str, list[str]] = defaultdict(list)
    for place, operator in subscriptions(settings):
        name = place.rpartition(".")[2]
        if operator.installed or (place == f"operators.{name}" and shares_namespace(name, settings.operators)):
            continue
        users[operator.namespace].append(f"{place}.namespace")
        if operator.namespace in _OPENSHIFTS or operator.namespace.startswith("kube-"):
            yield (
                f"{place}.namespace {operator.namespace} is OpenShift's own, and the operator gets one of its "
                f"own; give another, e.g. {operator.package}"
            )
    if settings.mpi_operator and not settings.mpi_operator.installed:
        users[OPERATOR].append("mpi_operator")
    if isinstance(settings.trainer, UpstreamTrainer):
        users[NAMESPACE].append("trainer")
    for tenant in settings.tenants:
        if tenant.namespace in _OPENSHIFTS or tenant.namespace.startswith(_SYSTEM):
            yield (f"tenants: namespace {tenant.namespace} is reserved for the system; give the tenant's name")
        if tenant.namespace not in _OPENSHIFTS:
            users[tenant.namespace].append(f"tenants: namespace of {tenant.namespace}")
    for namespace, places in users.items():
        # Duplicate tenants are reported where tenants are compared.
        if len({*places}) > 1:
            yield f"{' and '.join(dict.fromkeys(places))}: both create the namespace {namespace}; give each its own"
