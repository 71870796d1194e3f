"""Which objects that an update would create are on the cluster already: it would fail at them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from core.apis import kinds
from core.wording import plural
from toolkit.cli.shared.cluster_client import RefusedError
from toolkit.cli.shared.errors import Problem
from toolkit.review.model import Op, Resource, Review
from toolkit.review.sentences import enumerated, name
from toolkit.review.titles import title

Live = Callable[[str, str, str, str], Mapping[str, Any] | None]
"""Given apiVersion, kind, namespace and name: the object on the cluster, or None."""
_SHOWN = 3


def caution(review: Review, live: Live, options: str) -> Iterator[str]:
    """Yield a sentence where there are any; `options` name the stack on a command line.

    Each object that is to be created is looked up on the cluster, except in namespaces that do not exist.
    """
    found = existing(review, live)
    if found:
        names = enumerated([title(each) for each in found], _SHOWN)
        yield (
            f"{plural(len(found), 'object')} of those to be created {'is' if len(found) == 1 else 'are'} on the "
            f"cluster already, and the update would fail there: {names}. {name(f'./hpc state adopt {options}')} shows "
            "how they differ, and adopts them."
        )


def existing(review: Review, live: Live) -> list[Resource]:
    """Return what is to be created and is on the cluster already, as far as the cluster shows it."""
    created = [change.resource for change in review.changed if change.op is Op.CREATE and change.resource.is_object]
    spaces = [each for each in created if each.kind == kinds.NAMESPACE.kind]
    found: list[Resource] = []
    absent: set[str] = set()
    for each in (*spaces, *(each for each in created if each.kind != kinds.NAMESPACE.kind)):
        if each.is_patch or each.namespace in absent:
            continue
        try:
            if live(each.api_version, each.kind, each.namespace, each.object_name) is not None:
                found.append(each)
            elif each.kind == kinds.NAMESPACE.kind:
                absent.add(each.object_name)
        except RefusedError:
            continue
        except Problem:
            break
    return found
