"""Kinds whose operators publish no Go module to take the definitions from: their fields, as read in the source.

Names, types, enumerations and what is required, of the parts that we use; any other field is refused, so whoever uses
one adds it here after looking it up. Read on 2026-11-21 in openshift/kueue-operator 040ec879,
manifests/kueue.openshift.io_kueues.yaml, and in nmstate/kubernetes-nmstate 13e42e3c and 0b9c6fc0,
bundle/manifests/nmstate.io_nmstates.yaml and deploy/crds/nmstate.io_nodenetworkconfigurationpolicies.yaml.
"""

from typing import Any

from apis import kinds
from apis.kinds import Kind

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "object", "additionalProperties": _TEXT}


def _object(required: tuple[str, ...] = (), **fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, **({"required": list(required)} if required else {})}


def _one_of(*values: str) -> Schema:
    return {"type": "string", "enum": [*values, ""]}


def _list(item: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": item, **more}


_FRAMEWORKS = (
    *("BatchJob", "RayJob", "RayCluster", "JobSet", "MPIJob", "PaddleJob", "PyTorchJob", "TFJob", "TrainJob"),
    *("XGBoostJob", "JaxJob", "AppWrapper", "Pod", "Deployment", "StatefulSet", "LeaderWorkerSet"),
)
_GANG = _object(
    ("policy",),
    policy=_one_of("ByWorkload", "None"),
    byWorkload=_object(("admission",), admission=_one_of("Parallel", "Sequential")),
) | {
    "x-kubernetes-validations": [
        {"rule": "(has(self.policy) && self.policy == 'ByWorkload') == has(self.byWorkload)"},
    ]
}
_KUEUE = _object(
    ("config",),
    managementState=_TEXT | {"pattern": "^(Managed|Unmanaged|Force|Removed)$"},
    config=_object(
        ("integrations",),
        integrations=_object(
            ("frameworks",),
            frameworks=_list(
                {"type": "string", "enum": list(_FRAMEWORKS)},
                **{"minItems": 1, "maxItems": 14, "x-kubernetes-list-type": "set"},
            ),
        ),
        gangScheduling=_GANG,
        workloadManagement=_object(("labelPolicy",), labelPolicy=_one_of("QueueName", "None")),
        preemption=_object(("preemptionPolicy",), preemptionPolicy=_one_of("Classical", "FairSharing")),
    ),
)
_TOLERATION = _object(
    key=_TEXT, operator=_TEXT, value=_TEXT, effect=_TEXT, tolerationSeconds={"type": "integer", "format": "int64"}
)
_NMSTATE = _object(
    nodeSelector=_TEXTS,
    tolerations=_list(_TOLERATION),
    probeConfiguration=_object(dns=_object(host=_TEXT)),
)
_POLICY = _object(
    nodeSelector=_TEXTS,
    capture=_TEXTS,
    maxUnavailable={"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
    desiredState={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
)


def _definition(kind: Kind, spec: Schema, *rules: str, required: tuple[str, ...] = ()) -> dict[str, Any]:
    status = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = _object(required, apiVersion=_TEXT, kind=_TEXT, metadata={"type": "object"}, spec=spec, status=status)
    if rules:
        schema["x-kubernetes-validations"] = [{"rule": rule} for rule in rules]
    names = {"kind": kind.kind, "listKind": f"{kind.kind}List", "plural": kind.plural, "singular": kind.kind.lower()}
    version = {"name": kind.version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": kinds.CUSTOM_RESOURCE_DEFINITION.api_version,
        "kind": kinds.CUSTOM_RESOURCE_DEFINITION.kind,
        "metadata": {"name": f"{kind.plural}.{kind.group}"},
        "spec": {"group": kind.group, "scope": kind.scope, "names": names, "versions": [version]},
    }


DEFINITIONS = (
    _definition(kinds.KUEUE, _KUEUE, "self.metadata.name == 'cluster'", required=("spec",)),
    _definition(kinds.NMSTATE, _NMSTATE),
    _definition(kinds.NODE_NETWORK_CONFIGURATION_POLICY, _POLICY),
)
