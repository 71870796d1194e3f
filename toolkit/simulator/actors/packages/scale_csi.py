"""IBM Spectrum Scale CSI."""

from core.apis import kinds
from toolkit.simulator.access.rbac import OWN, READ, Rule
from toolkit.simulator.actors import images
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.package import (
    COMMON,
    FLAG,
    TEXT,
    Bundle,
    Definition,
    Package,
    list_of,
    operates,
    structure,
)
from toolkit.simulator.actors.scale_csi import SIDECAR_ACCOUNTS, ScaleCsiOperator
from toolkit.simulator.actors.scale_provisioner import RULES, ScaleProvisioner

_SELECTOR = list_of(structure({"key": TEXT, "value": TEXT}, "key", "value"))
_CLUSTER = structure(
    {
        "id": TEXT,
        "secrets": TEXT,
        "secureSslMode": FLAG,
        "cacert": TEXT,
        "restApi": list_of(structure({"guiHost": TEXT}, "guiHost")),
        "primary": structure({"primaryFs": TEXT, "primaryFset": TEXT}),
    },
    "id",
    "restApi",
    "secrets",
    "secureSslMode",
)
_RULES = (
    *COMMON,
    *operates(kinds.CSI_SCALE_OPERATOR),
    Rule((kinds.SECURITY_CONTEXT_CONSTRAINTS.group,), (kinds.SECURITY_CONTEXT_CONSTRAINTS.plural,), OWN),
    Rule(("",), ("secrets", "nodes"), READ),
    *RULES,
    Rule(("storage.k8s.io",), ("csidrivers",), OWN),
    Rule(("storage.k8s.io",), ("storageclasses", "volumeattachments"), READ),
)


def _bundle(version: str, registry: str, *required: str, **properties: Object) -> Bundle:
    """Return a version, whose object has these properties and its clusters, and requires the latter and `required`."""
    spec = structure({"clusters": list_of(_CLUSTER), **properties}, "clusters", *required)
    return Bundle(
        versions=(f"ibm-spectrum-scale-csi-operator.{version}",),
        definitions=(Definition(kinds.CSI_SCALE_OPERATOR, spec),),
        account="ibm-spectrum-scale-csi-operator",
        rules=_RULES,
        image=f"{registry}/ibm-spectrum-scale-csi-operator:{version}",
    )


TWO = _bundle(
    "v2.0.0",
    "quay.io/ibm-spectrum-scale",
    "scaleHostpath",
    scaleHostpath=TEXT,
    **{f"{part}NodeSelector": _SELECTOR for part in ("attacher", "provisioner", "plugin")},
)
THREE = _bundle(
    "v3.1.0",
    "icr.io/cpopen",
    # The operator asks for it, not the definition: OLM installs none that existing objects do not satisfy.
    localScaleCluster=TEXT,
    tolerations=list_of(structure()),
    **{f"{part}NodeSelector": _SELECTOR for part in ("plugin", *SIDECAR_ACCOUNTS)},
)

PACKAGES = (
    Package(
        name="ibm-spectrum-scale-csi-operator",
        title="IBM Spectrum Scale CSI Plugin Operator",
        sources=("certified-operators", "community-operators"),
        channels={"stable": TWO, "v3.1": THREE},
    ),
)
ACTORS = (
    (images.CSI_OPERATORS, "", ScaleCsiOperator),
    (images.CSI_PROVISIONERS, "", ScaleProvisioner),
)
