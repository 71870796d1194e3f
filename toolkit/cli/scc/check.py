"""`./hpc scc check`: whether the cluster decides on SCCs as the stack declares and as it was predicted."""

from collections import Counter
from collections.abc import Sequence

from core.apis.kinds import POD
from core.wording import plural
from toolkit.cli.scc import explanation, live
from toolkit.cli.scc.cluster import Cluster
from toolkit.cli.scc.live import Admitted, Right
from toolkit.cli.shared import identity, session
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_notice, print_text, show_rows, styled

AGREES, DIFFERS, NOT_ENOUGH = 0, 1, 2
"""Exit statuses."""


def compare(stack_name: str, name: str | None) -> int:
    """Print what the cluster answers beside what was declared and predicted; return the exit status."""
    stack = stacks.read(stack_name, name)
    served = session.cluster(stack)
    identity.warn_if_foreign(stack, served)
    objects, release = explanation.of_stack(stack_name)
    predicted = Cluster(objects, explanation.known_release(release))
    rights = [*live.rights(stack.settings, served)]
    pods = [*live.admitted(served.list(POD), stack.settings, predicted)]
    _show(rights, pods)
    return exit_status(rights, pods)


def exit_status(rights: Sequence[Right], pods: Sequence[Admitted]) -> int:
    """Return what a comparison ends with."""
    if not (all(right.agrees for right in rights) and all(pod.agrees for pod in pods)):
        return DIFFERS
    return AGREES if pods else NOT_ENOUGH


def _show(rights: Sequence[Right], pods: Sequence[Admitted]) -> None:
    rows = (
        (
            right.account,
            _may(right.expected),
            _may(right.allowed) if right.agrees else styled(_may(right.allowed), "red"),
        )
        for right in rights
    )
    if rights:
        show_rows("Use of the SCC of RDMA jobs", ("account", "declared", "on the cluster"), rows)
    for scc, count in sorted(Counter(pod.scc for pod in pods if pod.agrees).items()):
        print_text(f"{scc}: admitted {plural(count, 'pod')}, as predicted")
    for pod in pods:
        if not pod.agrees:
            admitted_by, other = pod.scc or "no SCC", pod.predicted or "none would"
            print_text(f"{pod.pod}: admitted by {admitted_by}, predicted: {other}")
    if not pods:
        print_notice("the tenants have no pods; run a job, and the command again")


def _may(allowed: bool) -> str:
    return "may" if allowed else "may not"
