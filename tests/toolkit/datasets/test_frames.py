"""Files of a folder, put together to frames."""

from pathlib import Path

import pytest

from core.datasets.card import CARDS
from tests.support.catalogues import facts_of
from toolkit.datasets.frames import FileFacts, FramesError, frames_of, list_files

CARD = CARDS["a2d2"]
_IMAGE = "20181107_133445/camera/cam_front_center/20181107133445_camera_frontcenter_{:09}.png"
IMAGES = [_IMAGE.format(number) for number in (7, 3)]
FACTS = FileFacts(1, 1)


def test_an_image_with_what_belongs_to_it() -> None:
    """Frames are in the order of names, with their label and the companions that exist; other files are listed."""
    files = facts_of(IMAGES, CARD) | {"a b.txt": FACTS, "new\nline": FACTS}
    found = frames_of(files, CARD)
    assert [frame.image for frame in found.frames] == sorted(IMAGES)
    assert found.others == ("a b.txt", "new\nline")
    first = found.frames[0]
    assert (first.scene, first.camera) == ("20181107_133445", "front_center")
    assert first.others == (first.image.replace(".png", ".json"),)


def test_a_frame_without_its_label() -> None:
    """Images without a label are counted, some are named with the label that is missing, and nothing is left out."""
    files = facts_of(IMAGES, CARD) | {_IMAGE.format(number): FACTS for number in range(10, 16)}
    with pytest.raises(FramesError) as error:
        frames_of(files, CARD)
    expected = (
        "6 images have no label",
        "add the labels",
        "camera_frontcenter_000000010.png'",
        "label_frontcenter_000000010",
        "3 more",
    )
    assert [part for part in expected if part not in str(error.value)] == [], str(error.value)


def test_no_frame_at_all() -> None:
    """A folder of another data set is refused, with what an image would be called."""
    with pytest.raises(FramesError, match=r"(?s)called as an image of a2d2 .*cam_\{camera\}.*another card"):
        frames_of({"leftImg8bit/a.png": FACTS}, CARD)


def test_a_camera_that_the_card_lacks() -> None:
    """A camera that is in a name and not on the card is refused, with the cameras that are."""
    card = CARD.model_copy(update={"cameras": {"rear_center": ("rear",)}})
    with pytest.raises(FramesError, match=r"no camera 'front_center'; known: rear_center; correct"):
        frames_of(facts_of(IMAGES, CARD), card)


def test_files_are_listed_with_their_sizes(tmp_path: Path) -> None:
    """Files below a folder are found by their names from there, whatever signs these have."""
    for name in ("a/b c.png", "a/new\nline", "d"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(name)
    assert {name: facts.size for name, facts in list_files(tmp_path).items()} == {
        "a/b c.png": 9,
        "a/new\nline": 10,
        "d": 1,
    }


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    """A folder that does not exist, a link that leads nowhere and a name that is not text are refused."""
    with pytest.raises(FramesError, match="is not a folder; name the folder"):
        list_files(tmp_path / "gone")
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(FramesError, match=r"link'.*No such file.*remove it"):
        list_files(tmp_path)
    (tmp_path / "link").unlink()
    Path(f"{tmp_path}/\udcff").write_text("")
    with pytest.raises(FramesError, match="not UTF-8; rename it"):
        list_files(tmp_path)
