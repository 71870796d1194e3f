"""What is locked of a data set, in the state."""

from components.data_set_lock import DataSetLock, DataSetLockArgs
from tests.support.recorded import component


def test_a_lock_is_in_the_state() -> None:
    """Frames by class and the digest are inputs of a component without objects."""
    args = DataSetLockArgs(
        namespace="training",
        data_set="bikes",
        digest="a" * 64,
        frames=2,
        files=4,
        bytes=400,
        frames_by_class={"bicycle": 2},
        as_of="2026-11-25T12:00:00+00:00",
        choice={"cameras": ["front_center"]},
    )
    (made,) = component(lambda: DataSetLock("training.bikes-lock", args))
    assert made.type == "hpc:storage:DataSetLock"
    assert made.inputs["frames_by_class"] == {"bicycle": 2}
    assert made.inputs["digest"] == "a" * 64
