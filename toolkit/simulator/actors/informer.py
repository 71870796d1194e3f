"""A cache of one kind, kept current by list and watch, and a queue of work that retries."""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import urllib3

from core.apis.kinds import Kind
from toolkit.simulator.actors.api import Api, ApiError, Object

log = logging.getLogger(__name__)

Key = tuple[str, str]
"""Namespace (empty for cluster-wide kinds) and name."""
Changed = Callable[[Key, Object | None, Object | None], None]
"""Called with the key, the object before and the object now; None where there is none."""

FIRST_BACKOFF = 0.2
LAST_BACKOFF = 5.0
TROUBLE = (ApiError, urllib3.exceptions.HTTPError, OSError)
"""What a request may end in while the API server restarts, or refuses."""


def key_of(obj: Object) -> Key:
    """Return an object's key."""
    meta = obj["metadata"]
    return meta.get("namespace", ""), meta["name"]


class Informer:
    """Lists and watches one kind; `trim` cuts objects down to what is needed of them.

    `listed` is called after every complete list: work that had to wait for it would else wait for a change.
    """

    def __init__(
        self,
        api: Api,
        kind: Kind,
        changed: Changed | None = None,
        *,
        namespace: str | None = None,
        trim: Callable[[Object], Object] = lambda obj: obj,
        listed: Callable[[], object] = lambda: None,
    ) -> None:
        self._api = api
        self._kind = kind
        self._namespace = namespace
        self._trim = trim
        self._listed = listed
        self._changed = [changed] if changed else []
        self._items: dict[Key, Object] = {}
        self._stop = threading.Event()
        self._synced = threading.Event()
        self._response: Any = None
        self._thread = threading.Thread(target=self._run, name=f"watch {kind.plural} as {api.who}", daemon=True)

    def start(self) -> "Informer":
        """Start watching; returns itself."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop watching, without waiting for the thread."""
        self._stop.set()
        if response := self._response:
            try:
                response.shutdown()
            except (OSError, RuntimeError, ValueError) as error:
                log.debug("watch %s: %s", self._kind.plural, error)

    def on_change(self, changed: Changed) -> None:
        """Call `changed` at every change from now on, and now for existing objects."""
        self._changed.append(changed)
        for key, obj in list(self._items.items()):
            changed(key, None, obj)

    def wait_synced(self, timeout: float) -> bool:
        """Wait until the first list is in."""
        return self._synced.wait(timeout)

    @property
    def synced(self) -> bool:
        """Whether the first list is in."""
        return self._synced.is_set()

    def get(self, name: str, namespace: str = "") -> Object | None:
        """Return the object as last seen."""
        return self._items.get((namespace, name))

    def items(self) -> Iterable[Object]:
        """Return all objects as last seen."""
        return list(self._items.values())

    def _run(self) -> None:
        backoff = FIRST_BACKOFF
        version = ""
        while not self._stop.is_set():
            try:
                version = version or self._list()
                for event in self._api.watch(self._kind, self._namespace, version, self._opened):
                    backoff = FIRST_BACKOFF
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        self._set(event["object"], deleted=event["type"] == "DELETED")
            except TROUBLE as error:
                if self._stop.is_set():
                    return
                if isinstance(error, ApiError):
                    version = ""
                    if not error.gone:
                        log.warning("%s; again in %.1f s", error, backoff)
                if self._stop.wait(backoff):
                    return
                backoff = min(2 * backoff, LAST_BACKOFF)

    def _opened(self, response: Any) -> None:
        self._response = response

    def _list(self) -> str:
        answer = self._api.list(self._kind, self._namespace)
        seen = set()
        for obj in answer["items"]:
            seen.add(key_of(obj))
            self._set(obj)
        for key in set(self._items) - seen:
            self._put(key, None)
        self._synced.set()
        self._listed()
        version: str = answer["metadata"]["resourceVersion"]
        return version

    def _set(self, obj: Object, *, deleted: bool = False) -> None:
        self._put(key_of(obj), None if deleted else self._trim(obj))

    def _put(self, key: Key, obj: Object | None) -> None:
        old = self._items.get(key)
        if obj is None:
            self._items.pop(key, None)
        else:
            self._items[key] = obj
        for changed in self._changed:
            changed(key, old, obj)


class Loop:
    """Does `work(key)` for every key that was added, one thread per key at a time, again after a failure.

    `work` may return seconds after which the key is due again. A refusal by RBAC is logged with verb and resource.
    """

    def __init__(self, name: str, work: Callable[[Key], float | None], *, threads: int = 1) -> None:
        self._name = name
        self._work = work
        self._due: dict[Key, float] = {}
        self._busy: set[Key] = set()
        self._backoff: dict[Key, float] = {}
        self._stopped = False
        self._ready = threading.Condition()
        self._threads = [
            threading.Thread(target=self._run, name=f"{name} {number}", daemon=True) for number in range(threads)
        ]

    def start(self) -> "Loop":
        """Start the threads; returns itself."""
        for thread in self._threads:
            thread.start()
        return self

    def stop(self) -> None:
        """Stop after the work in hand, without waiting."""
        with self._ready:
            self._stopped = True
            self._ready.notify_all()

    def add(self, key: Key, delay: float = 0) -> None:
        """Have `key` worked on, at the latest after `delay` seconds."""
        at = time.monotonic() + delay
        with self._ready:
            self._due[key] = min(at, self._due.get(key, at))
            self._ready.notify()

    def _take(self) -> Key | None:
        with self._ready:
            while not self._stopped:
                now = time.monotonic()
                free = [(at, key) for key, at in self._due.items() if key not in self._busy]
                at, key = min(free, default=(None, None))
                if at is not None and key is not None and at <= now:
                    del self._due[key]
                    self._busy.add(key)
                    return key
                self._ready.wait(None if at is None else at - now)
            return None

    def _run(self) -> None:
        while (key := self._take()) is not None:
            again = self._try(key)
            with self._ready:
                self._busy.discard(key)
                self._ready.notify()
            if again is not None:
                self.add(key, again)

    def _try(self, key: Key) -> float | None:
        try:
            again = self._work(key)
        except TROUBLE as error:
            return self._failed(key, str(error), loud=not (isinstance(error, ApiError) and error.conflict))
        except Exception:
            log.exception("%s: %s", self._name, "/".join(filter(None, key)))
            return self._failed(key, "unexpected error", loud=False)
        self._backoff.pop(key, None)
        return again

    def _failed(self, key: Key, why: str, *, loud: bool) -> float:
        backoff = self._backoff.get(key, FIRST_BACKOFF)
        self._backoff[key] = min(2 * backoff, LAST_BACKOFF)
        if loud:
            log.warning("%s; again in %.1f s", why, backoff)
        return backoff
