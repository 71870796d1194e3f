"""Prints the paths of the named tools, one a line, built first if need be: `python -m toolkit.engine.tools pulumi`.

With `--ahead` it builds the tools of a first cluster until it is stopped, silently. `make up` runs it while the Python
packages are installed, which leaves the cores idle most of the time. It needs none of them itself. What it leaves in
Go's caches spares the command after it, which reports progress and failures.
"""

import signal
import sys

from toolkit.engine.errors import SimulatorError
from toolkit.engine.tools import ensure


def _build_ahead() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    # Ignored in what a shell starts in the background, and then in all that it starts: Go cleans up after this one.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        ensure()
    except SimulatorError:
        sys.exit()


if __name__ == "__main__":
    if sys.argv[1:] == ["--ahead"]:
        _build_ahead()
    else:
        for path in ensure(sys.argv[1:]).values():
            print(path)  # noqa: T201 - for a shell
