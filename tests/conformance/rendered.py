"""Which of the objects that our stacks render can be judged, and by what the others cannot."""

from collections.abc import Iterable, Mapping
from typing import Any

from core.apis import kinds
from core.apis.kinds import Kind
from tests.conformance.definitions import AGGREGATED

Manifest = dict[str, Any]

UNSPECIFIED: Mapping[Kind, str] = {
    kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1: "the definition of 2020 has no schema of its fields",
    kinds.SPECIAL_RESOURCE_V1ALPHA1: "the definition of 2020 has an empty schema",
}
"""Kinds that never had a schema, and why."""
CSI_2 = "ibm-spectrum-scale-csi-operator.v2."
"""Begins the version of the driver of 2020, whose definition has no schema; csi.ibm.com/v1 is that of 3.x too."""

SECOND_SERVER = "OpenShift's second API server serves it; test_stacks.py judges it by the OpenAPI"


def is_of(manifest: Manifest, *wanted: Kind) -> bool:
    """Tell whether a manifest is of one of the kinds."""
    return (manifest["apiVersion"], manifest["kind"]) in {(kind.api_version, kind.kind) for kind in wanted}


def is_custom(manifest: Manifest) -> bool:
    """Tell whether an operator, or OpenShift, brings the manifest's kind along, and not Kubernetes."""
    group = manifest["apiVersion"].rpartition("/")[0]
    return "." in group and not group.endswith(".k8s.io")


def no_schema(manifest: Manifest, stack: Iterable[Manifest]) -> str | None:
    """Return why there is no schema for a manifest of a stack; None when there is one."""
    if is_of(manifest, kinds.CSI_SCALE_OPERATOR):
        versions = [str(each["spec"].get("startingCSV")) for each in stack if is_of(each, kinds.SUBSCRIPTION)]
        return "that of 2.0 has none" if any(version.startswith(CSI_2) for version in versions) else None
    return next((why for kind, why in UNSPECIFIED.items() if is_of(manifest, kind)), None)


def not_served(manifest: Manifest, stack: Iterable[Manifest]) -> str | None:
    """Return why a bare API server cannot judge a manifest; None when it can."""
    if is_of(manifest, *AGGREGATED):
        return SECOND_SERVER
    return no_schema(manifest, stack)
