"""Which backend a stack on a real cluster has: the one that is named for it."""

import json
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from toolkit.cli.shared.backends.backend import Backend
from toolkit.cli.shared.backends.store import FolderStore
from toolkit.cli.shared.errors import Problem

if TYPE_CHECKING:
    from toolkit.cli.shared.backends.bucket import BucketStore

URL = "PULUMI_BACKEND_URL"
_LOGIN = re.compile(r"^(\w[\w+.-]*://)[^/?#]*@")
_KEYS = (
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    *("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"),
)
"""What a bucket's client depends on. The engine reads AWS_REGION; boto3 by itself does not."""


def require(backend: Backend) -> None:
    """Raise Problem when a bucket cannot be reached."""
    if urlsplit(backend.url).scheme == "s3":
        backend.store.read(".pulumi/meta.yaml")


def named(setting: str | None, outer: Mapping[str, str], stack: str) -> str | None:
    """Return the URL of the backend of a stack on a real cluster; None where no one has named one.

    Raises Problem when the settings and PULUMI_BACKEND_URL name different ones: a state would be started a second time.
    """
    outer_url = outer.get(URL)
    if setting and outer_url and not _same(setting, outer_url):
        raise Problem(
            f"stack {stack} has its state in {setting} (`state.backend` of its settings), and {URL} is "
            f"{without_login(outer_url)}",
            f"`unset {URL}`; if the state has moved, change the settings.",
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
        return Backend(where, bucket(where, tuple((name, os.environ.get(name, "")) for name in _KEYS)))
    path = unquote(where.removeprefix("file://").partition("?")[0])
    return Backend(where, FolderStore(Path(path).expanduser().absolute()))


@lru_cache(maxsize=8)
def bucket(where: str, environment: tuple[tuple[str, str], ...]) -> "BucketStore":
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
