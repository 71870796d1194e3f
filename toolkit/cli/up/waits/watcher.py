"""Reads, beside the engine, what it waits for: prints why, and ends the update when it has failed.

It only reads, with the user's own kubeconfig. The provider waits for success alone, and would do so until its
time-out; plain `pulumi up` still does.
"""

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.apis import kinds
from core.apis.kinds import Kind
from policies.manifests.values import read
from toolkit.cli.shared import errors, metadata
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.errors import Problem
from toolkit.cli.up.waits.pods import statuses
from toolkit.cli.up.waits.rules import judge_of
from toolkit.cli.up.waits.verdict import (
    FailureDuration,
    Look,
    Object,
    Subject,
    Verdict,
    failed_job,
    going,
    subject_of,
    waiting,
)

FIRST = 4.0
"""Seconds that the engine waits for an object before it is read: most are ready by then."""
PAUSE, SHARE = 2.0, 4
"""Seconds between two rounds, at least, and so many times what a round takes: this leaves a server idle in between."""
AGAIN = 10.0
"""Seconds between two lines about the same object, whose message may contain a counter."""
LINES = 20
_LONGEST = 400  # characters of a line


def last_lines(cluster: Cluster, pod: Object, container: str = "") -> str:
    """Return the last log lines of a pod's container, by default its first, or why there are none."""
    if container and _never_started(pod, container):
        return ""
    shown = container or str(read(pod, "spec", "containers", 0, "name") or "")
    where = f"pod {metadata.namespace(pod)}/{metadata.name(pod)}, container {shown}"
    path = f"/api/v1/namespaces/{metadata.namespace(pod)}/pods/{metadata.name(pod)}/log"
    query = {"container": shown, "tailLines": str(LINES)} | ({"previous": "true"} if _again(pod, shown) else {})
    try:
        text = _read(cluster, path, query)
    except Problem as problem:
        return f"the log of {where} could not be read: {str(problem).splitlines()[0]}"
    lines = [line[:_LONGEST] for line in text.splitlines() if line.strip()][-LINES:]
    return "\n".join([f"last log lines of {where}:", *(f"  {line}" for line in lines)]) if lines else ""


def _read(cluster: Cluster, path: str, query: dict[str, str]) -> str:
    with tempfile.TemporaryDirectory(prefix="hpc-log-") as folder:
        file = Path(folder) / "log"
        return file.read_text(errors="replace") if cluster.download(path, file, **query) else ""


def _never_started(pod: Object, container: str) -> bool:
    """Whether a container has no log, as where its image is not there."""
    status = _status(pod, container)
    return bool(read(status, "state", "waiting")) and not read(status, "lastState", "terminated")


def _status(pod: Object, container: str) -> Object:
    return next((status for status in statuses(pod) if status.get("name") == container), {})


def _again(pod: Object, container: str) -> bool:
    """Whether a container that has ended runs again: what it printed at its end is in its previous log."""
    status = _status(pod, container)
    return bool(read(status, "state", "running") and read(status, "lastState", "terminated"))


class Watcher:
    """Follows the engine's events, and reads what it waits for in a thread of its own.

    `failure` is set when an object has failed: the update is to be ended, and why.
    """

    def __init__(self, cluster: Cluster, failed_after: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._cluster, self._failed_after, self._clock = cluster, failed_after, clock
        self._lock = threading.Lock()
        self._started: dict[str, tuple[Subject, float]] = {}
        self._durations: dict[Subject, FailureDuration] = {}
        self._printed: dict[Subject, tuple[str, float]] = {}
        self._notes: list[str] = []
        self._refused: set[str] = set()
        self._faults: set[tuple[str, str]] = set()
        self._broken: float | None = None
        self._failed_jobs: dict[Subject, Verdict] = {}
        self._stopped = threading.Event()
        self.failure: str | None = None

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Read while the engine runs."""
        thread = threading.Thread(target=self._run, name="waits", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            thread.join()

    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event of the engine in."""
        if (diagnostic := event.get("diagnosticEvent")) and diagnostic.get("severity") == "error":
            self._break()
        for key in ("resourcePreEvent", "resOutputsEvent", "resOpFailedEvent"):
            if key in event and not event[key].get("planning"):
                self._step(key, event[key]["metadata"])

    def _step(self, key: str, step: Mapping[str, Any]) -> None:
        subject = subject_of(step)
        with self._lock:
            if key == "resourcePreEvent" and subject is not None:
                self._started[f"{step['op']} {step['urn']}"] = subject, self._clock()
            elif key != "resourcePreEvent":
                self._started.pop(f"{step['op']} {step['urn']}", None)
        if key == "resOpFailedEvent":
            self._break()
        elif key == "resOutputsEvent" and subject is not None and (end := failed_job(step, subject)):
            self._failed_jobs[subject] = end
            self._break()

    def _break(self) -> None:
        """Note that the update cannot succeed any more; the engine still waits for what is under way."""
        if self._broken is None:
            self._broken = self._clock()

    def notes(self) -> list[str]:
        """Return the messages since the last call."""
        with self._lock:
            notes, self._notes = self._notes, []
            return notes

    def _run(self) -> None:
        while not self._stopped.is_set() and self.failure is None:
            begin = time.monotonic()
            try:
                self.round()
            except Problem as problem:
                self._refuse(str(problem).splitlines()[0])
            except Exception as error:
                self._fault("reading what is waited for", error)
            self._stopped.wait(max(PAUSE, SHARE * (time.monotonic() - begin)))

    def round(self) -> None:
        """Read everything that has been waited for long enough, once."""
        now = self._clock()
        with self._lock:
            due = [subject for subject, start in self._started.values() if now - start >= FIRST]
            started = {subject for subject, _ in self._started.values()}
        self._durations = {subject: duration for subject, duration in self._durations.items() if subject in started}
        look = listing(self._cluster, self._refuse)
        for subject in due:
            verdict = self._verdict(subject, look)
            duration = self._durations.setdefault(subject, FailureDuration(self._failed_after))
            if duration.take(verdict, now):
                self.failure = self._failure_message(subject, verdict)
                return
            self._note(subject, verdict, now)
        if self._broken is not None and now - self._broken >= self._failed_after:
            self.failure = self._after_another(started)

    def _verdict(self, subject: Subject, look: Look) -> Verdict:
        live = self._live(subject, look)
        if live is None:
            return waiting("" if subject.deleted else "it is not on the cluster yet")
        if subject.deleted:
            return going(live)
        try:
            return judge_of(subject.group, subject.kind)(live, look)
        except Problem:
            raise
        except Exception as error:  # a fault of one rule must not hide what the others find
            self._fault(f"judging {subject}", error)
            return waiting("")

    def _live(self, subject: Subject, look: Look) -> Object | None:
        api_kind = kinds.find(subject.api_version, subject.kind)
        if api_kind is None:
            try:
                return self._cluster.find(subject.api_version, subject.kind, subject.namespace, subject.name)
            except RefusedError as error:
                self._refuse(f"{subject.kind}: {error.reason}")
                return None
        mine = (obj for obj in look(api_kind, subject.namespace) if metadata.name(obj) == subject.name)
        return next(({**obj, "kind": subject.kind} for obj in mine), None)

    def _refuse(self, reason: str) -> None:
        if reason not in self._refused:
            self._refused.add(reason)
            with self._lock:
                self._notes.append(f"what is waited for cannot be read in full; the update goes on: {reason}")

    def _fault(self, doing: str, error: Exception) -> None:
        """Report a fault of this program once; rules are called every few seconds."""
        if (key := (doing, type(error).__name__)) not in self._faults:
            self._faults.add(key)
            note = f"{errors.recorded_fault(error, doing)}; the update goes on"
            with self._lock:
                self._notes.append(note)

    def _note(self, subject: Subject, verdict: Verdict, now: float) -> None:
        before, when = self._printed.get(subject, ("", now - AGAIN))
        what = verdict.key or verdict.message
        if not verdict.message or what == before or now - when < AGAIN:
            return
        self._printed[subject] = what, now
        text = f"waits for {subject}: {verdict.message}"
        if verdict.bad:
            text = f"waits at most {self._failed_after:g} s for {subject} to recover: {verdict.message}"
        with self._lock:
            self._notes.append(text)

    def _failure_message(self, subject: Subject, verdict: Verdict) -> str:
        lines = [f"{subject}: {verdict.message}"]
        if verdict.pod is not None:
            lines += [last_lines(self._cluster, verdict.pod, verdict.container), _retry(verdict.pod)]
        return "\n".join(filter(None, lines))

    def _after_another(self, others: set[Subject]) -> str:
        lines = [self._failure_message(subject, verdict) for subject, verdict in self._failed_jobs.items()]
        names = ", ".join(sorted(map(str, others)))
        after = f"the update has failed, and is not continued for what it still waits for: {names}" if names else ""
        return "\n".join([*lines, *([after] if after else [])]) or "the update has failed"


def _retry(pod: Object) -> str:
    """Return how a pod tries again at once; the kubelet's back-off outlasts `failed_after` of a second update."""
    if not read(pod, "metadata", "ownerReferences"):
        return ""
    return (
        "It tries again by itself within 5 minutes, or at once, with the cause removed: "
        f"`oc delete pod -n {metadata.namespace(pod)} {metadata.name(pod)}`"
    )


def listing(cluster: Cluster, refused: Callable[[str], None] = lambda _: None) -> Look:
    """Return how a round lists kinds, each once: none of those that the user may not list, which `refused` gets."""
    listed: dict[tuple[Kind, str], Sequence[Object]] = {}

    def look(kind: Kind, namespace: str = "") -> Sequence[Object]:
        if (kind, namespace) not in listed:
            try:
                listed[kind, namespace] = cluster.list(kind, namespace)
            except RefusedError as error:
                listed[kind, namespace] = ()
                refused(f"{kind.plural}: {error.reason}")
        return listed[kind, namespace]

    return look
