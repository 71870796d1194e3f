"""Builds the tools of a first cluster until it is stopped, silently: `python -m toolkit.engine.tools.ahead`.

`make up` runs it while the Python packages are installed, which leaves the cores idle most of the time. It needs none
of them itself. What it leaves in Go's caches spares the command after it, which reports progress and failures.
"""

import signal
import sys
from types import FrameType

from toolkit.engine.errors import SimulatorError
from toolkit.engine.tools import ensure


def _end(_: int, __: FrameType | None) -> None:
    sys.exit()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    # Ignored in what a shell starts in the background, and then in all that it starts: Go cleans up after this one.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        ensure()
    except SimulatorError:
        sys.exit()
