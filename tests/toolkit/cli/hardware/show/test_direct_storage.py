"""GPUDirect Storage in `./hpc hardware show`."""

from typing import Any

from stacks.loading.settings import parse
from tests.support.stack_settings import changed
from toolkit.cli.hardware.show.direct_storage import direct_storage


def _rows(stack: str, **settings: Any) -> tuple[list[tuple[Any, ...]], tuple[str, ...]]:
    (found,) = direct_storage(parse(changed(stack, gpu__gds=True, **settings), "test"))
    return [(row["tenant"], row["storage class"], row["file system"]) for row in found.rows], found.notes


def test_volumes_of_scale_are_on_the_list() -> None:
    """Directories and classes of Storage Scale are read directly, and nothing is to be warned of."""
    assert _rows("prod") == (
        [
            ("adas", None, "storage-scale"),
            ("perception", None, "storage-scale"),
            ("simulation", "scale-scratch", "storage-scale"),
        ],
        (),
    )


def test_a_class_of_the_cluster_is_not_known() -> None:
    """Of a class that the settings do not describe the plan warns, with the setting that does."""
    rows, (note,) = _rows("h100-roce")
    assert rows == [("training", "nfs", None)]
    assert "training/data" in note
    assert "gpu.gds_file_systems" in note
    assert _rows("h100-roce", gpu__gds_file_systems={"nfs": "nfs-rdma"}) == ([("training", "nfs", "nfs-rdma")], ())


def test_stacks_without_it_have_no_such_table() -> None:
    """Without `gds` nothing is shown."""
    assert direct_storage(parse(changed("prod"), "test")) == ()
