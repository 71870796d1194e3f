"""From the engine's resources to objects of a cluster."""

from collections.abc import Iterator
from typing import Any

from google.protobuf import json_format, struct_pb2
from pulumi_policy import deserialize, proxy

from core.apis import field_owners
from policies.manifests.objects import Obj, opened
from policies.manifests.values import Path, Tree, Unknown
from policies.rule import texts

_SENTINELS = frozenset(value for name, value in vars(proxy).items() if name.startswith("UNKNOWN_"))


class Properties:
    """The properties of one resource: `tree` has dicts, lists and scalars, with integers for whole floats.

    What is not known is an `Unknown` in its place, and in `unknown`. What is secret is in its place as plain text, and
    its texts are in `secrets`.
    """

    def __init__(self, properties: struct_pb2.Struct | Tree) -> None:
        content = json_format.MessageToDict(properties) if isinstance(properties, struct_pb2.Struct) else properties
        self.unknown: list[Unknown] = []
        self.secrets: set[str] = set()
        self.tree: Any = self._plain(content, ())

    def _plain(self, value: Tree, path: Path) -> Tree:
        if isinstance(value, str):
            return self._hidden(path) if value in _SENTINELS else value
        if isinstance(value, dict):
            if value.get(deserialize.SPECIAL_SIG_KEY) == deserialize.SPECIAL_SECRET_SIG:
                content = self._plain(value.get("value"), path)
                self.secrets.update(texts(content))
                return content
            return {key: self._plain(entry, (*path, key)) for key, entry in value.items()}
        if isinstance(value, list):
            return [self._plain(entry, (*path, index)) for index, entry in enumerate(value)]
        if isinstance(value, float) and value.is_integer():
            return int(value)  # the engine's wire format has floats only
        return self._hidden(path) if isinstance(value, Unknown) else value

    def _hidden(self, path: Path) -> Unknown:
        value = Unknown(path)
        self.unknown.append(value)
        return value


_PATCH = "Patch"
_LIST = "List"
_COMPOSED = frozenset({"yaml", "helm.sh", "kustomize"})
"""What the Kubernetes provider's package has beside objects: charts and folders, which register their objects."""
_SERVER_METADATA = ("managedFields", "uid", "resourceVersion", "creationTimestamp", "generation", "selfLink")
_OF_THE_SERVER = frozenset({("status",), *(("metadata", field) for field in _SERVER_METADATA)})
"""What an object has once it is on the cluster, and no manifest declares."""


def as_objects(
    token: str, properties: Properties, name: str, origin: object = None, *, live: bool = False
) -> Iterator[Obj]:
    """Yield the objects of one resource: none for what is not an object of a cluster, several for a `List`.

    After each come the objects inside it.

    `token` is e.g. `kubernetes:batch/v1:Job`; kind and version come from it when they are not among the properties.
    `name` is the logical name, which stands in for an absent one. `live` says that they are outputs, in which the
    server may have filled in fields; those that no manifest declares are left out. In a preview they still have what
    the update removes: fields of users that the program does not declare (any more). These are left out, too.
    """
    for subject in _declared(token, properties, name, origin, live=live):
        yield from (inner for _, inner in opened(subject))


def _declared(token: str, properties: Properties, name: str, origin: object, *, live: bool) -> Iterator[Obj]:
    package, _, versioned = token.partition(":")
    version, _, kind = versioned.partition(":")
    if package != "kubernetes" or not kind or version.partition("/")[0] in _COMPOSED:
        return
    tree: dict[str, Any] = dict(properties.tree)
    unknown = properties.unknown
    identity = {"apiVersion": version.removeprefix("core/"), "kind": kind.removesuffix(_PATCH)}
    tree.update({key: value for key, value in identity.items() if not isinstance(tree.get(key), str)})
    if live:
        unknown = [value for value in unknown if not _OF_THE_SERVER.intersection((value.path[:1], value.path[:2]))]
        if not kind.endswith(_PATCH):
            tree = dict(field_owners.after_update(tree))
        _strip(tree)
    if kind.endswith(_LIST) and isinstance(tree.get("items"), list):
        defaults = {"apiVersion": tree["apiVersion"], "kind": kind.removesuffix(_LIST)} if kind != _LIST else {}
        for item in tree["items"]:
            element = Properties(item)  # whose paths begin at the item
            typed = {**defaults, **element.tree} if isinstance(element.tree, dict) else element.tree
            yield Obj(typed, origin, unknown=tuple(element.unknown))
        return
    metadata = tree.get("metadata")
    if isinstance(metadata, dict):
        tree["metadata"] = {"name": f"({name})", **metadata}
    yield Obj(tree, origin, partial=kind.endswith(_PATCH), unknown=tuple(unknown))


def _strip(tree: dict[str, Any]) -> None:
    for key in [key for key in tree if key.startswith("__")]:  # the provider's own notes
        del tree[key]
    for path in _OF_THE_SERVER:
        _remove(tree, path)


def _remove(tree: Tree, path: Path) -> None:
    *above, last = path
    for key in above:
        tree = tree.get(key) if isinstance(tree, dict) else None
    if isinstance(tree, dict):
        tree.pop(last, None)
