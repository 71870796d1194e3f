"""Prints the paths of the named tools, one a line, built first if need be: `python -m simulator.tools pulumi`."""

import sys

from simulator.tools import find

for name in sys.argv[1:]:
    print(find(name))  # noqa: T201 - for a shell
