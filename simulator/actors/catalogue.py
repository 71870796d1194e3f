"""The simulated catalogue: which operators OLM can install here, as data.

The custom resource definitions are small ones of our own: group, version and scope of the release's operator, its
required keys and their types, everything else kept as it comes.
"""

from dataclasses import dataclass

from apis import kinds
from apis.kinds import Kind
from simulator.actors import nfd, rbac
from simulator.actors.api import Object
from simulator.actors.rbac import OWN, READ, Rule

RBAC_OBJECTS = ("roles", "rolebindings", "clusterroles", "clusterrolebindings")


@dataclass(frozen=True)
class Package:
    """One operator: `channels` lists its versions (names of CSVs) oldest first."""

    name: str
    title: str
    sources: tuple[str, ...]
    channels: dict[str, tuple[str, ...]]
    kind: Kind
    spec_schema: Object
    account: str
    rules: tuple[Rule, ...]
    image: str

    def definition(self) -> Object:
        """Return the CustomResourceDefinition that comes with the operator."""
        return definition(self.kind, self.spec_schema)


def definition(kind: Kind, spec_schema: Object) -> Object:
    """Return a CustomResourceDefinition with a status subresource that keeps unknown fields."""
    status = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": spec_schema, "status": status}}
    version = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": kinds.CUSTOM_RESOURCE_DEFINITION.api_version,
        "kind": kinds.CUSTOM_RESOURCE_DEFINITION.kind,
        "metadata": {"name": f"{kind.plural}.{kind.group}"},
        "spec": {
            "group": kind.group,
            "scope": kind.scope,
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": kind.plural,
                "singular": kind.kind.lower(),
            },
            "versions": [version],
        },
    }


def _open(properties: Object | None = None, *required: str) -> Object:
    schema: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": properties or {}}
    return schema | ({"required": list(required)} if required else {})


_TEXT = {"type": "string"}
_FLAG = {"type": "boolean"}


def _list(item: Object) -> Object:
    return {"type": "array", "items": item}


_SELECTOR = _list(_open({"key": _TEXT, "value": _TEXT}, "key", "value"))
_CLUSTER = _open(
    {
        "id": _TEXT,
        "secrets": _TEXT,
        "secureSslMode": _FLAG,
        "cacert": _TEXT,
        "restApi": _list(_open({"guiHost": _TEXT}, "guiHost")),
        "primary": _open({"primaryFs": _TEXT, "primaryFset": _TEXT}),
    },
    "id",
    "restApi",
    "secrets",
    "secureSslMode",
)


def _operates(kind: Kind) -> Rule:
    return Rule((kind.group,), (kind.plural, f"{kind.plural}/status", f"{kind.plural}/finalizers"), OWN)


_COMMON = (
    Rule(("",), ("serviceaccounts", "configmaps", "services"), OWN),
    Rule(("",), ("pods", "events"), (*READ, "create")),
    Rule((kinds.ROLE.group,), RBAC_OBJECTS, OWN),
    Rule((kinds.DAEMON_SET.group,), ("daemonsets", "statefulsets", "deployments"), OWN),
)
# What they grant their operands they must have themselves.
_PRIVILEGED = rbac.use_scc("privileged")

NODE_FEATURE_DISCOVERY = Package(
    name="nfd",
    title="Node Feature Discovery",
    sources=("redhat-operators",),
    channels={"4.4": ("nfd.4.4.0-202006011320", "nfd.4.4.0-202007240028.p0")},
    kind=kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1,
    spec_schema=_open({"namespace": _TEXT, "image": _TEXT}),
    account="nfd-operator",
    rules=(*_COMMON, _PRIVILEGED, _operates(kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1), nfd.NODES),
    image="registry.redhat.io/openshift4/ose-cluster-nfd-operator:v4.4",
)

SPECIAL_RESOURCE = Package(
    name="special-resource-operator",
    title="Special Resource Operator",
    sources=("redhat-operators", "community-operators"),
    channels={"4.4": ("special-resource-operator.v0.0.1",)},
    kind=kinds.SPECIAL_RESOURCE_V1ALPHA1,
    spec_schema=_open(),
    account="special-resource-operator",
    rules=(
        *_COMMON,
        _PRIVILEGED,
        _operates(kinds.SPECIAL_RESOURCE_V1ALPHA1),
        Rule(("",), ("namespaces",), OWN),
        Rule(("",), ("nodes",), READ),
    ),
    image="quay.io/openshift-psap/special-resource-operator:release-4.4",
)

SCALE_CSI = Package(
    name="ibm-spectrum-scale-csi-operator",
    title="IBM Spectrum Scale CSI Plugin Operator",
    sources=("certified-operators", "community-operators"),
    channels={"stable": ("ibm-spectrum-scale-csi-operator.v2.0.0",)},
    kind=kinds.CSI_SCALE_OPERATOR,
    spec_schema=_open(
        {
            "clusters": _list(_CLUSTER),
            "scaleHostpath": _TEXT,
            "attacherNodeSelector": _SELECTOR,
            "provisionerNodeSelector": _SELECTOR,
            "pluginNodeSelector": _SELECTOR,
        },
        "clusters",
        "scaleHostpath",
    ),
    account="ibm-spectrum-scale-csi-operator",
    rules=(
        *_COMMON,
        _operates(kinds.CSI_SCALE_OPERATOR),
        Rule((kinds.SECURITY_CONTEXT_CONSTRAINTS.group,), (kinds.SECURITY_CONTEXT_CONSTRAINTS.plural,), OWN),
        Rule(("",), ("secrets", "nodes"), READ),
        Rule(("storage.k8s.io",), ("csidrivers",), OWN),
        Rule(("storage.k8s.io",), ("storageclasses", "volumeattachments"), READ),
    ),
    image="quay.io/ibm-spectrum-scale/ibm-spectrum-scale-csi-operator:v2.0.0",
)

PACKAGES = {package.name: package for package in (NODE_FEATURE_DISCOVERY, SPECIAL_RESOURCE, SCALE_CSI)}


class NotInCatalogueError(ValueError):
    """A subscription asks for what the catalogue does not have; the text is as OLM words it."""


def next_version(spec: Object, installed: str | None) -> str | None:
    """Return the version that a Subscription with this `spec` installs next, None when it has the channel's last.

    The first one is `startingCSV`, or the channel's last. Raise NotInCatalogueError for an unknown package, source,
    channel or version.
    """
    name, source = spec["name"], spec["source"]
    package = PACKAGES.get(name)
    if package is None or source not in package.sources:
        raise NotInCatalogueError(
            f"constraints not satisfiable: no operators found in package {name} in the catalog referenced by"
            f" subscription; catalog {source} of the simulated cluster has"
            f" {', '.join(sorted(each.name for each in PACKAGES.values() if source in each.sources)) or 'nothing'}"
        )
    channel = spec.get("channel") or next(iter(package.channels))
    versions = package.channels.get(channel)
    if versions is None:
        raise NotInCatalogueError(
            f"constraints not satisfiable: no operators found in channel {channel} of package {name};"
            f" known: {', '.join(package.channels)}"
        )
    if installed in versions:
        later = versions[versions.index(installed) + 1 :]
        return later[0] if later else None
    starting: str = spec.get("startingCSV") or versions[-1]
    if starting not in versions:
        raise NotInCatalogueError(
            f"constraints not satisfiable: no operators found with name {starting} in channel {channel} of package"
            f" {name}; known: {', '.join(versions)}"
        )
    return starting
