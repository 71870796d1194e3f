"""The engine's own file of what `pulumi import` is to bring into a state.

It is created from what the program registers, not by `pulumi preview --import-file`: that knows the same parents and
names, but neither ids nor inputs, and needs the engine, all secrets and a preview that goes well.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from importlib.metadata import version
from typing import Any

from toolkit.cli.state.adopt.candidates import Candidate
from toolkit.cli.state.adopt.declared import Program, StateResources, urn

_VERSION = version("pulumi-kubernetes")


def content(program: Program, candidates: Collection[Candidate], recorded: StateResources) -> dict[str, Any]:
    """Return the file for these candidates, with the components above them that the state does not have."""
    components = {name: item for candidate in candidates for name, item in program.above(candidate.declared)}
    provider, settings = program.provider
    urns = [*components, provider, *(candidate.declared.urn for candidate in candidates)]
    names = dict(_names(urns))
    table = {names[component]: component for component in components if recorded.resource(component) is not None} | {
        names[provider]: provider
    }
    resources: list[dict[str, Any]] = [
        {
            "type": item.type,
            "name": names[name],
            "logicalName": item.name,
            "component": True,
            **_parent(item.parent, names),
        }
        for name, item in sorted(components.items())
        if recorded.resource(name) is None
    ]
    for candidate in candidates:
        item = candidate.declared.item
        resources.append(
            {
                "type": item.type,
                "name": names[candidate.declared.urn],
                "logicalName": item.name,
                "id": candidate.identifier,
                **_parent(item.parent, names),
                "provider": names[provider],
                "version": _VERSION,
            }
        )
    made: dict[str, Any] = {"nameTable": dict(sorted(table.items())), "resources": resources}
    if recorded.resource(provider) is None:
        made["providerInputs"] = {names[provider]: {**settings.inputs, "version": _VERSION}}
    return made


def _names(urns: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield a name for each URN that is no other's: the file identifies parents by it."""
    short = {full: full.rpartition("::")[2] for full in urns}
    times = Counter(short.values())
    for full, name in short.items():
        kind = full.split("::")[-2].rpartition(":")[2]
        yield full, name if times[name] == 1 else f"{name} ({kind})"


def _parent(recorded: str, names: dict[str, str]) -> dict[str, str]:
    name = names.get(urn(recorded))
    return {"parent": name} if name else {}
