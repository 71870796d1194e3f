"""The one account of a simulated server, made up for its cluster."""

import json
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path

from core.files import write_atomically

USER = "hpc"
_BYTES = 24


@dataclass(frozen=True)
class Account:
    """A user and a password, or an access key and its secret, which are not shown when it is printed."""

    user: str
    password: str = field(repr=False)

    def matches(self, user: str | None, password: str | None) -> bool:
        """Return whether these are its user and password."""
        return (user, password) == (self.user, self.password)


def create(file: Path) -> Account:
    """Return the account in a file, which is made at random where it is not there."""
    account = read(file)
    if account is None:
        account = Account(USER, secrets.token_urlsafe(_BYTES))
        write_atomically(file, json.dumps(asdict(account)))
    return account


def read(file: Path) -> Account | None:
    """Return the account in a file; None where there is none."""
    try:
        return Account(**json.loads(file.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
