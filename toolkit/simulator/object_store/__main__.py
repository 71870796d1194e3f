"""The process of a simulated object store; the cluster starts it (`toolkit/simulator/processes/command_lines.py`).

It requires a signature, lets moto answer, and stores what has changed before it responds.
"""

import argparse
import io
import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

os.environ["S3_IGNORE_SUBDOMAIN_BUCKETNAME"] = "true"  # moto reads it when it is imported; on loopback there are none

from moto.moto_server.werkzeug_app import create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.test import Client

from toolkit.simulator.access import accounts
from toolkit.simulator.access.accounts import Account
from toolkit.simulator.object_store.buckets import CREATED, LIFECYCLE, Buckets
from toolkit.simulator.object_store.signatures import Request, refusal
from toolkit.simulator.processes.ports import LOOPBACK

SETTINGS = frozenset(
    {LIFECYCLE, "versioning", "encryption", "publicAccessBlock", "policy", "ownershipControls", "tagging", "cors"}
)
"""Settings of a bucket, as S3's query names them; moto has more, the disk these."""
_REFUSED = "<Error><Code>{code}</Code><Message>{code}, says the simulated object store</Message></Error>"

Start = Callable[[str, list[tuple[str, str]]], Any]


class Store:
    """The WSGI application. One request at a time: moto's buckets are not made for more, and writes stay in order."""

    def __init__(self, buckets: Buckets, account: Account) -> None:
        self._buckets, self._account = buckets, account
        self._moto = create_backend_app("s3")
        self._moto.debug = False
        self._lock = threading.Lock()
        self._load()

    def _load(self) -> None:
        client = Client(self._moto)
        for bucket in self._buckets.files.buckets():
            self._buckets.load(bucket)
            for name, content in self._buckets.files.settings(bucket).items():
                if name != CREATED:
                    client.put(f"/{bucket}?{name}", data=content)
        self._buckets.expire_all()

    def __call__(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        """Answer a request."""
        code = refusal(_request(environ), self._account)
        if code is not None:
            return _refuse(start, "403 Forbidden", code)
        sent = _body(environ)  # before anybody waits for us: a client may hang in the middle of it
        if sent is None:
            return _refuse(start, "400 Bad Request", "IncompleteBody")
        environ["wsgi.input"] = io.BytesIO(sent)
        if (own := self._answer(environ)) is not None:
            start("200 OK", [("Content-Type", "application/xml"), ("Content-Length", str(len(own)))])
            return [own]
        with self._lock:
            answer: list[Any] = []

            def begin(status: str, headers: list[tuple[str, str]], _: Any = None) -> Callable[[bytes], object]:
                answer[:] = status, headers
                return answer.append

            body = self._moto(environ, begin)
            content = b"".join(body)
            status, headers = answer[:2]
            if status.startswith("2") and environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
                self._keep(environ, sent)
        start(status, headers)
        return [content]

    def _answer(self, environ: dict[str, Any]) -> bytes | None:
        """Return the lifecycle of a bucket where a request reads it: moto forgets how many versions stay."""
        bucket = environ["PATH_INFO"].strip("/")
        requested = environ["REQUEST_METHOD"] == "GET" and LIFECYCLE in parse_qs(environ["QUERY_STRING"], True)
        configured = requested and bucket in self._buckets.files.buckets()
        return self._buckets.files.settings(bucket).get(LIFECYCLE) if configured else None

    def _keep(self, environ: dict[str, Any], content: bytes) -> None:
        bucket, _, key = environ["PATH_INFO"].lstrip("/").partition("/")
        words = parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)
        self._buckets.store(bucket)
        for name in SETTINGS if not key else ():
            if name in words and environ["REQUEST_METHOD"] == "PUT":
                self._buckets.files.set(bucket, name, content)
            elif name in words and environ["REQUEST_METHOD"] == "DELETE":
                self._buckets.files.unset(bucket, name)


class Handler(WSGIRequestHandler):
    """Keeps the log free of requests: a state is written for every step of an update."""

    protocol_version = "HTTP/1.1"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log what went wrong here, nothing else."""
        if str(code).startswith("5"):
            super().log_request(code, size)


def _refuse(start: Start, status: str, code: str) -> list[bytes]:
    start(status, [("Content-Type", "application/xml"), ("Connection", "close")])
    return [_REFUSED.format(code=code).encode()]


def _body(environ: dict[str, Any]) -> bytes | None:
    """Return the body of a request; None for one whose sender was gone before its end."""
    if environ.get("wsgi.input_terminated"):
        return bytes(environ["wsgi.input"].read())
    length = int(environ.get("CONTENT_LENGTH") or 0)
    content = bytes(environ["wsgi.input"].read(length))
    return content if len(content) == length else None


def _request(environ: dict[str, Any]) -> Request:
    headers = {name[5:].replace("_", "-").lower(): value for name, value in environ.items() if name.startswith("HTTP_")}
    headers |= {
        name.replace("_", "-").lower(): environ[name] for name in ("CONTENT_TYPE", "CONTENT_LENGTH") if name in environ
    }
    return Request(environ["REQUEST_METHOD"], environ["REQUEST_URI"], headers)


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
