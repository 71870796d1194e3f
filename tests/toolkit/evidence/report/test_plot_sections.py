"""What is drawn: series, limits, bars, maps; without drawing it."""

import re
import subprocess
import sys

import pytest

from core.apis.nccl import Transport
from core.hardware.profiles import PROFILES, Profile
from tests.support.recorded import ROOT
from tests.toolkit.evidence import samples
from toolkit.evidence.report.bars import nccl_bars, training_bars
from toolkit.evidence.report.links import links
from toolkit.evidence.report.plots import spaced
from toolkit.evidence.report.rails import Rails, drawing, rails
from toolkit.evidence.report.sweeps import Limit, sweeps
from toolkit.evidence.verdict import Shape


def test_sweeps_have_both_halves_the_paper_and_the_limits() -> None:
    """A sweep has both halves, the Redpaper's curve and the limits."""
    found = {one.layout: one for one in sweeps(samples.jobs())}
    assert list(found) == ["01x08", "02x08", "16x01"]
    for one in found.values():
        assert [len(points) for points in (one.out_of_place, one.in_place, one.paper)] == [26, 26, 26]
    two = found["02x08"]
    assert (two.paper[-1].time_us, two.paper[-1].busbw_gb_s) == (9115.8, 55.21)
    time, busbw = two.limits
    assert time == Limit("time", "most", 8, 16384, 100)
    assert (busbw.kind, busbw.first, busbw.last) == ("least", 1 << 28, 1 << 28)
    assert busbw.value == 0.9 * 55.21
    # Of single-GPU pods the paper itself is above 100 us from 2 KiB on.
    assert found["16x01"].limits[0].last == 1024


def test_without_a_table_of_the_documents_there_is_neither_curve_nor_limit() -> None:
    """Other machines than the Redpaper's have neither curve nor limit."""
    (job,) = samples.jobs()[2:3]
    other = job.model_copy(update={"request": job.request.model_copy(update={"profile": "dgx-a100"})})
    (found,) = sweeps([other])
    assert (found.paper, found.limits) == ((), ())


def test_repeats_are_drawn_as_their_median() -> None:
    """Repeats are plotted as their median."""
    shape = Shape(pods=2, gpus=8)
    tables = [samples.nccl_tests(shape, factor) for factor in (1, 5, 1.1, 0.9, 1.05)]
    (found,) = sweeps([samples.job("nccl", "nccl-all-reduce", shape, *tables)])
    assert len(found.runs) == 5
    assert found.out_of_place[0].time_us == tables[4].rows[0].out_of_place.time_us


def test_jobs_of_one_layout_are_runs_of_one_sweep() -> None:
    """Jobs of one layout share a sweep; those of other transports have their own."""
    shape = Shape(pods=2, gpus=8)
    jobs = [
        samples.job(f"nccl-{factor}", "nccl-all-reduce", shape, samples.nccl_tests(shape, factor))
        for factor in (1, 1.1, 2)
    ]
    (one,) = sweeps(jobs)
    assert (one.layout, len(one.runs), one.jobs) == ("02x08", 3, ("adas/nccl-1", "adas/nccl-1.1", "adas/nccl-2"))
    assert one.out_of_place == one.runs[1] == sweeps(jobs[1:2])[0].out_of_place
    other = jobs[0].model_copy(update={"request": jobs[0].request.model_copy(update={"transport": Transport.TCP})})
    assert [each.layout for each in sweeps([*jobs, other])] == ["02x08 gpudirect", "02x08 tcp"]


def test_links_are_held_against_the_limit_and_their_rate() -> None:
    """Links are compared with the limit and their line rate, in MB of 2^20 bytes as perftest's: 100 Gb/s are 11,921."""
    client, server = links(samples.linked(samples.good()).jobs[:1])
    assert (client.device, client.role, server.role, client.mb_s) == ("mlx5_1", "client", "server", 11264.11)
    assert (client.least_mb_s, round(client.line_mb_s or 0), client.line_gbps) == (11_000, 11_921, 100)
    assert (client.paper_mb_s, client.named) == (11264.11, "ib_write_bw mlx5_1")
    other = samples.linked(samples.good()).jobs[0]
    unknown = other.request.model_copy(update={"profile": None, "fabric": None})
    (one, _) = links([other.model_copy(update={"request": unknown, "readings": other.readings[1:]})])
    assert (one.least_mb_s, one.line_mb_s, one.paper_mb_s) == (None, None, None)


@pytest.mark.parametrize(
    ("wanted", "places"),
    [
        ((), ()),
        ((5,), (5,)),
        ((0, 30), (0, 30)),
        ((10, 10), (5, 15)),
        ((10, 9), (14.5, 4.5)),
        ((0, 8, 16), (-2, 8, 18)),
        ((0, 30, 30, 30), (0, 20, 30, 40)),
        ((0, 12, 12), (-2, 8, 18)),
    ],
)
def test_labels_are_apart_and_near(wanted: tuple[float, ...], places: tuple[float, ...]) -> None:
    """Labels keep their distance and order, near their curves."""
    found = spaced(wanted, 10)
    assert found == pytest.approx(places)


def test_bars_have_an_ideal_and_an_efficiency() -> None:
    """The ideal follows from the smallest layout measured here, else from the Redpaper's."""
    bars, times = training_bars(samples.jobs())
    assert [(bar.label.split(), bar.measured) for bar in bars.bars] == [
        (["01x08", "paper"], False),
        (["02x08", "paper"], False),
        (["02x08", "here"], True),
    ]
    assert [bar.efficiency and round(bar.efficiency, 3) for bar in bars.bars] == [None, 0.969, 0.965]
    assert "the paper's 01x08" in bars.note
    one = samples.job("one", "resnet50", Shape(pods=1, gpus=8), samples.training(7000, 8))
    bars, _ = training_bars([*samples.jobs(), one])
    assert [bar.efficiency and round(bar.efficiency, 3) for bar in bars.bars if bar.measured] == [None, 0.979]
    assert "from 01x08" in bars.note
    assert [(bar.label.split(), round(bar.ideal or 0)) for bar in times.bars] == [
        (["08x01", "paper"], 0),
        (["16x01", "paper"], 664),
        (["16x01", "here"], 664),
    ]
    assert [bar.efficiency and round(bar.efficiency, 3) for bar in times.bars] == [None, 0.897, 0.883]
    (busbw,) = nccl_bars(sweeps(samples.jobs()))
    assert [(bar.label.split(), bar.measured) for bar in busbw.bars] == [
        ([layout, whose], whose == "here") for layout in ("01x08", "02x08", "16x01") for whose in ("paper", "here")
    ]
    assert busbw.bars[2].value == 55.21


def test_the_map_shows_channels_and_failed_ports() -> None:
    """The map shows channels, and failed ports by word, cross and colour."""
    (good,) = rails(samples.good().jobs)
    assert dict(good.channels) == {f"mlx5_{port}": 12 for port in range(4)}
    assert good.failed == {}
    (bad,) = rails(samples.bad().jobs)
    assert bad.failed == {"mlx5_2": ["DOWN, Polling in dgx02", "not seen by NCCL on worker-1 (adas/nccl-test-02x08)"]}
    drawn = drawing(bad, "simulated")
    assert ">simulated</text>" in drawn
    assert drawn.count("✕ failed") == 2, "in the drawing, and in its description"
    assert drawn.count('class="hca failed"') == drawn.count('class="cross"') == 1
    assert re.findall(r">(GPU\d)<", drawn) == [f"GPU{number}" for number in range(8)]
    assert "NUMA 0" in drawn
    assert "✕" not in drawing(good, "")


@pytest.mark.parametrize(
    "profile", [profile for profile in PROFILES.values() if profile.hcas], ids=lambda one: one.name
)
def test_every_machine_has_each_part_once(profile: Profile) -> None:
    """Every part of a machine is on the map once, also where two HCAs are beside the same two GPUs."""
    drawn = drawing(Rails(profile), "")
    assert sorted(re.findall(r">(GPU\d+)<", drawn)) == sorted(f"GPU{number}" for number in range(profile.gpus))
    assert re.findall(r">(mlx5_\d+)<", drawn) == [hca.name for hca in profile.hcas]
    assert re.findall(r">(rail \d+)<", drawn) == [f"rail {rail}" for rail in range(len(profile.hcas))]
    assert drawn.count('class="wire"') == len(profile.hcas)


@pytest.mark.engine  # a process of its own
def test_nothing_but_a_report_loads_matplotlib() -> None:
    """Only a report imports matplotlib, which takes a second."""
    code = "import sys, toolkit.cli.report, toolkit.evidence.judge; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
