"""Which objects of a cluster are the stack's."""

from types import SimpleNamespace
from typing import Any

from core.apis import kinds
from toolkit.cli.status import command


def quota(path: str) -> dict[str, Any]:
    """Return a ResourceQuota by NAMESPACE/NAME."""
    namespace, name = path.split("/")
    return {"metadata": {"namespace": namespace, "name": name}}


def test_adopted_objects_are_the_stacks() -> None:
    """An adopted object has no label of the stack, and counts beside those that have it; one that is gone does not."""
    labelled = [quota("audio/gpus"), quota("vision/gpus")]
    cluster: Any = SimpleNamespace(
        list=lambda _, labelSelector: labelled if labelSelector else [],
        read=lambda _, namespace, name: quota(f"{namespace}/{name}") if namespace == "bio" else None,
    )
    adopted = ["ResourceQuota/bio/team", "ResourceQuota/gone/team", "ResourceQuota/audio/gpus", "Namespace/bio"]
    own = command._own(cluster, adopted, kinds.RESOURCE_QUOTA)
    assert own == [*labelled, quota("bio/team")]
