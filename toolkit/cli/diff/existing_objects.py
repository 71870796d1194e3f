"""Which objects that an update would create are on the cluster already: it would fail at them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from core.apis import kinds
from core.wording import plural
from toolkit.cli.shared.cluster_client import RefusedError
from toolkit.cli.shared.errors import Problem
from toolkit.review.model import Op, Resource, Review
from toolkit.review.sentences import enumerated, name, title

Live = Callable[[str, str, str, str], Mapping[str, Any] | None]
"""Given apiVersion, kind, namespace and name: the object on the cluster, or None."""
_SHOWN = 3


def caution(review: Review, live: Live, options: str) -> Iterator[str]:
    """Yield a sentence where there are any; `options` name the stack on a command line.

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
