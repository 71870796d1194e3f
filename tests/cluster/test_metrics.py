"""A real Prometheus over simulated metrics, with the rules of the program.

Of the rules only how long an alert must last (`for`) and the interval are shortened, to a second each; scrapes come
each second, too.
"""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import pytest

from components.monitoring.dashboards import GPUS, INFINIBAND, TENANTS
from core.apis import kinds
from core.pulumi_values import REDACTED
from stacks.environment import build, placeholder_accounts
from stacks.loading.settings import Settings, parse
from tests.support import prometheus
from tests.support.clusters import running
from tests.support.field import Field, Manifest
from tests.support.prometheus import FIRING, Prometheus
from tests.support.recorded import ROOT, component
from tests.support.stack_settings import data
from tests.support.user import User
from toolkit.cli.shared import cluster_client
from toolkit.cli.shared.simulated import spec as simulated_spec
from toolkit.render.manifests import manifests
from toolkit.simulator import cluster, names
from toolkit.simulator.cluster import ClusterSpec
from toolkit.simulator.performance.job import NodeFaults

pytestmark = pytest.mark.cluster

STACK, TENANT = "h100-roce", "training"
NODE = "dgx01.h100.example.com"
BUSY, IDLE = "busy", "idle"
PANELS = {
    panel.title: each.expression
    for dashboard in (GPUS, INFINIBAND, TENANTS)
    for row in dashboard.rows
    for panel in row.panels
    for each in panel.series
}
SENSORS = {"Warmest sensor, degrees Celsius", "Power of the node, W"}
"""Simulated nodes have none."""
LATER = SENSORS | {
    "GPU hours of the last 24 h",
    "GPUs held and under 5 % for 30 min",
    "GPUs that pending pods wait for",
}


def _settings() -> Settings:
    content = data(STACK)
    content["nodes"] = [
        {"name": "master01.h100.example.com", "roles": ["master"]},
        {"name": "worker01.h100.example.com", "roles": ["worker"]},
        {"name": NODE, "roles": ["worker"], "machine": "dgx-h100"},
    ]
    content["tenants"] = [{**tenant, "gpu_quota": 8} for tenant in content["tenants"]]
    job = {"kind": "job", "tenant": TENANT, "program": "preflight", "image": "nvcr.io/nvidia/pytorch:25.02-py3"}
    stages = [{"name": "jobs", "workloads": [{**job, "name": BUSY, "gpus": 7}, {**job, "name": IDLE, "gpus": 1}]}]
    del content["site"]
    return parse({**content, "builds": [], "mpi_operator": None, "stages": stages}, STACK)


SETTINGS = _settings()
HEALTHY = tuple(manifests(component(lambda: build(SETTINGS, placeholder_accounts(SETTINGS, REDACTED), ROOT))))
SPEC = ClusterSpec(
    name="test-metrics",
    nodes=simulated_spec.nodes(SETTINGS),
    release="current",
    mpi="v2beta1",
    run_seconds=600,
)
"""Jobs run until the test deletes them."""


@pytest.fixture(name="field", scope="module")
def _field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Field, str]]:
    """Give the platform, and the address of its metrics."""
    with running(SPEC) as started:
        api = User.of(started.kubeconfig)
        client = cluster_client.Cluster(started.kubeconfig, started.context)
        made = Field(api, client, SETTINGS, HEALTHY, tmp_path_factory.mktemp("logs"))
        made.install()
        yield made, str(cluster.status(started.home).metrics)


def _idle() -> list[Manifest]:
    """Return the jobs, of which one holds its GPU and computes nothing."""
    jobs = deepcopy([*HEALTHY])
    (job,) = (one for one in jobs if one["kind"] == "Job" and one["metadata"]["name"] == IDLE)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    container.update(command=["sleep", "infinity"], args=[])
    return jobs


def _set(field: Field, **marks: str | None) -> None:
    annotations = {getattr(names, name.upper()): value for name, value in marks.items()}
    field.api.annotate(kinds.NODE, NODE, annotations)


def test_alerts_are_raised_by_their_causes_and_by_nothing_else(field: tuple[Field, str], tmp_path: Path) -> None:
    """A busy cluster raises none; a hot GPU, an idle one that a job holds and a port that goes down raise theirs."""
    platform, address = field
    groups = prometheus.declared(platform.api)
    assert {rule["alert"] for group in groups for rule in group["rules"] if "alert" in rule} >= {"GpuTooHot"}
    with (
        platform.running(HEALTHY, BUSY, until=frozenset({"Running"})),
        prometheus.running(prometheus.configured(address, groups, tmp_path), tmp_path) as server,
    ):
        _nothing(server)
        _drawn(server)
        with platform.running(_idle(), IDLE, until=frozenset({"Running"})):
            server.expect("GpuUnderused")
            (idle,) = server.query('ALERTS{alertname="GpuUnderused"}')
            assert server.query(PANELS["GPUs held and under 5 % for 30 min"])
            assert (idle[0]["namespace"], idle[0]["Hostname"]) == (TENANT, NODE)
            assert idle[0]["exported_pod"].startswith(IDLE)
        server.expect()
        _set(platform, faults=NodeFaults(celsius={3: 92}).model_dump_json())
        server.expect("GpuTooHot")
        assert server.labels(FIRING, "gpu") == {"3"}
        _set(platform, faults=None, ports_down='["mlx5_3"]')
        # The counter of lost links is looked at over an hour.
        server.expect("InfinibandPortDown", "InfinibandLinkLost")
        assert server.labels(FIRING, "device") == {"mlx5_3"}
        assert server.labels(FIRING, "instance") == {NODE}
        _set(platform, ports_down=None)
        server.expect("InfinibandLinkLost")
        fired = server.labels(f"max_over_time({FIRING}[1h])", "alertname")
        assert fired == {"GpuUnderused", "GpuTooHot", "InfinibandPortDown", "InfinibandLinkLost"}


def _nothing(server: Prometheus) -> None:
    """Expect that all exporters are scraped, a job's GPUs are busy, and no alert is even pending."""
    server.eventually(lambda: len(server.query("up == 1")) == len(SETTINGS.nodes) + 2, "not all exporters are scraped")
    assert server.query("up == 0") == []
    use = 'DCGM_FI_DEV_GPU_UTIL{exported_namespace="training"} > 90'
    server.eventually(lambda: len(server.query(use)) == 7, "the job's GPUs are not busy")
    server.evaluated()
    assert server.query("ALERTS") == []
    (power,) = server.query("hpc:gpu_power_watts:sum")
    assert power[1] > 7 * 600


def _drawn(server: Prometheus) -> None:
    """Expect that each panel of the dashboards has series, without those about what waits, idles or is long ago."""
    for title, expression in PANELS.items():
        if title not in LATER:
            server.eventually(lambda asked=expression: server.query(asked), f"{title} is empty: {expression}")  # type: ignore[misc]
