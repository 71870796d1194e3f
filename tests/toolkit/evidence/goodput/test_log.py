"""Events of a training in its log."""

import io

import pytest

from core.goodput import GoodputLines
from toolkit.evidence.goodput.account import account
from toolkit.evidence.goodput.causes import Cause
from toolkit.evidence.goodput.events import Kind
from toolkit.evidence.goodput.log import Read, read_stream

LINES = GoodputLines(
    step=r"step (\d+)", started="^started", resumed=r"resumed at (\d+)", saving="saving", saved=r"saved (\d+)"
)


def _read(text: str, lines: GoodputLines = LINES) -> Read:
    return read_stream(io.BytesIO(text.encode()), lines)


def _kinds(read: Read) -> list[tuple[str, int]]:
    return [(Kind(kind).name, step) for _, kind, step in read.events]


def _at(second: float, text: str) -> str:
    hour, minute = divmod(int(second // 60), 60)
    return f"2026-03-01T{10 + hour}:{minute:02d}:{second % 60:09.6f}Z {text}\n"


def test_events_are_those_of_the_patterns() -> None:
    """Of lines with times each pattern gives its event, beside the begin and the end of the log."""
    texts = ("started", "no checkpoint", "step 1", "saving", "saved 1", "step 2", "other")
    read = _read("".join(_at(second, text) for second, text in enumerate(texts)))
    assert _kinds(read) == [
        ("START", -1), ("START", -1), ("STEP", 1), ("SAVING", -1), ("SAVED", 1), ("STEP", 2), ("END", -1)
    ]  # fmt: skip
    assert (read.first_step, read.last_step, read.lines, read.untimed) == (3, 6, 7, 0)


@pytest.mark.parametrize(
    "line",
    [
        "2026-03-01T10:00:0{}.5Z step {}",
        "[pod/train-0/train] 2026-03-01T10:00:0{}.500000000Z step {}",
        "2026-03-01T11:00:0{}.5+01:00 stdout F step {}",
        "[rank0]: [2026-03-01 10:00:0{},500] INFO step {}",
        '{{"log":"step {1}\\n","stream":"stdout","time":"2026-03-01T10:00:0{0}.500000000Z"}}',
    ],
)
def test_times_are_those_of_kubectl_runtimes_loggers_and_log_stores(line: str) -> None:
    """Zones are regarded; without one a time is UTC's."""
    read = _read("".join(line.format(second, second) + "\n" for second in range(1, 6)))
    steps = [(time, step) for time, kind, step in read.events if kind == Kind.STEP]
    assert steps == [(1772359200.5 + second, second) for second in range(1, 6)]


def test_the_year_of_pytorchs_times_is_that_of_other_lines() -> None:
    """Its messages have month and day alone."""
    read = _read(
        _at(0, "step 1") + _at(1, "step 2")
        + "W0301 10:00:02.000000 1 torch/elastic/api.py:9] Sending process 7 closing signal SIGTERM\n"
    )  # fmt: skip
    assert [time - read.events.times[0] for time in read.events.times] == [0, 0, 1, 2, 2]
    assert _kinds(read)[-2] == ("FAULT", -1)


def test_without_times_nothing_is_guessed() -> None:
    """Lines that show an event and have no time are counted."""
    read = _read("step 1\nstep 2\n")
    assert (len(read.events), read.untimed) == (0, 2)


def test_the_first_rank_counts_and_a_late_one_goes_not_back() -> None:
    """Ranks print the same step one after another, and may be a line late."""
    order = [(0, 1), (1, 1), (0, 2), (0, 3), (1, 2), (1, 3), (0, 4), (1, 4)]
    text = "".join(
        _at(index, f"step {step}").replace("Z ", f"Z [1,{rank}]<stdout>:") for index, (rank, step) in enumerate(order)
    )
    assert [step for name, step in _kinds(_read(text)) if name == "STEP"] == [1, 2, 3, 4]


def test_a_failure_after_which_it_trains_on_is_none() -> None:
    """An error that a program survives does not interrupt the training; one before a restart does."""
    survived = _at(0, "step 1") + _at(1, "Traceback (most recent call last):") + _at(2, "step 2")
    assert ("FAULT", -1) not in _kinds(_read(survived))
    died = survived + _at(3, "Traceback (most recent call last):") + _at(9, "started") + _at(10, "step 1")
    assert _kinds(_read(died))[3:] == [("FAULT", -1), ("START", -1), ("STEP", 1), ("END", -1)]


def test_even_steps_are_stored_in_part_and_a_stall_is_found_all_the_same() -> None:
    """Of lines whose form is known one of 64 is stored; where one takes longer its time is exact."""
    seconds = [step * 0.5 + (30.0 if step > 15_000 else 0.0) for step in range(1, 20_001)]
    text = "".join(_at(second, f"step {step}: loss {1 / step:.4f}") for step, second in enumerate(seconds, 1))
    read = _read(text)
    found = account(read.events)
    assert len(read.events) < 4000
    assert found.reached == 20_000
    assert found.seconds[Cause.STALL] == pytest.approx(30.0)
    assert found.seconds[Cause.PRODUCTIVE] == pytest.approx(9999.5, abs=0.5)
