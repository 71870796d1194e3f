"""Who may ask the simulated object store: it must agree with the clients' own way of signing."""

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as Keys

from toolkit.simulator.access.accounts import Account
from toolkit.simulator.object_store.signatures import Request, refusal

ACCOUNT = Account("HPCSIM01", "secret/of+it")
TARGETS = (
    "/hpc?list-type=2&prefix=.pulumi%2Flocks%2F&delimiter=%2F&marker=",
    "/hpc/.pulumi/stacks/hpc/dev%20%C3%BC.json?versionId=a%2Bb",
    "/hpc?versioning",
    "/",
)


def signed(target: str, account: Account, method: str = "PUT") -> Request:
    """Return a request as botocore signs it."""
    headers = {"Content-Type": "text/plain", "x-amz-meta-a": "two  blanks", "Content-MD5": "x"}
    request = AWSRequest(method, f"http://127.0.0.1:2100{target}", headers=headers, data=b"content")
    request.context["signing"] = {"disableDoubleEncoding": True}
    S3SigV4Auth(Keys(account.user, account.password), "s3", "us-east-1").add_auth(request)
    sent = {name.lower(): str(value) for name, value in request.headers.items()}
    return Request(method, target, {"host": "127.0.0.1:2100", **sent})


@pytest.mark.parametrize("target", TARGETS)
def test_takes_what_a_client_signed(target: str) -> None:
    """Keys with blanks or slashes, and queries without a value, are accepted as signed."""
    assert refusal(signed(target, ACCOUNT), ACCOUNT) is None


@pytest.mark.parametrize(
    ("other", "code"),
    [
        (Account("HPCSIM01", "another"), "SignatureDoesNotMatch"),
        (Account("ANOTHER", "secret/of+it"), "InvalidAccessKeyId"),
    ],
)
def test_refuses_other_keys(other: Account, code: str) -> None:
    """Requests with other keys are refused."""
    assert refusal(signed("/hpc/a", other), ACCOUNT) == code


def test_refuses_what_is_not_signed_or_was_changed() -> None:
    """Requests without a signature, or with that of another request, are refused."""
    request = signed("/hpc/a", ACCOUNT)
    assert refusal(Request("PUT", "/hpc/a", {}), ACCOUNT) == "AccessDenied"
    assert refusal(Request("DELETE", request.target, request.headers), ACCOUNT) == "SignatureDoesNotMatch"
    assert refusal(Request("PUT", "/hpc/b", request.headers), ACCOUNT) == "SignatureDoesNotMatch"
