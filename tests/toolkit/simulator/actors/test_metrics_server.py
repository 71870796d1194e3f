"""The pages that exporters' metrics are read from."""

from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.support.actor_caches import node, pod, runtime
from toolkit.simulator import names
from toolkit.simulator.actors.api import ApiError
from toolkit.simulator.actors.metrics_server import MetricsServer
from toolkit.simulator.processes import ports
from toolkit.simulator.state import METRICS

LIST = "DCGM_FI_DEV_GPU_TEMP, gauge, temperature\n"
NODE = "dgx01"


class _Refusing:
    def list(self, *_: Any) -> Any:
        """Answer as an API server that RBAC closes."""
        raise ApiError("kube-state-metrics", "list", "resourcequotas", {"code": 403, "reason": "Forbidden"})


def serve(*there: dict[str, Any], listed: str = LIST) -> tuple[MetricsServer, Any, str]:
    """Return a server over a node with pods, its runtime, and its address; `listed`: the exporter's list."""
    made = runtime(*there, nodes=(node(NODE, **{names.HOST_DRIVER: "true"}),))
    changed: list[Any] = []
    made.nodes.on_change = changed.append
    made.config_maps = SimpleNamespace(get=lambda *_: {"data": {"list.csv": listed}})
    made.identity = lambda _: _Refusing()
    made.settings = SimpleNamespace(ports={METRICS: ports.free()}, release="current", home=Path("no-home"))
    pods_there = made.pods
    made.pods = SimpleNamespace(items=pods_there.items, get=lambda name, _: pods_there.get(name, ""))
    server = MetricsServer(made)
    server.start()
    made.changed = changed[0]
    return server, made, f"http://127.0.0.1:{made.settings.ports[METRICS]}"


def exporter() -> dict[str, Any]:
    """Return an exporter's pod that mounts its list."""
    mounted = {"env": [{"name": "DCGM_EXPORTER_COLLECTORS", "value": "/lists/list.csv"}]}
    found = pod("exporter", NODE, "dcgm-exporter", **mounted, volumeMounts=[{"name": "list", "mountPath": "/lists"}])
    found["spec"]["volumes"] = [{"name": "list", "configMap": {"name": "list"}}]
    return found


def read(address: str, path: str) -> tuple[int, str]:
    """Return status and text of a page."""
    try:
        with urlopen(f"{address}/{path}", timeout=10) as answer:  # noqa: S310 - loopback
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def test_an_exporter_s_page_has_all_gpus_of_its_node() -> None:
    """Each GPU of the node has a series; what the exporter's list lacks has none."""
    _, _, address = serve(exporter())
    status, text = read(address, "pods/ns/exporter/metrics")
    assert status == HTTPStatus.OK
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert len(lines) == 8
    assert all(line.startswith("DCGM_FI_DEV_GPU_TEMP{gpu=") for line in lines)


@pytest.mark.parametrize(
    "path", ["pods/ns/absent/metrics", "pods/ns/train/metrics", "nodes/absent/metrics", "elsewhere"]
)
def test_what_is_no_exporter_has_no_page(path: str) -> None:
    """Another pod, a node that is not there and an unknown path are not found."""
    _, _, address = serve(exporter(), pod("train", NODE))
    assert read(address, path)[0] == HTTPStatus.NOT_FOUND


def test_an_api_server_that_refuses_is_an_answer() -> None:
    """A page that needs the API server says that it does not answer, and the server goes on."""
    _, _, address = serve(exporter())
    status, text = read(address, "kube-state-metrics/metrics")
    assert (status, "resourcequotas" in text) == (HTTPStatus.SERVICE_UNAVAILABLE, True)
    assert read(address, "")[1].startswith("simulated by hpc")


def test_links_that_go_down_are_counted() -> None:
    """A port that loses its link is counted once, and its being down is not further loss."""
    _, made, address = serve(exporter())
    up, down = (node(NODE, **marks) for marks in ({}, {names.PORTS_DOWN: '["mlx5_1"]'}))
    for before, now in ((up, down), (down, down), (down, up), (up, down)):
        made.changed(("", NODE), before, now)
    text = read(address, f"nodes/{NODE}/metrics")[1]
    assert 'node_infiniband_link_downed_total{device="mlx5_1",port="1"} 2' in text
    assert 'node_infiniband_link_downed_total{device="mlx5_0",port="1"} 0' in text
