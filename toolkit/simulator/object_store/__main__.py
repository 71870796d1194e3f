"""The process of a simulated object store; the cluster starts it (`toolkit/simulator/processes/command_lines.py`)."""

import argparse
from pathlib import Path

from werkzeug.serving import make_server

from toolkit.simulator.access import accounts
from toolkit.simulator.object_store.buckets import Buckets
from toolkit.simulator.object_store.server import Handler, Store
from toolkit.simulator.processes.ports import LOOPBACK


def main() -> None:
    """Serve until the process is stopped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--credentials", type=Path, required=True)
    options = parser.parse_args()
    options.root.mkdir(parents=True, exist_ok=True, mode=0o700)
    store = Store(Buckets(options.root), accounts.create(options.credentials))
    server = make_server(LOOPBACK, options.port, store, threaded=True, request_handler=Handler)
    print(  # noqa: T201 - its log
        f"simulated by hpc: an object store (moto) on {LOOPBACK}:{options.port}, with its objects in {options.root}",
        flush=True,
    )
    server.serve_forever()


if __name__ == "__main__":
    main()
