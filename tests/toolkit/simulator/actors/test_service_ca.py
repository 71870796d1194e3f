"""What OpenShift's service CA makes of annotations."""

import base64
from pathlib import Path
from typing import Any

from cryptography import x509

from core.apis import names
from toolkit.simulator.access.pki import Authority
from toolkit.simulator.actors.service_ca import serving, without_ca

SERVICE: dict[str, Any] = {
    "metadata": {
        "name": "manager",
        "namespace": "kubeflow-system",
        "uid": "1",
        "annotations": {names.SERVING_CERTIFICATES: "pair"},
    }
}


def test_an_annotated_service_gets_a_pair_for_its_names(tmp_path: Path) -> None:
    """The certificate is for the Service's names and of the CA, which is the same at the cluster's next start."""
    authority = Authority.stored(tmp_path, "service-ca")
    secret = serving(SERVICE, authority)
    assert (secret["metadata"]["name"], secret["metadata"]["namespace"]) == ("pair", "kubeflow-system")
    certificate = x509.load_pem_x509_certificate(base64.b64decode(secret["data"]["tls.crt"]))
    again = Authority.stored(tmp_path, "service-ca")
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(again.certificate))
    found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    host = "manager.kubeflow-system.svc"
    assert found.get_values_for_type(x509.DNSName) == [host, f"{host}.cluster.local"]


def test_annotated_webhooks_get_the_ca_once() -> None:
    """Each webhook of a configuration gets it; without the annotation, or with the CA, nothing is written."""
    hook = {"name": "one", "clientConfig": {"service": {"name": "manager"}}}
    marked: dict[str, Any] = {"metadata": {"annotations": {names.INJECT_CA: "true"}}, "webhooks": [hook]}
    bundle = base64.b64encode(b"ca").decode()
    assert without_ca(marked, b"ca") == [{"name": "one", "clientConfig": {"caBundle": bundle}}]
    assert without_ca({"metadata": {}, "webhooks": [hook]}, b"ca") == []
    assert without_ca({**marked, "webhooks": without_ca(marked, b"ca")}, b"ca") == []
