"""Files that are never half-written, and locks that die with their holder."""

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PRIVATE = 0o600


def write_atomically(path: Path, content: str | bytes, *, mode: int = PRIVATE) -> None:
    """Replace `path` in one step: a reader, or a crash, sees the old content or the new."""
    data = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def digest(*parts: bytes) -> str:
    """Return a short fingerprint of `parts`."""
    total = hashlib.sha256()
    for part in parts:
        total.update(hashlib.sha256(part).digest())
    return total.hexdigest()[:16]


@contextmanager
def locked(path: Path, *, on_busy: Callable[[str], None]) -> Iterator[None]:
    """Hold an exclusive lock on `path`; the kernel drops it when the process ends, however it ends.

    If another holds it, `on_busy` is called once with what the holder wrote about itself: it may raise, to
    give up, or return, to wait.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                on_busy(os.pread(handle, 100, 0).decode(errors="replace").strip())
                fcntl.flock(handle, fcntl.LOCK_EX)
            if not _is_current(path, handle):  # its holder removed the folder: lock the new file instead
                continue
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}".encode(), 0)
            yield
            return
        finally:
            os.close(handle)


def _is_current(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False
