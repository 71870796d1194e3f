"""A program without a platform: it registers resources that a file lists, as plain dictionaries.

`described` makes the list out of recorded registrations. As a program beside its list, this file runs in an engine and
imports nothing of the project. It registers through the classes of Pulumi's Kubernetes SDK, as programs do, or, when
the file requests it, through the core of the SDK alone, which checks nothing and knows no types.
"""

import importlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pulumi

_SNAKE = re.compile("(?<=[a-z])(?=[A-Z])")
_SECRET = "[secret]"  # noqa: S105 - what the recorder shows in the place of one


def described(registrations: Iterable[Any]) -> list[dict[str, Any]]:
    """Return registrations as data, each after what it depends on."""
    by_urn = {registration.urn: registration for registration in registrations}
    data_of_urn: dict[str, dict[str, Any]] = {}

    def add(urn: str) -> None:
        registration = by_urn.get(urn)
        if registration is None or urn in data_of_urn:
            return
        for earlier in (registration.parent, *registration.dependencies):
            add(earlier)
        data_of_urn[urn] = {
            "urn": urn,
            "type": registration.type,
            "name": registration.name,
            "inputs": registration.inputs,
            "parent": registration.parent,
            "after": registration.dependencies,
            "options": {
                "protect": registration.protect,
                "retain_on_delete": registration.retain_on_delete,
                "delete_before_replace": registration.delete_before_replace,
                "replace_on_changes": list(registration.replace_on_changes),
                "ignore_changes": list(registration.ignore_changes),
            },
        }

    for urn in by_urn:
        add(urn)
    return list(data_of_urn.values())


def register(resources: Iterable[Mapping[str, Any]], sdk: str) -> None:
    """Register all of it with the engine that runs this program; `sdk` is `kubernetes` or `core`."""
    make = _typed if sdk == "kubernetes" else _untyped
    made: dict[str, Any] = {}
    provider: Any = None
    for resource in resources:
        kind, name, inputs = resource["type"], resource["name"], _with_secrets(resource["inputs"])
        if kind.startswith("pulumi:providers:"):
            provider = made[resource["urn"]] = pulumi.ProviderResource("kubernetes", name, inputs)
            continue
        parent = made.get(resource["parent"])
        if kind.startswith("kubernetes:"):
            after = [made[urn] for urn in resource["after"]]
            options = pulumi.ResourceOptions(parent=parent, depends_on=after, provider=provider, **resource["options"])
            made[resource["urn"]] = make(kind, name, inputs, options)
        else:
            component = made[resource["urn"]] = pulumi.ComponentResource(
                kind, name, inputs, pulumi.ResourceOptions(parent=parent)
            )
            component.register_outputs({})


def _untyped(kind: str, name: str, inputs: dict[str, Any], options: pulumi.ResourceOptions) -> pulumi.Resource:
    return pulumi.CustomResource(kind, name, inputs, options)


def _typed(kind: str, name: str, inputs: dict[str, Any], options: pulumi.ResourceOptions) -> pulumi.Resource:
    group, version, plain = re.split("[/:]", kind.removeprefix("kubernetes:"))
    fields = {_SNAKE.sub("_", key).lower(): value for key, value in inputs.items() if key not in ("apiVersion", "kind")}
    try:
        module = importlib.import_module(f"pulumi_kubernetes.{group.removesuffix('.k8s.io').split('.')[0]}.{version}")
        of_kind = getattr(module, plain)
    except (ImportError, AttributeError):
        if plain.endswith("Patch") or fields.keys() - {"metadata", "spec"}:  # no class of the SDK has such fields
            return _untyped(kind, name, inputs, options)
        of_kind = importlib.import_module("pulumi_kubernetes.apiextensions").CustomResource
        fields |= {"api_version": f"{group}/{version}", "kind": plain}
    return _made(of_kind, name, options, **fields)


def _made(of_kind: Any, name: str, options: pulumi.ResourceOptions, **fields: Any) -> pulumi.Resource:
    made: pulumi.Resource = of_kind(name, opts=options, **fields)
    return made


def _with_secrets(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_secrets(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_secrets(item) for item in value]
    return pulumi.Output.secret(value) if value == _SECRET else value


if __name__ == "__main__":
    program = json.loads(Path(__file__).with_name("resources.json").read_text())
    register(program["resources"], program["sdk"])
