"""What a stack declares that may be on the cluster already."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.pulumi_values import REDACTED
from policies.manifests.values import read
from stacks import environment
from stacks.loading.settings import PROJECT
from stacks.settings import transforms
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack
from toolkit.render.recorder import Registration, record

_ROOT_TYPE = "pulumi:pulumi:Stack$"
"""What the SDK's mocks put before the type of what has no parent, and the engine does not."""
_PROVIDER = "pulumi:providers:"


@dataclass(frozen=True)
class Declared:
    """One object that the program declares."""

    item: Registration

    @property
    def urn(self) -> str:
        """URN as the engine has it."""
        return urn(self.item.urn)

    @property
    def api_version(self) -> str:
        """As in a manifest."""
        return self.item.type.split(":")[1].removeprefix("core/")

    @property
    def kind(self) -> str:
        """Kind of the object."""
        return self.item.type.rpartition(":")[2]

    @property
    def namespace(self) -> str:
        """Namespace of the object; empty where it has none."""
        return str(read(self.item.inputs, "metadata", "namespace") or "")

    @property
    def name(self) -> str:
        """Name of the object on the cluster."""
        return str(read(self.item.inputs, "metadata", "name") or "")

    @property
    def label(self) -> str:
        """Return how the settings name it."""
        return transforms.named(self.kind, self.namespace, self.name)


@dataclass(frozen=True)
class Program:
    """All that a stack declares: objects, and what they hang on, by URN as the engine has them."""

    objects: tuple[Declared, ...]
    others: Mapping[str, Registration]
    """Components and providers."""

    def above(self, obj: Declared) -> Iterator[tuple[str, Registration]]:
        """Yield the components above an object, the nearest first."""
        parent = urn(obj.item.parent)
        while (component := self.others.get(parent)) is not None:
            yield parent, component
            parent = urn(component.parent)

    @property
    def provider(self) -> tuple[str, Registration]:
        """The provider of all objects."""
        return next((name, item) for name, item in self.others.items() if item.type.startswith(_PROVIDER))


def urn(recorded: str) -> str:
    """Return the engine's URN for that of a recorded registration."""
    return recorded.replace(_ROOT_TYPE, "")


def program(stack: Stack) -> Program:
    """Return what a stack declares, without the engine and without its secrets.

    Patches are not objects of this stack, and what the program only waits for is a patch.
    """
    cluster = stack.settings.cluster.model_copy(update={"kubeconfig": str(stack.kubeconfig), "context": stack.context})
    settings = stack.settings.model_copy(update={"cluster": cluster})
    recorded = record(
        lambda: environment.build(settings, environment.placeholder_accounts(settings, REDACTED), ROOT),
        stack=stack.name,
        project=PROJECT,
    )
    return of(recorded)


def of(recorded: Collection[Registration]) -> Program:
    """Return what registrations declare."""
    objects = [Declared(item) for item in recorded if item.is_kubernetes and not item.type.endswith("Patch")]
    return Program(
        tuple(sorted(objects, key=lambda obj: (obj.kind, obj.namespace, obj.name))),
        {urn(item.urn): item for item in recorded if not item.is_kubernetes},
    )


class StateResources:
    """The objects of a state, found under their URN or in another version of their API."""

    def __init__(self, resources: Collection[Mapping[str, Any]]) -> None:
        self._resources = {resource["urn"]: resource for resource in resources if not resource.get("delete")}
        self._objects = {
            _key(resource["type"], resource.get("inputs") or {}): resource for resource in self._resources.values()
        }

    def resource(self, urn: str) -> Mapping[str, Any] | None:
        """Return the resource of a URN."""
        return self._resources.get(urn)

    def find(self, obj: Declared) -> Mapping[str, Any] | None:
        """Return the resource that is this object."""
        return self._resources.get(obj.urn) or self._objects.get(_key(obj.item.type, obj.item.inputs))


def _key(token: str, inputs: Mapping[str, Any]) -> tuple[str, ...]:
    """Return group, kind, namespace and name; a patch is another kind.

    The official provider writes a namespace into the inputs of cluster-scoped kinds: the one of what names none.
    """
    _, _, rest = token.partition(":")
    namespace, name = (str(read(inputs, "metadata", key) or "") for key in ("namespace", "name"))
    return rest.partition("/")[0], token.rpartition(":")[2], namespace or "default", name
