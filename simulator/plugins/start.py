"""Starts one of the two plugins: `python start.py language|provider ENGINE_ADDRESS`.

A file of its own, started by path, so that neither `PYTHONPATH` nor the working directory matters: programs that the
language host starts inherit its environment, and must not see this checkout's modules by accident.
"""

import sys
from pathlib import Path


def main() -> None:
    """Put the checkout on the module path (in place of this folder) and run the plugin that is named."""
    folder = Path(__file__).resolve().parent
    sys.path[:] = [str(folder.parent.parent), *(entry for entry in sys.path if entry != str(folder))]
    kind, arguments = sys.argv[1], sys.argv[2:]
    if kind == "language":
        from simulator.plugins.language import serve_language  # noqa: PLC0415 (found only with the new path)

        serve_language(arguments)
    else:
        from simulator.plugins.provider.servicer import serve_provider  # noqa: PLC0415

        serve_provider(arguments)


if __name__ == "__main__":
    main()
