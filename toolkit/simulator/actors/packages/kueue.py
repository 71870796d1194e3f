"""Red Hat's build of Kueue, whose manager is the real one, and cert-manager, which its operator waits for."""

from core.apis import kinds
from core.apis.kinds import Kind
from core.apis.names import SIMULATED
from toolkit.simulator.actors import images
from toolkit.simulator.actors.kueue import OPERATOR_RULES, KueueManager, KueueOperator
from toolkit.simulator.actors.package import COMMON, TEXT, Bundle, Definition, Package, list_of, operates, structure
from toolkit.simulator.actors.podactor import PodActor


class CertManagerOperator(PodActor):
    """Prints what it is. Certificates are not simulated: nothing reads one."""

    def start(self) -> None:
        """Do nothing else."""
        self.log_line(f"{SIMULATED}: the kinds of cert-manager.io are served, and no certificate is made")


_NAMESPACED = (("Issuer", "issuers"), ("Certificate", "certificates"), ("CertificateRequest", "certificaterequests"))
CERTIFICATES = (
    *(Kind("cert-manager.io", "v1", kind, plural) for kind, plural in _NAMESPACED),
    Kind("cert-manager.io", "v1", "ClusterIssuer", "clusterissuers", "Cluster"),
)
CERT_MANAGER = Bundle(
    versions=("cert-manager-operator.v1.18.0",),
    definitions=tuple(Definition(kind, structure()) for kind in CERTIFICATES),
    account="cert-manager-operator-controller-manager",
    rules=(*COMMON, *operates(*CERTIFICATES)),
    image="registry.redhat.io/cert-manager/cert-manager-operator-rhel9:v1.18.0",
)
_CONFIG = structure({"integrations": structure({"frameworks": list_of(TEXT)}, "frameworks")}, "integrations")
KUEUE = Bundle(
    versions=("kueue-operator.v1.3.0",),
    definitions=(Definition(kinds.KUEUE, structure({"managementState": TEXT, "config": _CONFIG}, "config")),),
    account="openshift-kueue-operator",
    rules=(*COMMON, *operates(kinds.KUEUE), *OPERATOR_RULES),
    image="registry.redhat.io/kueue/kueue-operator-rhel9:v1.3.0",
    modes=frozenset({"AllNamespaces"}),
)

PACKAGES = (
    Package(
        name="openshift-cert-manager-operator",
        title="cert-manager Operator for Red Hat OpenShift",
        sources=("redhat-operators",),
        channels={"stable-v1": CERT_MANAGER},
    ),
    Package(
        name="kueue-operator",
        title="Red Hat build of Kueue",
        sources=("redhat-operators",),
        channels={"stable-v1.3": KUEUE},
    ),
)
ACTORS = (
    (images.CERTIFICATE_OPERATORS, "", CertManagerOperator),
    (images.KUEUE_OPERATORS, "", KueueOperator),
    (images.KUEUE_MANAGERS, "/manager", KueueManager),
)
