"""docs/coverage/redpaper-objects.md: how the objects that the Redpaper prints differ from what stacks declare."""

import json
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field

from components.base.model import Model
from core.yaml import text as yaml_text
from toolkit.render import manifests
from toolkit.render.reference import markdown
from toolkit.render.reference.coverage_data import FOLDER

DATA, PAGE = FOLDER / "redpaper-objects.yaml", FOLDER / "redpaper-objects.md"
ABSENT = "-"
_INTRODUCTION = """# The Redpaper's objects

The Redpaper prints {count} objects, one of them twice. Stacks of this repository declare all of them:
[redpaper-4.4](../../stacks/examples/redpaper-4.4.yaml) and
[redpaper-series](../../stacks/examples/redpaper-series.yaml). This page
has every field that differs, with the reason. Written from `redpaper-objects.yaml`, and from what the stacks render, by
`make docs`; a test fails where a difference has no reason, or a reason no difference.

`worker`, `launcher` and `pod` are the pods' specs of a replica and of a Job, `container` their only container. Entries
of a list are named by their mountPath, name, id or key; `-` is no value. The files of operators and of the RDMA plugin
are downloaded in the Redpaper, and not printed; where the plugin runs is in [coverage](redpaper.md)."""
_KEYS = ("mountPath", "name", "id", "key", "resourceName")
"""Fields that name an entry of a list, the first that it has."""


class PrintedObject(Model):
    """An object as it is printed, with the faults of its indentation repaired, and what is declared in its place."""

    row: str = Field(description="ids of docs/coverage/sources.md")
    printed: str = Field(description="kind and name, and which one of several of that name")
    version: str = Field(description="its apiVersion")
    stack: str = Field(description="stack that declares it")
    declared: str = Field(description="kind, namespace and name that the stack declares")
    fields: dict[str, Any] = Field(description="all its fields, in the page's form")


class Reason(Model):
    """Why fields differ."""

    title: str
    why: str
    paths: tuple[str, ...] = Field(min_length=1, description="patterns of the fields' paths")
    objects: str = Field(default="*", description="pattern of the printed objects' titles")

    def explains(self, difference: "Difference") -> bool:
        """Return whether it is about a difference."""
        return fnmatchcase(difference.printed, self.objects) and any(
            fnmatchcase(difference.path, pattern) for pattern in self.paths
        )


class Difference(NamedTuple):
    """A field of a printed object that is declared with another value, or on one side only."""

    printed: str
    path: str
    here: str
    there: str


@cache
def _data() -> Mapping[str, Any]:
    content: Mapping[str, Any] = yaml_text.read(DATA.read_text(encoding="utf-8"))
    return content


@cache
def objects() -> tuple[PrintedObject, ...]:
    """Return the printed objects."""
    return tuple(PrintedObject.model_validate(entry) for entry in _data()["objects"])


@cache
def reasons() -> tuple[Reason, ...]:
    """Return the reasons; of several that fit a difference the first counts."""
    return tuple(Reason.model_validate(entry) for entry in _data()["reasons"])


@cache
def differences() -> tuple[Difference, ...]:
    """Return all differences, object by object; raise KeyError for one that no stack declares."""
    return tuple(difference for printed in objects() for difference in _differences(printed))


def reason_of(difference: Difference) -> Reason | None:
    """Return why there is a difference; None: no reason is given."""
    return next((reason for reason in reasons() if reason.explains(difference)), None)


def pages() -> dict[Path, str]:
    """Return the text of the page, by its file."""
    # One job is printed twice.
    count = sum(len(markdown.sources(printed.row)) for printed in objects())
    return {PAGE: "\n\n".join((_INTRODUCTION.format(count=count), _objects(), *map(_section, reasons()))) + "\n"}


def _objects() -> str:
    heads = ("printed", "row", "declared", "by the stack")
    return markdown.table(heads, ((item.printed, item.row, item.declared, item.stack) for item in objects()))


def _section(reason: Reason) -> str:
    values: dict[str, list[Difference]] = {}
    for difference in differences():
        if reason_of(difference) is reason:
            values.setdefault(difference.path, []).append(difference)
    lines = ((f"`{path}`", _either(same, 3), _either(same, 2), str(len(same))) for path, same in sorted(values.items()))
    table = markdown.table(("field", "printed", "here", "objects"), lines)
    return f"## {reason.title}\n\n{reason.why}\n\n{table}"


def _either(same: Sequence[Difference], index: int) -> str:
    values = dict.fromkeys(difference[index] for difference in same)
    return "; ".join(value if value == ABSENT else f"`{value}`" for value in values)


def _differences(printed: PrintedObject) -> Iterator[Difference]:
    kind, name = printed.printed.partition(",")[0].split()
    there = {"kind": kind, "apiVersion": printed.version, "metadata.name": name, **dict(flat(printed.fields))}
    here = dict(flat(_short(_declared(printed.stack)[printed.declared])))
    for path in dict.fromkeys((*there, *here)):
        values = here.get(path, ABSENT), there.get(path, ABSENT)
        if values[0] != values[1]:
            yield Difference(printed.printed, path, *values)


@cache
def _declared(stack: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the manifests of a stack by kind, namespace and name."""
    rendered = manifests.manifests(manifests.registrations(stack))
    return {f"{obj['kind']} {'/'.join(_place(obj['metadata']))}": obj for obj in rendered}


def _place(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(metadata[key] for key in ("namespace", "name") if key in metadata)


def _short(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest in the page's form: pods under short names, and JSON as what it means."""
    short: dict[str, Any] = json.loads(json.dumps(manifest))
    if text := short.get("data", {}).get("config.json"):
        short["data"]["config.json"] = json.loads(text)
    spec = short.get("spec", {})
    for role, replica in spec.get("mpiReplicaSpecs", {}).items():
        short[role.lower()] = _pod(replica.pop("template"))
    if "template" in spec:
        short["pod"] = _pod(spec.pop("template"))
    return short


def _pod(template: dict[str, Any]) -> dict[str, Any]:
    pod: dict[str, Any] = template["spec"]
    (pod["container"],) = pod.pop("containers")
    return pod


def flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the paths of all single values, and of lists of them, with their text."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from flat(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        for index, entry in enumerate(value):
            key = next((key for key in _KEYS if key in entry), None)
            inner = {name: field for name, field in entry.items() if name != key}
            yield from flat(inner or "given", f"{path}.{entry[key] if key else index}")
    elif isinstance(value, list) and value:
        yield path, " ".join(str(word).strip() for word in value)
    else:
        yield path, value if isinstance(value, str) else json.dumps(value)
