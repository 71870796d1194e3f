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
from toolkit.cli.shared.console import print_notice, print_text, styled
from toolkit.cli.shared.tables import show_rows

AGREES, DIFFERS, NOT_ENOUGH = 0, 1, 2
"""Exit statuses."""


def compare(stack: str, name: str | None) -> int:
    """Print what the cluster answers beside what was declared and predicted; return the exit status."""
    wanted = stacks.read(stack, name)
    served = session.cluster(wanted)
    identity.warn_if_foreign(wanted, served)
    objects, release = explanation.of_stack(stack)
    predicted = Cluster(objects, explanation.known_release(release))
    rights = [*live.rights(wanted.settings, served)]
    pods = [*live.admitted(served.list(POD), wanted.settings, predicted)]
    _show(rights, pods)
    return exit_status(rights, pods)


def exit_status(rights: Sequence[Right], pods: Sequence[Admitted]) -> int:
    """Return what a comparison ends with."""
    if not (all(each.agrees for each in rights) and all(each.agrees for each in pods)):
        return DIFFERS
    return AGREES if pods else NOT_ENOUGH


def _show(rights: Sequence[Right], pods: Sequence[Admitted]) -> None:
    rows = (
        (each.account, _may(each.wanted), _may(each.allowed) if each.agrees else styled(_may(each.allowed), "red"))
        for each in rights
    )
    if rights:
        show_rows("Use of the SCC of RDMA jobs", ("account", "declared", "on the cluster"), rows)
    for scc, count in sorted(Counter(each.scc for each in pods if each.agrees).items()):
        print_text(f"{scc}: admitted {plural(count, 'pod')}, as predicted")
    for each in pods:
        if not each.agrees:
            found, other = each.scc or "no SCC", each.predicted or "none would"
            print_text(f"{each.pod}: admitted by {found}, predicted: {other}")
    if not pods:
        print_notice("the tenants have no pods; run a job, and the command again")


def _may(allowed: bool) -> str:
    return "may" if allowed else "may not"
