"""Versions that an update would bring, compared with those that run: steps that no vendor supports are refused."""

from stacks.checks.component_versions import is_allowed, refusal, steps
from stacks.settings.layers import TenantsLayer
from stacks.transitions import Verdict
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.preflight import installed_versions
from toolkit.cli.shared.stack import Stack
from toolkit.review.sentences import quoted


def require(stack: Stack, cluster: Cluster) -> tuple[str, ...]:
    """Return what to know of the steps that an update would do; raise Problem for one that is not supported.

    What cannot be read of the cluster is not judged, and one of the sentences says so.
    """
    if isinstance(stack.settings, TenantsLayer):
        return ()
    running, unread = installed_versions.of_cluster(cluster)
    changes = [*steps(running, stack.settings)]
    refused = [
        refusal(entry, step)
        for entry, step in changes
        if step.verdict.refused and not is_allowed(entry, step, stack.settings)
    ]
    if refused:
        raise Problem(
            f"{stack.platform_file.name} declares steps that are not supported from what runs on the cluster; nothing "
            "was changed\n" + "\n".join(refused),
            f"`./hpc upgrade check {stack.options}` shows the way.",
        )
    known = tuple(
        f"{step}{'; first: ' if step.before else ''}{'; '.join(step.before)}"
        for _, step in changes
        if step.verdict in (Verdict.UNKNOWN, Verdict.MANUAL) or step.verdict.refused
    )
    unjudged = f"Steps between versions are not judged where these could not be read: {quoted('; '.join(unread))}"
    return (*known, *((unjudged,) if unread else ()))
