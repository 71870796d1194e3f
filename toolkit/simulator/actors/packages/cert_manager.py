"""Red Hat's operator for cert-manager, with the real cert-manager; issuers of ACME, Vault and Venafi are left out."""

from core.apis.operators import OPERATORS
from toolkit.simulator.actors import images
from toolkit.simulator.actors.cert_manager import (
    COMMANDS,
    OPERATOR_RULES,
    RESOURCE,
    CaInjector,
    CertManager,
    CertManagerOperator,
    CertManagerWebhook,
)
from toolkit.simulator.actors.package import COMMON, TEXT, Bundle, Definition, Package, operates, structure

BUNDLE = Bundle(
    versions=("cert-manager-operator.v1.18.0",),
    definitions=(Definition(RESOURCE, structure({"managementState": TEXT})),),
    account="cert-manager-operator-controller-manager",
    rules=(*COMMON, *operates(RESOURCE), *OPERATOR_RULES),
    image="registry.redhat.io/cert-manager/cert-manager-operator-rhel9:v1.18.0",
)
PACKAGES = (
    Package(
        name=OPERATORS["cert_manager"].package,
        title="cert-manager Operator for Red Hat OpenShift",
        sources=("redhat-operators",),
        channels={"stable-v1": BUNDLE},
    ),
)
ACTORS = (
    (images.CERTIFICATE_OPERATORS, "", CertManagerOperator),
    (images.CERT_MANAGERS, COMMANDS["controller"], CertManager),
    (images.CERT_MANAGERS, COMMANDS["webhook"], CertManagerWebhook),
    (images.CERT_MANAGERS, COMMANDS["cainjector"], CaInjector),
)
