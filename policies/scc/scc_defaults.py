"""An SCC as a cluster stores it: OpenShift completes one when it is created, before the plugin ever sees it.

Sources: openshift/apiserver-library-go, `pkg/securitycontextconstraints/sccdefaults`, which the admission plugin
`security.openshift.io/DefaultSecurityContextConstraints` calls, and the CRD in openshift/api, `security/v1`. They give
no strategy to `runAsUser` or to `seLinuxContext`: OpenShift refuses an SCC without one, and one that slipped past it
would refuse every pod.
"""

from collections.abc import Mapping
from typing import Any

from core.apis.fields import root
from core.apis.kinds import SECURITY_CONTEXT_CONSTRAINTS
from policies.scc.decoding import decoded
from policies.scc.reading import InvalidPod, Object
from policies.scc.volumes import ALL, HOST_PATH, NONE, SOURCES

RUN_AS_ANY = "RunAsAny"

_TYPE = root(SECURITY_CONTEXT_CONSTRAINTS.group, SECURITY_CONTEXT_CONSTRAINTS.kind)


def defaulted_scc(scc: Object, path: str = "") -> dict[str, Any]:
    """Return an SCC with the API server's defaults, of one that is declared or stored; `path` is its place.

    Raises InvalidPod for fields of wrong types.
    """
    if not isinstance(scc, Mapping):
        raise InvalidPod(path, "an object", scc)
    fields = decoded(scc, _TYPE, f"{path}." if path else "")
    for key in ("fsGroup", "supplementalGroups"):
        strategy = fields.get(key, {})
        fields[key] = strategy if strategy.get("type") else {**strategy, "type": RUN_AS_ANY}
    fields["users"] = fields.get("users", [])
    fields["groups"] = fields.get("groups", [])
    fields["volumes"] = _volumes(fields.get("volumes"), fields.get("allowHostDirVolumePlugin", False))
    fields["allowPrivilegeEscalation"] = fields.get("allowPrivilegeEscalation", True)
    fields["userNamespaceLevel"] = fields.get("userNamespaceLevel", "AllowHostLevel")
    return fields


def _volumes(listed: list[str] | None, host: bool) -> list[str]:
    """Make the list agree with `allowHostDirVolumePlugin`, which is older and goes first."""
    allowed = {ALL} if listed is None else {*listed} or {HOST_PATH if host else NONE}
    if host:
        return sorted(allowed if ALL in allowed else {*allowed, HOST_PATH})
    if ALL in allowed:
        allowed |= {*SOURCES.values()}
    return sorted(allowed - {ALL, HOST_PATH})
