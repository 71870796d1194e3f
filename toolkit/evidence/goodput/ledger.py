"""Posts the time between the events of a training to what it was spent with."""

from dataclasses import dataclass, field

from toolkit.evidence.goodput.causes import SLOW, STALLED, Cause, Interruption, Span
from toolkit.evidence.goodput.events import Kind


@dataclass
class Ledger:
    """Posts the time between two events to its cause."""

    typical: float
    seconds: dict[Cause, float] = field(default_factory=lambda: dict.fromkeys(Cause, 0.0))
    spans: list[Span] = field(default_factory=list)
    interruptions: list[Interruption] = field(default_factory=list)
    now: float = 0.0
    kind: int | None = None
    phase: Cause = Cause.START
    """To what the time goes until the next step; PRODUCTIVE while steps are trained."""
    done: int = 0
    highest: int = 0
    resumed: int | None = 0
    carried: float = 0.0
    """Of a step under way, before an event other than its end."""
    saving: bool = False

    def post(self, time: float, kind: int, step: int) -> None:
        """Post the time since the last event."""
        passed = max(time - self.now, 0.0) if self.kind is not None else 0.0
        self.now = max(time, self.now)
        if self.phase is Cause.PRODUCTIVE:
            self._running(kind, step, passed)
        else:
            self._waiting(kind, step, passed)
        self.kind = kind

    def _waiting(self, kind: int, step: int, passed: float) -> None:
        """Post time in which no step was trained yet since the last start."""
        if kind == Kind.STEP:
            self._first_step(step, passed)
            return
        self._lose(self.phase if kind != Kind.END or self.phase is Cause.QUEUE else Cause.END, passed)
        if kind in (Kind.SUBMITTED, Kind.EVICTED):
            self.phase = Cause.QUEUE
        elif self.phase is Cause.QUEUE and kind in (Kind.ADMITTED, Kind.START):
            self.phase = Cause.RESTART if self.highest else Cause.START
        elif kind == Kind.RESUMED:
            self._resume(step)

    def _first_step(self, step: int, passed: float) -> None:
        base = self.resumed if self.resumed is not None and self.resumed < step else step - 1
        trained = min(passed, (step - base) * self.typical)
        self._lose(self.phase if self.phase is not Cause.QUEUE else Cause.START, passed - trained)
        if self.interruptions and self.interruptions[-1].trains_s is None:
            last = self.interruptions[-1]
            self.interruptions[-1] = last._replace(trains_s=self.now - last.at, resumed=base)
        self.done, self.phase = base, Cause.PRODUCTIVE
        self._train(step, trained)

    def _resume(self, step: int) -> None:
        self.resumed = step
        self.highest = max(self.highest, step)

    def _running(self, kind: int, step: int, passed: float) -> None:
        if kind == Kind.STEP and step > self.done:
            self._train(step, passed + self.carried)
            self.carried = 0.0
            return
        if kind == Kind.STEP:
            # The number went back, and no line shows why: what is before this step was a restart.
            self._interrupt(None, passed + self.carried)
            self.resumed = step - 1
            self.phase = Cause.RESTART
            self._first_step(step, passed + self.carried)
        elif kind == Kind.SAVING:
            self.carried += passed
            self.saving = True
            return
        elif kind == Kind.SAVED:
            self._saved(step, passed)
            return
        elif kind in (Kind.FAULT, Kind.EVICTED):
            lost = passed + self.carried
            self._interrupt(lost, lost)
            self._lose(Cause.DETECTION, lost)
            self.phase = Cause.RESTART if kind == Kind.FAULT else Cause.QUEUE
        elif kind in (Kind.START, Kind.RESUMED):
            self._interrupt(None, passed + self.carried)
            self._lose(Cause.RESTART, passed + self.carried)
            self.phase = Cause.RESTART
            if kind == Kind.RESUMED:
                self._resume(step)
        elif kind == Kind.END:
            self._lose(Cause.END, passed + self.carried)
            self.phase = Cause.END
        else:
            self.carried += passed
            return
        self.carried, self.saving = 0.0, False

    def _interrupt(self, noticed: float | None, before: float) -> None:
        self.interruptions.append(Interruption(self.now - before, noticed, None, self.done, None))
        self.resumed = None

    def _saved(self, step: int, passed: float) -> None:
        """Post a save: all since it began, else what is beyond the steps that came before it.

        Where steps were trained since it began, it was saved meanwhile, and nothing is lost.
        """
        if self.saving:
            if self.kind == Kind.SAVING:
                self._lose(Cause.CHECKPOINT, passed)
            else:
                self.carried += passed
            self.saving = False
            return
        if step > self.done:
            trained = min(passed + self.carried, (step - self.done) * self.typical)
            passed, self.carried = passed + self.carried - trained, 0.0
            self._train(step, trained)
        self._lose(Cause.CHECKPOINT, passed)

    def _train(self, step: int, passed: float) -> None:
        count = step - self.done
        expected = count * self.typical
        excess = passed - expected if passed > SLOW * expected else 0.0
        if excess:
            self._lose(Cause.STALL if passed > STALLED * expected else Cause.SLOW, excess)
        again = min(max(self.highest - self.done, 0), count)
        trained = passed - excess
        redone = trained * again / count
        if redone:
            self._lose(Cause.REDONE, redone)
        self.seconds[Cause.PRODUCTIVE] += trained - redone
        self.done, self.highest = step, max(self.highest, step)

    def _lose(self, cause: Cause, seconds: float) -> None:
        """Post a loss that ends now."""
        if seconds <= 0:
            return
        self.seconds[cause] += seconds
        last = self.spans[-1] if self.spans else None
        if last is not None and last.cause is cause and self.now - seconds - last.end <= self.typical:
            self.spans[-1] = last._replace(end=self.now)
        else:
            self.spans.append(Span(self.now - seconds, self.now, cause))
