"""Subscriptions, InstallPlans and ClusterServiceVersions of OLM (pure).

A Subscription is done when OLM has installed what the program waits for: the head of its channel or, where a user
approves each plan, a version of it. After a change of the channel its status stays that of the former one for a moment,
and for good where the channel has no upgrade of what is installed.

OLM resolves again whenever a catalogue changes, and right after the start of one it finds nothing in it: what cannot
be resolved is a failure only when it lasts. An InstallPlan that has failed stays so. OLM takes a version out of Failed
by itself as soon as its cause is gone, and installs it again and again where a Deployment is not ready in time, so that
its phase changes while the pod fails: the pod shows it first. Conditions and reasons: operator-framework/api,
operators/v1alpha1/subscription_types.go and clusterserviceversion_types.go.
"""

import re

from core.apis import kinds, operators
from policies.manifests.values import read
from toolkit.cli.shared import metadata
from toolkit.cli.shared.preflight.operator_conflicts import approval
from toolkit.cli.up.waits import pods, workloads
from toolkit.cli.up.waits.verdict import (
    DONE,
    Look,
    Object,
    Rule,
    Verdict,
    conditions,
    failed,
    failing,
    met,
    reason_of,
    waiting,
)

_LASTING = ("ResolutionFailed", "BundleUnpackFailed")
_UNHEALTHY = "CatalogSourcesUnhealthy"
_LATEST = "AtLatestKnown"
_SLOW = ("BundleUnpacking", "InstallPlanPending", "InstallPlanMissing")
_CATALOG = "olm.catalogSource"
"""Label of a catalogue's pod."""
_OWNER, _OWNER_NAMESPACE = "olm.owner", "olm.owner.namespace"
"""Labels of what OLM makes for a version."""


def judge_version(obj: Object, look: Look) -> Verdict:
    """Return how far a ClusterServiceVersion is."""
    phase = str(read(obj, "status", "phase") or "")
    if phase == "Succeeded":
        return DONE
    parts = (str(read(obj, "status", key) or "").strip() for key in ("reason", "message"))
    text = ": ".join(part for part in (phase or "no phase yet", *parts) if part)
    slow = ""
    for deployment in look(kinds.DEPLOYMENT, metadata.namespace(obj)):
        if _is_of(deployment, obj):
            verdict = workloads.verdict({**deployment, "kind": kinds.DEPLOYMENT.kind}, look)
            if verdict.bad:
                return verdict.about(
                    f"{text}; Deployment {metadata.name(deployment)}"
                    if phase == "Failed"
                    else metadata.name(deployment)
                )
            slow = slow or verdict.message
    if phase == "Failed":
        return failing(text, str(read(obj, "status", "reason")))
    missing = [
        f"{requirement.get('kind')} {requirement.get('name')} is {requirement.get('status')}"
        for requirement in read(obj, "status", "requirementStatus") or ()
        if phase == "Pending" and requirement.get("status") != "Present"
    ]
    return waiting("; ".join([text, *missing, *([slow] if slow else [])]))


def _is_of(deployment: Object, version: Object) -> bool:
    marks = metadata.labels(deployment)
    named = marks.get(_OWNER) == metadata.name(version) and marks.get(
        _OWNER_NAMESPACE, metadata.namespace(version)
    ) == metadata.namespace(version)
    return named or metadata.owned_by(deployment, metadata.uid(version))


def judge_plan(obj: Object, _look: Look) -> Verdict:
    """Return how far an InstallPlan is; OLM does not try one again whose phase is Failed."""
    phase = str(read(obj, "status", "phase") or "")
    if phase == "Complete":
        return DONE
    if phase == "Failed":
        wrong = [reason_of(condition) for condition in conditions(obj).values() if condition.get("status") == "False"]
        return failed("; ".join(wrong) or str(read(obj, "status", "message") or "Failed"))
    if phase == "RequiresApproval" or read(obj, "spec", "approved") is False:
        return waiting(approval(metadata.namespace(obj), metadata.name(obj)))
    return waiting(phase or "Planning")


def judge_subscription(obj: Object, look: Look) -> Verdict:
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
    if not installed or not re.search(operators.numbered(package, channel), str(installed)):
        return False
    return bool(read(obj, "spec", "installPlanApproval") == "Manual" or (installed == current and state == _LATEST))


def _installing(obj: Object, look: Look) -> Verdict:
    parts = (
        (kinds.INSTALL_PLAN, _plan(obj), judge_plan),
        (kinds.CLUSTER_SERVICE_VERSION, read(obj, "status", "currentCSV"), judge_version),
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


RULES = (
    Rule(kinds.SUBSCRIPTION.group, (kinds.SUBSCRIPTION.kind,), judge_subscription),
    Rule(kinds.INSTALL_PLAN.group, (kinds.INSTALL_PLAN.kind,), judge_plan),
    Rule(kinds.CLUSTER_SERVICE_VERSION.group, (kinds.CLUSTER_SERVICE_VERSION.kind,), judge_version),
)
