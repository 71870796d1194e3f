"""The Spectrum Scale driver verifies the certificate of the GUI to which it sends its password."""

from collections.abc import Iterator, Mapping
from itertools import islice

from core.apis.kinds import CSI_SCALE_OPERATOR
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Unknown, brief
from policies.rule import Parameters, Rule

_MOST = 20


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    return islice(_clusters(subject), _MOST)


def _clusters(subject: Obj) -> Iterator[Violation]:
    for index, cluster in enumerate(subject.entries("spec", "clusters")):
        place = ("spec", "clusters", index)
        name = brief(cluster.get("id") if isinstance(cluster, Mapping) else index)
        secure = subject.read(*place, "secureSslMode")
        if secure is not True and not isinstance(secure, Unknown):
            problem = (
                "is false"
                if secure is False
                else "is not set, which is false"
                if secure is None
                else "is not a boolean"
            )
            yield subject.violation(f"secureSslMode of cluster {name} {problem}", *place, "secureSslMode")
        elif secure is True and not subject.read(*place, "cacert"):
            yield subject.violation(f"cluster {name} has secureSslMode and no cacert to verify with", *place, "cacert")


SCALE_GUI_TLS = Rule(
    name="scale-gui-tls",
    what="Each cluster of a CSIScaleOperator has secureSslMode: true and names the ConfigMap with its CA (cacert).",
    why="Without secureSslMode the driver sends the GUI's user and password to whoever answers. With it but without "
    "cacert the driver does not start (CA certificate not specified in secure SSL mode for cluster).",
    remedy="Put the CA of the GUI's certificate into a ConfigMap, name it in cacert, and set secureSslMode: true",
    source="R-3.4.5-6, E-22, P-10",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(CSI_SCALE_OPERATOR,),
)
