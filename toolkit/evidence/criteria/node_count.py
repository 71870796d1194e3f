"""Whether a job ran on as many nodes as it needs."""

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, passed
from toolkit.evidence.verdict import Job, Request
from toolkit.evidence.wording import listed


def _nodes(job: Job) -> Outcome | None:
    nodes, fewest = job.request.nodes, _fewest(job.request)
    if not nodes:
        return None
    return Outcome(passed(len(nodes) >= fewest), listed(nodes), f">= {plural(fewest, 'node')}")


def _fewest(request: Request) -> int:
    """Return the fewest nodes that have a job's GPUs: single GPUs of several nodes may as well be of one."""
    profile = request.machine
    return 1 if profile is None or request.shape is None else -(-request.shape.total // profile.gpus)


CRITERIA = (
    Criterion(
        name="nodes-used",
        title="The job ran on several nodes",
        limit="at least as many as its GPUs need",
        unit="nodes",
        applies="jobs with more GPUs than a node has, on a cluster",
        source="B-6.4",
        judge=_nodes,
        when=lambda request: _fewest(request) > 1,
    ),
)
