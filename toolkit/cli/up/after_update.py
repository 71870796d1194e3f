"""After an update: whether OLM has installed, and driver pods have, what the settings declare.

A Subscription does not report which change of it OLM has seen, nor do the policies of NVIDIA's operators, so that the
engine's wait may end by the status of before: by that of the former channel, where a channel names no version.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from core.apis import kinds
from core.apis.kinds import Kind
from policies.manifests.values import entries, read
from toolkit.cli.shared import metadata
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.events import Account
from toolkit.cli.shared.preflight.operator_channels import Examined, examine, updated
from toolkit.cli.shared.preflight.operator_conflicts import approval
from toolkit.cli.shared.stack import Stack
from toolkit.cli.up.waits import drivers, pods, workloads
from toolkit.cli.up.waits.drivers import Driver
from toolkit.cli.up.waits.verdict import Look, Object
from toolkit.cli.up.waits.watcher import listing

_PAUSE = 2.0
_MOVING = ("UpgradeAvailable", "UpgradePending")
_DRIVER_PAUSE = 0.5
_DRIVERS = (
    (kinds.CLUSTER_POLICY, drivers.GPU),
    (kinds.NVIDIA_DRIVER, drivers.GPU_OF_POOL),
    (kinds.NIC_CLUSTER_POLICY, drivers.NETWORK),
    (kinds.NIC_NODE_POLICY, drivers.NETWORK_OF_POOL),
)


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


def former_drivers(
    account: Account,
    cluster: Cluster,
    failed_after: float,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> tuple[str, ...]:
    """Return a message for each of the update's policies whose former driver stays until a user restarts its pods.

    It waits at most `failed_after` seconds for an operator to change its DaemonSet. An upgrade by the operator itself
    is printed, not waited for.
    """
    end = clock() + failed_after
    while True:
        look = listing(cluster)
        policies = [
            (kind, driver, policy)
            for kind, driver in _DRIVERS
            if _declared(kind, account.steps)
            for policy in look(kind)
        ]
        if clock() >= end or not any(_unseen(policy, driver, look) for _, driver, policy in policies):
            return tuple(_messages(policies, look))
        pause(_DRIVER_PAUSE)


def _messages(policies: Iterable[tuple[Kind, Driver, Object]], look: Look) -> Iterable[str]:
    for kind, driver, policy in policies:
        if (verdict := drivers.verdict(policy, driver, look)) is None:
            continue
        text = f"{kind.kind} {metadata.name(policy)}: {verdict.message}"
        if verdict.bad:
            yield text
        else:
            print_text(text)


def _declared(kind: Kind, steps: Mapping[str, Sequence[Mapping[str, Any]]]) -> bool:
    return any(
        str(step["type"]).startswith(f"kubernetes:{kind.group}/")
        and str(step["type"]).endswith(f":{kind.kind}")
        and step["op"] != "delete"
        for own in steps.values()
        for step in own
    )


def _unseen(policy: Object, driver: Driver, look: Look) -> bool:
    """Whether a driver's DaemonSet still lacks the version of its policy, which is a part of the image's tag."""
    version = read(policy, *driver.path, "version")
    images = [
        str(container.get("image"))
        for owner in workloads.owned(policy, look)
        if pods.is_on_delete(owner)
        for container in entries(owner, "spec", "template", "spec", "containers")
    ]
    return isinstance(version, str) and bool(images) and not any(version in image for image in images)
