"""What an operator of the simulated catalogue is made of, as data, and the definitions that it brings.

The custom resource definitions are small ones of our own: group, version and scope of the release's operator, its
required keys and their types, everything else kept as it comes. Where an operator publishes its fields in no Go module,
and they are few, the definition has all of them (`exactly`), and the component is tested against it.
"""

from dataclasses import dataclass, field

from core.apis import kinds
from core.apis.kinds import Kind
from core.yaml import text as yaml_text
from toolkit.engine import tools
from toolkit.simulator.access import rbac
from toolkit.simulator.access.rbac import OWN, READ, Rule
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.job_manifests import without_descriptions
from toolkit.simulator.manifests import manifest

TEXT: Object = {"type": "string"}
FLAG: Object = {"type": "boolean"}
NUMBER: Object = {"type": "integer"}

MODES = frozenset({"OwnNamespace", "SingleNamespace", "AllNamespaces"})
"""Which namespaces an operator can watch, unless its bundle says otherwise."""

_RBAC_OBJECTS = ("roles", "rolebindings", "clusterroles", "clusterrolebindings")
COMMON = (
    Rule(("",), ("serviceaccounts", "configmaps", "services"), OWN),
    Rule(("",), ("pods", "events"), (*READ, "create")),
    Rule((kinds.ROLE.group,), _RBAC_OBJECTS, OWN),
    Rule((kinds.DAEMON_SET.group,), ("daemonsets", "statefulsets", "deployments"), OWN),
)
"""Rights that every operator here has."""
PRIVILEGED = rbac.use_scc("privileged")
"""What operators grant their operands they must have themselves."""


@dataclass(frozen=True)
class Definition:
    """One kind that an operator owns: the version that is stored, and older ones that are served as well."""

    kind: Kind
    spec: Object
    older: tuple[Kind, ...] = ()
    root: Object = field(default_factory=dict)
    """What its schema has beside `spec` and `status`: further properties, and rules for the whole object."""

    def manifest(self) -> Object:
        """Return the CustomResourceDefinition, with a status subresource; it keeps unknown fields.

        Older versions have the same fields, so that nothing of a stored object is lost when the version changes.
        """
        spec = {
            "group": self.kind.group,
            "scope": self.kind.scope,
            "names": {
                "kind": self.kind.kind,
                "listKind": f"{self.kind.kind}List",
                "plural": self.kind.plural,
                "singular": self.kind.kind.lower(),
            },
            "versions": [self._version(kind) for kind in (self.kind, *self.older)],
        }
        return manifest(kinds.CUSTOM_RESOURCE_DEFINITION, self.name, spec=spec)

    @property
    def name(self) -> str:
        """Name of the CustomResourceDefinition."""
        return f"{self.kind.plural}.{self.kind.group}"

    @property
    def tools(self) -> tuple[str, ...]:
        """Tools that it is read from."""
        return ()

    def _schema(self, properties: Object) -> Object:
        return {"type": "object", **self.root, "properties": {**properties, **self.root.get("properties", {})}}

    def _version(self, kind: Kind) -> Object:
        status = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        return {
            "name": kind.version,
            "served": True,
            "storage": kind == self.kind,
            "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": self._schema({"spec": self.spec, "status": status})},
        }


@dataclass(frozen=True)
class Published(Definition):
    """A kind that the operator publishes in a Go module: the definition is a file of that, of a data tool.

    Its own `spec` says what the file is not read for.
    """

    tool: str = ""
    file: str = ""

    @property
    def tools(self) -> tuple[str, ...]:
        """The data tool."""
        return (self.tool,)

    def manifest(self) -> Object:
        """Return the CustomResourceDefinition as published, without the descriptions of fields."""
        text = (tools.find(self.tool) / self.file).read_text()
        return without_descriptions(yaml_text.read(text))


@dataclass(frozen=True)
class Bundle:
    """What one channel installs: `versions` are names of ClusterServiceVersions, oldest first."""

    versions: tuple[str, ...]
    definitions: tuple[Definition, ...]
    account: str
    rules: tuple[Rule, ...]
    image: str
    modes: frozenset[str] = MODES
    replicas: int = 1
    """Of its Deployment; with several the operator is a `ReplicatedOperator`."""
    placement: Object = field(default_factory=dict)
    """Tolerations and affinity of its pods."""


@dataclass(frozen=True)
class Package:
    """One operator of the catalogue; its first channel is the default one."""

    name: str
    title: str
    sources: tuple[str, ...]
    channels: dict[str, Bundle]

    def bundle(self, version: str) -> Bundle:
        """Return the bundle that a version is of; raise KeyError for one that no channel has."""
        for bundle in self.channels.values():
            if version in bundle.versions:
                return bundle
        raise KeyError(version)


def structure(properties: Object | None = None, *required: str) -> Object:
    """Return the schema of an object with these properties; those that are not named are kept as they come."""
    return exactly(properties, *required) | {"x-kubernetes-preserve-unknown-fields": True}


def exactly(properties: Object | None = None, *required: str) -> Object:
    """Return the schema of an object with these properties and no others, as its operator publishes it."""
    schema: Object = {"type": "object", "properties": properties or {}}
    return schema | ({"required": list(required)} if required else {})


def list_of(item: Object) -> Object:
    """Return the schema of a list."""
    return {"type": "array", "items": item}


def operates(*owned: Kind) -> tuple[Rule, ...]:
    """Return the rights on the kinds that an operator owns."""
    return tuple(
        Rule((kind.group,), (kind.plural, f"{kind.plural}/status", f"{kind.plural}/finalizers"), OWN) for kind in owned
    )
