"""How much a reviewer loses when the difference of an object is not shown."""

from core.apis.kinds import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    MACHINE_CONFIG,
    NAMESPACE,
    NETWORK_POLICY,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    ROLE,
    ROLE_BINDING,
    SECURITY_CONTEXT_CONSTRAINTS,
    STORAGE_CLASS,
    SUBSCRIPTION,
)
from toolkit.review.model import Change, Op, Review

_OPS = {Op.REPLACE: 0, Op.UPDATE: 1, Op.DELETE: 2, Op.FORGET: 3, Op.ADOPT: 4, Op.CREATE: 5, Op.SAME: 6}
_SECURITY = (SECURITY_CONTEXT_CONSTRAINTS, ROLE, CLUSTER_ROLE, ROLE_BINDING, CLUSTER_ROLE_BINDING, NETWORK_POLICY)
_DATA = (PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, STORAGE_CLASS, NAMESPACE)
_PLATFORM = (MACHINE_CONFIG, SUBSCRIPTION)
_FIRST = {kind.kind: rank for rank, kinds in enumerate((_SECURITY, _DATA, _PLATFORM)) for kind in kinds}


def importance(change: Change) -> tuple[bool, int, int, str]:
    """Return the sort key of differences, the most important first: by operation, kind and URN."""
    resource = change.resource
    return (
        not resource.is_object or resource.is_patch,
        _OPS[change.op],
        _FIRST.get(resource.kind, len(_FIRST)),
        resource.urn,
    )


def described_changes(review: Review) -> list[Change]:
    """Return the changes whose differences are shown: components only repeat their objects."""
    return [change for change in review.changed if not change.resource.type.startswith("hpc:")]
