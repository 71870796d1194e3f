"""Making the next update put right what drifted.

An update compares the program with the state, not with the cluster. So what is gone leaves the state first, as a
refresh has it, and is created again. What has other values is marked as not confirmed, which makes the update apply it
again: a refresh would not do, because to the provider an entry that somebody added to a list is no difference.
"""

import json
import tempfile
from pathlib import Path

from cli.console import console, errors
from cli.engine import Engine
from cli.events import short
from cli.reviewing import asking
from cli.stack import Stack
from review.model import Op, Review

UNCONFIRMED = "the cluster had it otherwise than declared"


def mark(wanted: Stack, running: Engine) -> None:
    """Write into the state what drifted and is to be put right; warn where that cannot be told."""
    if wanted.backend is not None and not wanted.backend.checkpoint(wanted.name).get("resources"):
        return
    found = asking.drift(wanted, running)
    if found.failed:
        errors.print(f"warning: what drifted cannot be told, and stays: {found.failed}", markup=False)
        return
    for change in found.changed:
        how = "is gone" if change.op is Op.DELETE else "is not as declared"
        console.print(f"drift: {short(change.resource.urn)} {how}", markup=False)
    _forget(running, found)
    _again(running, found)


def _forget(running: Engine, found: Review) -> None:
    gone = [change.resource.urn for change in found.changed if change.op is Op.DELETE]
    if gone:
        targets = [word for urn in gone for word in ("--target", urn)]
        running.call("refresh", "--yes", "--skip-preview", "--stack", running.stack, *targets)


def _again(running: Engine, found: Review) -> None:
    drifted = {change.resource.urn for change in found.changed if change.op is not Op.DELETE}
    if not drifted:
        return
    document = json.loads(running.call("stack", "export", "--stack", running.stack))
    for resource in document["deployment"]["resources"]:
        if resource["urn"] in drifted and not resource.get("delete"):
            resource["initErrors"] = [UNCONFIRMED]
    with tempfile.TemporaryDirectory(prefix="hpc-state-") as folder:
        file = Path(folder) / "state.json"
        file.write_text(json.dumps(document))
        running.call("stack", "import", "--stack", running.stack, "--file", str(file))
