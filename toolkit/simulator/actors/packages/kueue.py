"""Red Hat's build of Kueue, whose manager is the real one."""

from dataclasses import replace

from core.apis import kinds
from toolkit.simulator.actors import images
from toolkit.simulator.actors.kueue import OPERATOR_RULES, KueueManager, KueueOperator
from toolkit.simulator.actors.package import COMMON, TEXT, Bundle, Definition, Package, list_of, operates, structure

_CONFIG = structure({"integrations": structure({"frameworks": list_of(TEXT)}, "frameworks")}, "integrations")
KUEUE = Bundle(
    versions=("kueue-operator.v1.3.0",),
    definitions=(Definition(kinds.KUEUE, structure({"managementState": TEXT, "config": _CONFIG}, "config")),),
    account="openshift-kueue-operator",
    rules=(*COMMON, *operates(kinds.KUEUE), *OPERATOR_RULES),
    image="registry.redhat.io/kueue/kueue-operator-rhel9:v1.3.0",
    modes=frozenset({"AllNamespaces"}),
)

COUNTING_CLAIMS = replace(
    KUEUE,
    versions=("kueue-operator.v1.4.0",),
    image="registry.redhat.io/kueue/kueue-operator-rhel9:v1.4.0",
)

PACKAGES = (
    Package(
        name="kueue-operator",
        title="Red Hat build of Kueue",
        sources=("redhat-operators",),
        # Both have the same manager here: the one Kueue that is built.
        channels={"stable-v1.4": COUNTING_CLAIMS, "stable-v1.3": KUEUE},
    ),
)
ACTORS = (
    (images.KUEUE_OPERATORS, "", KueueOperator),
    (images.KUEUE_MANAGERS, "/manager", KueueManager),
)
