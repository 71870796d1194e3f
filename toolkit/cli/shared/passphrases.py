"""Which passphrase a stack's secrets are encrypted with: the user's, a public one, or one of a simulated cluster."""

import os
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path

from core import simulated
from toolkit.cli.shared import settings_copy
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack

PASSPHRASE, FILE = "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"
_BYTES = 32


def is_given(outer: Mapping[str, str]) -> bool:
    """Whether the user gives a passphrase; one from an earlier `./hpc pulumi --print-env` is not the user's.

    The engine takes an empty PULUMI_CONFIG_PASSPHRASE for a passphrase, and an empty name of a file for none.
    """
    return PASSPHRASE in outer or bool(outer.get(FILE) and not _ours(Path(outer[FILE])))


def file(stack: Stack, outer: Mapping[str, str]) -> str | None:
    """Return what the variable with the file's name is to be for a stack; None to leave it as it is."""
    if is_given(outer):
        return None
    if stack.keeps_secrets:
        return str(stack.own_passphrase_file)
    if stack.simulated and stack.passphrase_file.is_file():  # a real stack never has one that others can read
        return str(stack.passphrase_file)
    return ""


def make(stack: Stack, outer: Mapping[str, str]) -> None:
    """Create the passphrase of a stack on a simulated cluster, at random, where it needs one that no one gives.

    Not where the copy of the settings has secrets already: those were encrypted with a passphrase of the user.
    """
    if not stack.keeps_secrets or is_given(outer):
        return
    target = stack.own_passphrase_file
    if target.is_file() or not target.parent.is_dir():
        return
    if settings_copy.sealed(settings_copy.read(stack.copy)):
        return
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)  # for its owner alone
    try:
        with os.fdopen(descriptor, "w") as written:
            written.write(secrets.token_urlsafe(_BYTES))
        os.link(name, target)  # never over one that another command has just made, and never half of one
    except FileExistsError:
        pass
    finally:
        Path(name).unlink()


def require(stack: Stack, environment: Mapping[str, str]) -> None:
    """Raise Problem when the stack's secrets need a passphrase and none, or another one, is given."""
    if stack.keeps_secrets and stack.own_passphrase_file.is_file():
        if is_given(environment):
            names = " and ".join(name for name in (PASSPHRASE, FILE) if name in environment)
            raise Problem(
                f"stack {stack.name} on cluster {stack.cluster_name} has a passphrase of its own "
                f"({stack.own_passphrase_file}), and {names} gives another",
                f"`unset {PASSPHRASE} {FILE}`; or `./hpc sim clean --name {stack.cluster_name}` and start afresh.",
            )
        return
    where = stack.copy if stack.keeps_secrets else stack.file
    if settings_copy.SALT in settings_copy.read(where) and not _readable(environment):
        raise Problem(
            f"the secrets of stack {stack.name} are encrypted with a passphrase, and none is given",
            f"Set {PASSPHRASE}, or {FILE} to a file with it.",
        )


def _readable(environment: Mapping[str, str]) -> bool:
    return is_given(environment) or Path(environment.get(FILE) or "/nowhere").is_file()


def _ours(path: Path) -> bool:
    folder = path.parent
    own_folder = (
        folder in (ROOT / "stacks", simulated.root() / folder.name) or (folder / simulated.STATE_FILE).is_file()
    )
    return own_folder and path.suffix == ".passphrase"
