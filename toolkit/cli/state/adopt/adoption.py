"""Taking candidates over: the settings name them, the engine imports them, the state is completed.

Each step can be interrupted, and is done again, or found done, by the same command: an imported object is protected
until the state is completed, so that nothing deletes it in between.

The engine's file of what to import is created from what the program registers, not by `pulumi preview --import-file`:
that knows the same parents and names, but neither ids nor inputs, and needs all secrets and a preview that goes well.

`pulumi import` records an object with its name alone, or with everything that the server has filled in, as the provider
knows its kind or not. The next update would find no inputs to compare with or defaults to remove, replace jobs because
they have no run number, and change every component that has no arguments. And until then only the mark `protect`, which
that update removes, would keep a plain `pulumi destroy` from deleting them.
"""

import copy
import json
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from core.apis import fields
from core.pulumi_values import SIGNATURE
from policies.manifests.values import read
from toolkit.cli.shared.checkpoints import access
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.identity import ClusterMatch
from toolkit.cli.shared.stack import Stack
from toolkit.cli.state.adopt import candidates
from toolkit.cli.state.adopt.candidates import Candidate
from toolkit.cli.state.adopt.declared import Program, StateResources, urn
from toolkit.engine.prediction.inputs import INPUTS
from toolkit.engine.prediction.values import with_underscores

_SECRET = "Secret"  # noqa: S105 - a kind; its data is encrypted, and stays as the engine wrote it
_DATA = ("apiVersion", "kind", "metadata", "data", "stringData")
_PROVIDER_VERSION = version("pulumi-kubernetes")


def import_content(program: Program, candidates: Collection[Candidate], recorded: StateResources) -> dict[str, Any]:
    """Return the engine's file for candidates, with the components above them that the state does not have."""
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
                "version": _PROVIDER_VERSION,
            }
        )
    made: dict[str, Any] = {"nameTable": dict(sorted(table.items())), "resources": resources}
    if recorded.resource(provider) is None:
        made["providerInputs"] = {names[provider]: {**settings.inputs, "version": _PROVIDER_VERSION}}
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


def completed(
    exported: Mapping[str, Any], adopted: Iterable[Candidate], components: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return an exported state in which these objects are the program's, and never deleted.

    `components` are arguments by URN, for those that were imported without. `exported` is not changed, and what is
    complete already stays as it is.
    """
    document = copy.deepcopy(dict(exported))
    by_urn = {candidate.declared.urn: candidate for candidate in adopted}
    for resource in (document.get("deployment") or {}).get("resources") or ():
        if (candidate := by_urn.get(resource["urn"])) is not None:
            _complete(resource, candidate)
        elif resource["urn"] in components and not resource.get("inputs"):
            resource["inputs"] = dict(components[resource["urn"]])
            resource["protect"] = False  # what the import set
    return document


def _complete(resource: dict[str, Any], candidate: Candidate) -> None:
    item = candidate.declared.item
    if resource.get("retainOnDelete"):
        return
    resource["retainOnDelete"] = True
    resource["protect"] = item.protect
    if item.replacement_trigger is not None:
        resource["replacementTrigger"] = item.replacement_trigger
    if resource.get("propertyDependencies"):  # what each property depends on: a program has registered it
        return
    outputs = fields.merged(resource.get("outputs") or {}, candidate.hints)
    if candidate.declared.kind == _SECRET:
        declared = {*_DATA, *item.inputs}
        resource["inputs"] = _only(resource.get("inputs"), declared)
        resource["outputs"] = {**outputs, INPUTS: _only(outputs.get(INPUTS), declared)}
        return
    resource["inputs"] = with_underscores(candidate.written)
    resource["outputs"] = {**outputs, INPUTS: with_underscores(candidate.written)}


def _only(inputs: Any, declared: Collection[str]) -> Any:
    """Return inputs without fields that the server has filled in: without its default `type` a Secret is replaced."""
    if not isinstance(inputs, Mapping) or SIGNATURE in inputs:
        return inputs  # encrypted as a whole
    return {key: value for key, value in inputs.items() if key in declared}


@dataclass(frozen=True)
class Work:
    """One stack, with what is needed to take something over for it."""

    stack: Stack
    engine: Engine
    cluster: Cluster
    program: Program
    match: ClusterMatch

    def exported(self) -> dict[str, Any]:
        """Return the state as the engine exports it: secrets stay encrypted."""
        return access.export(self.engine)

    def recorded(self) -> StateResources:
        """Return the objects of the state."""
        return StateResources(_resources(self.exported()))


def unfinished(
    program: Program, recorded: StateResources, adopted: Collection[str], cluster: Cluster
) -> list[Candidate]:
    """Return objects that the settings name and the state has, but not as objects that are never deleted."""
    partly_adopted = []
    for obj in program.objects:
        resource = recorded.find(obj) if obj.label in adopted else None
        if resource is None or resource.get("retainOnDelete"):
            continue
        live_object = cluster.find(obj.api_version, obj.kind, obj.namespace, obj.name)
        if live_object is not None:
            partly_adopted.append(candidates.judged(obj, live_object, cluster.dry_run))
    return partly_adopted


def bring_in(work: Work, chosen: Collection[Candidate]) -> None:
    """Let the engine import the objects; raise Problem with its message where it cannot."""
    recorded = work.recorded()  # a state that was settled has more than when it was read
    taken = [candidate for candidate in chosen if recorded.find(candidate.declared) is None]
    if not taken:
        return
    with tempfile.TemporaryDirectory(prefix="hpc-adopt-") as folder:
        file = Path(folder) / "import.json"
        file.write_text(json.dumps(import_content(work.program, taken, recorded)))
        status, account = work.engine.run_update(
            f"pulumi import, stack {work.stack.name}",
            work.stack.log,
            *("import", "--file", str(file), "--yes", "--skip-preview", "--generate-code=false", "--protect=true"),
        )
    if status != 0:
        errors = "\n".join(message.text for message in account.messages if message.severity == "error")
        raise Problem(
            f"the engine did not import everything:\n{errors}",
            "What it imported is protected. Correct what it reports, and run the same command again; it continues from "
            "there.",
        )


def complete(work: Work, taken: Collection[Candidate]) -> None:
    """Write into the state what the import left open."""
    above = {name: item.arguments for candidate in taken for name, item in work.program.above(candidate.declared)}
    backup = access.backup_place(work.stack, "before-adoption")
    access.edit(work.engine, work.stack.backend, backup, lambda document: completed(document, taken, above))


def is_complete(recorded: StateResources, candidate: Candidate) -> bool:
    """Whether the state has an object as one that is never deleted."""
    return bool((recorded.find(candidate.declared) or {}).get("retainOnDelete"))


def not_ready(document: Mapping[str, Any], taken: Collection[Candidate]) -> list[str]:
    """Return the names of objects that were not ready when they were adopted: the next update waits for them."""
    names = {candidate.declared.urn: candidate.declared.label for candidate in taken}
    return sorted(
        names[resource["urn"]]
        for resource in _resources(document)
        if resource["urn"] in names and read(resource, "initErrors")
    )


def _resources(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list((document.get("deployment") or {}).get("resources") or ())
