"""Starts the command line: `python cli ARGUMENTS`, which is what ./hpc does."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    from apis.garbage_collection import collect_seldom

    collect_seldom()
    from cli.app import main

    main()
