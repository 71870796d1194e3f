"""The documents' results as data, against what the documents print."""

import re
from pathlib import Path

import pytest

from core.hardware import measured
from core.hardware.measured import training
from core.hardware.profiles import PROFILES
from toolkit.evidence import reference
from toolkit.evidence.reference import AllReduceRun
from toolkit.evidence.verdict import Request, Shape

LOGS = Path(__file__).parent / "logs"
_ROW = re.compile(r"\s+([0-9]+)\s+[0-9]+\s+float\s+sum" + r"\s+([0-9.e-]+)" * 8)


@pytest.mark.parametrize("run", reference.ALL_REDUCE, ids=lambda run: str(run.shape))
def test_tables_of_all_reduce_agree_with_themselves(run: AllReduceRun) -> None:
    """In the Redpaper's tables the bus bandwidth is that of the algorithm x 2(n-1)/n."""
    ranks = run.shape.total
    assert [row.bytes for row in run.rows] == [8 << power for power in range(26)]
    for row in run.rows:
        for half in (row.out_of_place, row.in_place):
            # Three digits of the time are printed, and two decimals of each rate.
            algbw = row.bytes / half.time_us / 1e3
            assert half.algbw_gb_s == pytest.approx(algbw, abs=0.0051, rel=2e-3)
            assert half.busbw_gb_s == pytest.approx(algbw * 2 * (ranks - 1) / ranks, abs=0.0051, rel=2e-3)
            assert half.error <= 5e-07


@pytest.mark.parametrize("run", reference.ALL_REDUCE, ids=lambda run: str(run.shape))
def test_tables_of_all_reduce_are_those_that_were_printed(run: AllReduceRun) -> None:
    """The reference tables are those of the printed logs."""
    text = (LOGS / "nccl-tests" / f"redp5610-4.4-{run.shape}.log").read_text()
    printed = [
        tuple(float(figure) for figure in found.groups())
        for line in text.splitlines()
        if (found := _ROW.fullmatch(line))
    ]
    held = [
        (row.bytes, *(figure for half in (row.out_of_place, row.in_place) for figure in half.model_dump().values()))
        for row in run.rows
    ]
    assert held == printed


def test_averages_are_those_that_were_printed_and_computed() -> None:
    """The printed average is the mean of its rows, and the other tables have none."""
    averages = [(str(run.shape), round(run.average_busbw_gb_s, 4)) for run in reference.ALL_REDUCE]
    assert averages == [("01x08", 28.3212), ("02x08", pytest.approx(12.3088, abs=1e-4)), ("16x01", 1.9302)]
    assert [run.average_printed_gb_s for run in reference.ALL_REDUCE] == [None, 12.3088, None]


def test_runs_are_found_by_profile_fabric_and_shape_and_by_nothing_less() -> None:
    """A run is found only by its profile, fabric and shape: 16x01 has a tenth of 02x08."""
    whole = reference.all_reduce("dgx1-v100-16gb", "infiniband", Shape(pods=2, gpus=8))
    single = reference.all_reduce("dgx1-v100-16gb", None, Shape(pods=16, gpus=1))
    assert whole is not None
    assert single is not None
    large = [run.row(1 << 28) for run in (whole, single)]
    assert [row.out_of_place.busbw_gb_s for row in large if row] == [55.21, 5.70]
    assert whole.row(3) is None
    for profile, fabric, shape in (
        ("dgx1-v100-32gb", "infiniband", Shape(pods=2, gpus=8)),
        ("dgx1-v100-16gb", "roce", Shape(pods=2, gpus=8)),
        ("dgx1-v100-16gb", "infiniband", Shape(pods=4, gpus=4)),
        ("dgx1-v100-16gb", "infiniband", None),
        (None, "infiniband", Shape(pods=2, gpus=8)),
    ):
        assert reference.all_reduce(profile, fabric, shape) is None  # type: ignore[arg-type]


def test_rates_and_times_are_found_the_same_way() -> None:
    """Rates and run times are found by program, machine and fabric, and by nothing less."""
    request = Request(job="it", program="resnet50", profile="dgx1-v100-16gb", fabric="infiniband")
    rates = {str(one.shape): one.figure for one in reference.trainings(reference.RATES, request)}
    assert rates["02x08"] == 13_745
    timed = Request(job="it", program="a2d2", profile="dgx1-v100-16gb")
    assert {str(one.shape): one.figure for one in reference.trainings(reference.ELAPSED, timed)}["16x01"] == 740
    for change in ({"fabric": "roce"}, {"profile": "dgx-a100"}, {"program": "resnet101"}):
        assert reference.trainings(reference.RATES, request.model_copy(update=change)) == ()


def test_the_row_of_mlperf_that_the_document_compares_with() -> None:
    """Minutes are those of the row that the Supermicro reference compares with."""
    row = training.submission()
    assert (row.system, row.accelerators) == ("DGX-1", 8)
    assert row.minutes == {"ssd": 22.36, "maskrcnn": 207.48, "gnmt": 20.55, "transformer": 20.34}
    assert len(training.MLPERF) == 29
    assert [one.id for one in training.MLPERF] == [f"0.6-{number}" for number in range(1, 30)]
    assert [one.id for one in training.MLPERF if one.accelerators is None] == [
        "0.6-3",
        "0.6-4",
        "0.6-5",
        "0.6-6",
        "0.6-7",
    ]
    assert training.submission("0.6-29").minutes == {"resnet50": 2.59}
    with pytest.raises(KeyError):
        training.submission("0.7-1")


def test_programs_and_logs_name_the_same_benchmark() -> None:
    """Programs and logs name the same benchmark."""
    assert [reference.published_minutes(name) for name in ("mask-rcnn", "maskrcnn")] == [207.48, 207.48]
    assert [reference.published_minutes(name) for name in ("ssd", "gnmt", "transformer")] == [22.36, 20.55, 20.34]
    assert reference.published_minutes("resnet50") is None


def test_the_band_holds_its_own_ends() -> None:
    """The slowest and the fastest result of the Supermicro reference are inside its band."""
    band = training.MLPERF_BAND
    assert band.holds(-0.0613)
    assert band.holds(0.0229)
    assert not band.holds(-0.0614)
    assert not band.holds(0.0230)


def test_the_write_of_the_paper_is_above_what_it_asks() -> None:
    """The Redpaper's link is above its limit, and its rates agree with each other."""
    write = measured.RDMA_WRITE
    assert write.least_mb_s <= write.average_mb_s <= write.peak_mb_s
    # perftest's MB are 2**20 bytes.
    assert write.message_rate_mpps * 1e6 * write.bytes / 2**20 == pytest.approx(write.average_mb_s, rel=1e-5)


def test_profiles_are_ours() -> None:
    """Profiles of the reference exist."""
    named = {one.profile for one in reference.ALL_REDUCE} | {measured.RDMA_WRITE.profile}
    trained = {one.profile for one in (*reference.RATES, *reference.ELAPSED)}
    assert named | trained == {"dgx1-v100-16gb"}
    assert named <= set(PROFILES)
