"""From files and a stack to verdicts, and to what is printed of them."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, get_args

from policies.scc import InvalidPod, Release
from toolkit.cli.scc.arguments import WrongArgument, annotations
from toolkit.cli.scc.cluster import Cluster, Explained
from toolkit.cli.scc.files import Unreadable, objects
from toolkit.cli.scc.pods import PodOptions, pod_requests
from toolkit.cli.scc.presentation import as_json, print_tables
from toolkit.cli.shared.options import print_json

__all__ = ["UNREADABLE", "PodOptions", "annotations", "explain", "show"]

UNREADABLE = (Unreadable, WrongArgument, InvalidPod)
"""What `explain` raises for input that cannot be judged."""


def explain(
    files: Sequence[str],
    sccs: Iterable[str],
    options: PodOptions,
    *,
    stack: str = "",
    release: str | None = None,
    usable: Collection[str] = (),
) -> list[Explained]:
    """Judge every pod of `files` in the cluster that the files, `sccs` and the stack describe.

    `release` is that of the default SCCs, by default the stack's or the current one. `usable` are SCCs that RBAC grants
    besides. Raises one of UNREADABLE.
    """
    subjects = objects(files)
    around = [*objects(sccs)]
    if stack:
        rendered, stacks_release = of_stack(stack)
        around, release = [*rendered, *around], release or stacks_release
    cluster = Cluster([*around, *subjects], known_release(release), usable)
    explanations = [cluster.explain(request) for request in pod_requests(subjects, cluster, options)]
    if not explanations:
        raise Unreadable(f"no pod in {', '.join(files)}: name a Pod, or a workload with a pod template")
    return explanations


def show(explanations: Sequence[Explained], *, plain: bool, verbose: bool) -> None:
    """Print verdicts: as JSON when `plain`, else as tables, with the plugin's own message when `verbose`."""
    if plain:
        print_json([as_json(explained) for explained in explanations])
        return
    for explained in explanations:
        print_tables(explained, verbose=verbose)


def of_stack(name: str) -> tuple[list[dict[str, Any]], str]:
    """Return the objects that a stack declares, with what is beside it, and its release of OpenShift."""
    from stacks.loading import settings  # noqa: PLC0415
    from toolkit.render import manifests  # noqa: PLC0415 - the engine takes half a second to import

    recorded = (*manifests.platform_registrations(name), *manifests.registrations(name))
    return manifests.manifests(recorded), settings.load(name, manifests.ROOT).release


def known_release(name: str | None) -> Release:
    """Return the release whose default SCCs are known, of a name; the current one for others."""
    return next((release for release in get_args(Release) if release == name), "current")
