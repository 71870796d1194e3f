"""The process of the webhook: `python -m toolkit.simulator.admission`; it imports little, so that it starts at once."""

import argparse
import logging
import signal
import sys
import threading
from pathlib import Path

from toolkit.simulator import kubeconfigs
from toolkit.simulator.admission.cluster_reader import Reader
from toolkit.simulator.admission.server import Server
from toolkit.simulator.api import Api


def main() -> None:
    """Read the command line and serve until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="python -m toolkit.simulator.admission", description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="to listen on")
    parser.add_argument("--certificate", type=Path, required=True, help="to serve with")
    parser.add_argument("--key", type=Path, required=True, help="of the certificate")
    parser.add_argument("--api-port", type=int, required=True, help="of the API server")
    parser.add_argument("--ca", type=Path, required=True, help="that signed the API server's certificate")
    parser.add_argument("--kubeconfig", type=Path, required=True, help="of the webhook's own identity")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname).1s %(message)s", stream=sys.stderr)
    logging.info("simulated: this is not OpenShift's SCC admission plugin, policies.scc predicts its decisions")
    reader = Reader(Api(arguments.api_port, kubeconfigs.read(arguments.kubeconfig).token, arguments.ca))
    server = Server(arguments.port, arguments.certificate, arguments.key, reader)
    for number in (signal.SIGTERM, signal.SIGINT):
        # From another thread: `shutdown` waits for the loop that this very thread runs.
        signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
    logging.info("listening on port %d", arguments.port)
    server.serve_forever()


if __name__ == "__main__":
    main()
