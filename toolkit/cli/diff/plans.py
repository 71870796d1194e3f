"""Plans of the engine, bound to the settings, the state and the cluster of the time when they were written.

The engine holds an update to its plan only as far as the program goes: what an operation would set, and which
operations there are. What another user has brought up or changed manually since, it does not see. So what a plan was
made for is written into its file, in a key that the engine does not read.
"""

import hashlib
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from core.files import write_atomically
from toolkit.cli.shared import settings_copy
from toolkit.cli.shared.checkpoints import access
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.review import json_data
from toolkit.review.model import Review

KEY = "hpc"
_STATE = ("resources", "pending_operations")


@dataclass(frozen=True)
class Ground:
    """What a plan depends on: the stack, and digests of settings, state and drift."""

    stack: str
    settings: str
    state: str
    cluster: str


_WORDS = {
    "settings": "the settings of the stack have changed",
    "state": "another update has changed the state of the stack",
    "cluster": "the cluster has changed (`./hpc drift --stack STACK` shows how it differs from the program)",
}
_MAKE = "`./hpc diff --stack STACK --plan FILE` writes one."


def ground(stack: Stack, running: Engine, drift: Review) -> Ground:
    """Return what a plan of now depends on; `drift` is how the cluster differs from the program."""
    if drift.failed:
        raise Problem(
            f"the drift of the cluster could not be determined: {drift.failed}", "A plan depends on it; try again."
        )
    return Ground(
        stack.name,
        settings_digest(stack),
        _digest(_resources(running)),
        _digest(json_data.of(drift)["changes"]),
    )


def settings_digest(stack: Stack) -> str:
    """Return the digest of all files that the settings of a stack are in, and of what it names beside them.

    That are the locks of its data sets, and manifests of its own.
    """
    beside = (file.read_text() for file in (*stack.lock_files, *stack.object_files) if file.is_file())
    return _digest([*(settings_copy.read(file) for file in stack.all_files), *beside])


@contextmanager
def fresh() -> Iterator[Path]:
    """Yield the path of a plan that the engine is to write, in a folder that no one else may read."""
    with tempfile.TemporaryDirectory(prefix="hpc-plan-") as folder:
        yield Path(folder) / "plan.json"


def store(made: Path, depends_on: Ground, target: Path) -> None:
    """Write the engine's plan, with what it depends on, to `target`, for its owner alone."""
    content = json.loads(made.read_text())
    try:
        write_atomically(target, json.dumps(content | {KEY: asdict(depends_on)}, indent=1) + "\n")
    except OSError as error:
        raise Problem(f"cannot write {target}: {error.strerror}", "Name a file in an existing folder.") from None


def read(plan: Path) -> Ground:
    """Return what a plan depends on; raise Problem for another file than a plan of ./hpc."""
    try:
        recorded = json.loads(plan.read_text())[KEY]
        return Ground(**{field.name: str(recorded[field.name]) for field in fields(Ground)})
    except OSError as error:
        raise Problem(f"cannot read {plan}: {error.strerror}", _MAKE) from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Problem(f"{plan} is not a plan of ./hpc", _MAKE) from None


def require_stack(plan: Path, stack: str) -> None:
    """Raise Problem for a file that is not a plan of a stack: before the engine asks for that one's secrets."""
    if (then := read(plan).stack) != stack:
        raise Problem(f"{plan} is a plan of stack {then}, not of {stack}", f"Pass `--stack {then}`.")


def require(plan: Path, now: Ground, options: str) -> None:
    """Raise Problem unless what a plan depends on is unchanged; `options` name the stack on a command line."""
    then = read(plan)
    require_stack(plan, now.stack)
    changed = [words for key, words in _WORDS.items() if getattr(then, key) != getattr(now, key)]
    if changed:
        raise Problem(
            f"{plan} does not apply any more; since it was written, " + ", and ".join(changed),
            f"`./hpc diff {options} --plan {plan}` writes a new one, and shows what it does.",
        )


def broken(messages: str) -> bool:
    """Whether the engine stopped an update because it left its plan."""
    return "violates plan" in messages or "not allowed by the plan" in messages or "unexpectedly not" in messages


def _resources(running: Engine) -> dict[str, Any]:
    deployment = access.export(running).get("deployment") or {}
    return {key: deployment.get(key) or [] for key in _STATE}


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()
