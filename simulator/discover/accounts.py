"""The one account of a simulated Spectrum Discover, and the tokens that it gives."""

import json
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from simulator.files import write_atomically

USER = "hpc"
_BYTES = 24


@dataclass(frozen=True)
class Account:
    """A user and a password, made up for its cluster; it is not shown when it is printed."""

    user: str
    password: str = field(repr=False)


def create(file: Path) -> Account:
    """Return the account in a file, which is made at random where it is not there."""
    try:
        return Account(**json.loads(file.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        made = Account(USER, secrets.token_urlsafe(_BYTES))
        write_atomically(file, json.dumps(asdict(made)))
        return made


@dataclass
class Tokens:
    """Tokens in memory, each valid for some seconds: after a restart clients take a new one, as with the real one."""

    seconds: float
    clock: Callable[[], float] = time.monotonic
    _ends: dict[str, float] = field(default_factory=dict, repr=False)

    def give(self) -> str:
        """Return a new token."""
        now = self.clock()
        self._ends = {token: end for token, end in self._ends.items() if end > now}
        token = secrets.token_urlsafe(_BYTES)
        self._ends[token] = now + self.seconds
        return token

    def valid(self, token: str) -> bool:
        """Return whether a token has been given and has not expired."""
        return self._ends.get(token, float("-inf")) > self.clock()
