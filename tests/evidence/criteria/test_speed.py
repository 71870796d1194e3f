"""Speed of a job that ran something else."""

from evidence.criteria import CRITERIA
from evidence.verdict import Ended, Job, Status
from tests.evidence.criteria.cases import TABLE, TWO, changed
from tests.support.mutated import read_text

BY_NAME = {one.name: one for one in CRITERIA}


def test_another_operation_is_no_all_reduce() -> None:
    """Prevents a job whose all-reduce is not in its log from passing, because nothing was held against the paper."""
    log = f"# Collective test starting: all_gather_perf\n{TABLE}"
    for program, status in (("nccl-all-reduce", Status.MISSING), (None, None)):
        job = Job(asked=TWO.model_copy(update={"program": program}), ended=Ended.UNKNOWN, readings=read_text(log))
        for name in ("bus-bandwidth", "small-message-latency"):
            found = BY_NAME[name].verdict(job)
            assert (found.status if found else None) is status, name
    whole = Job(asked=TWO, ended=Ended.UNKNOWN, readings=read_text(changed(TABLE)))
    found = BY_NAME["bus-bandwidth"].verdict(whole)
    assert found is not None
    assert found.status is Status.PASS
