"""An HTTP server of a test's own, in this process: one function answers each request."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

from toolkit.simulator.access.pki import Pki

Respond = Callable[[Request], Response]


class _Silent(WSGIRequestHandler):
    def log(self, *_: Any) -> None:
        """Print nothing."""


@contextmanager
def serving(respond: Respond, keys: Pki | None = None) -> Iterator[int]:
    """Serve on a port of this machine, which is given; by HTTPS where there are keys, whose certificate is `server`."""
    tls = (str(keys.certificate("server")), str(keys.key("server"))) if keys else None
    application = Request.application(respond)
    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=_Silent, ssl_context=tls)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def as_json(content: Any, status: int = 200) -> Response:
    """Return an answer with JSON."""
    return Response(json.dumps(content), status, content_type="application/json")


def kubeconfig(folder: Path, port: int) -> Path:
    """Write a kubeconfig whose only context, `lab`, leads to a port of this machine."""
    file = folder / "kubeconfig"
    parts = [
        ("clusters", "cluster", {"server": f"http://127.0.0.1:{port}"}),
        ("users", "user", {"token": "x"}),
        ("contexts", "context", {"cluster": "lab", "user": "lab"}),
    ]
    named = {key: [{"name": "lab", singular: content}] for key, singular, content in parts}
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", **named}))
    return file
