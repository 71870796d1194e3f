"""What is locked of a data set, in the state and on the cluster."""

from components.storage.data_set_lock import DataSetLock, DataSetLockArgs
from core.datasets.lock import Lock, text
from tests.support.recorded import component
from tests.toolkit.datasets.kit import a_choice, image, row, selected


def test_a_lock_is_in_the_state() -> None:
    """The whole lock is the component's input, and its file the content of a ConfigMap beside the jobs."""
    wanted = selected(a_choice(), [row(image(1), {"bicycle": 2})]).lock
    args = DataSetLockArgs(namespace="training", lock=wanted)
    made, config_map = component(lambda: DataSetLock("training.bikes-lock", args, "training"))
    assert made.type == "hpc:storage:DataSetLock"
    assert Lock.model_validate(made.inputs["lock"]) == wanted
    assert config_map.inputs["metadata"]["name"] == f"data-set-{wanted.name}"
    assert config_map.inputs["metadata"]["namespace"] == "training"
    assert config_map.inputs["data"] == {"lock.json": text(wanted)}
