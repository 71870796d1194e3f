"""Where the state of stacks on a simulated cluster is: with what the cluster was created."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from core.files import write_atomically
from toolkit.cli.shared.backends.backend import Backend, bucket_store, of_folder, of_url
from toolkit.cli.shared.backends.bucket_urls import parse
from toolkit.cli.shared.backends.store import FolderStore, Version
from toolkit.cli.shared.errors import Problem
from toolkit.simulator import state as states
from toolkit.simulator.access import accounts
from toolkit.simulator.home import Layout
from toolkit.simulator.object_store import REGION
from toolkit.simulator.object_store.files import Files, Kept
from toolkit.simulator.processes.supervisor import Processes

SIMULATED = "s3"
"""What stands for the simulated cluster's own object store."""
BUCKET = "pulumi-state"
_FOLDER = ""
_FORMS = "`s3` (a simulated object store), s3://BUCKET?..., or file:///FOLDER"


@dataclass(frozen=True)
class StoppedStore:
    """One bucket, from the files of the store."""

    files: Files
    bucket: str
    cluster: str
    """Name of the simulated cluster whose store it is."""

    def read(self, key: str) -> bytes | None:
        """Return the content of an object; None where there is none."""
        latest = self._latest().get(key)
        return latest.content() if latest else None

    def modified(self, key: str) -> float | None:
        """Return when an object was written; None where there is none."""
        latest = self._latest().get(key)
        return latest.version.written if latest else None

    def keys(self, prefix: str) -> list[str]:
        """Return all keys that begin with a prefix, sorted."""
        return sorted(key for key in self._latest() if key.startswith(prefix))

    def versions(self, key: str) -> tuple[Version, ...]:
        """Return all that is stored of an object, newest first."""
        kept = self._all(key)
        return tuple(
            Version(
                id=entry.version.id,
                modified=entry.version.written,
                size=entry.size,
                latest=entry is kept[-1],
                removed=entry.version.deleted,
            )
            for entry in reversed(kept)
        )

    def read_version(self, key: str, version: str) -> bytes | None:
        """Return the content of an object as it once was; None where that version is gone."""
        return next((kept.content() for kept in self._all(key) if kept.version.id == version), None)

    def write(self, key: str, content: bytes) -> None:  # noqa: ARG002 - it writes nothing
        """Raise Problem: only the running store writes."""
        raise self._stopped(key)

    def remove(self, key: str) -> None:
        """Raise Problem: only the running store removes."""
        raise self._stopped(key)

    def where(self, key: str) -> str:
        """Name an object for users."""
        return f"s3://{self.bucket}/{key} of the simulated object store of cluster {self.cluster}"

    def _latest(self) -> Mapping[str, Kept]:
        return self.files.latest(self.bucket)

    def _all(self, key: str) -> list[Kept]:
        return next((versions for versions in self.files.versions(self.bucket) if versions[0].version.key == key), [])

    def _stopped(self, key: str) -> Problem:
        return Problem(
            f"{self.where(key)} cannot be changed: the store does not run",
            f"`./hpc sim up --name {self.cluster}` starts it.",
        )


def recorded(home: Path) -> str:
    """Return what a simulated cluster was created with: `s3`, a URL, or nothing for a folder in its home."""
    try:
        return Layout(home).backend.read_text().strip()
    except FileNotFoundError:
        return _FOLDER


def within(home: Path) -> bool:
    """Whether the state goes with the simulated cluster's home."""
    return recorded(home) in (_FOLDER, SIMULATED)


def record(home: Path, value: str) -> None:
    """Note what a simulated cluster is created with."""
    write_atomically(Layout(home).backend, f"{value}\n")


def checked(value: str) -> str:
    """Return a choice as it is noted; raise Problem for one that we cannot read, or that the engine would not take."""
    scheme, separator, rest = value.partition("://")
    if value == SIMULATED:
        return value
    if scheme == "s3" and separator:
        parse(value)
        return value
    if scheme == "file" and separator and rest.startswith(("/", "~")):
        path, _, query = rest.partition("?")
        words = dict(parse_qsl(query, keep_blank_values=True))
        # Without it a second file beside each state is not written in one piece: see of_folder.
        extra = "" if "metadata" in words else f"{'&' if query else ''}metadata=skip"
        folder = Path(unquote(path)).expanduser()
        return f"{folder.as_uri()}?{query}{extra}"
    shown = value if scheme in ("s3", "file") or not separator else f"{scheme}://..."
    raise Problem(f"{shown} is not a backend of a simulated cluster", f"Write {_FORMS}.")


def of_cluster(home: Path) -> Backend:
    """Return the backend of a simulated cluster."""
    recorded_url = recorded(home)
    if recorded_url == _FOLDER:
        return of_folder(home / "pulumi")
    if recorded_url != SIMULATED:
        return readable(recorded_url)
    layout = Layout(home)
    if "object-store" in Processes(home).running():
        return Backend(url(home), bucket_store(url(home), tuple(keys(home).items())), own=True)
    return Backend(url(home), StoppedStore(Files(layout.objects), BUCKET, home.name), own=True)


def require_running(backend: Backend) -> None:
    """Raise Problem when the state is in a simulated object store that does not run."""
    if isinstance(backend.store, StoppedStore):
        raise Problem(
            f"the simulated object store of cluster {backend.store.cluster} does not run, and the state is in it",
            f"`./hpc sim up --name {backend.store.cluster}` starts what is missing; stored objects are retained.",
        )


def make_store(home: Path) -> None:
    """Create where the state of a simulated cluster goes: its folder, which the engine does not make, or its bucket.

    A bucket in the simulated object store gets all that `./hpc state check` asks of one; others are left.
    """
    if recorded(home) != SIMULATED:
        if isinstance(store := of_cluster(home).store, FolderStore):
            store.folder.mkdir(parents=True, exist_ok=True)
        return
    from toolkit.cli.shared.backends import bucket_parts, bucket_setup  # noqa: PLC0415 - imports boto3

    bucket = bucket_store(url(home), tuple(keys(home).items()))
    if not bucket_setup.exists(bucket):
        bucket_setup.make(bucket)
        for part in bucket_parts.PARTS:
            bucket_setup.repair(bucket, part, bucket_parts.BucketOptions())


def url(home: Path) -> str:
    """Return the URL of a simulated object store; its port stays as long as no one else takes it."""
    state = states.load(Layout(home))
    port = state.ports.objects if state else 0
    return f"s3://{BUCKET}?endpoint=http://127.0.0.1:{port}&region={REGION}&s3ForcePathStyle=true"


def keys(home: Path) -> dict[str, str]:
    """Return the variables with which boto3 and the engine get into a simulated object store, and nowhere else."""
    account = accounts.read(Layout(home).object_credentials)
    return {
        "AWS_ACCESS_KEY_ID": account.user if account else "",
        "AWS_SECRET_ACCESS_KEY": account.password if account else "",
        "AWS_SESSION_TOKEN": "",
        "AWS_PROFILE": "",
        "AWS_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def readable(where: str) -> Backend:
    """Return the backend behind a URL that `checked` has let through."""
    backend = of_url(where)
    assert backend is not None  # noqa: S101 - a bucket, or a folder
    return backend
