"""The list of files in a folder."""

import pytest

from toolkit.site import manifest
from toolkit.site.output import File

OLD, NEW = "a\n", "b\n"
DIGEST = {text: manifest.digest(text.encode()) for text in (OLD, NEW)}


def listed(**files: str) -> manifest.Manifest:
    """Return the manifest of files with these texts."""
    return manifest.of([File(name, text, ("R-1.1",)) for name, text in files.items()], "test")


@pytest.mark.parametrize(
    ("stored", "wanted", "present", "reason"),
    [
        (OLD, OLD, OLD, None),
        (OLD, NEW, OLD, "settings changed"),
        (OLD, OLD, NEW, "edited"),
        (OLD, OLD, None, "removed"),
        (OLD, None, OLD, "no longer"),
        (None, OLD, None, "need it now"),
    ],
)
def test_a_file_is_stale(stored: str | None, wanted: str | None, present: str | None, reason: str | None) -> None:
    """A file is stale when settings changed, when it was edited, and when it is missing or superfluous."""
    before, now = (listed(**({"hosts": text} if text else {})) for text in (stored, wanted))
    found = manifest.stale(before, now, {"hosts": DIGEST[present]} if present else {})
    assert list(found) == (["hosts"] if reason else [])
    assert (reason or "") in found.get("hosts", "")


def test_a_stored_manifest_is_read_again() -> None:
    """What is stored is read as it was; another text is refused."""
    before = listed(hosts=OLD)
    assert manifest.from_text(manifest.to_text(before)) == before
    with pytest.raises(ValueError, match=r"MANIFEST\.json"):
        manifest.from_text('{"stack": 1}')
