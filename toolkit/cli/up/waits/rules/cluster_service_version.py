"""ClusterServiceVersions of OLM: an operator's requirements and its Deployments.

OLM takes a version out of Failed by itself as soon as its cause is gone, and installs it again and again where a
Deployment is not ready in time, so that its phase changes while the pod fails: the pod shows it first. Reasons:
operator-framework/api, operators/v1alpha1/clusterserviceversion_types.go.
"""

from core.apis import kinds
from policies.manifests.values import read
from toolkit.cli.shared import metadata
from toolkit.cli.up.waits import workloads
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, failing, waiting

_OWNER, _OWNER_NAMESPACE = "olm.owner", "olm.owner.namespace"
"""Labels of what OLM makes for a version."""
_MET = "Present"


def judge(obj: Object, look: Look) -> Verdict:
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
        if phase == "Pending" and requirement.get("status") != _MET
    ]
    return waiting("; ".join([text, *missing, *([slow] if slow else [])]))


def _is_of(deployment: Object, version: Object) -> bool:
    marks = metadata.labels(deployment)
    named = marks.get(_OWNER) == metadata.name(version) and marks.get(
        _OWNER_NAMESPACE, metadata.namespace(version)
    ) == metadata.namespace(version)
    return named or metadata.owned_by(deployment, metadata.uid(version))


RULE = Rule(kinds.CLUSTER_SERVICE_VERSION.group, (kinds.CLUSTER_SERVICE_VERSION.kind,), judge)
