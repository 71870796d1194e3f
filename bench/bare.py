"""A program without a platform: it registers resources that a file lists, as plain dictionaries.

`described` makes the list out of recorded registrations. As a program beside its list, this file runs in an engine and
imports nothing of the project.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pulumi

_SECRET = "[secret]"  # noqa: S105 - what the recorder shows in the place of one


def described(registrations: Iterable[Any]) -> list[dict[str, Any]]:
    """Return registrations as data, each after what it depends on."""
    by_urn = {each.urn: each for each in registrations}
    found: dict[str, dict[str, Any]] = {}

    def add(urn: str) -> None:
        each = by_urn.get(urn)
        if each is None or urn in found:
            return
        for earlier in (each.parent, *each.dependencies):
            add(earlier)
        found[urn] = {
            "urn": urn,
            "type": each.type,
            "name": each.name,
            "inputs": each.inputs,
            "parent": each.parent,
            "after": each.dependencies,
            "options": {
                "protect": each.protect,
                "retain_on_delete": each.retain_on_delete,
                "delete_before_replace": each.delete_before_replace,
                "replace_on_changes": list(each.replace_on_changes),
                "ignore_changes": list(each.ignore_changes),
            },
        }

    for urn in by_urn:
        add(urn)
    return list(found.values())


def register(resources: Iterable[Mapping[str, Any]]) -> None:
    """Register all of it with the engine that runs this program."""
    made: dict[str, Any] = {}
    provider: Any = None
    for each in resources:
        kind, name, inputs = each["type"], each["name"], _with_secrets(each["inputs"])
        if kind.startswith("pulumi:providers:"):
            provider = made[each["urn"]] = pulumi.ProviderResource("kubernetes", name, inputs)
            continue
        parent = made.get(each["parent"])
        if kind.startswith("kubernetes:"):
            after = [made[urn] for urn in each["after"]]
            options = pulumi.ResourceOptions(parent=parent, depends_on=after, provider=provider, **each["options"])
            made[each["urn"]] = pulumi.CustomResource(kind, name, inputs, options)
        else:
            component = made[each["urn"]] = pulumi.ComponentResource(
                kind, name, inputs, pulumi.ResourceOptions(parent=parent)
            )
            component.register_outputs({})


def _with_secrets(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_secrets(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_secrets(item) for item in value]
    return pulumi.Output.secret(value) if value == _SECRET else value


if __name__ == "__main__":
    register(json.loads(Path(__file__).with_name("resources.json").read_text()))
