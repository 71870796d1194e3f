"""Keys and certificates of one cluster, and of each of its identities a token and a kubeconfig, kept in its home.

Only the user is system:masters. What the others may do is what RBAC gives them: the built-in roles of the
controller-manager and the scheduler, and the table of toolkit.simulator.access.rbac for the rest.
"""

import csv
import datetime
import io
import ipaddress
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from core.files import write_atomically
from toolkit.simulator.access import rbac
from toolkit.simulator.api import kubeconfig_text
from toolkit.simulator.home import Layout

LIFETIME = datetime.timedelta(days=3650)
CLOCK_SKEW = datetime.timedelta(hours=1)
Usage = x509.ObjectIdentifier
USER = "kube:admin"


@dataclass(frozen=True)
class Pki:
    """Where the files are; all of them are readable by their owner only."""

    folder: Path

    @property
    def ca(self) -> Path:
        """Certificate that everything here is signed by."""
        return self.folder / "ca.crt"

    def certificate(self, name: str) -> Path:
        """Certificate called `name`: server, etcd or kubelet."""
        return self.folder / f"{name}.crt"

    def key(self, name: str) -> Path:
        """Private key called `name`: server, etcd, kubelet or service-account."""
        return self.folder / f"{name}.key"

    @property
    def tokens(self) -> Path:
        """The API server's static tokens."""
        return self.folder / "tokens.csv"

    @property
    def complete(self) -> bool:
        """True once everything is there: the CA's certificate is written last."""
        return self.ca.exists()


# etcd calls itself as a client of itself, and the API server uses the same certificate as its client.
CERTIFICATES: dict[str, tuple[Usage, ...]] = {
    "server": (ExtendedKeyUsageOID.SERVER_AUTH,),
    "etcd": (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH),
    "kubelet": (ExtendedKeyUsageOID.SERVER_AUTH,),
}


def create(folder: Path, cluster: str) -> Pki:
    """Make the keys and certificates of `cluster` in `folder`, unless they are there."""
    pki = Pki(folder)
    if pki.complete:
        return pki
    authority = Authority.create(f"hpc-sim-{cluster}-ca")
    for name, usages in CERTIFICATES.items():
        addresses = (x509.DNSName("localhost"), x509.IPAddress(ipaddress.IPv4Address("127.0.0.1")))
        certificate, key = authority.issue(f"hpc-sim-{cluster}-{name}", addresses, usages)
        write_atomically(pki.key(name), key)
        write_atomically(pki.certificate(name), certificate)
    write_atomically(pki.key("service-account"), _pem(rsa.generate_private_key(public_exponent=65537, key_size=2048)))
    write_atomically(pki.ca, authority.certificate)
    return pki


@dataclass(frozen=True)
class Authority:
    """A certificate authority: its key, and its certificate in PEM."""

    private_key: ec.EllipticCurvePrivateKey
    certificate: bytes

    @classmethod
    def create(cls, name: str) -> "Authority":
        """Make one."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = (
            _builder(_name(name), _name(name), key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(key, hashes.SHA256())
        )
        return cls(key, made.public_bytes(serialization.Encoding.PEM))

    @classmethod
    def stored(cls, folder: Path, name: str) -> "Authority":
        """Return the one whose key and certificate are in `folder`; it is made, and stored, at the first call."""
        certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
        if not certificate.exists():
            made = cls.create(f"hpc-sim-{name}")
            write_atomically(key, _pem(made.private_key))
            write_atomically(certificate, made.certificate)
        private_key = serialization.load_pem_private_key(key.read_bytes(), None)
        assert isinstance(private_key, ec.EllipticCurvePrivateKey)  # noqa: S101 - it was written above
        return cls(private_key, certificate.read_bytes())

    def issue(
        self,
        common_name: str,
        addresses: Iterable[x509.GeneralName],
        usages: Iterable[Usage] = (ExtendedKeyUsageOID.SERVER_AUTH,),
    ) -> tuple[bytes, bytes]:
        """Return a certificate that serves `addresses`, and its key, both in PEM."""
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = x509.load_pem_x509_certificate(self.certificate).subject
        made = (
            _builder(_name(common_name), issuer, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
            .add_extension(x509.SubjectAlternativeName(addresses), critical=False)
            .sign(self.private_key, hashes.SHA256())
        )
        return made.public_bytes(serialization.Encoding.PEM), _pem(key)


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + LIFETIME)
    )


def _pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    # The API server reads keys in the traditional form; PKCS8 would do for it too, etcd takes either.
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


@dataclass(frozen=True)
class Identity:
    """A user of the API server; `file` is the name of its kubeconfig below identities/."""

    file: str
    user: str
    groups: tuple[str, ...] = ()


ADMIN = Identity("admin", USER, ("system:masters",))
IDENTITIES = (
    Identity("kube-controller-manager", "system:kube-controller-manager"),
    Identity("kube-scheduler", "system:kube-scheduler"),
    *(Identity(subject.name, subject.user, subject.groups) for subject in rbac.IDENTITIES),
)


def tokens(pki: Pki) -> dict[str, str]:
    """Return the token of every user; those that are missing from the file are created and added to it."""
    stored = _tokens_in(pki.tokens)
    identities = (ADMIN, *IDENTITIES)
    token_of_user = {identity.user: stored.get(identity.user) or secrets.token_urlsafe(32) for identity in identities}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for identity in identities:
        groups = ",".join(identity.groups)
        writer.writerow([token_of_user[identity.user], identity.user, identity.user, *([groups] if groups else [])])
    if not pki.tokens.exists() or pki.tokens.read_text() != text.getvalue():
        write_atomically(pki.tokens, text.getvalue())
    return token_of_user


def _tokens_in(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row[1]: row[0] for row in csv.reader(file) if len(row) > 1}


def write_kubeconfigs(layout: Layout, pki: Pki, *, cluster: str, server: str) -> dict[str, str]:
    """Write the kubeconfig of every identity that lacks an up-to-date one; return all tokens by user."""
    ca = pki.ca.read_bytes()
    secret = tokens(pki)
    files = {layout.kubeconfig: ADMIN, **{layout.identity(identity.file): identity for identity in IDENTITIES}}
    for path, identity in files.items():
        text = kubeconfig_text(cluster=cluster, server=server, ca=ca, user=identity.user, token=secret[identity.user])
        if not path.exists() or path.read_text() != text:
            write_atomically(path, text)
    return secret
