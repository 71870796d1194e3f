"""Starts the command line: `python cli ARGUMENTS`, which is what ./hpc does."""

import gc
import sys
from pathlib import Path

if __name__ == "__main__":
    # What is imported stays: searching it for waste takes a fifth of a short command's time.
    gc.set_threshold(100_000, 50, 1000)
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    from cli.app import main

    main()
