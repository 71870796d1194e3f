"""Earlier versions of a stack's state, in buckets and in folders."""

import gzip
import json
from pathlib import Path

import pytest

from toolkit.cli.shared.backends.backend import Backend, of_folder
from toolkit.cli.shared.backends.bucket import open_bucket
from toolkit.cli.shared.backends.bucket_parts import PARTS, BucketOptions
from toolkit.cli.shared.backends.bucket_setup import make, repair
from toolkit.cli.shared.backends.older_states import (
    COPY,
    UPDATE,
    VERSION,
    deployment,
    find,
    kept,
    read,
    read_all,
    resources,
)
from toolkit.cli.shared.errors import Problem

_KEY = ".pulumi/stacks/hpc/dev.json"


def _state(count: int) -> bytes:
    return json.dumps(
        {"checkpoint": {"latest": {"resources": [{"urn": str(number)} for number in range(count)]}}}
    ).encode()


def test_bucket(bucket_url: str) -> None:
    """Older states in a bucket are its versions, removed ones as well, with their number of resources."""
    backend = Backend(bucket_url, open_bucket(bucket_url))
    make(backend.store)  # type: ignore[arg-type]
    repair(backend.store, PARTS[0], BucketOptions())  # type: ignore[arg-type]
    for count in (1, 2):
        backend.store.write(_KEY, _state(count))
    backend.store.write(f"{_KEY}.gz", gzip.compress(_state(3)))
    backend.store.remove(_KEY)
    found = kept(backend, "dev")
    assert (found[0].kind, found[0].latest, found[0].removed) == (VERSION, True, False)
    assert sorted(len(resources(each)) for each in read_all(backend, found)) == [0, 1, 2, 3]
    two = next(one for one in found if len(resources(read(backend, one))) == 2)
    assert find(backend, "dev", two.id) == two
    removed = next(one for one in found if one.removed)
    for wrong in ("nothing", removed.id):
        with pytest.raises(Problem, match=rf"no version {wrong} of the state of stack dev\n.*state list"):
            find(backend, "dev", wrong)


def test_tags_of_that_time(bucket_url: str) -> None:
    """The cluster of an older state is that of the tags of its time."""
    store = open_bucket(bucket_url)
    make(store)
    repair(store, PARTS[0], BucketOptions())
    key = ".pulumi/stacks/hpc/dev.pulumi-tags"
    for cluster in ("old", "new"):
        store.write(key, json.dumps({"tags": {"hpc:cluster-uid": cluster}}).encode())
    backend = Backend(bucket_url, store)
    assert backend.tags("dev") == {"hpc:cluster-uid": "new"}
    assert backend.tags("dev", at=store.versions(key)[0].modified) == {"hpc:cluster-uid": "new"}


def test_folder(tmp_path: Path) -> None:
    """Older states in a folder are the engine's backup and its checkpoints of every update."""
    backend = of_folder(tmp_path)
    history = ".pulumi/history/hpc/dev/dev-1763778000123456789"
    backend.store.write(_KEY, _state(3))
    backend.store.write(f"{_KEY}.bak", _state(2))
    backend.store.write(f"{history}.checkpoint.json", _state(1))
    backend.store.write(f"{history}.history.json", b"{}")
    backend.store.write(".pulumi/history/hpc/devil/devil-1763778000123456789.checkpoint.json", _state(9))
    found = kept(backend, "dev")
    assert {(one.kind, one.id) for one in found} == {(COPY, "copy"), (UPDATE, "1763778000123456789")}
    update = find(backend, "dev", "1763778000123456789")
    assert update.modified == pytest.approx(1763778000.123456789)
    assert len(resources(read(backend, update))) == 1


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"checkpoint": null}', b'{"deployment": []}'])
def test_what_is_no_state(content: bytes) -> None:
    """A content that is not a state counts as none."""
    assert deployment(content) is None
