"""The process of a simulated Spectrum Discover; the cluster starts it (`processes/command_lines.py`)."""

from pathlib import Path

from toolkit.simulator.access import accounts
from toolkit.simulator.discover.database import Database
from toolkit.simulator.discover.service import Service
from toolkit.simulator.discover.tokens import Tokens
from toolkit.simulator.processes import https_server

TOKEN_SECONDS = 3600.0


def main() -> None:
    """Serve until the process is stopped."""
    parser = https_server.options()
    parser.add_argument("--catalogue", type=Path, required=True)
    parser.add_argument("--account", type=Path, required=True)
    options = parser.parse_args()
    options.catalogue.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    service = Service(Database(options.catalogue), accounts.create(options.account), Tokens(TOKEN_SECONDS))
    https_server.serve(service.respond, options, "Spectrum Discover", f"the catalogue {options.catalogue}")


if __name__ == "__main__":
    main()
