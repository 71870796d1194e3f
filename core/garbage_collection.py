"""When Python looks for garbage: what these programs import, read and declare stays to the end."""

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager


def collect_seldom() -> None:
    """Look for garbage seldom: at Python's own thresholds it takes a fifth of a short command's time."""
    gc.set_threshold(100_000, 50, 1000)
    _skip_at_exit()


def collect_never() -> None:
    """Look for no garbage: a program's declarations are kept to its end (docs/reference/scale.md).

    Measured with stack prod: 1.3 in place of 2.0 s, imports included.
    """
    gc.disable()
    _skip_at_exit()


@contextmanager
def no_collection() -> Iterator[None]:
    """Look for no garbage meanwhile: where everything is stored to the end, looking takes half of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _skip_at_exit() -> None:
    """Set aside what there is before the interpreter ends: it would look through all of it once more, for 0.2 s."""
    atexit.register(gc.freeze)
