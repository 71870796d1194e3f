"""What a change means, one subject a module, in the order in which a reviewer needs them."""

import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from toolkit.review import grouping
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.section import Section
from toolkit.review.subjects import (
    access,
    builds,
    capacity,
    cluster,
    data,
    data_sets,
    drivers,
    findings,
    images,
    jobs,
    network,
    operators,
    placement,
    pod_security,
    repairs,
    restarts,
    rights,
    sccs,
    schedules,
    secrets,
    storage,
    tenants,
    unlisted_versions,
    warnings,
)

Find = Callable[[IndexedReview], Section | None]

SUBJECTS: tuple[Find, ...] = (
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
    data_sets.find,
    capacity.find,
    placement.find,
    restarts.find,
    drivers.find,
    unlisted_versions.find,
    operators.find,
    jobs.find,
    schedules.find,
    builds.find,
    images.find,
    secrets.find,
    warnings.find,
)
"""Each reports in a section what a change means for its subject; None where that is nothing."""


def refuse_unlisted(modules: Iterable[str], subjects: Iterable[Find] = SUBJECTS) -> None:
    """Raise TypeError for a module here whose `find` is not in SUBJECTS: no review would show what it finds."""
    listed = {find.__module__.rpartition(".")[2] for find in subjects}
    for name in modules:
        if name not in listed:
            raise TypeError(
                f"toolkit/review/subjects/{name}.py is not in SUBJECTS of toolkit/review/subjects/__init__.py; "
                f"add {name}.find where a reviewer needs it"
            )


refuse_unlisted(module.name for module in pkgutil.iter_modules(__path__))


def sections(indexed: IndexedReview) -> Iterator[Section]:
    """Yield the sections that are not empty."""
    for find in SUBJECTS:
        if (section := find(indexed)) is not None:
            yield replace(section, lines=tuple(grouping.grouped(list(section.lines))))
