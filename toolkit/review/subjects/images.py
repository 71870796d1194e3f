"""Images of pods and builds that change, whether they are pinned by digest, and builds that run."""

from collections import defaultdict
from collections.abc import Mapping

from core.apis.kinds import BUILD_CONFIG
from core.wording import plural
from policies.manifests.values import entries, read
from policies.views.images import parse
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import UNKNOWN, Change, Op, Resource
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import name, title


def find(indexed: IndexedReview) -> Section | None:
    """Report which images change, each with what runs them."""
    users_by_change: Mapping[tuple[str, str], set[str]] = defaultdict(set)
    for change in indexed.review.changed:
        if not change.resource.is_object or change.after is None:
            continue
        for pair in _pairs(change, indexed):
            users_by_change[pair].add(title(change.resource))
    if any(not old for old, _ in users_by_change):
        existing = {image for resource in indexed.before.objects for image in images(resource, indexed).values()}
        users_by_change = {pair: users for pair, users in users_by_change.items() if pair[0] or pair[1] not in existing}
    lines = [_line(old, new, sorted(users)) for (old, new), users in sorted(users_by_change.items())]
    return section("Images", lines)


def images(resource: Resource, indexed: IndexedReview) -> Mapping[str, str]:
    """Return the images of an object, by container."""
    if resource.is_patch:
        return {}
    if resource.kind == BUILD_CONFIG.kind:
        strategy = read(resource.inputs, "spec", "strategy", "dockerStrategy", "from", "name")
        return {"base": strategy} if isinstance(strategy, str) else {}
    references = {}
    for pod in indexed.view(resource).pods:
        for container in pod.containers:
            image = container.text("image")
            if image and image != UNKNOWN:
                references[f"{pod.role}/{container.group}/{container.name}"] = image
    return references


def _pairs(change: Change, indexed: IndexedReview) -> set[tuple[str, str]]:
    before = images(change.before, indexed) if change.before else {}
    after = images(change.after, indexed) if change.after else {}
    return {(before.get(place, ""), image) for place, image in after.items() if before.get(place) != image}


def _line(was: str, will: str, users: list[str]) -> Line:
    new, old = parse(will), parse(was) if was else None
    if old is None:
        text = f"{name(will)} is new"
    elif old.home == new.home:
        text = f"{name(new.path)}: {name(_version(will))} (was {name(_version(was))})"
    else:
        text = f"{name(will)} (was {name(was)})"
    lost = old is not None and bool(old.digest) and not new.digest
    pinned = "pinned by digest" if new.digest else "no longer pinned by digest" if lost else "not pinned by digest"
    by = users[0] if len(users) == 1 else plural(len(users), "object")
    return Line(f"{text}, {pinned}, for {by}", tuple(users) if len(users) > 1 else (), alarm=lost)


def _version(reference: str) -> str:
    image = parse(reference)
    return image.digest or image.tag or "latest"


def find_builds(indexed: IndexedReview) -> Section | None:
    """Report which builds run."""
    if indexed.review.drift:
        return None
    lines = [line for change in indexed.changed(BUILD_CONFIG) if (line := _build(change)) is not None]
    return section("Image builds", lines)


def _build(change: Change) -> Line | None:
    before, after = (resource.inputs if resource else {} for resource in (change.before, change.after))
    where = read(after, "spec", "output", "to", "name") or read(before, "spec", "output", "to", "name")
    text = f"{title(change.resource)}{f', which makes {name(where)},' if where else ''}"
    if change.op is Op.DELETE:
        return Line(f"{text} is deleted; images that it made stay while their ImageStream does")
    if change.op in (Op.CREATE, Op.REPLACE):
        at_once = any(read(trigger, "type") == "ConfigChange" for trigger in entries(after, "spec", "triggers"))
        again = " again" if change.op is Op.REPLACE else ""
        return Line(f"{text} runs{again} at once" if at_once else f"{text} waits until it is started manually")
    if change.op is Op.UPDATE and read(before, "spec") != read(after, "spec"):
        return Line(f"{text} changes: the next build uses it, and OpenShift starts none by itself")
    return None
