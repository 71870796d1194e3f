"""Settings of NCCL that are compared on a host with GPUs."""

from pathlib import Path
from typing import Any

import pytest

from bench import gpu_settings, gpus

LOG = Path(__file__).parents[1] / "toolkit" / "evidence" / "logs" / "h100" / "nccl-tests.txt"


def test_settings_replace_those_of_the_pod() -> None:
    """The default has no variable of NCCL, the pod all of its own, and the rest of the job stays."""
    job = next(job for job in gpus.jobs(gpus.own_settings("dgx-h100", 2)) if job["name"].startswith("torch-coll"))
    found = gpu_settings.variants(job)
    assert list(found)[:2] == ["default", "pod"]
    assert not [name for name in found["default"]["environment"] if name.startswith("NCCL_")]
    assert found["pod"] == job
    assert found["ring"]["environment"]["NCCL_ALGO"] == "Ring"
    assert found["ring"]["environment"]["PET_NPROC_PER_NODE"] == "2"
    assert {str(one["command"]) for one in found.values()} == {str(job["command"])}


def test_every_second_round_runs_backwards() -> None:
    """Each setting runs once in each round, under a name of its own."""
    jobs: dict[str, dict[str, Any]] = {"torch-resnet50": {"environment": {}}, "torch-collectives": {"environment": {}}}
    names = [job["name"] for job in gpu_settings.planned(jobs, 2)]
    assert names[:2] == ["1-default.torch-resnet50", "1-default.torch-collectives"]
    assert names[-1] == "2-default.torch-collectives"
    assert len(set(names)) == len(names) == 2 * 2 * (len(gpu_settings.SETTINGS) + 1)


def test_ratios_are_of_medians_over_rounds() -> None:
    """Twice as fast as the default is 2; a collective without a size of the band has no figure."""
    small, large, other = ("all_reduce", 8), ("all_reduce", 1 << 26), ("alltoall", 8)
    default = [{small: first, large: 100.0, other: 8.0} for first in (10.0, 12.0, 90.0)]
    measured = {
        "default": default,
        "pod": [{small: 12.0, large: 50.0, other: 8.0}] * 3,
        "ring": [{small: 6.0, large: 100.0, other: 4.0}] * 3,
    }
    assert gpu_settings.collectives(measured) == ("all_reduce", "alltoall")
    assert [*gpu_settings.ratios(measured)] == [
        ("below 1 MiB", "default again", "4.167", "1.000"),
        ("below 1 MiB", "pod", "1.000", "1.000"),
        ("below 1 MiB", "ring", "2.000", "2.000"),
        ("below 1 MiB", "pod against the best", "0.500", "0.500"),
        ("from 64 MiB", "default again", "1.000", ""),
        ("from 64 MiB", "pod", "2.000", ""),
        ("from 64 MiB", "ring", "1.000", ""),
        ("from 64 MiB", "pod against the best", "1.000", ""),
    ]


def test_the_best_is_chosen_by_other_rounds() -> None:
    """A setting that was fast in one round only is not what the pod is compared with in that round."""
    size = ("all_reduce", 8)
    steady = [{size: 10.0}] * 3
    lucky = [{size: 2.0}, {size: 10.0}, {size: 20.0}]
    rows = gpu_settings.ratios({"default": steady, "pod": steady, "lucky": lucky})
    assert [row[2] for row in rows if row[1] == "pod against the best"] == ["1.260"]
    assert [*gpu_settings.ratios({"default": steady[:1], "pod": steady[:1]})][-1][2] == ""


def test_times_are_those_of_the_table(tmp_path: Path) -> None:
    """A real log gives a time for each size; one without a table is refused by its path."""
    times = gpu_settings.times(LOG, {})
    assert {name for name, _ in times} == {"all_reduce"}
    assert all(time > 0 for time in times.values())
    empty = tmp_path / "empty.log"
    empty.write_text("torchrun: error\n")
    with pytest.raises(SystemExit, match=r"empty\.log has no figures"):
        gpu_settings.times(empty, {})


def test_a_training_counts_by_its_rate(tmp_path: Path) -> None:
    """The time of a training is that of a sample, by the median of the rates that its program prints."""
    log = tmp_path / "1-pod.torch-resnet50.log"
    log.write_text(
        "".join(f"step {step}: {rate} images/s, loss 7.1\n" for step, rate in ((20, 10), (30, 50), (40, 20)))
    )
    rates = gpu_settings.patterns(gpus.own_settings("dgx-h100", 2))
    assert set(rates) == {"torch-resnet50", "torch-transformer"}
    key = ("torch-resnet50", gpu_settings.TRAINING)
    assert gpu_settings.times(log, rates) == {key: 50_000.0}
    measured = {"default": [{key: 50.0}], "pod": [{key: 40.0}]}
    assert ("training", "pod", "1.250") in gpu_settings.ratios(measured)
