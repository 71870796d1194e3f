"""s3:// URLs mean to us what they mean to the engine."""

import pytest

from toolkit.cli.shared.backends.bucket_urls import Location, parse
from toolkit.cli.shared.errors import Problem

_KMS = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "k"}


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("s3://state", Location("state")),
        ("s3://state/team/a?region=eu-central-1", Location("state", "team/a/", region="eu-central-1")),
        ("s3://state/a/?profile=ci", Location("state", "a/", profile="ci")),
        (
            "s3://state?endpoint=http://127.0.0.1:9000&s3ForcePathStyle=true&region=us-east-1",
            Location("state", endpoint="http://127.0.0.1:9000", region="us-east-1", path_style=True, https=False),
        ),
        (
            "s3://state?endpoint=minio:9000&disableSSL=true&use_path_style=1",
            Location("state", endpoint="http://minio:9000", path_style=True, https=False),
        ),
        ("s3://state?endpoint=minio:9000", Location("state", endpoint="https://minio:9000")),
        ("s3://state?endpoint=https://odf:443&disableSSL=true", Location("state", endpoint="https://odf:443")),
        ("s3://state?disable_https=true", Location("state", https=False)),
        (
            "s3://state?endpoint=https://a&hostname_immutable=true&awssdk=v2",
            Location("state", endpoint="https://a", path_style=True),
        ),
        ("s3://state?ssetype=AWS:KMS&kmskeyid=k", Location("state", encryption=_KMS)),
        (
            "s3://state?request_checksum_calculation=When_Required&fips=true&anonymous=true",
            Location(
                "state",
                anonymous=True,
                options={"use_fips_endpoint": True, "request_checksum_calculation": "when_required"},
            ),
        ),
    ],
)
def test_urls(url: str, meant: Location) -> None:
    """A URL means the same bucket, folder and service as for the engine."""
    assert parse(url) == meant


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("s3://", "names no bucket"),
        ("gs://state", "names no bucket"),
        ("s3://minio:9000/state", "only the name of a bucket follows"),
        ("s3://key:secret@state", "only the name of a bucket follows"),
        ("s3://state?endpont=http://a", "no parameter endpont.*\nKnown: .*endpoint"),
        ("s3://state?s3ForcePathStyle=yes", "s3ForcePathStyle=yes .* neither true nor false"),
        ("s3://state?ssetype=rot13", "ssetype=rot13"),
    ],
)
def test_wrong_urls(url: str, message: str) -> None:
    """A wrong URL is refused with a message that has no keys of it."""
    with pytest.raises(Problem, match=message) as caught:
        parse(url)
    assert "secret@" not in str(caught.value)
