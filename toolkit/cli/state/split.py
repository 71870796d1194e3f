"""`./hpc state split`: move what tenants have out of the state of a stack of all layers; the cluster is not touched."""

import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from stacks.settings.layers import TenantsLayer
from toolkit.cli.shared import identity, session, stack_checks
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.checkpoints import access
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import OtherName
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack
from toolkit.render.manifests import registrations
from toolkit.render.recorder import Registration
from toolkit.review.sentences import short_title

_ROOT_TYPE = "pulumi:pulumi:Stack$"  # with which recorded types begin, and those of the engine do not
_PROVIDER = "pulumi:providers:"
TenantsOption = Annotated[str, typer.Option("--stack", "-s", help="Stack of tenants, whose file names the platform.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Move; without it, only show what would be moved.")]


def command(stack_name: TenantsOption, name: OtherName = None, *, yes: YesOption = False) -> None:
    """Move tenants from one stack into their own.

    What the tenants' stack declares moves out of the state of its platform, which was one stack of all layers before.
    Nothing is created, changed or deleted on the cluster. docs/guide/several-stacks.md has the steps before and after.
    """
    stack = stacks.read(stack_name, name)
    platform = platform_of(stack)
    with session.exclusive(stack):
        stack_checks.require_platform(stack)
        running = session.engine(stack)
        settled = session.engine(platform)
        cluster = session.cluster(platform)
        match = identity.require(platform, cluster, platform.backend, settled)
        theirs = identity.require(stack, cluster, stack.backend, running)
        urns = to_move(stack, platform, settled)
        if not urns:
            print_text(f"the state of stack {platform.name} has nothing of stack {stack_name}")
            return
        for urn in urns:
            print_text(f"    {short_title(urn)}")
        if not yes:
            print_text(f"{len(urns)} to move from stack {platform.name} to {stack_name}; --yes does it")
            return
        share_passphrase(stack, platform)
        session.prepare(stack, running)
        # The engine moves no tags; noted before, no state with objects is ever without its cluster.
        identity.record(platform, settled, match)
        identity.record(stack, running, theirs)
        kept = [back_up(side, engine) for side, engine in ((platform, settled), (stack, running))]
        move(stack, platform, running, urns)
    print_text(f"the states before are in {' and '.join(map(str, kept))}")
    print_text(
        f"moved {len(urns)} from stack {platform.name} to {stack_name}; now `./hpc up {platform.options}`, then "
        f"`./hpc up {stack.options}`"
    )


def platform_of(stack: Stack) -> Stack:
    """Return the platform's stack on the same cluster; raise Problem for a stack that is none of tenants alone."""
    if not isinstance(stack.settings, TenantsLayer):
        raise Problem(
            f"{stack.file.name} is not a file of tenants alone",
            "Move them there from the file that has all, and name that stack as their `platform`: "
            "docs/guide/several-stacks.md.",
        )
    return stacks.read(stack.settings.platform, stack.chosen)


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
