"""The tokens that a simulated Spectrum Discover gives."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

_BYTES = 24


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
