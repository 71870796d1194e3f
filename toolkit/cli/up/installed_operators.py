"""After an update: whether OLM has installed what the settings declare.

A Subscription does not report which change of it OLM has seen, so that the engine's wait for one whose channel names no
version may end by the status of the former channel.
"""

import time
from collections.abc import Callable, Iterable

from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.preflight.operator_channels import Examined, examine, updated
from toolkit.cli.shared.preflight.operator_conflicts import approval
from toolkit.cli.shared.stack import Stack

_PAUSE = 2.0
_MOVING = ("UpgradeAvailable", "UpgradePending")


def behind(
    stack: Stack,
    cluster: Cluster,
    before: Iterable[Examined],
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> tuple[str, ...]:
    """Wait until OLM has installed what is declared; return a message for each operator that it does not upgrade.

    `before`: what was examined before the update; the catalogues are read again where an operator differs from them.
    It ends when no Subscription has moved for `timeouts.failed_after`, and after `timeouts.operator` at the latest.
    """
    if not any(operator.late for operator in updated(before, cluster)):
        return ()
    limits = stack.settings.timeouts
    begin = moved = clock()
    printed: set[str] = set()
    while late := [operator for operator in examine(stack.settings, cluster) if operator.late]:
        now = clock()
        if any(operator.state in _MOVING for operator in late):
            moved = now
        if now - moved >= limits.failed_after or now - begin >= limits.operator:
            return tuple(
                f"{operator.place}: {operator.difference} (Subscription {operator.subscription})" for operator in late
            )
        for text in map(_text, late):
            if text not in printed:
                printed.add(text)
                print_text(text)
        pause(_PAUSE)
    return ()


def _text(late: Examined) -> str:
    text = f"waits for Subscription {late.subscription}: {late.difference}"
    if late.operator.approval == "Manual" and late.state == "UpgradePending" and late.plan:
        return f"{text}; InstallPlan {late.plan} {approval(late.operator.namespace, late.plan)}"
    return text
