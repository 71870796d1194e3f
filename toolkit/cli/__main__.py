"""Starts the command line: `python toolkit/cli ARGUMENTS`, which is what ./hpc does."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])
    from core.garbage_collection import collect_seldom

    collect_seldom()
    from toolkit.cli.app import main

    main()
