"""What the real worker of Node Feature Discovery labels a node with, whose files say what a machine file says."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from werkzeug.wrappers import Request, Response

from core.hardware.profiles import Profile, from_json, to_json
from tests.support.http_server import as_json, kubeconfig, serving
from toolkit.engine import tools
from toolkit.simulator.actors import host_files, nfd_workers

KERNEL = "5.14.0-570.12.1.el9_6.x86_64"
NAMESPACE = "openshift-nfd"
_NOT_FOUND = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}


class Worker:
    """One process of the worker, with an API server that has no NodeFeature and remembers the last that was made."""

    def __init__(self, folder: Path, port: int, published: list[Any]) -> None:
        self._folder, self._published = folder, published
        self._kubeconfig = kubeconfig(folder, port)
        text = self._kubeconfig.read_text()
        self._kubeconfig.write_text(text.replace('"kind"', '"current-context": "lab", "kind"', 1))
        self.process = nfd_workers.start(tools.find("nfd-workers"))

    def answer(self, files: host_files.Files) -> dict[str, str]:
        """Return what the worker logged of a node with these files, and its error."""
        with TemporaryDirectory(dir=self._folder) as root:
            nfd_workers.write_tree(files, Path(root))
            request = {"node": "gpu01", "namespace": NAMESPACE, "root": root, "config": nfd_workers.CONFIG}
            return nfd_workers.ask(self.process, {**request, "kubeconfig": str(self._kubeconfig)})

    def labels(self, machine: Profile | None, configuration: str, others: Mapping[str, str] | None = None) -> Any:
        """Return the labels of a node with this machine; `others` are further files. Raises ValueError as it fails."""
        own = host_files.of_node(machine, kernel=KERNEL, release="4.20")
        answer = self.answer({**own, nfd_workers.CONFIG: configuration, **(others or {})})
        if answer["error"]:
            raise ValueError(answer["error"])
        return self._published[-1]["spec"]["labels"]


@contextmanager
def worker() -> Iterator[Worker]:
    """Yield a worker."""
    published: list[Any] = []

    def respond(request: Request) -> Response:
        if request.method == "GET":
            return as_json(_NOT_FOUND, 404)
        published.append(request.json)
        return as_json(request.json, 201)

    with TemporaryDirectory() as folder, serving(respond) as port:
        one = Worker(Path(folder), port, published)
        try:
            yield one
        finally:
            assert one.process.stdin is not None
            one.process.stdin.close()
            one.process.wait(5)


def labels(machine: Profile, configuration: str) -> dict[str, str]:
    """Return the labels of a node with this machine."""
    return _labels(to_json(machine), configuration)


@cache
def _labels(machine: str, configuration: str) -> dict[str, str]:
    with worker() as one:
        return dict(one.labels(from_json(machine), configuration))
