"""An SCC as a cluster stores it: OpenShift completes one when it is created, before the plugin ever sees it.

Source: openshift/apiserver-library-go, `pkg/securitycontextconstraints/sccdefaults`.
"""

from typing import Any

from policies.scc.constraints import RUN_AS_ANY
from policies.scc.reading import Object, flag, mapping, sequence, texts
from policies.scc.volumes import ALL, HOST_PATH, NONE, SOURCES


def stored(scc: Object) -> dict[str, Any]:
    """Return a manifest of an SCC with what the cluster adds; raises InvalidPod for fields of wrong types."""
    strategies = {key: mapping(scc, key, "") or {} for key in ("fsGroup", "supplementalGroups")}
    return {
        **scc,
        **{key: found if found.get("type") else {**found, "type": RUN_AS_ANY} for key, found in strategies.items()},
        "users": [*texts(scc, "users", "")],
        "groups": [*texts(scc, "groups", "")],
        "volumes": _volumes(scc),
        "allowPrivilegeEscalation": flag(scc, "allowPrivilegeEscalation", "") is not False,
    }


def _volumes(scc: Object) -> list[str]:
    """Make the list agree with `allowHostDirVolumePlugin`, which is older and goes first."""
    host = bool(flag(scc, "allowHostDirVolumePlugin", ""))
    if sequence(scc, "volumes", "") is None:
        allowed = {ALL}
    else:
        allowed = {*texts(scc, "volumes", "")} or {HOST_PATH if host else NONE}
    if host:
        return sorted(allowed if ALL in allowed else {*allowed, HOST_PATH})
    if ALL in allowed:
        allowed |= {*SOURCES.values()}
    return sorted(allowed - {ALL, HOST_PATH})
