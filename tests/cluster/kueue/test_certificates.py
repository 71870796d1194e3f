"""The real cert-manager: what it issues, refuses and waits for, and what Kueue has of it."""

import base64
from collections.abc import Sequence
from typing import Any

import pytest

from core.apis import kinds
from core.apis.kinds import Kind
from stacks.releases import RELEASES
from tests.cluster.kueue.site import TENANT, Site
from tests.support import platform
from toolkit.cli.status.platform_parts import parts
from toolkit.simulator.actors.api import VALIDATING_WEBHOOK_CONFIGURATION, ApiError

pytestmark = pytest.mark.cluster

Manifest = dict[str, Any]
OPERATOR = "openshift-kueue-operator"


def _certificate(name: str, **spec: Any) -> Manifest:
    asked = {"secretName": name, "dnsNames": [f"{name}.example.com"], "issuerRef": {"name": "own", "kind": "Issuer"}}
    return platform.obj(kinds.CERTIFICATE, name, TENANT, spec=asked | spec)


def _said(site: Site, name: str) -> list[str]:
    """Return what `./hpc status` says of a certificate, as an administrator whose namespaces are all of them."""

    def listed(kind: Kind) -> Sequence[Manifest]:
        try:
            return [*site.api.list(kind)["items"]]
        except ApiError as error:
            if not error.missing:
                raise
            return []

    found = parts(listed, listed, RELEASES["4.20"], "worker")
    return [part.state for part in found if (part.kind, part.name) == ("Certificate", f"{TENANT}/{name}")]


def test_a_certificate_is_issued(site: Site) -> None:
    """An issuer becomes Ready, and so does a certificate that names it, with a pair in its Secret."""
    site.api.apply(kinds.ISSUER, platform.obj(kinds.ISSUER, "own", TENANT, spec={"selfSigned": {}}))
    site.api.apply(kinds.CERTIFICATE, _certificate("served"))
    for kind, name in ((kinds.ISSUER, "own"), (kinds.CERTIFICATE, "served")):
        site.api.eventually(lambda k=kind, n=name: site.api.condition(k, n, TENANT, "Ready"))  # type: ignore[misc]
    data = site.api.get(kinds.SECRET, "served", TENANT)["data"]
    assert base64.b64decode(data["tls.crt"]).startswith(b"-----BEGIN CERTIFICATE-----")
    assert _said(site, "served") == []


def test_a_certificate_without_its_issuer_says_so(site: Site) -> None:
    """A certificate whose issuer is missing is not issued, and `./hpc status` has the words of cert-manager."""
    body = _certificate("lost", issuerRef={"name": "absent", "kind": "Issuer"})
    site.api.apply(kinds.CERTIFICATE, body)
    why = 'Referenced "Issuer" not found: issuer.cert-manager.io "absent" not found'
    site.api.eventually(lambda: _said(site, "lost") == [why])
    site.api.delete(kinds.CERTIFICATE, "lost", TENANT)


def test_what_its_webhook_refuses_is_refused(site: Site) -> None:
    """A certificate for nothing is refused by cert-manager's own validation, not by its definition."""
    with pytest.raises(ApiError, match="at least one of"):
        site.api.create(kinds.CERTIFICATE, _certificate("empty", dnsNames=[]), TENANT)


def test_kueue_waits_for_its_certificate(site: Site) -> None:
    """The certificate that Kueue's operator asks for is issued, and cert-manager's own webhook has its CA injected."""
    assert site.api.condition(kinds.CERTIFICATE, "webhook-cert", OPERATOR, "Ready")
    issued = site.api.get(kinds.SECRET, "cert-manager-webhook-ca", "cert-manager")["data"]["tls.crt"]
    for kind in (kinds.MUTATING_WEBHOOK_CONFIGURATION, VALIDATING_WEBHOOK_CONFIGURATION):
        (hook,) = site.api.get(kind, "cert-manager-webhook")["webhooks"]
        assert hook["clientConfig"]["caBundle"] == issued
