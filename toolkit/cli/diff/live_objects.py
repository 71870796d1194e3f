"""What an update meets on the cluster: objects that it would fail at, and fields of users that it would remove.

The former exist already, and the update would create them. The latter were written with kubectl, and the program does
not declare them: at each update of an object the provider takes over what kubectl wrote, and the server then removes
what is not declared. Previews do not show that (pulumi-kubernetes 4.34: ownership is transferred in the update alone).
A CustomResourceDefinition is replaced, and loses what any client wrote.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from core.apis import field_owners, kinds
from core.wording import plural
from toolkit.cli.shared import recorded_inputs
from toolkit.cli.shared.checkpoints.objects import Live
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.recorded_inputs import Trial
from toolkit.review import paths
from toolkit.review.model import Op, Resource, Review
from toolkit.review.paths import Path
from toolkit.review.sentences import enumerated, name, title

_SHOWN = 3


def cautions(review: Review, cluster: Cluster, options: str) -> Iterator[str]:
    """Yield a sentence for all of it; `options` name the stack on a command line."""
    yield from existing_cautions(review, cluster.find, options)
    yield from removed_field_cautions(review, cluster.find, cluster.dry_run)


def existing_cautions(review: Review, live: Live, options: str) -> Iterator[str]:
    """Yield a sentence where what would be created exists; `options` name the stack on a command line.

    Each object that is to be created is looked up on the cluster, except in namespaces that do not exist.
    """
    present = existing(review, live)
    if present:
        names = enumerated([title(resource) for resource in present], _SHOWN)
        yield (
            f"{plural(len(present), 'object')} of those to be created {'is' if len(present) == 1 else 'are'} on the "
            f"cluster already, and the update would fail there: {names}. {name(f'./hpc state adopt {options}')} shows "
            "how they differ, and adopts them."
        )


def existing(review: Review, live: Live) -> list[Resource]:
    """Return what is to be created and is on the cluster already, as far as the cluster shows it."""
    created = [change.resource for change in review.changed if change.op is Op.CREATE and change.resource.is_object]
    spaces = [resource for resource in created if resource.kind == kinds.NAMESPACE.kind]
    present: list[Resource] = []
    absent: set[str] = set()
    for resource in (*spaces, *(resource for resource in created if resource.kind != kinds.NAMESPACE.kind)):
        if resource.is_patch or resource.namespace in absent:
            continue
        try:
            if live(resource.api_version, resource.kind, resource.namespace, resource.object_name) is not None:
                present.append(resource)
            elif resource.kind == kinds.NAMESPACE.kind:
                absent.add(resource.object_name)
        except RefusedError:
            continue
        except Problem:
            break
    return present


def removed_field_cautions(review: Review, live: Live, trial: Trial) -> Iterator[str]:
    """Yield a sentence for each object that loses fields: which, who wrote them, and how they can stay."""
    for change in review.changed:
        after = change.after
        if change.op is not Op.UPDATE or after is None or not after.is_object or after.is_patch:
            continue
        try:
            live_object = live(after.api_version, after.kind, after.namespace, after.object_name)
            lost = removed(after, live_object, trial) if live_object else []
        except RefusedError:
            continue
        except Problem:
            return
        # What this program wrote itself, and declares no more, is part of the change.
        if live_object and lost and (owners := sorted(map(name, recorded_inputs.managers(live_object)))):
            fields = enumerated([name(paths.show(path)) for path in lost])
            yield (
                f"The update of {title(after)} removes {fields}, written with {enumerated(owners)}: the program does "
                f"not declare that. To keep it, declare it under {name('extra')} of the settings."
            )


def removed(resource: Resource, live_object: Mapping[str, Any], trial: Trial) -> list[Path]:
    """Return the paths of a live object that its update removes: a user's, not declared, and no default."""
    if resource.kind == kinds.SECRET.kind:
        return []
    mine = field_owners.owned(live_object)
    declared = recorded_inputs.without_secrets({"kind": resource.kind, **resource.inputs}, live_object)
    body, unchanged = (recorded_inputs.updated(live_object, declared, part) for part in (mine, {}))
    if body == unchanged and not [*field_owners.items_lost(live_object, declared, mine)]:
        return []
    after = trial(body) or {}
    fields = [path for path in _leaves(unchanged) if not _at(body, path) and not _at(after, path)]
    return [*fields, *field_owners.items_lost(live_object, after, mine)]


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif path and path[-1] not in recorded_inputs.BOOKKEEPING:
        yield path


def _at(value: Any, path: tuple[str, ...]) -> bool:
    for part in path:
        if not isinstance(value, Mapping) or part not in value:
            return False
        value = value[part]
    return True
