"""The process of the webhook: `python -m toolkit.simulator.admission`; it imports little, so that it starts at once."""

import argparse
import json
import logging
import signal
import ssl
import sys
import threading
import time
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from toolkit.engine.errors import SimulatorError
from toolkit.simulator.admission.cluster_reader import Reader
from toolkit.simulator.admission.manifests import PATH
from toolkit.simulator.admission.review import Answer, answer, concerned
from toolkit.simulator.api import Api, read_kubeconfig
from toolkit.simulator.processes.ports import LOOPBACK

log = logging.getLogger(__name__)

LONGEST = 16 * 2**20
"""Bytes of a request: etcd takes objects of 1.5 MB, and a change sends an object twice."""
WAITING = 128
"""Connections that may wait to be taken: one is opened per pod that is created at the same time."""


class Server(ThreadingHTTPServer):
    """Listens on loopback, with one thread per connection of the API server."""

    daemon_threads = True
    request_queue_size = WAITING

    def __init__(self, port: int, certificate: Path, key: Path, reader: Reader) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.reader = reader
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        # The handshake is left to the connection's own thread: a silent client would else block all others.
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, _request: object, client_address: object) -> None:
        """Log a connection that broke off."""
        log.debug("connection of %s", client_address, exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are two writes; the second would wait 40 ms
    timeout = 300
    server: Server

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        path = self.path.partition("?")[0]
        if path != PATH or not length.isdigit() or int(length) > LONGEST:
            self.close_connection = True
            self._send(HTTPStatus.BAD_REQUEST, {"error": "not an AdmissionReview"})
            return
        request = json.loads(self.rfile.read(int(length)))["request"]
        try:
            response = answered(request, self.server.reader)
        except (OSError, SimulatorError) as error:
            log.warning("cannot read the cluster: %s", error)
            response = failed(request, str(error))
        except Exception:
            log.exception("unexpected error")
            response = failed(request, "unexpected error; see the log of scc-admission")
        self._send(HTTPStatus.OK, response.review())

    def _send(self, status: HTTPStatus, body: Mapping[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *arguments: object) -> None:
        log.debug(format, *arguments)


def failed(request: Mapping[str, Any], why: str) -> Answer:
    """Refuse a request because of a failure of our own."""
    return Answer(request["uid"], allowed=False, message=f"simulated SCC admission: {why}", failed=True)


def answered(request: Mapping[str, Any], reader: Reader) -> Answer:
    """Answer a request, and log it."""
    if not concerned(request):
        return Answer(request["uid"], allowed=True)
    began = time.monotonic()
    response = answer(request, reader.facts(request["namespace"]))
    metadata = request["object"]["metadata"]
    pod = f"{request['namespace']}/{metadata.get('name') or metadata.get('generateName', '')}"
    took = (time.monotonic() - began) * 1000
    if response.allowed:
        log.info("%s of %s: %s (%.0f ms)", request["operation"], pod, response.scc or "no SCC needed", took)
    else:
        log.warning("%s of %s refused: %s (%.0f ms)", request["operation"], pod, response.message, took)
    return response


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
    reader = Reader(Api(arguments.api_port, read_kubeconfig(arguments.kubeconfig).token, arguments.ca))
    server = Server(arguments.port, arguments.certificate, arguments.key, reader)
    for number in (signal.SIGTERM, signal.SIGINT):
        # From another thread: `shutdown` waits for the loop that this very thread runs.
        signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
    logging.info("listening on port %d", arguments.port)
    server.serve_forever()


if __name__ == "__main__":
    main()
