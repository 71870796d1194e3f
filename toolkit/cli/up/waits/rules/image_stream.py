"""ImageStreams that are waited for until a tag has an image: its state is that of the newest build that fills it."""

from core.apis import kinds, names
from policies.values import read
from toolkit.cli.shared import metadata
from toolkit.cli.up.waits import builds
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, failing, waiting


def judge(obj: Object, look: Look) -> Verdict:
    """Return how far the build of the awaited tag is."""
    filled = {str(one.get("tag")) for one in read(obj, "status", "tags") or () if one.get("items")}
    wanted = metadata.annotations(obj).get(names.AWAITED)
    if wanted is None:
        return DONE if filled else waiting("no image has come yet")
    if wanted in filled:
        return DONE
    build = builds.latest(metadata.namespace(obj), metadata.name(obj), wanted, look)
    if build is not None:
        found = builds.judge(build, look)
        return found.about(f"Build {metadata.name(build)}") if found.state != "done" else waiting("its build is done")
    start = f"oc -n {metadata.namespace(obj)} start-build {metadata.name(obj)}"
    return failing(f"no build of tag {wanted} has started: `{start}`", wanted)


RULE = Rule(kinds.IMAGE_STREAM.group, (kinds.IMAGE_STREAM.kind,), judge)
