"""A pod as the API server hands it to the plugin: decoded, with the defaults that the plugin's verdict depends on.

Other defaults (`dnsPolicy`, `restartPolicy`, ...) decide nothing here and are left out. Two of those that count are
read rather than written, by `pods.py` and `volumes.py`: a volume without a source is an emptyDir, and a port of a pod
on the host's network is a host port. Sources: kubernetes/kubernetes, `pkg/apis/core/v1` (defaults and conversion) and
`plugin/pkg/admission/serviceaccount`.
"""

from collections.abc import Mapping
from typing import Any

from core.apis.fields import root
from core.apis.kinds import POD
from policies.scc.decoding import decoded
from policies.scc.reading import InvalidPod, Object

ACCOUNT = "serviceAccountName"
_DEPRECATED, _DEFAULT = "serviceAccount", "default"
_MIRROR = "kubernetes.io/config.mirror"
"""The annotation of a kubelet's static pod, which has no service account."""
_TYPE = root(POD.group, POD.kind)


def defaulted_pod(manifest: Object) -> dict[str, Any]:
    """Return a pod with the API server's defaults, of one as a user or a controller writes it.

    Raises InvalidPod where the API server could not decode it.
    """
    if not isinstance(manifest, Mapping):
        raise InvalidPod("pod", "an object", manifest)
    pod = decoded(manifest, _TYPE, "")
    spec = pod["spec"] = pod.get("spec", {})
    spec.setdefault("securityContext", {})
    account = spec.get(ACCOUNT) or spec.get(_DEPRECATED)
    if not account and _MIRROR not in pod.get("metadata", {}).get("annotations", {}):
        account = _DEFAULT
    if account:
        spec[ACCOUNT] = account
    return pod
