"""A state backend without a service (the engine calls it DIY): its layout, and which one a stack has."""

import gzip
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from toolkit.cli.shared.backends.locks import Lock, is_dead, note
from toolkit.cli.shared.backends.store import FolderStore, Store
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import PROJECT

if TYPE_CHECKING:
    from toolkit.cli.shared.backends.bucket import BucketStore

CLUSTER_UID, CLUSTER_SERVER = "hpc:cluster-uid", "hpc:cluster-server"
"""Tags of a stack: the cluster that its state is about."""
_STACKS = f".pulumi/stacks/{PROJECT}/"
_LOCKS = f".pulumi/locks/organization/{PROJECT}/"
_STATES = (".json", ".json.gz")
_TAGS = ".pulumi-tags"
BACKEND_URL = "PULUMI_BACKEND_URL"
_LOGIN = re.compile(r"^(\w[\w+.-]*://)[^/?#]*@")
_KEYS = (
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    *("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"),
)
"""What a bucket's client depends on. The engine reads AWS_REGION; boto3 by itself does not."""


@dataclass(frozen=True)
class Backend:
    """One backend: the URL that the engine gets, and what is behind it."""

    url: str
    store: Store
    own: bool = False
    """Whether it goes with a simulated cluster, so that only its machine writes to it."""

    def checkpoint(self, stack: str) -> dict[str, Any]:
        """Return the latest deployment of a stack (`resources`, `pending_operations`, ...); empty where there is none.

        Raises Problem for a state that cannot be read.
        """
        content = self.read(stack)
        if content is None:
            return {}
        try:
            latest: dict[str, Any] = (json.loads(content).get("checkpoint") or {}).get("latest") or {}
        except (ValueError, AttributeError) as error:
            raise Problem(
                f"the state of stack {stack} is damaged: {error}",
                f"It is {self.store.where(self.key(stack))}; `./hpc state list --stack {stack}` shows older ones, and "
                f"`./hpc state restore --stack {stack}` brings one back.",
            ) from None
        return latest

    def resources(self, stack: str) -> list[dict[str, Any]]:
        """Return the resources in the state of a stack; raises as `checkpoint`."""
        return list(self.checkpoint(stack).get("resources") or ())

    def read(self, stack: str) -> bytes | None:
        """Return the state of a stack as the engine wrote it, unpacked; None where the stack is not there."""
        content = self.store.read(self.key(stack))
        return None if content is None else unpacked(content)

    def written(self, stack: str) -> float | None:
        """Return when the state of a stack was written, in seconds since 1970; None where the stack is not there."""
        return self.store.modified(self.key(stack))

    def key(self, stack: str) -> str:
        """Return the key of a stack's state: packed where there is nothing else."""
        plain, packed = self.candidates(stack)
        stored_keys = self.store.keys(plain)
        return packed if packed in stored_keys and plain not in stored_keys else plain

    def candidates(self, stack: str) -> tuple[str, str]:
        """Return the keys that a stack's state can have: plain, and packed."""
        plain, packed = (f"{_STACKS}{stack}{ending}" for ending in _STATES)
        return plain, packed

    def remove_unreadable_attributes(self, stack: str) -> None:
        """Remove what a killed engine left cut beside the files of a stack in a folder."""
        if isinstance(self.store, FolderStore):
            for key in (*self.candidates(stack), f"{_STACKS}{stack}{_TAGS}"):
                self.store.remove_unreadable_attributes(key)

    def has(self, stack: str) -> bool:
        """Whether the stack is there."""
        return self.key(stack) in self.store.keys(f"{_STACKS}{stack}.json")

    def stacks(self) -> list[str]:
        """Return the names of all stacks."""
        names = (key.removeprefix(_STACKS) for key in self.store.keys(_STACKS))
        return sorted({name.removesuffix(end) for name in names for end in _STATES if name.endswith(end)})

    def tags(self, stack: str, at: float | None = None) -> dict[str, str]:
        """Return what is noted about a stack (`pulumi stack tag`); nothing where it cannot be read.

        `at`: what was noted then, in seconds since 1970, where versions are stored; else what is noted now.
        """
        key = f"{_STACKS}{stack}{_TAGS}"
        old = [
            version
            for version in self.store.versions(key)
            if at is not None and version.modified <= at and not version.removed
        ]
        content = self.store.read_version(key, old[0].id) if old else self.store.read(key)
        try:
            tags = json.loads(content or b"{}").get("tags")
        except (ValueError, AttributeError):
            return {}
        return tags if isinstance(tags, dict) else {}

    def locks(self, stack: str) -> tuple[Lock, ...]:
        """Return the locks of a stack; raise Problem for one that cannot be read."""
        locks = []
        for key in self.store.keys(f"{_LOCKS}{stack}/"):
            if key.endswith(".json") and (content := self.store.read(key)) is not None:
                locks.append(Lock.read(key, content, self.store.where(key)))
        return tuple(locks)

    def is_dead(self, lock: Lock) -> bool:
        """Whether the holder of a lock is certainly gone; of a backend that others share only this machine's own."""
        return lock.of_this_host and is_dead(self.url, lock.key, lock.pid, own=self.own)

    def note_lock(self, stack: str, pid: int) -> bool:
        """Note the lock of an engine that this process started, for `is_dead`; return whether there is one.

        An update goes on without a note: `pulumi cancel` is needed then.
        """
        try:
            mine = [lock.key for lock in self.locks(stack) if lock.pid == pid and lock.of_this_host]
            for key in mine:
                note(self.url, key)
        except (Problem, OSError):
            return False
        return bool(mine)

    def release(self, stack: str) -> tuple[Lock, ...]:
        """Remove the locks of dead processes and return them; raise Problem when one may be a living process's."""
        locks = self.locks(stack)
        for lock in locks:
            if not self.is_dead(lock):
                raise lock.held()
        for lock in locks:
            self.store.remove(lock.key)
        return locks


def unpacked(content: bytes) -> bytes:
    """Return what the engine wrote, packed or not; nothing where it was not packed to its end."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError):
        return b""


def of_folder(folder: Path) -> Backend:
    """Return the backend in a folder of a simulated cluster.

    Without `metadata=skip` each state file has a second one beside it, which is not written in one piece: an engine
    that is killed at that moment leaves a stack that no command can load any more.
    """
    return Backend(f"{folder.as_uri()}?metadata=skip", FolderStore(folder), own=True)


def require_reachable(backend: Backend) -> None:
    """Raise Problem when a bucket cannot be reached."""
    if urlsplit(backend.url).scheme == "s3":
        backend.store.read(".pulumi/meta.yaml")


def named_url(setting: str | None, outer: Mapping[str, str], stack: str) -> str | None:
    """Return the URL of the backend of a stack on a real cluster; None where no one has named one.

    Raises Problem when the settings and PULUMI_BACKEND_URL name different ones: a state would be started a second time.
    """
    outer_url = outer.get(BACKEND_URL)
    if setting and outer_url and not _same(setting, outer_url):
        raise Problem(
            f"stack {stack} has its state in {setting} (`state.backend` of its settings), and {BACKEND_URL} is "
            f"{without_login(outer_url)}",
            f"`unset {BACKEND_URL}`; if the state has moved, change the settings.",
        )
    return setting or outer_url or _logged_in(outer)


def of_url(where: str | None) -> Backend | None:
    """Return the backend of a bucket's or folder's URL; None without one, or where only the engine can read it.

    No request is sent to a bucket yet. Raises Problem for a wrong s3:// URL.
    """
    scheme = urlsplit(where or "").scheme
    if where is None or scheme not in ("s3", "file"):
        return None
    if scheme == "s3":
        return Backend(where, bucket_store(where, tuple((name, os.environ.get(name, "")) for name in _KEYS)))
    path = unquote(where.removeprefix("file://").partition("?")[0])
    return Backend(where, FolderStore(Path(path).expanduser().absolute()))


@lru_cache(maxsize=8)
def bucket_store(where: str, environment: tuple[tuple[str, str], ...]) -> "BucketStore":
    """Return a bucket's store: a client takes a tenth of a second to make, and boto3 as long to import."""
    from toolkit.cli.shared.backends.bucket import open_bucket  # noqa: PLC0415

    return open_bucket(where, {name: value for name, value in environment if value})


def _logged_in(outer: Mapping[str, str]) -> str | None:
    """Return where the user is logged in (`pulumi login`)."""
    folder = outer.get("PULUMI_CREDENTIALS_PATH") or outer.get("PULUMI_HOME") or Path.home() / ".pulumi"
    try:
        current = json.loads((Path(folder) / "credentials.json").read_text()).get("current")
    except (OSError, ValueError, AttributeError):
        return None
    return current if isinstance(current, str) and current else None


def without_login(url: str) -> str:
    """Return a URL as it may be shown: the engine takes some with a password, for databases."""
    return _LOGIN.sub(r"\1...@", url)


def _same(url: str, other: str) -> bool:
    parts = [urlsplit(address.rstrip("/")) for address in (url, other)]
    first, second = ((part.scheme, part.netloc, part.path.rstrip("/"), sorted(parse_qsl(part.query))) for part in parts)
    return first == second
