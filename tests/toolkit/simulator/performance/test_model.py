"""Time and bandwidth against what the Redpaper measured, and what faults do to them."""

import math
from statistics import median

import pytest

from core.apis.nccl import bus_factor
from core.hardware.measured import NVLINK_COLLECTIVES
from tests.toolkit.simulator.performance.jobs import EXPORTS, launch
from toolkit.simulator.performance import curves, fit, model
from toolkit.simulator.performance.communicator import communicator
from toolkit.simulator.performance.job import Launched, NodeFaults
from toolkit.simulator.performance.launchers import mpirun
from toolkit.simulator.performance.printed import Printed

LARGE = 256 * 2**20
MOST_MEDIAN, MOST_WORST = 0.04, 0.15
"""Relative errors of the fit; the page of docs has them by layout."""


def us(job: Launched, gpus: int, size: int, test: str = "all_reduce") -> float:
    """Return the time of a collective, without spread."""
    started: list[Launched] = []

    def keep(_: object, placed: Launched) -> Printed:
        started.append(placed)
        return Printed()

    mpirun(job.words, job, keep)
    group = communicator(started[0], gpus)
    assert group is not None
    return model.steady_us(group, test, size)


def busbw(job: Launched, gpus: int, ranks: int = 16) -> float:
    """Return the bus bandwidth at 256 MiB, GB/s."""
    return LARGE / us(job, gpus, LARGE) / 1e3 * bus_factor("all_reduce", ranks)


@pytest.mark.parametrize("layout", fit.TABLES)
def test_curves_are_the_best_fit_and_close(layout: str) -> None:
    """The curves are the fit of the tables, and near them."""
    curve = curves.CURVES[layout]
    assert curve == fit.fitted(fit.points(layout))
    errors = fit.residuals(curve, fit.points(layout))
    assert median(errors) <= MOST_MEDIAN
    assert max(errors) <= MOST_WORST


def spreads(layout: str) -> list[float]:
    """Return how far the two times of a size are apart in a table: relative standard deviations by class of size."""
    logs: list[list[float]] = [[] for _ in (*model.CLASSES, None)]
    for index, (out_of_place, in_place) in enumerate(fit.TABLES[layout]):
        logs[model.size_class(fit.SMALLEST << index)].append(math.log(in_place / out_of_place))
    return [math.sqrt(sum(log**2 for log in one) / len(one) / 2) for one in logs]


@pytest.mark.parametrize("layout", fit.TABLES)
def test_repeats_spread_as_in_the_tables(layout: str) -> None:
    """The noise is that of the paper's repeats."""
    assert model.SPREADS[layout] == pytest.approx(spreads(layout), abs=0.0006)


def test_the_page_shows_these_curves() -> None:
    """The page is that of the fit: `python -m toolkit.simulator.performance.fit` writes it."""
    assert fit.PAGE.read_text() == fit.page()
    text = fit.DATA.read_text()
    assert text == fit.data(text, "CURVES", dict(curves.CURVES)) == fit.data(text, "NVLINK", dict(curves.NVLINK))


def test_the_curves_over_nvlink_are_those_of_the_measurement() -> None:
    """They are fitted to every second size, and on what they have not seen the error is 5 % in the median."""
    for name, curve in curves.NVLINK.items():
        assert fit.fitted(fit.nvlink_points(name)[0], fit.NVLINK_SEGMENTS) == curve
    *_, (_, _, sizes, middle, worst) = fit.nvlink_errors()
    assert int(sizes) == 70
    assert float(middle.rstrip("%")) <= 5
    assert float(worst.rstrip("%")) <= 20


def test_machines_with_nvlink_4_take_its_times() -> None:
    """On two GPUs they are those that were measured; on eight the bus bandwidth of large messages is as high."""
    measured = NVLINK_COLLECTIVES.times_us["all_reduce"]
    two, eight = (launch(1, gpus, profile="dgx-h100") for gpus in (2, 8))
    for size, time in measured.items():
        assert us(two, 2, size) == pytest.approx(time, rel=0.2)
    size = max(measured)
    assert size * 1.75 / us(eight, 8, size) == pytest.approx(size / us(two, 2, size), rel=0.05)
    assert us(launch(1, 8, profile="dgx-a100"), 8, 8) == pytest.approx(us(launch(1, 8), 8, 8), rel=0.01)


@pytest.mark.parametrize(("pods", "gpus", "layout"), [(1, 8, "1x8"), (2, 8, "2x8"), (16, 1, "16x1")])
def test_the_papers_jobs_take_the_papers_times(pods: int, gpus: int, layout: str) -> None:
    """Jobs of the paper's layouts have the paper's times."""
    for size, time in fit.points(layout):
        assert us(launch(pods, gpus), gpus, size) == pytest.approx(time, rel=MOST_WORST)


def test_fewer_ports_give_less() -> None:
    """A port that is down takes its share of the bandwidth; small messages are as fast."""
    whole, without = busbw(launch(2, 8), 8), busbw(launch(2, 8, down=("mlx5_2",)), 8)
    assert without == pytest.approx(0.75 * whole, rel=0.02)
    assert us(launch(2, 8, down=("mlx5_2",)), 8, 8) == pytest.approx(us(launch(2, 8), 8, 8), rel=0.01)
    assert busbw(launch(2, 8, exports=(*EXPORTS, "NCCL_IB_HCA==mlx5_1")), 8) == pytest.approx(whole / 4, rel=0.02)


def test_bridges_that_redirect_halve_the_bandwidth() -> None:
    """With ACS on a node data between nodes takes longer, and within it does not."""
    faults = NodeFaults(acs=True)
    assert busbw(launch(2, 8, faults=faults), 8) == pytest.approx(model.ACS.value * busbw(launch(2, 8), 8), rel=0.02)
    assert us(launch(1, 8, faults=faults), 8, LARGE) == us(launch(1, 8), 8, LARGE)


def test_tcp_is_ten_times_slower() -> None:
    """The fallback to TCP takes thousands of microseconds."""
    slow = launch(2, 8, exports=("NCCL_IB_DISABLE=1",))
    assert us(slow, 8, 8) > 1000
    assert busbw(slow, 8) < busbw(launch(2, 8), 8) / 10


def test_without_gpudirect_it_is_slower() -> None:
    """Without GPUDirect the bandwidth is lower."""
    assert busbw(launch(2, 8, exports=("NCCL_NET_GDR_LEVEL=0",)), 8) < 0.9 * busbw(launch(2, 8), 8)


def test_single_gpu_pods_lose_nvlink() -> None:
    """Pods of one GPU are ten times slower."""
    assert busbw(launch(16, 1), 1) < busbw(launch(2, 8), 8) / 8


@pytest.mark.parametrize("gpus", [2, 4, 8])
@pytest.mark.parametrize("profile", ["dgx1-v100-32gb", "dgx-a100"])
def test_larger_messages_never_take_less_time(gpus: int, profile: str) -> None:
    """Curves of machines that the paper did not measure are monotonic."""
    for pods in (1, 2, 4):
        job = launch(pods, gpus, profile=profile)
        times = [us(job, gpus, 8 << index) for index in range(14, 28)]
        assert times == sorted(times)


def test_other_primitives_have_the_bus_bandwidth_of_all_reduce() -> None:
    """An all-gather takes half the time of an all-reduce."""
    job = launch(2, 8)
    assert us(job, 8, LARGE, "all_gather") == pytest.approx(us(job, 8, LARGE) / 2, rel=0.02)


def test_the_same_run_has_the_same_figures() -> None:
    """A run has the same figures whenever it is read; repeats differ."""
    job = launch(1, 8).having()
    group = communicator(launch(1, 8, placed=True), 8)
    assert group is not None
    first, again = (model.collective_us(group, "all_reduce", 8, half) for half in ("a", "b"))
    assert first == model.collective_us(group, "all_reduce", 8, "a") != again
    assert job == launch(1, 8)
