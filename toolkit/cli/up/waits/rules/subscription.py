"""Subscriptions of OLM: resolution, catalogue, unpacking, install plan, and the version that they install.

A Subscription is done when OLM has installed what the program waits for: the head of its channel or, where a user
approves each plan, a version of it. After a change of the channel its status stays that of the former one for a moment,
and for good where the channel has no upgrade of what is installed.

OLM resolves again whenever a catalogue changes, and right after the start of one it finds nothing in it: what cannot
be resolved is a failure only when it lasts. An InstallPlan that has failed stays so. Conditions and reasons:
operator-framework/api, operators/v1alpha1/subscription_types.go.
"""

import re

from core.apis import kinds, operator_versions
from policies.manifests.values import read
from toolkit.cli.shared import metadata
from toolkit.cli.up.waits import pods
from toolkit.cli.up.waits.rules import cluster_service_version, install_plan
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, failing, met, reason_of, waiting

_LASTING = ("ResolutionFailed", "BundleUnpackFailed")
_UNHEALTHY = "CatalogSourcesUnhealthy"
_LATEST = "AtLatestKnown"
_SLOW = ("BundleUnpacking", "InstallPlanPending", "InstallPlanMissing")
_CATALOG = "olm.catalogSource"
"""Label of a catalogue's pod."""


def judge(obj: Object, look: Look) -> Verdict:
    """Return how far a Subscription is."""
    if _done(obj):
        return DONE
    for kind in _LASTING:
        if (condition := met(obj, kind)) is not None:
            return failing(f"{kind}: {reason_of(condition)}", kind)
    if (condition := met(obj, _UNHEALTHY)) is not None:
        return _catalogue(obj, condition, look)
    installed, latest = read(obj, "status", "installedCSV"), read(obj, "status", "state") == _LATEST
    if installed and latest and installed == read(obj, "status", "currentCSV"):
        package, channel = (read(obj, "spec", key) for key in ("name", "channel"))
        return failing(
            f"OLM has installed {installed} and offers no upgrade of it to channel {channel}: see the channel's "
            f"versions with `oc get packagemanifest {package} -o yaml`, and which of them replaces it",
            "no upgrade",
        )
    return _installing(obj, look)


def _done(obj: Object) -> bool:
    installed, current, state = (read(obj, "status", key) for key in ("installedCSV", "currentCSV", "state"))
    package, channel = (str(read(obj, "spec", key) or "") for key in ("name", "channel"))
    if not installed or not re.search(operator_versions.numbered(package, channel), str(installed)):
        return False
    return bool(read(obj, "spec", "installPlanApproval") == "Manual" or (installed == current and state == _LATEST))


def _installing(obj: Object, look: Look) -> Verdict:
    """Return how far the InstallPlan and the version of a Subscription are."""
    parts = (
        (kinds.INSTALL_PLAN, _plan(obj), install_plan.judge),
        (kinds.CLUSTER_SERVICE_VERSION, read(obj, "status", "currentCSV"), cluster_service_version.judge),
    )
    for kind, name, judged in parts:
        part = next(
            (item for item in look(kind, metadata.namespace(obj)) if name and metadata.name(item) == name), None
        )
        verdict = judged(part, look) if part is not None else DONE
        if verdict.state != "done":
            return verdict.about(f"{kind.kind} {name}")
    if (condition := met(obj, "InstallPlanFailed")) is not None:
        return failing(f"InstallPlanFailed: {reason_of(condition)}", "InstallPlanFailed")
    slow = next((condition for kind in _SLOW if (condition := met(obj, kind)) is not None), None)
    text = reason_of(slow) if slow else str(read(obj, "status", "state") or "OLM has not resolved it yet")
    installed = read(obj, "status", "installedCSV")
    return waiting(f"{installed} is installed; {text}" if installed else text)


def _plan(obj: Object) -> str | None:
    plan: str | None = read(obj, "status", "installPlanRef", "name") or read(obj, "status", "installplan", "name")
    return plan


def _catalogue(obj: Object, condition: Object, look: Look) -> Verdict:
    """Return what is wrong with a catalogue: that it is not there, or its pod fails; one that starts is waited for."""
    source, inside = str(read(obj, "spec", "source")), str(read(obj, "spec", "sourceNamespace"))
    text = f"{_UNHEALTHY}: {reason_of(condition)}"
    if source not in {metadata.name(catalogue) for catalogue in look(kinds.CATALOG_SOURCE, inside)}:
        return failing(f"{text}; there is no CatalogSource {inside}/{source}", _UNHEALTHY)
    mine = pods.alive(pod for pod in look(kinds.POD, inside) if metadata.labels(pod).get(_CATALOG) == source)
    bad = pods.trouble(mine)
    return bad.about(text) if bad else waiting(text)


RULE = Rule(kinds.SUBSCRIPTION.group, (kinds.SUBSCRIPTION.kind,), judge)
