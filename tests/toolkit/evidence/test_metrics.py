"""Metrics of users' own programs: how values are found in a log, and which of them counts."""

import io
from typing import Any

import pytest
from pydantic import ValidationError

from core.metric import Metric
from toolkit.evidence.metrics import Measured, read_stream

LOG = """[1,0]<stdout>:epoch 1 step 10 loss=6.90 throughput: 7,800.5 images/s
[1,1]<stdout>:warning: nothing to see
[1,0]<stdout>:epoch 1 step 20 loss=5.10 throughput: 8,517.0 images/s
[1,0]<stdout>:epoch 1 step 30 loss=5.30 throughput: 8,400.0 images/s
"""
RATE: dict[str, Any] = {"name": "rate", "pattern": r"throughput: ([\d.,]+) images/s", "unit": "images/s"}


def measured(log: str = LOG, **fields: Any) -> Measured:
    """Return what a log has of a metric."""
    found = read_stream(io.BytesIO(log.encode()), "log", [Metric.model_validate(RATE | fields)])
    return found.rows[0]


@pytest.mark.parametrize(
    ("fields", "figure", "line"),
    [
        ({}, 8400.0, 4),
        ({"value": "median"}, 8400.0, 4),
        ({"value": "best"}, 8517.0, 3),
        ({"value": "median", "warm_up": 1}, 8458.5, 4),
        ({"name": "loss", "pattern": r"loss=(\S+)", "value": "best", "better": "lower"}, 5.1, 3),
        ({"pattern": r"^epoch 1 step (\d+) "}, 30.0, 4),
        ({"warm_up": 3}, None, None),
        ({"pattern": r"accuracy (\d+)"}, None, None),
    ],
)
def test_one_of_the_values_counts(fields: dict[str, Any], figure: float | None, line: int | None) -> None:
    """The last, the median or the best after the warm-up, in lines without mpirun's prefixes, with its line."""
    found = measured(**fields)
    assert (found.figure, found.line) == (figure, line)


@pytest.mark.parametrize(
    "line",
    [
        "throughput: \x1b[1m8517\x1b[0m images/s",
        "step 1\rthroughput: 8517 images/s",
        '{"log":"\\u0074hroughput: 8517 images/s\\n","stream":"stdout"}',
        "\0\0throughput: \08517 images/s",
    ],
)
def test_values_are_found_in_what_a_terminal_would_show(line: str) -> None:
    """Colours, overwritten lines, Docker's own files and bytes that were lost do not hide a value."""
    assert measured(f"nothing\n{line}\nnothing\n").figure == 8517.0


@pytest.mark.parametrize("pattern", [r"(images)", r"(\d+)"])
def test_what_is_no_number_is_refused_with_its_line(pattern: str) -> None:
    """A group that holds a word, or a pattern that matches twice in a line, gives no value but that line."""
    found = measured(pattern=pattern)
    assert found.figure is None
    assert found.refused
    assert found.refused.line == 1


def test_a_pattern_takes_linear_time() -> None:
    """A pattern that would take forever with backtracking reads a long line at once."""
    assert measured(f"{'a' * 50_000}!\n", pattern=r"(?:(?:a+)+)+b(\d+)").figure is None


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"pattern": r"rate \d+"}, "has 0 groups; put parentheses around the number"),
        ({"pattern": r"(a)(b)"}, "has 2 groups"),
        ({"pattern": r"(\d+"}, "RE2 does not take it: missing ); correct it"),
        ({"pattern": r"(?=x)(\d)"}, "without lookaround or back-references"),
        ({"at_least": 3, "at_most": 2}, "at_least 3 is more than at_most 2; swap them"),
        ({"better": "lower", "efficiency": 0.9}, "efficiency is for a metric that grows"),
        ({"value": "mean"}, "'last', 'median' or 'best'"),
    ],
)
def test_wrong_metrics_are_refused(fields: dict[str, Any], expected: str) -> None:
    """A pattern without exactly one group, one that RE2 does not take, and limits that contradict each other."""
    with pytest.raises(ValidationError) as caught:
        Metric.model_validate(RATE | fields)
    assert expected in str(caught.value)


def test_a_pattern_that_never_matches_has_the_line_it_was_tried_on() -> None:
    """Of a log without a value the last line with a figure is kept, to compare the pattern with."""
    found = measured(pattern=r"Throughput: (\d+)")
    assert found.tried
    assert (found.count, found.tried.line) == (0, 4)
    assert found.tried.text.startswith("epoch 1 step 30 loss=5.30")
    assert measured().tried is None


def test_the_course_of_a_metric_is_kept_in_bounded_memory() -> None:
    """Values are in the order of the log; of a long one parts of equal size have their median, without nan."""
    assert measured().course == (7800.5, 8517.0, 8400.0)
    log = "throughput: nan images/s\n" + "".join(f"throughput: {step} images/s\n" for step in range(1000))
    found = measured(log)
    assert (len(found.course), found.course[0], found.course[-1]) == (100, 4.5, 994.5)
