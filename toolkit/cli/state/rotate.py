"""`./hpc state rotate`: encrypt a stack's secrets with a new key."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from toolkit.cli.shared import session
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import OtherName, StackOption
from toolkit.cli.shared.stack import Stack
from toolkit.cli.state import rotation, selection

ProviderOption = Annotated[
    str, typer.Option(help="passphrase, or the URL of a key: awskms://, gcpkms://, azurekeyvault://, hashivault://.")
]
PassphraseOption = Annotated[
    Path | None, typer.Option(help="File with the new passphrase; without it, a prompt asks for it.")
]


def command(
    *,
    stack_name: StackOption,
    name: OtherName = None,
    secrets_provider: ProviderOption = rotation.PASSPHRASE,
    passphrase_file: PassphraseOption = None,
) -> None:
    """Encrypt a stack's secrets with a new key.

    In its settings and in its state.
    """
    stack = stacks.read(stack_name, name)
    rotation.require_private(stack)
    with session.exclusive(stack):
        running = session.engine(stack)
        backend = stack.backend
        selection.require_free(stack, backend)
        session.prepare(stack, running)
        new = None
        if secrets_provider == rotation.PASSPHRASE:
            new = _new_passphrase(stack, passphrase_file)
        done = rotation.rotate(stack, running, selection.tags(stack, backend), secrets_provider, new)
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
    named = stack.settings.state.secrets_provider if stack.settings.state else rotation.PASSPHRASE
    if not stack.simulated and named != secrets_provider:
        file = stack.platform_file.name
        print_text(f"write `state.secrets_provider: {secrets_provider}` into {file}")


def _new_passphrase(stack: Stack, file: Path | None) -> str:
    if file is not None:
        return rotation.passphrase_from(file)
    if not rotation.given_by_user(stack):
        return rotation.random()
    if not sys.stdin.isatty():
        raise Problem(
            "there is no terminal to enter the new passphrase", "Write it into a file: --passphrase-file FILE."
        )
    entered: str = typer.prompt("New passphrase", hide_input=True, confirmation_prompt=True)
    return entered
