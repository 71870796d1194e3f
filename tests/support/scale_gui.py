"""The simulated GUI of Storage Scale beside a simulated cluster, over real HTTPS in this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

from werkzeug.wrappers import Request, Response

from tests.support import http_server, scale_rest
from tests.support.scale_caller import CLUSTER, Caller
from toolkit.simulator import state as states
from toolkit.simulator.access import accounts
from toolkit.simulator.access.pki import create
from toolkit.simulator.home import Layout
from toolkit.simulator.state import ClusterSpec, PortNumbers, ScaleGui, State


class Served:
    """A GUI, and the requests to it: method, path below its base, query."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.asked: list[tuple[str, str, dict[str, list[str]]]] = []

    def respond(self, request: Request) -> Response:
        """Answer a request, and note it."""
        parts = urlsplit(request.url)
        self.asked.append((request.method, scale_rest.path(parts.path), parse_qs(parts.query)))
        return self.caller.service.respond(request)


@contextmanager
def serving(layout: Layout) -> Iterator[Served]:
    """Serve the GUI of a cluster in a folder, which is recorded there as running."""
    pki = create(layout.pki, layout.home.name)
    served = Served(Caller(layout.scale_state, account=accounts.create(layout.scale_account)))
    with http_server.serving(served.respond, pki) as port:
        ports = PortNumbers(api=1, etcd=2, etcd_peer=3, kubelet=4, scale_gui=port)
        spec = ClusterSpec(name=layout.home.name, scale_gui=ScaleGui(cluster_id=CLUSTER, file_systems=("fs1", "fs2")))
        states.save(layout, State(spec=spec, ports=ports))
        yield served
