"""The process of a simulated Spectrum Discover; the cluster starts it (`simulator/processes/command_lines.py`)."""

import argparse
from pathlib import Path

from werkzeug.serving import make_server
from werkzeug.wrappers import Request

from simulator.discover import accounts
from simulator.discover.database import Database
from simulator.discover.service import Service
from simulator.processes.ports import LOOPBACK

TOKEN_SECONDS = 3600.0


def main() -> None:
    """Serve until the process is stopped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--catalogue", type=Path, required=True)
    parser.add_argument("--account", type=Path, required=True)
    parser.add_argument("--certificate", type=Path, required=True)
    parser.add_argument("--key", type=Path, required=True)
    options = parser.parse_args()
    options.catalogue.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    service = Service(Database(options.catalogue), accounts.create(options.account), accounts.Tokens(TOKEN_SECONDS))
    server = make_server(
        LOOPBACK,
        options.port,
        Request.application(service.respond),
        threaded=True,
        ssl_context=(str(options.certificate), str(options.key)),
    )
    print(  # noqa: T201 - its log
        f"simulated by hpc: Spectrum Discover on {LOOPBACK}:{options.port}, over the catalogue {options.catalogue}",
        flush=True,
    )
    server.serve_forever()


if __name__ == "__main__":
    main()
