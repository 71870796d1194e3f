"""What a change means, by subject, in the order in which a reviewer needs them."""

import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib import import_module

from toolkit.review.indexed_review import IndexedReview
from toolkit.review.section import Section, grouped
from toolkit.review.subjects import (
    access,
    capacity,
    cluster,
    data,
    drivers,
    findings,
    images,
    jobs,
    network,
    operators,
    placement,
    pod_security,
    remediation,
    restarts,
    rights,
    sccs,
    storage,
    tenants,
)

Find = Callable[[IndexedReview], Section | None]
SUBJECTS: tuple[Find, ...] = (
    findings.find,
    cluster.find,
    cluster.find_repairs,
    data.find,
    access.find,
    sccs.find,
    rights.find,
    pod_security.find,
    network.find,
    tenants.find,
    storage.find,
    storage.find_data_sets,
    capacity.find,
    placement.find,
    restarts.find,
    remediation.find,
    drivers.find,
    findings.find_unlisted_versions,
    operators.find,
    jobs.find,
    jobs.find_schedules,
    images.find_builds,
    images.find,
    data.find_secrets,
    findings.find_warnings,
)
"""Each reports in a section what a change means for its subject; None where that is nothing."""


def refuse_unlisted(modules: Iterable[str], subjects: Iterable[Find] = SUBJECTS) -> None:
    """Raise TypeError for a `find` or `find_...` here that is not in SUBJECTS, and for a module without any of them.

    No review would show what it finds.
    """
    listed = {(find.__module__, find.__name__) for find in subjects}
    for name in modules:
        functions = vars(import_module(f"{__name__}.{name}"))
        finders = {key for key in functions if key.partition("_")[0] == "find"} or {"find"}
        for finder in sorted(finders):
            if (f"{__name__}.{name}", finder) not in listed:
                raise TypeError(
                    f"toolkit/review/subjects/{name}.py: {finder} is not in SUBJECTS of "
                    f"toolkit/review/subjects/__init__.py; add {name}.{finder} where a reviewer needs it"
                )


refuse_unlisted(module.name for module in pkgutil.iter_modules(__path__))


def sections(indexed: IndexedReview) -> Iterator[Section]:
    """Yield the sections that are not empty."""
    for find in SUBJECTS:
        if (section := find(indexed)) is not None:
            yield replace(section, lines=tuple(grouped(list(section.lines))))
