"""What is locked of a data set, in the state."""

from components.data_set_lock import DataSetLock, DataSetLockArgs
from datasets.lock import Lock
from tests.datasets.kit import a_choice, image, row, selected
from tests.support.recorded import component


def test_a_lock_is_in_the_state() -> None:
    """The whole lock is the input of a component without objects, from which it reads back."""
    wanted = selected(a_choice(), [row(image(1), {"bicycle": 2})]).lock
    args = DataSetLockArgs(namespace="training", lock=wanted)
    (made,) = component(lambda: DataSetLock("training.bikes-lock", args))
    assert made.type == "hpc:storage:DataSetLock"
    assert Lock.model_validate(made.inputs["lock"]) == wanted
