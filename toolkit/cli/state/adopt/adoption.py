"""Taking candidates over: the settings name them, the engine imports them, the state is completed.

Each step can be interrupted, and is done again, or found done, by the same command: an imported object is protected
until the state is completed, so that nothing deletes it in between.
"""

import json
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policies.manifests.values import read
from toolkit.cli.shared.checkpoints import access
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.identity import ClusterMatch
from toolkit.cli.shared.stack import Stack
from toolkit.cli.state.adopt import candidates, completion, import_file
from toolkit.cli.state.adopt.candidates import Candidate
from toolkit.cli.state.adopt.declared import Program, StateResources


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
        file.write_text(json.dumps(import_file.content(work.program, taken, recorded)))
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
    access.edit(work.engine, work.stack.backend, backup, lambda document: completion.completed(document, taken, above))


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
