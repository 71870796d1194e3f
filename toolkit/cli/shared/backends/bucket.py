"""Objects in a bucket of an S3-compatible service: AWS, OpenShift Data Foundation, MinIO, Ceph, ..."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from toolkit.cli.shared.backends.bucket_urls import Location, parse
from toolkit.cli.shared.backends.store import Version
from toolkit.cli.shared.errors import Problem

_CONNECT, _READ = 5, 30  # seconds
_ATTEMPTS = 4
"""With botocore's standard pauses an absent service is reported within half a minute."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
ABSENT = {"NoSuchKey", "404", "NotFound", "NoSuchVersion"}
UNKNOWN_CALLS = {"NotImplemented", "MalformedXML", "MethodNotAllowed", "NotSupported", "XNotImplemented"}
"""How services answer a call that they do not know."""
_DENIED = {"AccessDenied", "403", "Forbidden", "AllAccessDisabled"}
_KEYS = {"InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "TokenRefreshRequired"}


@dataclass(frozen=True)
class BucketStore:
    """The part of a bucket that is a backend's; every method raises Problem where the service cannot be reached."""

    location: Location
    client: Any = field(repr=False, compare=False)

    def read(self, key: str) -> bytes | None:
        """Return the content of an object; None where there is none."""
        return self._get(key)

    def read_version(self, key: str, version: str) -> bytes | None:
        """Return the content of an object as it once was; None where that version is gone."""
        return self._get(key, VersionId=version)

    def modified(self, key: str) -> float | None:
        """Return when an object was written, in seconds since 1970; None where there is none."""
        with self.asking():
            return float(self.client.head_object(**self._object(key))["LastModified"].timestamp())
        return None

    def keys(self, prefix: str) -> list[str]:
        """Return all keys that begin with a prefix, sorted; there may be more than fit into one answer."""
        begin = len(self.location.prefix)
        with self.asking():
            pages = self.client.get_paginator("list_objects_v2").paginate(
                Bucket=self.location.bucket, Prefix=f"{self.location.prefix}{prefix}"
            )
            return sorted(item["Key"][begin:] for page in pages for item in page.get("Contents", ()))
        return []

    def versions(self, key: str) -> tuple[Version, ...]:
        """Return all that is stored of an object, newest first; nothing where the service stores no versions."""
        versions = []
        with self.asking():
            pages = self.client.get_paginator("list_object_versions").paginate(
                Bucket=self.location.bucket, Prefix=f"{self.location.prefix}{key}"
            )
            for page in pages:
                for kind in ("Versions", "DeleteMarkers"):
                    versions += [
                        Version(
                            id=item["VersionId"],
                            modified=item["LastModified"].timestamp(),
                            size=item.get("Size", 0),
                            latest=item["IsLatest"],
                            removed=kind == "DeleteMarkers",
                        )
                        for item in page.get(kind, ())
                        if item["Key"] == f"{self.location.prefix}{key}"
                    ]
        return tuple(sorted(versions, key=lambda version: (version.latest, version.modified), reverse=True))

    def write(self, key: str, content: bytes) -> None:
        """Write an object whole, with the encryption that the backend's URL asks for."""
        with self.asking():
            self.client.put_object(**self._object(key), Body=content, **self.location.encryption)

    def remove(self, key: str) -> None:
        """Remove an object; nothing happens where there is none, and where versions are stored it stays as one."""
        with self.asking():
            self.client.delete_object(**self._object(key))

    def where(self, key: str) -> str:
        """Name an object for users."""
        return f"s3://{self.location.bucket}/{self.location.prefix}{key} of {self.location.where}"

    def _get(self, key: str, **version: str) -> bytes | None:
        with self.asking():
            answer = self.client.get_object(**self._object(key), **version)
            return bytes(answer["Body"].read())
        return None

    def _object(self, key: str) -> dict[str, str]:
        return {"Bucket": self.location.bucket, "Key": f"{self.location.prefix}{key}"}

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Turn errors of the service into Problems; the body simply ends where it asks for an object that is absent."""
        from botocore import exceptions  # noqa: PLC0415 - a tenth of a second that few commands need

        try:
            yield
        except exceptions.ClientError as error:
            if code_of(error) not in ABSENT:
                raise self._refused(code_of(error), str(error)) from None
        except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError):
            raise Problem(f"there are no keys for {self.location.where}", _HOW_KEYS) from None
        except exceptions.BotoCoreError as error:
            raise Problem(
                f"{self.location.where} cannot be queried for bucket {self.location.bucket}: {error}",
                "Check the endpoint in the backend's URL, the network to it, and its certificate (AWS_CA_BUNDLE names "
                "a file of authorities that boto3 and the engine take).",
            ) from None

    def _refused(self, code: str, text: str) -> Problem:
        bucket, where = self.location.bucket, self.location.where
        if code == "NoSuchBucket":
            remedy = "`./hpc state init --stack STACK` makes it, and the stack in it."
            return Problem(f"there is no bucket {bucket} on {where}", remedy)
        if code in _KEYS:
            return Problem(f"{where} does not take the keys ({code})", _HOW_KEYS)
        if code in _DENIED:
            return Problem(
                f"the keys have no right to do this with bucket {bucket} on {where} ({text})",
                "The state needs s3:ListBucket, GetObject, PutObject and DeleteObject on the bucket and what is in it.",
            )
        return Problem(f"{where} refused a request for bucket {bucket}: {text}")


_HOW_KEYS = (
    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN where they are temporary), or AWS_PROFILE, "
    "or name a profile in the backend's URL: `profile=NAME`."
)


def code_of(error: Any) -> str:
    """Return the code of a botocore ClientError, e.g. `NoSuchBucket`."""
    return str(error.response.get("Error", {}).get("Code", ""))


def open_bucket(url: str, environment: Mapping[str, str] = os.environ) -> BucketStore:
    """Return the store behind an s3:// URL; no request is sent yet.

    Keys and region in `environment` go before those of this process, so that it finds what the engine finds there.
    """
    from boto3.session import Session  # noqa: PLC0415 - a quarter of a second that few commands need
    from botocore import UNSIGNED  # noqa: PLC0415
    from botocore.config import Config  # noqa: PLC0415
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415
    from botocore.session import get_session  # noqa: PLC0415

    location = parse(url)
    region = location.region or environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    keys = {name: environment[variable] for name, variable in _VARIABLES.items() if environment.get(variable)}
    if location.profile or not set(keys) >= _PAIR:
        keys = {}  # whatever else there is: a profile, a role of the machine
    config = Config(
        connect_timeout=_CONNECT,
        read_timeout=_READ,
        retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
        s3={"addressing_style": "path" if location.path_style else "virtual"},
        # The engine, as all of Go, asks no proxy for this machine; botocore would.
        **({"proxies": {}} if urlsplit(location.endpoint).hostname in _LOOPBACK else {}),
        **({"signature_version": UNSIGNED} if location.anonymous else {}),
        **{**_checksums(location, environment), **location.options},
    )
    try:
        core = get_session()
        core.register_component("data_loader", _loader())
        session = Session(
            botocore_session=core, profile_name=location.profile or None, region_name=region or None, **keys
        )
        if location.role:
            session = _assume(Session, session, location.role)
        client = session.client("s3", endpoint_url=location.endpoint or None, use_ssl=location.https, config=config)
    except BotoCoreError as error:
        raise Problem(f"{url}: {error}", _HOW_KEYS) from None
    except ValueError as error:
        raise Problem(f"{url}: {error}", "Write the endpoint as https://HOST:PORT.") from None
    return BucketStore(location, client)


def _checksums(location: Location, environment: Mapping[str, str]) -> dict[str, str]:
    """Return when requests carry checksums, as the engine chooses: some services other than AWS refuse those of AWS."""
    chosen = environment.get(_CHECKSUMS) or os.environ.get(_CHECKSUMS)
    if chosen or not location.endpoint:
        return {"request_checksum_calculation": chosen.lower()} if chosen else {}
    return {"request_checksum_calculation": "when_required"}


@cache
def _loader() -> Any:
    """Return what reads the descriptions of services: megabytes, and once is enough."""
    from botocore.loaders import create_loader  # noqa: PLC0415

    return create_loader()


_CHECKSUMS = "AWS_REQUEST_CHECKSUM_CALCULATION"
_VARIABLES = {
    "aws_access_key_id": "AWS_ACCESS_KEY_ID",
    "aws_secret_access_key": "AWS_SECRET_ACCESS_KEY",
    "aws_session_token": "AWS_SESSION_TOKEN",
}
_PAIR = {"aws_access_key_id", "aws_secret_access_key"}


def _assume(session_class: Any, session: Any, role: str) -> Any:
    from botocore.exceptions import ClientError  # noqa: PLC0415

    try:
        answer = session.client("sts").assume_role(RoleArn=role, RoleSessionName="hpc")
    except ClientError as error:
        raise Problem(f"role {role} cannot be taken: {error}", _HOW_KEYS) from None
    keys = answer["Credentials"]
    return session_class(
        aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"],
        aws_session_token=keys["SessionToken"],
        region_name=session.region_name,
    )
