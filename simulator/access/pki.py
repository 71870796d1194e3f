"""Keys and certificates of one cluster, made once and kept in its home."""

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from simulator.files import write_atomically

LIFETIME = datetime.timedelta(days=3650)
CLOCK_SKEW = datetime.timedelta(hours=1)
Usage = x509.ObjectIdentifier


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
    authority_key = ec.generate_private_key(ec.SECP256R1())
    authority_name = _name(f"hpc-sim-{cluster}-ca")
    authority = (
        _builder(authority_name, authority_name, authority_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    for name, usages in CERTIFICATES.items():
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            _builder(_name(f"hpc-sim-{cluster}-{name}"), authority_name, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
            .add_extension(
                x509.SubjectAlternativeName(
                    [x509.DNSName("localhost"), x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))]
                ),
                critical=False,
            )
            .sign(authority_key, hashes.SHA256())
        )
        write_atomically(pki.key(name), _pem(key))
        write_atomically(pki.certificate(name), certificate.public_bytes(serialization.Encoding.PEM))
    write_atomically(pki.key("service-account"), _pem(rsa.generate_private_key(public_exponent=65537, key_size=2048)))
    write_atomically(pki.ca, authority.public_bytes(serialization.Encoding.PEM))
    return pki


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
