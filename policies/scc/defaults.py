"""Pods and SCCs as the API server decodes and completes them, before the plugin sees them.

They have the fields that `core.apis.fields` knows: any other is dropped, of which the API server only warns. A null is
a field that is absent, or in a list an entry that is empty. Pods get the defaults on which the verdict depends; two of
these are read rather than written, by `pods.py` and `volumes.py`: a volume without a source is an emptyDir, and a port
of a pod on the host's network is a host port. `runAsUser` and `seLinuxContext` have no default strategy: OpenShift
refuses an SCC without one, and one that slipped past it would refuse every pod.

Sources: kubernetes/kubernetes, `pkg/apis/core/v1` and `plugin/pkg/admission/serviceaccount`; openshift/api,
`security/v1`; openshift/apiserver-library-go, `pkg/securitycontextconstraints/sccdefaults`, which the admission plugin
`security.openshift.io/DefaultSecurityContextConstraints` calls.
"""

from collections.abc import Mapping
from typing import Any

from core.apis.field_values import NARROW, QUANTITIES, QUANTITY
from core.apis.fields import Content, Field, Type, root
from core.apis.kinds import POD, SECURITY_CONTEXT_CONSTRAINTS
from policies.scc.reading import INT64, InvalidPod, Object, labels
from policies.scc.volumes import ALL, HOST_PATH, NONE, SOURCES

_INT32 = range(-(2**31), 2**31)
_EMPTY: Mapping[Content, object] = {Content.TEXT: "", Content.NUMBER: 0, Content.FLAG: False}
"""What a null in a list stands for; of objects an empty one."""
_OBJECTS = frozenset({Content.OBJECT, Content.MAP, Content.TEXTS, Content.QUANTITIES})


def decoded(tree: Object, type_: Type, path: str) -> dict[str, Any]:
    """Return a copy of an object with the fields of its type alone; `path` is what their places begin with.

    Raises InvalidPod, with the place of it, for a value that its field cannot hold.
    """
    content: dict[str, Any] = {}
    fields = type_.fields
    for key, value in tree.items():
        field = fields.get(key)
        if field is None:
            if type_.open_:
                content[key] = value
        elif value is None:
            continue
        elif field.many:
            content[key] = _list(value, field, path + key)
        elif field.content is Content.TEXTS:
            content[key] = labels(tree, key, path)
        else:
            content[key] = _value(value, field, path + key)
            if (type_.name, key) in QUANTITIES:
                _check_quantity(value, path + key)
    return content


def _list(value: object, field: Field, path: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise InvalidPod(path, "a list", value)
    return [
        _EMPTY.get(field.content, {}) if entry is None else _value(entry, field, f"{path}[{index}]")
        for index, entry in enumerate(value)
    ]


def _value(value: object, field: Field, path: str) -> Any:
    content = field.content
    if content is Content.TEXT:
        if not isinstance(value, str):
            raise InvalidPod(path, "a string", value)
    elif content is Content.NUMBER:
        _check_number(value, path)
    elif content is Content.FLAG:
        if not isinstance(value, bool):
            raise InvalidPod(path, "a boolean", value)
    elif content in _OBJECTS:
        if not isinstance(value, Mapping):
            raise InvalidPod(path, "an object", value)
        if field.type is not None:
            return decoded(value, field.type, f"{path}.")
        if content is Content.QUANTITIES:
            for name, quantity in value.items():
                _check_quantity(quantity, f"{path}[{name}]")
        return dict(value)
    return value


def _check_number(value: object, path: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value not in INT64:
        raise InvalidPod(path, "an integer of 64 bits", value)
    if value not in _INT32 and path.rpartition(".")[2] in NARROW:
        raise InvalidPod(path, "an integer of 32 bits", value)


def _check_quantity(value: object, path: str) -> None:
    if isinstance(value, str):
        is_quantity = QUANTITY.fullmatch(value.strip()) is not None
    else:
        is_quantity = isinstance(value, int | float | None) and not isinstance(value, bool)
    if not is_quantity:
        raise InvalidPod(path, "a quantity", value)


ACCOUNT = "serviceAccountName"
_DEPRECATED, _DEFAULT = "serviceAccount", "default"
_MIRROR = "kubernetes.io/config.mirror"
"""The annotation of a kubelet's static pod, which has no service account."""
_POD = root(POD.group, POD.kind)


def defaulted_pod(manifest: Object) -> dict[str, Any]:
    """Return a pod with the API server's defaults, of one as a user or a controller writes it.

    Raises InvalidPod where the API server could not decode it.
    """
    if not isinstance(manifest, Mapping):
        raise InvalidPod("pod", "an object", manifest)
    pod = decoded(manifest, _POD, "")
    spec = pod["spec"] = pod.get("spec", {})
    spec.setdefault("securityContext", {})
    account = spec.get(ACCOUNT) or spec.get(_DEPRECATED)
    if not account and _MIRROR not in pod.get("metadata", {}).get("annotations", {}):
        account = _DEFAULT
    if account:
        spec[ACCOUNT] = account
    return pod


RUN_AS_ANY = "RunAsAny"

_SCC = root(SECURITY_CONTEXT_CONSTRAINTS.group, SECURITY_CONTEXT_CONSTRAINTS.kind)


def defaulted_scc(scc: Object, path: str = "") -> dict[str, Any]:
    """Return an SCC with the API server's defaults, of one that is declared or stored; `path` is its place.

    Raises InvalidPod for fields of wrong types.
    """
    if not isinstance(scc, Mapping):
        raise InvalidPod(path, "an object", scc)
    fields = decoded(scc, _SCC, f"{path}." if path else "")
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
