"""Locked data sets as the jobs of a stack have them."""

from collections.abc import Mapping
from functools import cache

from components.jobs import sliced_jobs
from components.storage.data_set import LockedData
from core.apis.data_sets import SCRIPT
from core.datasets.lock import Chosen, Lock
from stacks.programs import SCRIPTS
from stacks.settings.origins import SettingsError
from stacks.settings.workloads import StageDataWorkload

Locked = Mapping[tuple[str, str], Lock]
"""Locks by the tenant's namespace and the name of the data set."""
_NO_DIGEST = "0" * 64


def folder(name: str) -> str:
    """Return where a data set is in the pods of jobs: the root of the volume that has it."""
    return f"/data-sets/{name}"


def job_name(workload: StageDataWorkload, locks: Locked) -> str:
    """Return the name of the job that stages a data set: it ends with a part of the lock's digest."""
    return sliced_jobs.job_name(workload.data_set, locks[workload.tenant, workload.data_set].digest)


def chosen(tenant: str, name: str, split: str | None, locks: Locked) -> Chosen:
    """Return what is locked of a data set, or of a part; raise SettingsError for a part that the lock lacks."""
    whole = locks[tenant, name]
    part = whole if split is None else whole.splits.get(split)
    if part is None:
        raise SettingsError(
            f"data set {name} of {tenant}: its lock has no split {split!r}; run `./hpc data select {name}`, and review "
            "its lock"
        )
    return part


def of_job(tenant: str, name: str, split: str | None, locks: Locked | None) -> LockedData:
    """Return a data set as a job has it; without locks it is empty, for rules that need none."""
    if locks is None:
        return LockedData(name=name, digest=_NO_DIGEST, files=1, bytes=0, at=folder(name), reader=_reader())
    part = chosen(tenant, name, split, locks)
    return LockedData(
        name=name, digest=part.digest, files=part.files, bytes=part.bytes, at=folder(name), reader=_reader()
    )


@cache
def _reader() -> str:
    return (SCRIPTS / SCRIPT).read_text(encoding="utf-8")
