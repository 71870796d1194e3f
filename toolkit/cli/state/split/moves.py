"""Moves what tenants have from the state of a stack of all layers into one of their own; the cluster is not touched."""

import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from stacks.settings.layers import TenantsLayer
from toolkit.cli.shared.checkpoints import access
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack, read
from toolkit.render.manifests import registrations
from toolkit.render.recorder import Registration

_ROOT_TYPE = "pulumi:pulumi:Stack$"  # with which recorded types begin, and those of the engine do not
_PROVIDER = "pulumi:providers:"


def platform_of(stack: Stack) -> Stack:
    """Return the platform's stack on the same cluster; raise Problem for a stack that is none of tenants alone."""
    if not isinstance(stack.settings, TenantsLayer):
        raise Problem(
            f"{stack.file.name} is not a file of tenants alone",
            "Move them there from the file that has all, and name that stack as their `platform`: "
            "docs/guide/several-stacks.md.",
        )
    return read(stack.settings.platform, stack.chosen)


def movable(state: Iterable[Any], tenants: Sequence[Registration], platform: Sequence[Registration]) -> list[str]:
    """Return the URNs in the state of a platform of what its tenants' program declares and its own does not.

    What both declare stays, e.g. the component that queues are part of: its parts go one by one, for the engine would
    take all of them along with it.
    """
    theirs = {_identity(item.urn) for item in tenants} - {_identity(item.urn) for item in platform}
    urns = (resource["urn"] for resource in state if not str(resource["type"]).startswith(_PROVIDER))
    return [urn for urn in urns if _identity(urn) in theirs]


def _identity(urn: str) -> tuple[str, str]:
    *_, kind, name = urn.split("::", 3)
    return kind.removeprefix(_ROOT_TYPE), name


def to_move(stack: Stack, platform: Stack, engine: Engine) -> list[str]:
    """Return the URNs that `move` takes out of the state of the platform."""
    state = access.export(engine)["deployment"]
    if state.get("pending_operations"):
        raise Problem(
            f"an update of stack {platform.name} was interrupted",
            f"Let `./hpc up {platform.options}` of the file with all layers end first.",
        )
    return movable(state.get("resources") or (), registrations(stack.name), registrations(platform.name))


def share_passphrase(stack: Stack, platform: Stack) -> None:
    """Give a stack without secrets the passphrase of its platform: the engine moves between such stacks alone."""
    if not stack.keeps_secrets or stack.own_passphrase_file.is_file():
        return
    kept = platform.own_passphrase_file if platform.keeps_secrets else platform.passphrase_file
    if kept.is_file():
        shutil.copy(kept, stack.own_passphrase_file)
        stack.own_passphrase_file.chmod(0o600)


def back_up(stack: Stack, engine: Engine) -> Path:
    """Write the state of a stack into a file, and return where: the engine's own move keeps no older one."""
    file = access.backup_place(stack, "before-split")
    access.write_backup(
        stack.name, access.export(engine), stack.backend.tags(stack.name) if stack.backend else {}, file
    )
    return file


def move(stack: Stack, platform: Stack, engine: Engine, urns: Sequence[str]) -> None:
    """Move resources from the state of the platform into that of its tenants; the engine writes both or neither."""
    words = ("state", "move", "--source", platform.name, "--dest", stack.name, "--yes", *urns)
    if not stack.copied:
        engine.call(*words)
        return
    # The engine writes how the state is encrypted beside Pulumi.yaml; the settings of a simulated stack stay bare.
    with tempfile.TemporaryDirectory(prefix="hpc-project-") as folder:
        shutil.copy(ROOT / "Pulumi.yaml", folder)
        for side in (stack, platform):
            file = side.copy if side.copied else side.file
            if file.is_file():
                shutil.copy(file, Path(folder) / f"Pulumi.{side.name}.yaml")
        engine.call(*words, folder=Path(folder))
