"""Objects inside an object whose controller applies them: in its fields, in a YAML text of one, or in another form.

A kind that nothing here knows is searched as a whole (ManifestWork, ConfigurationPolicy, AppWrapper, SyncSet). What
describes objects and makes none is left out, and so is what a controller removes.
"""

from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from core.apis import kinds
from policies.manifests.documents import Aliases, NotReadable, documents
from policies.manifests.pod_specs import NO_PODS, is_object
from policies.manifests.templates import late_values
from policies.manifests.values import Path, Tree, Unknown, is_mapping, mapping, read, text

_VERSION, _KIND = "apiVersion", "kind"
_DEEPEST = 64
_MOST = 1000
_LARGEST = 1 << 20
_ENCODED = (kinds.SECRET.kind, "data")
_SETS = frozenset({"addons.cluster.x-k8s.io/resource-set"})
"""Types of Secrets whose texts are manifests."""
_POLICIES = "policy.open-cluster-management.io"
_MERGING = (_POLICIES, "ConfigurationPolicy")
"""A kind whose inner objects are merged into existing ones: each may have a part of its fields."""
_ENFORCE, _INFORM = "enforce", "inform"
_PATCHES = frozenset({"patch", "patches", "patchesStrategicMerge", "templatePatch"})
_GENERATE, _DATA = "generate", "data"
_SAME_NAMESPACE: Mapping[str, frozenset[str]] = {
    "workload.codeflare.dev": frozenset({"AppWrapper"}),
    "argoproj.io": frozenset({"Workflow", "WorkflowTemplate", "CronWorkflow"}),
    "triggers.tekton.dev": frozenset({"TriggerTemplate"}),
}
"""Kinds whose controller puts an object without a namespace into its own."""
_MARKS: Mapping[str, tuple[str, ...]] = {"triggers.tekton.dev": ("$(",), "kro.run": ("${",)}
_EVERY_MARK = ("{{",)
"""What the values begin with that a controller fills in, of each group and of all."""
_QUEUE = ("metadata", "labels", "kueue.x-k8s.io/queue-name")


@dataclass(frozen=True, slots=True)
class Inner:
    """One object inside another: `path` is its place there.

    `text` says that it is written in a YAML text at that place, `partial` that it changes an existing object, and
    `idle` that its controller only compares it with what exists, until someone lets it create it.
    """

    path: Path
    tree: Tree
    unknown: tuple[Unknown, ...] = ()
    text: bool = False
    partial: bool = False
    idle: bool = False


def inner_objects(group: str, kind: str, tree: Tree, unknown: tuple[Unknown, ...]) -> Iterator[Inner]:
    """Yield the objects inside one, without those that are inside these."""
    if (group, kind) == OPERATOR_VERSION:
        candidates: Iterator[tuple[Path, Tree, bool]] = _of_operator(tree)
    elif (group, kind) in TEXT_HOLDERS:
        candidates = _of_texts(tree, kind)
    else:
        candidates = _searched(_enforced_below(tree) if group == _POLICIES else tree)
    marks = (*_EVERY_MARK, *_MARKS.get(group, ()))
    idle = group == _POLICIES and not _applied(tree)
    merged = (group, kind) == _MERGING
    for path, item, of_text in islice(candidates, _MOST):
        content, late = late_values(_completed(group, kind, tree, item), marks, complete=not unknown)
        yield Inner(path, content, late, of_text, merged or not _PATCHES.isdisjoint(path), idle)


def _enforced_below(tree: Tree) -> Tree:
    """Return a Policy with the policies inside as it applies them: their own action gives way to its."""
    if text(read(tree, "spec", "remediationAction")).lower() != _ENFORCE:
        return tree
    templates = read(tree, "spec", "policy-templates")
    changed = [_enforced(entry) for entry in templates] if isinstance(templates, list) else templates
    return {**tree, "spec": {**mapping(tree, "spec"), "policy-templates": changed}}


def _enforced(entry: Tree) -> Tree:
    inner = read(entry, "objectDefinition")
    if not is_mapping(inner) or text(read(inner, "spec", "remediationAction")).lower() != _INFORM:
        return entry
    spec = {**mapping(inner, "spec"), "remediationAction": _ENFORCE}
    return {**entry, "objectDefinition": {**inner, "spec": spec}}


def _applied(tree: Tree) -> bool:
    """Return whether a policy of Open Cluster Management creates objects, and does not only compare them."""
    if read(tree, "spec", "disabled") is True:
        return False
    action = text(read(tree, "spec", "remediationAction")).lower()
    return not action.startswith(_INFORM)


def _completed(group: str, kind: str, outer: Tree, item: Tree) -> Tree:
    """Return an inner object with the namespace and the queue that it has from the outer one."""
    if kind not in _SAME_NAMESPACE.get(group, ()):
        return item
    metadata, namespace = mapping(item, "metadata"), read(outer, "metadata", "namespace")
    definition = kinds.find(text(item.get(_VERSION)), text(item.get(_KIND)))
    if namespace and "namespace" not in metadata and (definition is None or definition.scope != "Cluster"):
        metadata = {**metadata, "namespace": namespace}
    *_, label = _QUEUE
    if queue := read(outer, *_QUEUE):
        metadata = {**metadata, "labels": {label: queue, **mapping(metadata, "labels")}}
    return {**item, "metadata": metadata}


def _searched(tree: Tree, above: Path = ()) -> Iterator[tuple[Path, Tree, bool]]:
    """Yield the objects in the fields of a tree in document order, and those in texts there."""
    waiting: list[tuple[Path, Any]] = [(above, tree)]
    while waiting:
        path, value = waiting.pop()
        if value.__class__ is dict:
            if path != above and is_object(value):
                yield path, value, False
            elif _GENERATE in path and isinstance(value.get(_DATA), Mapping) and _KIND in value:
                yield from _generated(path, value)
            elif len(path) < _DEEPEST and text(value.get("complianceType")).lower() != "mustnothave":
                waiting.extend(
                    ((*path, key), below)
                    for key, below in reversed(value.items())
                    if key not in NO_PODS and (below.__class__ in (dict, list) or _is_manifest(below))
                )
        elif value.__class__ is list:
            if len(path) < _DEEPEST:
                waiting.extend(
                    ((*path, index), value[index])
                    for index in range(len(value) - 1, -1, -1)
                    if value[index].__class__ in (dict, list) or _is_manifest(value[index])
                )
        else:
            yield from _of_text(path, value)


def _is_manifest(value: Tree) -> bool:
    return value.__class__ is str and _VERSION in value and _KIND in value and len(value) <= _LARGEST


def _of_text(path: Path, value: str) -> Iterator[tuple[Path, Tree, bool]]:
    """Yield the objects of a YAML text, as far as it can be read; all of them have the text's place."""
    try:
        for document in documents(value, Aliases.of(value), {}):
            content = document.tree
            if content.__class__ is dict and is_object(content):
                yield path, content, True
            elif content.__class__ in (dict, list):
                yield from ((path, item, True) for _, item, _ in _searched(content))
    except NotReadable:
        return


def _of_texts(tree: Tree, kind: str) -> Iterator[tuple[Path, Tree, bool]]:
    """Yield the objects in the texts of a ConfigMap, or of a Secret whose type says that it has some."""
    if kind == kinds.SECRET.kind and text(tree.get("type")) not in _SETS:
        return
    for field in ("data", "stringData"):
        for key, value in mapping(tree, field).items():
            content = _decoded(value) if (kind, field) == _ENCODED else value
            if _is_manifest(content):
                yield from _of_text((field, key), content)


def _decoded(value: Tree) -> str:
    try:
        return b64decode(value).decode() if value.__class__ is str and len(value) <= _LARGEST else ""
    except ValueError:
        return ""


def _generated(path: Path, rule: Mapping[str, Any]) -> Iterator[tuple[Path, Tree, bool]]:
    """Yield what a rule of Kyverno generates, whose identity is beside its content."""
    data = mapping(rule, _DATA)
    identifiers = {key: rule[key] for key in ("name", "namespace") if key in rule}
    identity = {_VERSION: rule.get(_VERSION), _KIND: rule.get(_KIND)}
    yield (*path, _DATA), {**identity, **data, "metadata": {**mapping(data, "metadata"), **identifiers}}, False


OPERATOR_VERSION = (kinds.CLUSTER_SERVICE_VERSION.group, kinds.CLUSTER_SERVICE_VERSION.kind)
TEXT_HOLDERS = frozenset((kind.group, kind.kind) for kind in (kinds.CONFIG_MAP, kinds.SECRET))
CARRIERS = TEXT_HOLDERS | {OPERATOR_VERSION}
"""Kinds of `core.apis.kinds` that have objects inside, group and kind."""
_INSTALL: Path = ("spec", "install", "spec")


def _of_operator(tree: Tree) -> Iterator[tuple[Path, Tree, bool]]:
    """Yield the Deployments of an operator, and the accounts, roles and bindings that OLM makes of its permissions."""
    name, namespace = read(tree, "metadata", "name"), read(tree, "metadata", "namespace")
    scope = {"namespace": namespace} if namespace else {}
    install = read(tree, *_INSTALL)
    for index, entry in enumerate(_entries(install, "deployments")):
        metadata = {"name": read(entry, "name"), **scope}
        deployment = _manifest(kinds.DEPLOYMENT, metadata, {"spec": read(entry, "spec")})
        yield (*_INSTALL, "deployments", index), deployment, False
    for field, role, binding in (
        ("permissions", kinds.ROLE, kinds.ROLE_BINDING),
        ("clusterPermissions", kinds.CLUSTER_ROLE, kinds.CLUSTER_ROLE_BINDING),
    ):
        for index, entry in enumerate(_entries(install, field)):
            metadata = {"name": f"{text(name)}-{index}", **(scope if role is kinds.ROLE else {})}
            account = {"kind": kinds.SERVICE_ACCOUNT.kind, "name": read(entry, "serviceAccountName"), **scope}
            reference = {"apiGroup": role.group, "kind": role.kind, "name": metadata["name"]}
            place = (*_INSTALL, field, index)
            yield place, _manifest(kinds.SERVICE_ACCOUNT, {"name": account["name"], **scope}, {}), False
            yield place, _manifest(role, metadata, {"rules": read(entry, "rules")}), False
            yield place, _manifest(binding, metadata, {"roleRef": reference, "subjects": [account]}), False


def _entries(tree: Tree, key: str) -> list[Tree]:
    content = read(tree, key)
    return content if isinstance(content, list) else []


def _manifest(kind: kinds.Kind, metadata: Mapping[str, Any], fields: Mapping[str, Any]) -> Tree:
    present = {key: value for key, value in metadata.items() if value is not None}
    return {_VERSION: kind.api_version, _KIND: kind.kind, "metadata": present, **fields}
