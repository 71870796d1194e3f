"""moto's buckets, kept on disk: what a request has changed is written before its answer is sent.

Stored are objects with their versions, metadata and checksums, and the settings of a bucket. Not stored, because no
state backend uses them: tags, access lists and locks of single objects, and uploads in parts that were not completed.
"""

import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

from moto.core.model_instances import reset_model_data
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.s3.models import FakeBucket, FakeDeleteMarker, FakeKey, S3Backend, s3_backends

from toolkit.simulator.object_store.files import Files, Kept, Version

_DAY = 86_400
CREATED = "created"
"""Setting of a bucket that is always there: its region."""
LIFECYCLE = "lifecycle"
_FIELDS = (
    *("encryption", "kms_key_id", "bucket_key_enabled", "contentsize", "_etag", "_storage_class", "_is_versioned"),
    *("checksum_algorithm", "checksum_value", "checksum_type", "checksum_parts"),
)
_NULL = "null"


@dataclass(frozen=True)
class Rule:
    """One enabled rule: how many old versions stay, or for how many days; and whether lone delete marks go."""

    prefix: str
    newer: int | None
    days: int | None
    marks: bool


def read(document: bytes) -> tuple[Rule, ...]:
    """Read what PutBucketLifecycleConfiguration sent; rules by tags or sizes are left out."""
    return tuple(rule for item in _all(ElementTree.fromstring(document), "Rule") if (rule := _rule(item)) is not None)  # noqa: S314 - signed by the one account, kept in the cluster's own home


def expired(rules: Iterable[Rule], versions: Sequence[Version], now: float) -> tuple[Version, ...]:
    """Return the versions (oldest first) that may go.

    S3 asks for both, that so many newer ones exist and that so many days have passed; a simulated cluster writes a
    month's versions in an hour, so here the number is enough where a rule has one.
    """
    gone: set[str] = set()
    for rule in rules:
        if not versions[-1].key.startswith(rule.prefix):
            continue
        if rule.newer is not None:
            gone |= {version.id for version in versions[: max(len(versions) - 1 - rule.newer, 0)]}
        elif rule.days is not None:  # a version is old since the next one was written
            pairs = itertools.pairwise(versions)
            gone |= {version.id for version, later in pairs if later.written + rule.days * _DAY < now}
        if rule.marks and versions[-1].deleted and all(version.id in gone for version in versions[:-1]):
            gone.add(versions[-1].id)
    return tuple(version for version in versions if version.id in gone)


def _rule(item: ElementTree.Element) -> Rule | None:
    scope = next(_all(item, "Filter"), item)
    if _text(item, "Status") != "Enabled" or any(
        name in _names(scope) for name in ("And", "Tag", "ObjectSizeLessThan")
    ):
        return None
    old = next(_all(item, "NoncurrentVersionExpiration"), None)
    newer, days = (
        _text(old, name) if old is not None else "" for name in ("NewerNoncurrentVersions", "NoncurrentDays")
    )
    ends = next(_all(item, "Expiration"), None)
    marks = ends is not None and _text(ends, "ExpiredObjectDeleteMarker") == "true"
    return Rule(_text(scope, "Prefix"), int(newer) if newer else None, int(days) if days else None, marks)


def _all(item: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    return iter([child for child in item if child.tag.rpartition("}")[2] == name])


def _names(item: ElementTree.Element) -> set[str]:
    return {child.tag.rpartition("}")[2] for child in item}


def _text(item: ElementTree.Element, name: str) -> str:
    return next((child.text or "" for child in _all(item, name)), "")


class Buckets:
    """All buckets of the process, in moto's memory and below a folder."""

    def __init__(self, root: Path) -> None:
        self.files = Files(root)
        self._kept: dict[str, dict[str, list[tuple[object, Kept]]]] = {}
        self._order = 0

    @property
    def memory(self) -> S3Backend:
        """What moto has in memory."""
        return s3_backends[DEFAULT_ACCOUNT_ID]["aws"]

    def load(self, bucket: str) -> None:
        """Put a bucket that is on disk into moto's memory, with its objects; contents stay on the disk."""
        region = self.files.settings(bucket)[CREATED].decode()
        made = self.memory.create_bucket(bucket, region)
        self._kept[bucket] = {}
        for versions in self.files.versions(bucket):
            for kept in versions:
                self._order = max(self._order, kept.version.order)
                self._put(made, kept)

    def _put(self, bucket: FakeBucket, kept: Kept) -> None:
        key = kept.version.key
        versions = self._kept[bucket.name].setdefault(key, [])
        if kept.version.id == _NULL and any(before.version.id == _NULL for _, before in versions):
            # Killed between writing the next content of an object without versions and removing the one before.
            for _, before in versions:
                before.file.unlink(missing_ok=True)
            versions.clear()
            bucket.keys.pop(key)
        item = self._mark(bucket, kept) if kept.version.deleted else self._key(bucket, kept)
        bucket.keys[key] = item
        versions.append((item, kept))

    def _mark(self, bucket: FakeBucket, kept: Kept) -> FakeDeleteMarker:
        versions = self._kept[bucket.name][kept.version.key]
        before = versions[-1][0] if versions else FakeKey(kept.version.key, b"", DEFAULT_ACCOUNT_ID, bucket.region_name)
        mark = FakeDeleteMarker(cast("FakeKey", before))
        mark._version_id = kept.version.id
        mark.last_modified = _moment(kept.version.written)
        return mark

    def _key(self, bucket: FakeBucket, kept: Kept) -> FakeKey:
        attributes = kept.version.attributes
        key = FakeKey(
            kept.version.key,
            b"",
            DEFAULT_ACCOUNT_ID,
            bucket.region_name,
            version_id=kept.version.id,
            bucket_name=bucket.name,
        )
        for name in _FIELDS:
            setattr(key, name, attributes.get(name))
        key.set_metadata(dict(attributes["metadata"]))
        key.last_modified = _moment(kept.version.written)
        key._value_buffer = cast("Any", OnDisk(kept))
        return key

    def store(self, bucket: str) -> None:
        """Write what has changed in a bucket, then expire old versions by its lifecycle."""
        held = self.memory.buckets.get(bucket)
        if held is None:
            if self._kept.pop(bucket, None) is not None:
                self.files.drop(bucket)
            return
        if bucket not in self._kept:
            self._kept[bucket] = {}
            self.files.set(bucket, CREATED, held.region_name.encode())
        changed = self._write(held)
        self._expire(held, changed)
        reset_model_data()  # moto's dashboard would reference every object that there ever was

    def _write(self, bucket: FakeBucket) -> list[str]:
        stored = self._kept[bucket.name]
        changed = []
        for key in {*stored, *bucket.keys}:
            now = bucket.keys.getlist(key) or []
            before = stored.get(key, [])
            if len(now) == len(before) and all(item is other for item, (other, _) in zip(now, before, strict=True)):
                continue
            changed.append(key)
            files = {id(item): kept for item, kept in before}
            stored[key] = [(item, files.get(id(item)) or self._keep(bucket.name, item)) for item in now]
            for item, kept in before:
                if not any(item is other for other in now):
                    kept.file.unlink(missing_ok=True)
            if not now:
                del stored[key]
                bucket.keys.pop(key) if key in bucket.keys else None
        return changed

    def _keep(self, bucket: str, item: FakeKey | FakeDeleteMarker) -> Kept:
        self._order = max(self._order + 1, time.time_ns())
        at = item.last_modified.replace(tzinfo=UTC).timestamp()
        if isinstance(item, FakeDeleteMarker):
            mark = Version(item.name, item.version_id, self._order, at, deleted=True)
            return self.files.write(bucket, mark, b"")
        item.etag  # noqa: B018 - moto counts it out of the content at the first access
        attributes = {name: getattr(item, name) for name in _FIELDS}
        metadata = dict(item.metadata)
        version = Version(item.name, item.version_id, self._order, at, attributes={**attributes, "metadata": metadata})
        kept = self.files.write(bucket, version, item.value)
        item._value_buffer.close()
        item._value_buffer = cast("Any", OnDisk(kept))
        if item.multipart:
            item.multipart.dispose()
            item.multipart = None
        return kept

    def _expire(self, bucket: FakeBucket, keys: list[str] | None = None) -> None:
        configuration = self.files.settings(bucket.name).get(LIFECYCLE)
        rules = read(configuration) if configuration else ()
        stored = self._kept[bucket.name]
        for key in list(stored) if keys is None else keys:
            versions = [kept.version for _, kept in stored.get(key, [])]
            gone = {version.id for version in expired(rules, versions, time.time())} if versions else set()
            if gone:
                left = [item for item, kept in stored[key] if kept.version.id not in gone]
                bucket.keys.setlist(key, left)
        self._write(bucket)

    def expire_all(self) -> None:
        """Delete what has expired meanwhile."""
        for bucket in self.memory.buckets.values():
            self._expire(bucket)


class OnDisk:
    """What moto needs of an object's buffer: it reads the whole content, then nothing is left."""

    def __init__(self, kept: Kept) -> None:
        self._kept, self._read = kept, False

    def seek(self, _: int) -> None:
        """Delete everything."""
        self._read = False

    def read(self, _: int = -1) -> bytes:
        """Return the content, the first time."""
        if self._read:
            return b""
        self._read = True
        return self._kept.content()

    def close(self) -> None:
        """Have no content, as before."""


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
