"""What simulated exporters write of GPUs, ports and pods."""

from collections.abc import Iterable
from typing import Any

import pytest

from core.hardware.profiles import PROFILES
from toolkit.simulator.actors.metrics_server import Counters
from toolkit.simulator.metrics import dcgm_exporter, exporters
from toolkit.simulator.metrics.dcgm_exporter import Counter, GpuState, HeldGpu, ListError, values
from toolkit.simulator.metrics.exporters import Family, exposition
from toolkit.simulator.performance.job import Machine, NodeFaults

H100 = Machine("dgx01", PROFILES["dgx-h100"], has_driver=True, driver="595.91.07", faults=NodeFaults(celsius={3: 92}))
V100 = Machine("dgx-1", PROFILES["dgx1-v100-16gb"], has_driver=True)
TODAY, OF_2020 = "nvcr.io/nvidia/k8s/dcgm-exporter:4.6.0-4.8.3", "nvidia/dcgm-exporter:1.7.2-2.0.0-rc.9-ubuntu18.04"
LIST = "/lists/list.csv"
TEMPERATURE = Counter("DCGM_FI_DEV_GPU_TEMP", "gauge", "temperature")


def exporter(image: str = TODAY, **variables: str) -> dict[str, Any]:
    """Return an exporter's pod."""
    env = [{"name": name, "value": value} for name, value in variables.items()]
    return {
        "metadata": {"name": "exporter", "namespace": "gpus"},
        "spec": {"containers": [{"name": "exporter", "image": image, "env": env}]},
    }


def listed(text: str | None, image: str = TODAY) -> list[str]:
    """Return the fields that an exporter reads in a list; None: no such file is mounted."""
    content = None if text is None else text.encode()
    pod = exporter(image, DCGM_EXPORTER_COLLECTORS=LIST)
    return [each.field for each in dcgm_exporter.counters(pod, {LIST: content}.get)]


def series(families: Iterable[Family], name: str) -> dict[str, float]:
    """Return device -> value of a metric."""
    (family,) = (each for each in families if each.name == name)
    return {labels["device"]: value for labels, value in family.samples}


def test_every_metric_says_that_it_is_simulated() -> None:
    """HELP says so, labels are escaped, empty ones left out, and a metric without series is not there."""
    found = exposition(
        [Family("a", "gauge", "b", (({"x": 'say "no"\n', "y": ""}, 1.5),)), Family("none", "counter", "of nothing", ())]
    )
    assert found == '# HELP a simulated by hpc: b\n# TYPE a gauge\na{x="say \\"no\\"\\n"} 1.5\n'


def test_only_what_is_listed_is_exported() -> None:
    """The exporter writes the fields of its list, without comments, and not those that its GPU lacks."""
    text = "# clocks,,\nDCGM_FI_DEV_GPU_TEMP, gauge, temperature\n\nDCGM_FI_DEV_ROW_REMAP_FAILURE, gauge, rows\n"
    wanted = dcgm_exporter.counters(exporter(DCGM_EXPORTER_COLLECTORS=LIST), {LIST: text.encode()}.get)
    for machine, names in ((H100, {"GPU_TEMP", "ROW_REMAP_FAILURE"}), (V100, {"GPU_TEMP"})):
        gpu = HeldGpu(GpuState(machine, 0, busy=False), 0, None)
        found = dcgm_exporter.families(exporter(), wanted, [gpu])
        assert {each.name for each in found if each.samples} == {f"DCGM_FI_DEV_{name}" for name in names}


@pytest.mark.parametrize(
    ("text", "image", "why"),
    [
        ("DCGM_FI_DEV_GPU_TEMP, gauge, temperature, C\n", TODAY, "failed to parse line 0.*expected 3 fields"),
        ("GPU_TEMP, gauge, t\n", TODAY, "Could not find DCGM field GPU_TEMP"),
        ("dcgm_gpu_temp, gauge, t\n", OF_2020, "Could not find DCGM field dcgm_gpu_temp"),
        ("DCGM_FI_DEV_ROW_REMAP_FAILURE, gauge, t\n", OF_2020, "Could not find DCGM field DCGM_FI_DEV_ROW_REMAP"),
        ("DCGM_FI_DEV_GPU_TEMP, number, t\n", TODAY, "type number"),
        (None, TODAY, f"open {LIST}: no such file"),
    ],
)
def test_an_exporter_exits_by_a_list_that_it_cannot_read(text: str | None, image: str, why: str) -> None:
    """What a list has wrong ends the exporter with its own message."""
    with pytest.raises(ListError, match=why):
        listed(text, image)


def test_labels_are_those_of_the_release() -> None:
    """Today's exporter names node, model and the pod that has the GPU; that of 2020 number, UUID and pod alone."""
    holder = {"metadata": {"name": "train-0", "namespace": "adas"}, "spec": {"containers": [{"name": "main"}]}}
    gpu = HeldGpu(GpuState(H100, 3, busy=True), 0, holder)
    for image, more in (
        (TODAY, {"Hostname", "modelName", "device", "pci_bus_id", "DCGM_FI_DRIVER_VERSION"}),
        (OF_2020, set()),
    ):
        (family,) = dcgm_exporter.families(exporter(image), [TEMPERATURE], [gpu])
        ((labels, value),) = family.samples
        assert labels.keys() == {"gpu", "UUID", "container", "namespace", "pod"} | more
        assert (labels["gpu"], labels["pod"], value) == ("3", "train-0", 92)
    (family,) = dcgm_exporter.families(exporter(DCGM_EXPORTER_KUBERNETES="false"), [TEMPERATURE], [gpu])
    assert "pod" not in family.samples[0][0]


def test_a_gpu_is_as_busy_as_its_job() -> None:
    """A computing GPU is used, draws power and holds memory; an idle one is cooler; a hot one says why it slows."""
    busy, idle = (values(GpuState(H100, 0, busy=each), 2.0) for each in (True, False))
    assert busy["DCGM_FI_DEV_GPU_UTIL"] > 90
    assert idle["DCGM_FI_DEV_GPU_UTIL"] == 0
    assert 600 < busy["DCGM_FI_DEV_POWER_USAGE"] <= 700
    assert idle["DCGM_FI_DEV_POWER_USAGE"] < 100
    assert busy["DCGM_FI_DEV_GPU_TEMP"] > idle["DCGM_FI_DEV_GPU_TEMP"]
    assert idle["DCGM_FI_DEV_FB_USED"] == 0 < busy["DCGM_FI_DEV_FB_USED"]
    assert busy["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"] == 2000
    hot = values(GpuState(H100, 3, busy=True), 0)
    assert (hot["DCGM_FI_DEV_GPU_TEMP"], hot["DCGM_FI_DEV_CLOCKS_EVENT_REASONS"]) == (92, 0x20)


def test_ports_have_their_state_and_what_they_carried() -> None:
    """A port without a link is down and slow; node_exporter of 4.4 has its lost links and no state."""
    down = Machine("dgx01", PROFILES["dgx-h100"], ports_down=frozenset({"mlx5_3"}))
    lost, carried = {"mlx5_3": 1.0}, {"mlx5_0": 5e9}
    now, old = (
        [
            *exporters.port_families(
                down, states=states, lost=lambda hca: lost.get(hca, 0), carried=lambda hca: carried.get(hca, 0)
            )
        ]
        for states in (True, False)
    )
    states, rates = series(now, "node_infiniband_state_id"), series(now, "node_infiniband_rate_bytes_per_second")
    assert (states["mlx5_0"], states["mlx5_3"]) == (4, 1)
    assert (rates["mlx5_0"], rates["mlx5_3"]) == (400e9 / 8, 10e9 / 8)
    assert series(now, "node_infiniband_port_data_received_bytes_total")["mlx5_0"] == 5e9
    assert series(old, "node_infiniband_link_downed_total")["mlx5_3"] == 1
    assert not any("state" in each.name or "rate" in each.name for each in old)


def test_pods_and_quotas_are_those_of_the_cluster() -> None:
    """Requests are there until a pod has ended, with the resource's name as kube-state-metrics writes it."""
    limits = {"nvidia.com/gpu": "8"}

    def pod(name: str, phase: str) -> dict[str, Any]:
        container = {"name": "main", "resources": {"limits": limits}}
        meta = {"name": name, "namespace": "adas", "uid": name}
        return {"metadata": meta, "spec": {"containers": [container]}, "status": {"phase": phase}}

    quota = {"metadata": {"name": "gpus", "namespace": "adas"}, "status": {"hard": {"requests.nvidia.com/gpu": "16"}}}
    phases, requests, quotas = exporters.pod_families([pod("next", "Pending"), pod("done", "Succeeded")], [quota])
    assert {(labels["pod"], labels["phase"]) for labels, value in phases.samples if value} == {
        ("next", "Pending"),
        ("done", "Succeeded"),
    }
    ((labels, value),) = requests.samples
    assert (labels["pod"], labels["resource"], value) == ("next", "nvidia_com_gpu", 8)
    ((labels, value),) = quotas.samples
    assert (labels["resource"], labels["type"], value) == ("requests.nvidia.com/gpu", "hard", 16)


def test_counters_grow_with_time() -> None:
    """A rate adds what has passed since it was asked for last, also across a pause."""
    counters = Counters()
    assert [counters.advance("a", rate, now) for rate, now in ((5, 10.0), (5, 12.0), (0, 20.0), (1, 21.0))] == [
        0,
        10,
        10,
        11,
    ]
    counters.add("b")
    assert (counters.total("b"), counters.total("c")) == (1, 0)
