"""Whether a catalogue still describes the files of its folder."""

from pathlib import Path

from core.datasets.card import CARDS
from tests.support.catalogues import catalogue_of, facts_of
from toolkit.datasets.frames import FileFacts
from toolkit.datasets.indexing import changes

CARD = CARDS["a2d2"]
IMAGES = [
    f"20181107_133445/camera/cam_rear_center/20181107133445_camera_rearcenter_{number:09d}.png" for number in (1, 2, 3)
]


def test_changed_new_and_lost_files_are_named(tmp_path: Path) -> None:
    """Another time or size of a file, files that are new and files that are gone are counted, with an example."""
    catalogue = catalogue_of(tmp_path / "c.db", CARD, {image: {"car": 1} for image in IMAGES[:2]})
    files = facts_of(IMAGES[:2], CARD)
    assert not changes(catalogue, CARD, files)
    later = files | {IMAGES[0]: FileFacts(files[IMAGES[0]].size, files[IMAGES[0]].mtime_ns + 10**6)}
    assert changes(catalogue, CARD, later).changed == (IMAGES[0],)
    other = facts_of(IMAGES[2:], CARD) | facts_of(IMAGES[:1], CARD)
    found = changes(catalogue, CARD, other)
    assert (len(found.added), len(found.gone)) == (3, 3)
    assert "3 new (e.g. " in str(found)
    assert f"3 gone (e.g. {IMAGES[1].replace('.png', '.json')!r})" in str(found)
