"""What a preview would do, object by object, as the engine's JSON has it, and as a table of a page has it."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from core.apis import kinds

WORDS = {"create": "created", "update": "updated", "replace": "replaced", "delete": "deleted"}
_PATCH = "Patch"
_ROW = re.compile(r"^\| (\w+) \| ([^|]+) \| ([^|]+) \|")


@dataclass(frozen=True, order=True)
class Change:
    """One object that does not stay as it is."""

    step: str
    kind: str
    name: str


def changes(preview: str) -> set[Change]:
    """Return the changes of objects of the cluster in the output of `pulumi preview --json`."""
    listed = set()
    for step in json.loads(preview[preview.index("{") :])["steps"]:
        token = step["urn"].split("::")[2].rpartition("$")[2]
        if step["op"] != "same" and token.startswith("kubernetes:"):
            old, new = _name(step.get("oldState")), _name(step.get("newState"))
            name = f"{old} → {new}" if old and new and old != new else new or old
            listed.add(Change(WORDS[step["op"]], _kind(token), name))
    return listed


def written(page: str) -> set[Change]:
    """Return the changes that the rows `| step | kind | names, ... |` of a page list."""
    rows = [match.groups() for line in page.splitlines() if (match := _ROW.match(line))]
    return {
        Change(step, kind.strip(" `"), name.strip(" `"))
        for step, kind, names in rows
        if step in WORDS.values()
        for name in names.split(",")
    }


def table(plan: Iterable[Change]) -> str:
    """Return the rows of a page, to which its author adds the reasons."""
    rows: dict[tuple[str, str], list[str]] = {}
    for change in sorted(plan, key=lambda change: (list(WORDS.values()).index(change.step), change)):
        rows.setdefault((change.step, change.kind), []).append(f"`{change.name}`")
    return "\n".join(f"| {step} | {kind} | {', '.join(names)} |" for (step, kind), names in rows.items())


def _kind(token: str) -> str:
    kind = token.rpartition(":")[2]
    return f"{kind.removesuffix(_PATCH)} (wait)" if kind.endswith(_PATCH) else kind


def _name(state: dict[str, Any] | None) -> str:
    metadata = ((state or {}).get("inputs") or {}).get("metadata") or {}
    name = metadata.get("name", "")
    space = "" if _is_cluster_scoped(state) else metadata.get("namespace")
    return f"{space}/{name}" if space and name else name


def _is_cluster_scoped(state: dict[str, Any] | None) -> bool:
    """Whether a namespace says nothing: the provider gives one to kinds that the server does not serve yet."""
    inputs = (state or {}).get("inputs") or {}
    kind = kinds.find(str(inputs.get("apiVersion")), str(inputs.get("kind")))
    return kind is not None and kind.scope == "Cluster"
