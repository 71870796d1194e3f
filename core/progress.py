"""How long-running work reports its steps: a protocol, and the implementation that prints nothing."""

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Step(Protocol):
    """One piece of work under way."""

    def update(self, done: float | None = None, total: float | None = None, what: str = "") -> None:
        """Report `done` of `total` units (either None when unknown) and what is being worked on now."""


class Progress(Protocol):
    """Where steps are reported."""

    def step(self, title: str) -> AbstractContextManager[Step]:
        """Start a piece of work called `title`; it ends, well or badly, with the context."""


class _SilentStep:
    def update(self, done: float | None = None, total: float | None = None, what: str = "") -> None:
        """Print nothing."""


class Silent:
    """A progress that prints nothing."""

    def step(self, title: str) -> AbstractContextManager[Step]:  # noqa: ARG002 - the protocol's signature
        """Start a step that is not shown."""
        return nullcontext(_SilentStep())


SILENT = Silent()
