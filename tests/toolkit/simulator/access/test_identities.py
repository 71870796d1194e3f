"""Keys, certificates, tokens and kubeconfigs of a cluster."""

import base64
import datetime
from pathlib import Path

import yaml
from cryptography import x509

from toolkit.simulator.access import pki, rbac
from toolkit.simulator.access.accounts import create, read
from toolkit.simulator.access.pki import IDENTITIES, write_kubeconfigs
from toolkit.simulator.bootstrap import openshift
from toolkit.simulator.home import Layout


def test_pki_is_made_once_and_lasts(tmp_path: Path) -> None:
    """Certificates outlive the cluster and are valid for 127.0.0.1."""
    made = pki.create(tmp_path, "default")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert pki.create(tmp_path, "default") == made
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    authority = x509.load_pem_x509_certificate(made.ca.read_bytes())
    server = x509.load_pem_x509_certificate(made.certificate("server").read_bytes())
    server.verify_directly_issued_by(authority)
    names = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(address) for address in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    left = server.not_valid_after_utc - datetime.datetime.now(datetime.UTC)
    assert left > datetime.timedelta(days=3600)


def test_kubeconfigs_and_tokens(tmp_path: Path) -> None:
    """Every identity has a kubeconfig of its own, and only the user is system:masters."""
    layout = Layout(tmp_path)
    made = pki.create(layout.pki, "lab")
    secret = write_kubeconfigs(layout, made, cluster="lab", server="https://127.0.0.1:6443")
    assert len(set(secret.values())) == len(secret) == len(IDENTITIES) + 1
    user = yaml.safe_load(layout.kubeconfig.read_text())
    assert user["current-context"] == "hpc-sim-lab"
    assert user["users"] == [{"name": "kube:admin", "user": {"token": secret["kube:admin"]}}]
    cluster = user["clusters"][0]["cluster"]
    assert cluster["server"] == "https://127.0.0.1:6443"
    assert base64.b64decode(cluster["certificate-authority-data"]) == made.ca.read_bytes()
    kubelet = yaml.safe_load(layout.identity("kubelet").read_text())
    assert kubelet["users"][0]["name"] == rbac.KUBELET.user
    masters = [line for line in made.tokens.read_text().splitlines() if "system:masters" in line]
    assert [line.split(",")[1] for line in masters] == ["kube:admin"]
    again = write_kubeconfigs(layout, made, cluster="lab", server="https://127.0.0.1:6443")
    assert again == secret


def test_no_identity_has_everything() -> None:
    """No role of an identity grants everything, but OLM's, which has to grant what any operator asks for."""
    for manifest in rbac.manifests():
        if manifest["metadata"]["name"] == rbac.OLM.role:
            continue
        for rule in manifest.get("rules", ()):
            assert "*" not in (*rule["apiGroups"], *rule["resources"], *rule["verbs"]), manifest["metadata"]["name"]


def test_namespaces_of_accounts_exist() -> None:
    """The bootstrap creates the namespaces of its service accounts."""
    made = {manifest["metadata"]["name"] for manifest in openshift.namespaces()}
    requested = {manifest["metadata"].get("namespace") for manifest in rbac.manifests()} - {None}
    assert requested <= made


def test_an_account_is_made_once(tmp_path: Path) -> None:
    """The file is for its owner only, and gives the same account again; no password is printed."""
    file = tmp_path / "account.json"
    assert read(file) is None
    made = create(file)
    assert create(file) == read(file) == made
    assert file.stat().st_mode & 0o077 == 0
    assert made.password not in repr(made)
