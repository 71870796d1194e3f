"""Metrics of users' own programs in a report."""

import io

from core.metric import Metric
from toolkit.evidence.metrics import read_stream
from toolkit.evidence.report.metric_sections import courses, metric_bars, metrics
from toolkit.evidence.verdict import Ended, Job, Request, Shape

RATE = Metric(name="rate", pattern=r"rate (\d+)", unit="images/s", efficiency=0.9)
LOSS = Metric(name="loss", pattern=r"loss ([\d.]+)", better="lower")


def job(pods: int, *rates: int) -> Job:
    """Return a job on machines of eight GPUs, which printed these rates."""
    log = "".join(f"step {step} rate {rate} loss {1 / (1 + step):.2f}\n" for step, rate in enumerate(rates))
    shape = Shape(pods=pods, gpus=8)
    request = Request(job=f"adas/train-{shape}", program="train", shape=shape, metrics=(RATE, LOSS))
    found = read_stream(io.BytesIO(log.encode()), "log", (RATE, LOSS))
    return Job(request=request, ended=Ended.SUCCEEDED, readings=(found,))


def test_a_metric_is_compared_over_the_gpus() -> None:
    """One with an expected efficiency has the ideal of the fewest GPUs; one job alone compares nothing."""
    rate, loss = metric_bars([job(2, 150, 180), job(1, 90, 100)])
    assert (rate.title, rate.unit) == ("train, rate", "images/s")
    assert [(bar.label, bar.value, bar.ideal, bar.efficiency) for bar in rate.bars] == [
        ("01x08\nhere", 100, None, None),
        ("02x08\nhere", 180, 200, 0.9),
    ]
    assert [bar.ideal for bar in loss.bars] == [None, None]
    assert metric_bars([job(1, 90)]) == ()


def test_a_metric_is_drawn_over_the_time_of_each_job() -> None:
    """Jobs of one program are in one plot; a single value is not a course."""
    rate, loss = courses([job(1, 90, 100), job(2, 150, 180), job(4, 300)])
    assert rate.jobs == {"adas/train-01x08": (90, 100), "adas/train-02x08": (150, 180)}
    assert (loss.title, loss.unit, loss.jobs["adas/train-01x08"]) == ("train, loss", "", (1, 0.5))


def test_the_page_has_both() -> None:
    """Each plot is named with its unit, and describes its values in words."""
    drawn = metrics([job(1, 90, 100), job(2, 150, 180)], "run 1")
    assert drawn is not None
    for part in (
        "train, rate by GPUs, images/s",
        "train, rate over the course of adas/train-01x08",
        "adas/train-02x08 150 to 180",
        "02x08 here 180 images/s",
    ):
        assert part in drawn
    assert metrics([job(1, 90)], "run 1") is None
