"""From the URL of a backend, as people and the engine write it, to what is behind it."""

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from cli.backends.backend import Backend
from cli.backends.bucket import open_bucket
from cli.backends.locations import SCHEME
from cli.backends.store import FolderStore


def of_url(url: str, environment: Mapping[str, str] = os.environ) -> Backend | None:
    """Return the backend behind a URL: a bucket's or a folder's; None where only the engine can read it.

    `environment` is the engine's, where that has other keys than this process. Raises Problem for a wrong s3:// URL.
    """
    scheme = urlsplit(url).scheme
    if scheme == SCHEME:
        return Backend(url, open_bucket(url, environment))
    if scheme == "file":
        path = unquote(url.removeprefix("file://").partition("?")[0])
        return Backend(url, FolderStore(Path(path).expanduser().absolute()))
    return None
