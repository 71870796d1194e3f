"""What a command line names: a data set of a stack, or a card of classes."""

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from core.data_files import SUFFIX, DataFileError
from core.datasets import lock
from core.datasets.card import CARDS, Card, read_card
from core.datasets.lock import Lock
from stacks.loading.locks import stale
from stacks.settings.storage import DataSetSettings
from stacks.settings.tenants import TenantSettings
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack

Name = Annotated[str, typer.Argument(metavar="NAME", help="Data set of a tenant's `data_sets`.")]
TenantOption = Annotated[
    str | None, typer.Option("--tenant", "-t", help="Namespace, where several tenants have a set of this name.")
]
LOCK, LIST = ".lock.json", ".list"


class Named(NamedTuple):
    """A data set, whose it is, and the stack."""

    stack: Stack
    tenant: TenantSettings
    settings: DataSetSettings

    @property
    def lock_file(self) -> Path:
        """Where its lock is."""
        return ROOT / self.settings.lock_file

    @property
    def lock(self) -> Lock:
        """Its lock; raise DataSetError where it is missing or wrong, and Problem where the settings are others now."""
        recorded = lock.read(self.lock_file, self.settings.lock_file)
        for reason in stale(recorded, self.settings):
            raise Problem(f"{self.settings.lock_file} {reason}")
        return recorded


def find(name: str, stack_name: str, tenant: str | None) -> Named:
    """Return the data set of a name; raise Problem where the stack has none, or several tenants have it."""
    stack = stacks.read(stack_name)
    every = [(team, data_set) for team in stack.settings.tenants for data_set in team.data_sets]
    matches = [
        (team, data_set) for team, data_set in every if data_set.name == name and tenant in (None, team.namespace)
    ]
    if not matches:
        choices = ", ".join(f"{data_set.name} of {team.namespace}" for team, data_set in every) or "none"
        whose = f" of {tenant}" if tenant else ""
        raise Problem(
            f"stack {stack_name} has no data set {name!r}{whose}; it has {choices}",
            f"Correct the name, or add it to `data_sets` of a tenant in {stack.file.name}.",
        )
    if len(matches) > 1:
        raise Problem(
            f"{' and '.join(team.namespace for team, _ in matches)} have a data set {name}", "Name one with --tenant."
        )
    return Named(stack, *matches[0])


def list_file(lock_file: Path, split: str = "") -> Path:
    """Return where the list of a lock is, or that of one of its splits: beside it, and not committed."""
    part = f".{split}" if split else ""
    return lock_file.with_name(f"{lock_file.name.removesuffix(LOCK)}{part}{LIST}")


def shown(file: Path) -> str:
    """Return a file of the project as messages name it."""
    return str(file.relative_to(ROOT))


def find_card(name: str) -> Card:
    """Return the card of a name, or of a file; raise Problem where there is none or it is wrong."""
    try:
        if name in CARDS:
            return CARDS[name]
        if name.endswith(SUFFIX):
            return read_card(Path(name))
    except DataFileError as error:
        raise Problem(str(error)) from None
    raise Problem(
        f"no card is called {name!r}", f"Known: {', '.join(CARDS)}; or name the file of your own, e.g. ours{SUFFIX}."
    )
