"""Which old versions go."""

import pytest

from toolkit.simulator.object_store.buckets import expired, read
from toolkit.simulator.object_store.files import Version

_DAY = 86_400
RULES = """<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
<Rule><ID>states</ID><Status>Enabled</Status><Filter><Prefix>a/</Prefix></Filter>
<NoncurrentVersionExpiration><NoncurrentDays>30</NoncurrentDays><NewerNoncurrentVersions>2</NewerNoncurrentVersions>
</NoncurrentVersionExpiration></Rule>
<Rule><Status>Enabled</Status><Filter><Prefix>b/</Prefix></Filter>
<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>
<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration></Rule>
<Rule><Status>Disabled</Status><Filter><Prefix>c/</Prefix></Filter>
<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration></Rule>
<Rule><Status>Enabled</Status><Filter><Tag><Key>d</Key><Value>e</Value></Tag></Filter>
<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration></Rule>
</LifecycleConfiguration>"""


@pytest.mark.parametrize(
    ("key", "deleted", "gone"),
    [("a/x", False, [0, 1]), ("a/x", True, [0, 1]), ("b/x", False, [0, 1]), ("b/x", True, [0, 1]), ("c/x", True, [])],
)
def test_rules_let_old_versions_go(key: str, deleted: bool, gone: list[int]) -> None:
    """Expired versions are deleted, and those that a rule keeps are not."""
    versions = [Version(key, str(day), day, day * _DAY, deleted=deleted and day == 4) for day in range(5)]
    found = expired(read(RULES.encode()), versions, now=3.5 * _DAY)
    assert [version.order for version in found] == gone


def test_delete_mark_goes_when_nothing_is_behind_it() -> None:
    """A delete marker goes when nothing is behind it."""
    versions = [Version("b/x", "0", 0, 0), Version("b/x", "1", 1, 0, deleted=True)]
    assert expired(read(RULES.encode()), versions, now=9 * _DAY) == tuple(versions)
