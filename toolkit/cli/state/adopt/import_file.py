"""The engine's own file of what `pulumi import` is to bring into a state.

It is created from what the program registers, not by `pulumi preview --import-file`: that knows the same parents and
names, but neither ids nor inputs, and needs the engine, all secrets and a preview that goes well.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from importlib.metadata import version
from typing import Any

from toolkit.cli.state.adopt.candidates import Candidate
from toolkit.cli.state.adopt.declared import Known, Program, urn

_VERSION = version("pulumi-kubernetes")


def content(program: Program, candidates: Collection[Candidate], known: Known) -> dict[str, Any]:
    """Return the file for these candidates, with the components above them that the state does not have."""
    components = {name: item for each in candidates for name, item in program.above(each.declared)}
    provider, settings = program.provider
    wanted = [*components, provider, *(each.declared.urn for each in candidates)]
    names = dict(_names(wanted))
    table = {names[each]: each for each in components if known.resource(each) is not None} | {names[provider]: provider}
    resources: list[dict[str, Any]] = [
        {
            "type": item.type,
            "name": names[name],
            "logicalName": item.name,
            "component": True,
            **_parent(item.parent, names),
        }
        for name, item in sorted(components.items())
        if known.resource(name) is None
    ]
    for each in candidates:
        item = each.declared.item
        resources.append(
            {
                "type": item.type,
                "name": names[each.declared.urn],
                "logicalName": item.name,
                "id": each.identifier,
                **_parent(item.parent, names),
                "provider": names[provider],
                "version": _VERSION,
            }
        )
    made: dict[str, Any] = {"nameTable": dict(sorted(table.items())), "resources": resources}
    if known.resource(provider) is None:
        made["providerInputs"] = {names[provider]: {**settings.inputs, "version": _VERSION}}
    return made


def _names(urns: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield a name for each URN that is no other's: the file identifies parents by it."""
    short = {each: each.rpartition("::")[2] for each in urns}
    times = Counter(short.values())
    for each, name in short.items():
        kind = each.split("::")[-2].rpartition(":")[2]
        yield each, name if times[name] == 1 else f"{name} ({kind})"


def _parent(recorded: str, names: dict[str, str]) -> dict[str, str]:
    name = names.get(urn(recorded))
    return {"parent": name} if name else {}
