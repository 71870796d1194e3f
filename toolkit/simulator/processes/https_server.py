"""A WSGI application of a simulated server, over TLS on loopback: options of its process, and its first line."""

import argparse
from collections.abc import Callable
from pathlib import Path

from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from toolkit.simulator.processes.ports import LOOPBACK


def options() -> argparse.ArgumentParser:
    """Return the options that every such process has: its port, and its certificate with key."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--certificate", type=Path, required=True)
    parser.add_argument("--key", type=Path, required=True)
    return parser


def serve(respond: Callable[[Request], Response], arguments: argparse.Namespace, product: str, over: str) -> None:
    """Serve until the process is stopped; say what is simulated, and over which data."""
    server = make_server(
        LOOPBACK,
        arguments.port,
        Request.application(respond),
        threaded=True,
        ssl_context=(str(arguments.certificate), str(arguments.key)),
    )
    print(  # noqa: T201 - its log
        f"simulated by hpc: {product} on {LOOPBACK}:{arguments.port}, over {over}", flush=True
    )
    server.serve_forever()
