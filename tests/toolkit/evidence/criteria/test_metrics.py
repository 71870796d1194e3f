"""What metrics of users' own programs must be, and how they grow with the GPUs."""

import io

import pytest

from core.metric import Metric
from tests.toolkit.evidence.criteria.cases import BY_NAME
from toolkit.evidence.criteria.metrics import COMPARISONS
from toolkit.evidence.judge import evaluate
from toolkit.evidence.metrics import read_stream
from toolkit.evidence.verdict import Ended, Job, Request, Shape, Status

RATE = {"name": "rate", "pattern": r"rate (\S+)", "unit": "images/s", "at_least": 100, "efficiency": 0.9}


def job(log: str, gpus: int = 8, *, simulated: bool = False, warm_up: int = 0) -> Job:
    """Return a job of a program with a metric, which printed this."""
    metric = Metric.model_validate(RATE | {"warm_up": warm_up})
    request = Request(job=f"job-{gpus}", program="train", shape=Shape(pods=1, gpus=gpus), metrics=(metric,))
    found = read_stream(io.BytesIO(log.encode()), "log", (metric,), simulated=simulated)
    return Job(request=request, ended=Ended.SUCCEEDED, readings=(found,))


@pytest.mark.parametrize(
    ("log", "printed", "limits"),
    [
        ("rate 120", Status.PASS, Status.PASS),
        ("rate 99.5", Status.PASS, Status.FAIL),
        ("nothing", Status.MISSING, Status.MISSING),
        ("rate fast", Status.FAIL, Status.MISSING),
    ],
)
def test_metrics_are_judged_by_value_and_limit(log: str, printed: Status, limits: Status) -> None:
    """A value within its limit passes; one outside fails with its line; none is missing evidence."""
    found = {name: evaluate(BY_NAME[name], job(log)) for name in ("metrics-printed", "metric-limits")}
    assert {name: one.status if one else None for name, one in found.items()} == {
        "metrics-printed": printed,
        "metric-limits": limits,
    }
    if limits is Status.FAIL and (failed := found["metric-limits"]):
        assert failed.measured == "rate 99.5 images/s"
        assert failed.limit == "rate >= 100 images/s"
        assert [proof.line for proof in failed.proofs] == [1]


def test_values_of_the_warm_up_alone_are_reported() -> None:
    """A log shorter than the warm-up has no value that counts, and the verdict says why."""
    for name in ("metrics-printed", "metric-limits"):
        found = evaluate(BY_NAME[name], job("rate 120\nrate 130", warm_up=2))
        assert found
        assert (found.status, found.measured) == (Status.MISSING, "no value of rate (all 2 are in its warm_up)")


def test_what_a_simulation_prints_is_not_judged() -> None:
    """A simulated program never passes: its metrics are a warning."""
    for name in ("metrics-printed", "metric-limits"):
        found = evaluate(BY_NAME[name], job("rate 120", simulated=True))
        assert found
        assert (found.status, found.measured) == (Status.WARN, "not judged: simulated")


@pytest.mark.parametrize(
    ("large", "status", "measured"),
    [
        ("rate 190", Status.PASS, "95.0% (100 on 8 to 190 images/s on 16 GPUs)"),
        ("rate 170", Status.FAIL, "85.0% (100 on 8 to 170 images/s on 16 GPUs)"),
        ("rate ?", Status.MISSING, "no value of rate of both jobs"),
    ],
)
def test_metrics_must_grow_with_the_gpus(large: str, status: Status, measured: str) -> None:
    """A job on more GPUs is held against the one on the fewest, as a share of ideal scaling."""
    ((names, found),) = COMPARISONS[0].compare([job(large, 16), job("rate 100", 8)])
    assert names == "job-8 to job-16"
    assert (found.status, found.measured) == (status, measured)
