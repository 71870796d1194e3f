"""What a change means, one subject a module, in the order in which a reviewer needs them."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from review import alike
from review.section import Section
from review.subjects import (
    access,
    builds,
    capacity,
    cluster,
    data,
    drivers,
    findings,
    images,
    jobs,
    network,
    operators,
    pod_security,
    remarks,
    repairs,
    restarts,
    rights,
    sccs,
    secrets,
    storage,
    tenants,
)
from review.worlds import Worlds

SUBJECTS: tuple[Callable[[Worlds], Section | None], ...] = (
    findings.find,
    cluster.find,
    repairs.find,
    data.find,
    access.find,
    sccs.find,
    rights.find,
    pod_security.find,
    network.find,
    tenants.find,
    storage.find,
    capacity.find,
    restarts.find,
    drivers.find,
    operators.find,
    jobs.find,
    builds.find,
    images.find,
    secrets.find,
    remarks.find,
)
"""Each says in a section what a change means for its subject; None where that is nothing."""


def sections(worlds: Worlds) -> Iterator[Section]:
    """Yield the sections that have something to say."""
    for find in SUBJECTS:
        if (found := find(worlds)) is not None:
            yield replace(found, lines=tuple(alike.merged(list(found.lines))))
