"""Which backend a stack has: that with which its simulated cluster was created, else the one that is named for it."""

import json
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from core.files import write_atomically
from toolkit.cli.shared.backends.backend import Backend, of_folder
from toolkit.cli.shared.backends.bucket_urls import parse
from toolkit.cli.shared.backends.stopped_store import StoppedStore
from toolkit.cli.shared.backends.store import FolderStore
from toolkit.cli.shared.errors import Problem
from toolkit.simulator import state as states
from toolkit.simulator.access import accounts
from toolkit.simulator.home import Layout
from toolkit.simulator.object_store import REGION
from toolkit.simulator.object_store.files import Files
from toolkit.simulator.processes import Processes

if TYPE_CHECKING:
    from toolkit.cli.shared.backends.bucket import BucketStore

URL = "PULUMI_BACKEND_URL"
SIMULATED = "s3"
"""What stands for the simulated cluster's own object store."""
BUCKET = "pulumi-state"
_FOLDER = ""
_FORMS = "`s3` (a simulated object store), s3://BUCKET?..., or file:///FOLDER"
_LOGIN = re.compile(r"^(\w[\w+.-]*://)[^/?#]*@")
_KEYS = (
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    *("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"),
)
"""What a bucket's client depends on. The engine reads AWS_REGION; boto3 by itself does not."""


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
    choice = recorded(home)
    if choice == _FOLDER:
        return of_folder(home / "pulumi")
    if choice != SIMULATED:
        return readable(choice)
    layout = Layout(home)
    if "object-store" in Processes(home).running():
        return Backend(url(home), _bucket(url(home), tuple(keys(home).items())), own=True)
    return Backend(url(home), StoppedStore(Files(layout.objects), BUCKET, home.name), own=True)


def require(backend: Backend) -> None:
    """Raise Problem when a bucket cannot be reached, or the simulated object store does not run."""
    if isinstance(backend.store, StoppedStore):
        raise Problem(
            f"the simulated object store of cluster {backend.store.cluster} does not run, and the state is in it",
            f"`./hpc sim up --name {backend.store.cluster}` starts what is missing; stored objects are retained.",
        )
    if urlsplit(backend.url).scheme == "s3":
        backend.store.read(".pulumi/meta.yaml")


def make_store(home: Path) -> None:
    """Create where the state of a simulated cluster goes: its folder, which the engine does not make, or its bucket.

    A bucket in the simulated object store gets all that `./hpc state check` asks of one; others are left.
    """
    if recorded(home) != SIMULATED:
        if isinstance(store := of_cluster(home).store, FolderStore):
            store.folder.mkdir(parents=True, exist_ok=True)
        return
    from toolkit.cli.shared.backends import bucket_parts, bucket_setup  # noqa: PLC0415

    bucket = _bucket(url(home), tuple(keys(home).items()))
    if not bucket_setup.exists(bucket):
        bucket_setup.make(bucket)
        for part in bucket_parts.PARTS:
            bucket_setup.repair(bucket, part, bucket_parts.Wanted())


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


def named(setting: str | None, outer: Mapping[str, str], stack: str) -> str | None:
    """Return the URL of the backend of a stack on a real cluster; None where no one has named one.

    Raises Problem when the settings and PULUMI_BACKEND_URL name different ones: a state would be started a second time.
    """
    given = outer.get(URL)
    if setting and given and not _same(setting, given):
        raise Problem(
            f"stack {stack} has its state in {setting} (`state.backend` of its settings), and {URL} is "
            f"{without_login(given)}",
            f"`unset {URL}`; if the state has moved, change the settings.",
        )
    return setting or given or _logged_in(outer)


def of_url(where: str | None) -> Backend | None:
    """Return the backend of a bucket's or folder's URL; None without one, or where only the engine can read it.

    No request is sent to a bucket yet. Raises Problem for a wrong s3:// URL.
    """
    scheme = urlsplit(where or "").scheme
    if where is None or scheme not in ("s3", "file"):
        return None
    if scheme == "s3":
        return Backend(where, _bucket(where, tuple((name, os.environ.get(name, "")) for name in _KEYS)))
    path = unquote(where.removeprefix("file://").partition("?")[0])
    return Backend(where, FolderStore(Path(path).expanduser().absolute()))


def readable(where: str) -> Backend:
    """Return the backend behind a URL that `checked` has let through."""
    found = of_url(where)
    assert found is not None  # noqa: S101 - a bucket, or a folder
    return found


@lru_cache(maxsize=8)
def _bucket(where: str, environment: tuple[tuple[str, str], ...]) -> "BucketStore":
    """Return a bucket's store: a client takes a tenth of a second to make, and boto3 as long to import."""
    from toolkit.cli.shared.backends.bucket import open_bucket  # noqa: PLC0415

    return open_bucket(where, {name: value for name, value in environment if value})


def _logged_in(outer: Mapping[str, str]) -> str | None:
    """Return where the user is logged in (`pulumi login`)."""
    folder = outer.get("PULUMI_CREDENTIALS_PATH") or outer.get("PULUMI_HOME") or Path.home() / ".pulumi"
    try:
        found = json.loads((Path(folder) / "credentials.json").read_text()).get("current")
    except (OSError, ValueError, AttributeError):
        return None
    return found if isinstance(found, str) and found else None


def without_login(url: str) -> str:
    """Return a URL as it may be shown: the engine takes some with a password, for databases."""
    return _LOGIN.sub(r"\1...@", url)


def _same(one: str, other: str) -> bool:
    parts = [urlsplit(each.rstrip("/")) for each in (one, other)]
    first, second = ((each.scheme, each.netloc, each.path.rstrip("/"), sorted(parse_qsl(each.query))) for each in parts)
    return first == second
