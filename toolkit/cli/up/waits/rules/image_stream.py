"""ImageStreams that are waited for until a tag has an image: its state is that of the newest build that fills it."""

from core.apis import kinds, names
from policies.manifests.values import read
from toolkit.cli.shared import metadata
from toolkit.cli.up.waits import builds
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, failing, waiting


def judge(obj: Object, look: Look) -> Verdict:
    """Return how far the build of the awaited tag is."""
    filled = {str(tag.get("tag")) for tag in read(obj, "status", "tags") or () if tag.get("items")}
    awaited = metadata.annotations(obj).get(names.AWAITED)
    if awaited is None:
        return DONE if filled else waiting("no image has come yet")
    if awaited in filled:
        return DONE
    build = builds.latest(metadata.namespace(obj), metadata.name(obj), awaited, look)
    if build is not None:
        verdict = builds.judge(build, look)
        return (
            verdict.about(f"Build {metadata.name(build)}") if verdict.state != "done" else waiting("its build is done")
        )
    start = f"oc -n {metadata.namespace(obj)} start-build {metadata.name(obj)}"
    return failing(f"no build of tag {awaited} has started: `{start}`", awaited)


RULE = Rule(kinds.IMAGE_STREAM.group, (kinds.IMAGE_STREAM.kind,), judge)
