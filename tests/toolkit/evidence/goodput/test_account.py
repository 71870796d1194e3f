"""The account of a training's time."""

from collections.abc import Iterator

import pytest

from toolkit.evidence.goodput.account import Account, account
from toolkit.evidence.goodput.causes import Cause
from toolkit.evidence.goodput.events import Event, Events, Kind, merged

STEP, SAVE, EVERY = 2.0, 10.0, 500
"""Seconds of a step and of a save, and steps between two."""
HOUR = 3600.0


class Run:
    """A training whose losses are known: each method lets time pass, and notes what it was."""

    def __init__(self) -> None:
        self.events = Events()
        self.now, self.step, self.highest, self.saved = 0.0, 0, 0, 0
        self.spent = dict.fromkeys(Cause, 0.0)

    def passes(self, seconds: float, cause: Cause) -> None:
        """Let time pass."""
        self.now += seconds
        self.spent[cause] += seconds

    def notes(self, kind: Kind, step: int = -1) -> None:
        """Note an event."""
        self.events.add(self.now, kind, step)

    def starts(self, seconds: float, cause: Cause) -> None:
        """Start, and resume from the last checkpoint."""
        self.notes(Kind.START)
        self.passes(seconds, cause)
        self.step = self.saved
        self.notes(Kind.RESUMED, self.step)

    def trains(self, until: float, extra: float = 0.0) -> None:
        """Train until a time; each step takes `extra` longer."""
        while self.now + STEP + extra <= until:
            again = self.step < self.highest
            self.passes(STEP, Cause.REDONE if again else Cause.PRODUCTIVE)
            self.passes(extra, Cause.SLOW)
            self.step += 1
            self.highest = max(self.step, self.highest)
            self.notes(Kind.STEP, self.step)
            if self.step % EVERY == 0:
                self.notes(Kind.SAVING)
                self.passes(SAVE, Cause.CHECKPOINT)
                self.saved = self.step
                self.notes(Kind.SAVED, self.step)

    def fails(self, noticed: float, restart: float) -> None:
        """Lose a process, which is noticed after some time, and start again."""
        self.passes(noticed, Cause.DETECTION)
        self.notes(Kind.FAULT)
        self.passes(restart, Cause.RESTART)


def thousand_hours() -> tuple[Run, int]:
    """Return a run of 1,000 hours with a failure every 50, an eviction, a stall and a slow time; and steps lost."""
    run, lost = Run(), 0
    run.notes(Kind.SUBMITTED)
    run.passes(2 * HOUR, Cause.QUEUE)
    run.notes(Kind.ADMITTED)
    run.starts(300.0, Cause.START)
    for hour in range(50, 1000, 50):
        run.trains(hour * HOUR)
        lost += run.step - run.saved
        if hour == 500:
            run.passes(60.0, Cause.DETECTION)
            run.notes(Kind.EVICTED)
            run.passes(3 * HOUR, Cause.QUEUE)
            run.notes(Kind.ADMITTED)
        else:
            run.fails(600.0, 120.0)
        run.starts(180.0, Cause.RESTART)
        if hour == 300:
            run.trains(run.now + 10 * HOUR)
            run.passes(1800.0, Cause.STALL)
        if hour == 700:
            run.trains(run.now + 10 * HOUR)
            run.trains(run.now + HOUR, extra=1.0)
    run.trains(999 * HOUR)
    run.passes(HOUR, Cause.END)
    run.notes(Kind.END)
    return run, lost


def test_1000_hours_with_known_losses_are_accounted_exactly() -> None:
    """Every second is where it was spent, and both ratios follow."""
    run, lost = thousand_hours()
    found = account(run.events)
    assert found.seconds == run.spent
    assert found.wall_s == run.now == sum(run.spent.values()) == pytest.approx(1000 * HOUR, abs=STEP)
    assert (found.reached, found.typical_s) == (run.highest, STEP)
    assert found.goodput == run.highest * STEP / run.now
    of_engine = sum(run.spent[cause] for cause in (Cause.REDONE, Cause.START, Cause.RESTART, Cause.CHECKPOINT))
    spent = run.now - run.spent[Cause.QUEUE]
    assert found.without_waiting == (spent - of_engine) / spent
    assert (len(found.interruptions), sum(stop.lost for stop in found.interruptions)) == (19, lost)
    assert {stop.noticed_s for stop in found.interruptions} == {60.0, 600.0}


def _steps(first: int, last: int, begin: float, seconds: float = 1.0) -> Iterator[Event]:
    yield from (Event(begin + seconds * (step - first + 1), Kind.STEP, step) for step in range(first, last + 1))


def _of(*events: Event) -> Account:
    return account(Events(events))


def test_lines_of_every_tenth_step_count_ten_steps() -> None:
    """The first line of a start is ten steps, too, and only the rest of its time is the start."""
    found = _of(Event(0, Kind.START), *(Event(50 + 10 * step, Kind.STEP, 10 * step) for step in range(1, 11)))
    assert found.seconds[Cause.START] == 50
    assert found.seconds[Cause.PRODUCTIVE] == 100


def test_a_number_that_goes_back_is_a_restart_without_a_line() -> None:
    """Steps below those reached are done again; the time before them, but for one step, was the restart."""
    found = _of(Event(0, Kind.START), *_steps(1, 20, 0), *_steps(11, 30, 100))
    assert found.seconds[Cause.RESTART] == 80
    assert (found.seconds[Cause.REDONE], found.seconds[Cause.PRODUCTIVE]) == (10, 30)
    (stop,) = found.interruptions
    assert (stop.reached, stop.lost, stop.noticed_s, stop.trains_s) == (20, 10, None, 81)


def test_a_save_beside_training_costs_nothing() -> None:
    """Where steps are trained between the begin of a save and its end it is asynchronous."""
    rows = [*_steps(1, 5, 0), Event(5, Kind.SAVING), *_steps(6, 9, 5), Event(9.5, Kind.SAVED, 5), *_steps(10, 12, 9)]
    found = _of(Event(0, Kind.START), *rows)
    assert found.seconds[Cause.CHECKPOINT] == 0
    assert found.seconds[Cause.PRODUCTIVE] == 12


def test_a_save_that_prints_only_its_end_is_what_is_beyond_the_steps() -> None:
    """Its line names the step: those since the last line were trained, the rest of the time was the save."""
    found = _of(Event(0, Kind.START), *_steps(1, 8, 0), Event(15, Kind.SAVED, 10), *_steps(11, 12, 15))
    assert found.seconds[Cause.CHECKPOINT] == 5
    assert found.seconds[Cause.PRODUCTIVE] == 12


def test_a_start_that_fails_before_its_first_step_is_one_interruption() -> None:
    """Restarts that never succeed lose time, and no steps twice."""
    again = [Event(time + more, kind) for time in (40, 80) for more, kind in ((0, Kind.START), (20, Kind.FAULT))]
    found = _of(Event(0, Kind.START), *_steps(1, 10, 0), Event(20, Kind.FAULT), *again, Event(200, Kind.END))
    assert [(stop.noticed_s, stop.trains_s) for stop in found.interruptions] == [(10, None)]
    assert (found.seconds[Cause.DETECTION], found.seconds[Cause.RESTART]) == (10, 80)
    assert found.seconds[Cause.END] == 100


def test_ranks_of_several_logs_are_one_training() -> None:
    """A step counts when the first log has it; a log that is late goes not back, and only the last end counts."""
    first = Events([Event(0, Kind.START), *_steps(1, 10, 0), Event(10, Kind.END)])
    late = Events([Event(0, Kind.START), *_steps(1, 10, 1.5), Event(12, Kind.END)])
    found = account(merged([first, late]))
    assert found.interruptions == ()
    assert (found.reached, found.seconds[Cause.PRODUCTIVE], found.wall_s) == (10, 10, 12)
    again = Events([*first_events(first), *_steps(6, 10, 20)])
    assert [stop.lost for stop in account(merged([again, late])).interruptions] == [5]


def first_events(events: Events) -> Iterator[Event]:
    """Yield the events but for the end."""
    yield from (Event(time, Kind(kind), step) for time, kind, step in events if kind != Kind.END)


def test_nothing_is_no_goodput() -> None:
    """Without events there is no time to divide by."""
    found = account(Events())
    assert (found.goodput, found.without_waiting, found.typical_s, found.course) == (None, None, None, ())
