"""The one account of a simulated object store, made up for its cluster."""

import json
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from simulator.files import write_atomically

REGION = "us-east-1"
_SECRET_BYTES = 30


@dataclass(frozen=True, repr=False)
class Credentials:
    """An access key and its secret; it is not shown when it is printed."""

    access_key: str
    secret_key: str


def create(file: Path) -> Credentials:
    """Return the credentials in a file, made at random when it is not there."""
    found = read(file)
    if found is None:
        found = Credentials(f"HPCSIM{secrets.token_hex(7).upper()}", secrets.token_urlsafe(_SECRET_BYTES))
        write_atomically(file, json.dumps(asdict(found)))
    return found


def read(file: Path) -> Credentials | None:
    """Return the credentials in a file; None where there are none."""
    try:
        return Credentials(**json.loads(file.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
