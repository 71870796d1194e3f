"""`./hpc state rotate`: encrypt a stack's secrets with a new key."""

import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from core.files import write_atomically
from toolkit.cli.shared import environment, session, settings_copy
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.checkpoints import access
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.environment import SETTINGS
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import OtherName, StackOption
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack
from toolkit.cli.state import selection

ProviderOption = Annotated[
    str, typer.Option(help="passphrase, or the URL of a key: awskms://, gcpkms://, azurekeyvault://, hashivault://.")
]
PassphraseOption = Annotated[
    Path | None, typer.Option(help="File with the new passphrase; without it, a prompt asks for it.")
]
PASSPHRASE = "passphrase"  # noqa: S105 - the name of a kind of key
_BYTES = 32


def command(
    *,
    stack_name: StackOption,
    name: OtherName = None,
    secrets_provider: ProviderOption = PASSPHRASE,
    passphrase_file: PassphraseOption = None,
) -> None:
    """Encrypt a stack's secrets with a new key.

    In its settings and in its state.
    """
    stack = stacks.read(stack_name, name)
    require_private(stack)
    with session.exclusive(stack):
        running = session.engine(stack)
        backend = stack.backend
        selection.require_free(stack, backend)
        session.prepare(stack, running)
        new = None
        if secrets_provider == PASSPHRASE:
            new = new_passphrase(stack, passphrase_file)
        done = rotate(stack, running, selection.tags(stack, backend), secrets_provider, new)
    print_text(
        f"the secrets of stack {stack_name} have a new key, recorded in {done.settings}; all decrypt to the same "
        "values\n"
        f"the state under the old key is in {done.backup}, and in older versions until they expire: remove these "
        "to make the old key useless"
    )
    if done.passphrase:
        print_text(f"the new passphrase is in {done.passphrase}")
    else:
        print_text(f"commit {done.settings.name}: older copies of it do not open the state")
    if new is not None and not done.passphrase:
        print_text("PULUMI_CONFIG_PASSPHRASE or its _FILE must give the new passphrase from now on")
    named = stack.settings.state.secrets_provider if stack.settings.state else PASSPHRASE
    if not stack.simulated and named != secrets_provider:
        file = stack.platform_file.name
        print_text(f"write `state.secrets_provider: {secrets_provider}` into {file}")


def new_passphrase(stack: Stack, file: Path | None) -> str:
    """Return the passphrase in a file or, without one, a random one where no user gives any, else what is entered."""
    if file is not None:
        return passphrase_from(file)
    if not given_by_user(stack):
        return secrets.token_urlsafe(_BYTES)
    if not sys.stdin.isatty():
        raise Problem(
            "there is no terminal to enter the new passphrase", "Write it into a file: --passphrase-file FILE."
        )
    entered: str = typer.prompt("New passphrase", hide_input=True, confirmation_prompt=True)
    return entered


@dataclass(frozen=True)
class Rotation:
    """What was done."""

    settings: Path
    """The file that says how secrets are encrypted."""
    backup: Path
    passphrase: Path | None
    """The file of the new passphrase, where it is the simulated cluster's own."""


def rotate(stack: Stack, running: Engine, tags: Mapping[str, str], provider: str, new: str | None) -> Rotation:
    """Encrypt the secrets of a stack, in its settings and in its state, with a new key.

    `new` is the new passphrase where the key is one. The engine writes the settings first and the state then; what it
    wrote stays beside the backup until both are known to be good. Raises Problem when a secret is not the same.
    """
    settings = stack.copy if stack.keeps_secrets else stack.file
    if provider == PASSPHRASE:
        require_usable(new or "")
    exported = access.export(running)
    backup = access.backup_place(stack, "before-rotation")
    access.write_backup(stack.name, exported, tags, backup)
    work = backup.with_suffix("")
    work.mkdir(mode=0o700, parents=True)
    shutil.copy(ROOT / "Pulumi.yaml", work)
    own = work / f"Pulumi.{stack.name}.yaml"
    shutil.copy(settings, own)
    if new is not None:
        write_atomically(work / "passphrase", new)
    before = _secrets(stack, running, own)
    try:
        _change(stack, running, provider, new, work)
        after = _secrets(stack, _with(running, new), own)
    except Problem as problem:
        raise Problem(
            str(problem), f"Nothing was changed in {settings}. Its backup and work files: {backup}, {work}."
        ) from None
    if after != before:
        raise Problem(
            "a secret is not the same after the rotation",
            f"`./hpc state restore {stack.options} --from {backup}` brings the state back; {settings} is as it was.",
        )
    _require_new(settings_copy.read(settings), settings_copy.read(own), provider)
    write_atomically(settings, own.read_bytes(), mode=settings.stat().st_mode & 0o777)
    passphrase = None
    if stack.keeps_secrets and new is not None:
        passphrase = stack.own_passphrase_file
        write_atomically(passphrase, new)
    shutil.rmtree(work)
    return Rotation(settings, backup, passphrase)


def _change(stack: Stack, running: Engine, provider: str, new: str | None, folder: Path) -> None:
    """Run the engine's own command: a new passphrase goes to it through a pipe, where no list of processes shows it."""
    done = subprocess.run(
        [
            *(str(running.program), "stack", "change-secrets-provider", provider),
            *("--stack", stack.name, "--non-interactive"),
        ],
        cwd=folder,
        env={**running.environment, SETTINGS: ""},
        input=f"{new}\n" if new is not None else "",
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        output = "\n".join((done.stderr or done.stdout).strip().splitlines()[-5:])
        raise Problem(f"`pulumi stack change-secrets-provider {provider}` failed:\n{output}")


def _with(running: Engine, new: str | None) -> Engine:
    if new is None:
        return running
    outer = {key: value for key, value in running.environment.items() if key != environment.PASSPHRASE_FILE}
    return replace(running, environment={**outer, environment.PASSPHRASE: new})


def _secrets(stack: Stack, running: Engine, own: Path) -> tuple[Any, Any]:
    """Return all that is in state and settings, readable; it never leaves this process."""
    plain = replace(running, environment={**running.environment, SETTINGS: ""})
    shown = ("--show-secrets", "--stack", stack.name)
    state = json.loads(plain.call("stack", "export", *shown, folder=own.parent)).get("deployment") or {}
    config = json.loads(plain.call("config", "--json", *shown, folder=own.parent) or "{}")
    return state.get("resources"), {key: item.get("value") for key, item in config.items()}


def _require_new(before: Mapping[str, Any], after: Mapping[str, Any], provider: str) -> None:
    """Raise Problem when the settings still have the old key, or one of another kind than requested."""
    old = {before.get(mark) for mark in settings_copy.KEY_MARKS} - {None}
    now = {after.get(mark) for mark in settings_copy.KEY_MARKS} - {None}
    kind = after.get(settings_copy.PROVIDER) or PASSPHRASE
    if old & now or not now or kind != provider:
        raise Problem(
            "the settings still have the old key",
            "The engine changed nothing; run `pulumi stack change-secrets-provider` yourself.",
        )


def passphrase_from(file: Path) -> str:
    """Return the passphrase in a file, as the engine reads it."""
    try:
        return file.read_text().strip()
    except OSError as error:
        raise Problem(f"the new passphrase cannot be read: {error.strerror}: {file}") from None


def require_usable(new: str) -> None:
    """Raise Problem for a passphrase that the engine would read otherwise than it was meant."""
    if not new:
        raise Problem("the new passphrase is empty", "Use one that cannot be guessed.")
    if new != new.strip() or len(new.splitlines()) != 1:
        raise Problem("the new passphrase has space around it, or lines", "The engine would read it otherwise.")


def require_private(stack: Stack) -> None:
    """Raise Problem for a stack whose passphrase is public, or that other clusters share."""
    if stack.simulated and not stack.keeps_secrets:
        raise Problem(
            f"the passphrase of stack {stack.name} is public in the repository, and protects nothing",
            "A stack with a key of its own: copy its settings to another name, without `encryptionsalt`.",
        )


def given_by_user(stack: Stack) -> bool:
    """Whether the passphrase of today is one that a user gives."""
    return not stack.keeps_secrets or environment.has_passphrase(os.environ)
