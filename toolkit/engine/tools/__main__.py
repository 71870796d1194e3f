"""Prints the paths of the named tools, one a line, built first if need be: `python -m toolkit.engine.tools pulumi`."""

import sys

from toolkit.engine.tools import ensure

for path in ensure(sys.argv[1:]).values():
    print(path)  # noqa: T201 - for a shell
