"""The simulated GUI of Storage Scale: accounts, jobs, lists, bad input, what is left by a crash."""

import json
from pathlib import Path

import pytest

from tests.support.scale_api import CLUSTER, Caller
from toolkit.simulator.scale_management.state import file_system_uid


@pytest.fixture
def caller(tmp_path: Path) -> Caller:
    """Give a service with two empty file systems."""
    return Caller(tmp_path / "state.json")


def test_only_its_account(caller: Caller) -> None:
    """Without the account, or with a wrong password, no path is answered."""
    for auth in (None, ("hpc", "guess")):
        for path in ("info", "nothing"):
            answer = caller.client.get(f"/scalemgmt/v2/{path}", auth=auth)
            assert (answer.status_code, (answer.json or {})["status"]["code"]) == (401, 401)


def test_a_job_runs_for_some_polls(caller: Caller) -> None:
    """A change is accepted with a RUNNING job without result; it stays so for the polls that are set."""
    submitted = caller.send("POST", "filesystems/fs1/filesets", {"filesetName": "a"}).json
    assert submitted is not None
    job = submitted["jobs"][0]
    assert (job["status"], job["completed"], job["result"]) == ("RUNNING", "N/A", {})
    seen = [caller.get(f"jobs/{job['jobId']}", fields=":all:")["jobs"][0] for _ in range(4)]
    assert [each["status"] for each in seen] == ["RUNNING", "RUNNING", "COMPLETED", "COMPLETED"]
    assert seen[-1]["result"]["commands"] == ["mmcrfileset 'fs1' 'a'"]
    assert caller.get(f"jobs/{job['jobId']}")["jobs"][0]["result"] == {}


def test_a_job_repeats_its_request_with_the_keys(caller: Caller) -> None:
    """As the real one: clients must delete them before they log."""
    body = {"bucket": "a2d2", "accessKey": "planted-access", "secretKey": "planted-secret", "server": "home"}
    assert caller.job("PUT", "bucket/keys", body)["request"]["data"] == body


def test_the_id_of_the_cluster_is_exact(caller: Caller) -> None:
    """It is a JSON number above 2^53 with all its digits."""
    for path in ("cluster", "config"):
        assert f'"clusterId": {CLUSTER}' in caller.send("GET", path).text


@pytest.mark.parametrize(
    ("method", "path", "body", "refusal"),
    [
        ("GET", "nothing", None, (404, "Not Found")),
        ("DELETE", "filesystems", None, (405, "Method Not Allowed")),
        ("GET", "filesystems/fs9/filesets", None, (400, "Invalid value in 'filesystemName'")),
        ("GET", "filesystems/fs1/filesets?filter=nonsense", None, (400, "Invalid value in 'filter'")),
        ("GET", "filesystems/fs1/filesets?filter=filesetName='''('''", None, (400, "Invalid value in 'filter'")),
        ("GET", "filesystems/fs1/filesets?lastId=x", None, (400, "Invalid value in 'lastId'")),
        ("GET", "jobs/1", None, (400, "Invalid value in 'jobId'")),
        ("POST", "filesystems/fs1/filesets", [1], (400, "the body is not JSON object")),
        ("POST", "filesystems/fs1/filesets", {}, (400, "Invalid value in 'filesetName'")),
        ("POST", "filesystems/fs1/filesets", {"filesetName": "a b"}, (400, "Invalid value in 'filesetName'")),
        ("POST", "filesystems/fs1/filesets", {"filesetName": "a", "size": 1}, (400, "Unrecognized field 'size'")),
        ("POST", "filesystems/fs1/filesets", {"filesetName": "a", "path": "/etc"}, (400, "Invalid value in 'path'")),
        (
            "POST",
            "filesystems/fs1/filesets",
            {"filesetName": "a", "path": "/fs1/../b"},
            (400, "Invalid value in 'path'"),
        ),
        ("POST", "filesystems/fs1/filesets", {"filesetName": "a", "maxNumInodes": "x"}, (400, "'maxNumInodes'")),
        (
            "POST",
            "filesystems/fs1/filesets",
            {"filesetName": "a", "afmTarget": "t", "afmMode": "rw"},
            (400, "'afmMode'"),
        ),
        ("POST", "nodes/afm/mapping", {"mapName": "m", "exportMap": "s/g"}, (400, "Invalid value in 'exportMap'")),
        (
            "POST",
            "filesystems/fs1/filesets/root/cos/download",
            {"path": "/", "all": True},
            (400, "not a cache of a bucket"),
        ),
    ],
)
def test_bad_input_is_refused(caller: Caller, method: str, path: str, body: object, refusal: tuple[int, str]) -> None:
    """The status object has code and text; no job is made."""
    answer = (
        caller.send(method, path, body)
        if "?" not in path
        else caller.client.open(f"/scalemgmt/v2/{path}", method=method, auth=("hpc", "secret"))
    )
    assert answer.json is not None
    assert (answer.status_code, answer.json["status"]["code"]) == (refusal[0], refusal[0])
    assert refusal[1] in answer.json["status"]["message"]
    assert caller.get("jobs")["jobs"] == []


def test_lists_have_pages_fields_and_filters(tmp_path: Path) -> None:
    """Each page names the next one, until none is left; filters take equality and regular expressions."""
    caller = Caller(tmp_path / "state.json", page=2)
    for name in ("a", "b", "bc"):
        caller.job("POST", "filesystems/fs1/filesets", {"filesetName": name, "inodeSpace": "new"})
    first = caller.get("filesystems/fs1/filesets", fields="filesetName")
    assert first["filesets"] == [{"filesetName": "root"}, {"filesetName": "a"}]
    assert "fields=filesetName" in first["paging"]["next"]
    rest = caller.client.get(first["paging"]["next"], auth=("hpc", "secret")).json
    assert rest is not None
    assert rest["filesets"] == [{"filesetName": "b"}, {"filesetName": "bc"}]
    assert "paging" not in rest
    for condition, names in (
        ("filesetName='''b.*'''", ["b", "bc"]),
        ("filesetName='''b.*''',config.id=3", ["bc"]),
        ("config.isInodeSpaceOwner=true,config.id=1", ["a"]),
        ("config.nothing=1", []),
    ):
        found = caller.get("filesystems/fs1/filesets", filter=condition)["filesets"]
        assert [each["filesetName"] for each in found] == names, condition
    every = [
        each["filesystemName"]
        for each in Caller(caller.service.store.file).get("filesystems/:all:/filesets")["filesets"]
    ]
    assert every == ["fs1"] * 4 + ["fs2"]


def test_a_file_system_is_found_by_its_uid(caller: Caller) -> None:
    """The UID is that which volume handles have."""
    found = caller.get("filesystems", filter=f"uuid={file_system_uid('fs2')}")["filesystems"]
    assert [each["name"] for each in found] == ["fs2"]


def test_what_is_acknowledged_is_on_disk(caller: Caller) -> None:
    """A service that starts over the same file has all that was acknowledged, its jobs too, and new file systems."""
    submitted = caller.send("POST", "filesystems/fs1/filesets", {"filesetName": "a"}).json
    assert submitted is not None
    again = Caller(caller.service.store.file)
    assert [each["filesetName"] for each in again.get("filesystems/fs1/filesets")["filesets"]] == ["root", "a"]
    assert again.get(f"jobs/{submitted['jobs'][0]['jobId']}")["jobs"][0]["status"] == "RUNNING"
    assert caller.service.store.file.stat().st_mode & 0o077 == 0
    assert json.loads(caller.service.store.file.read_text())["cluster_id"] == int(CLUSTER)


def test_the_mode_of_a_cache_changes_only_unlinked(caller: Caller) -> None:
    """Linked it stays as it is, and so does local updates for ever."""
    caller.cache()
    place = "filesystems/fs1/filesets/pvc-a"
    assert caller.job("PUT", place, {"afmMode": "lu"})["status"] == "FAILED"
    assert caller.job("DELETE", f"{place}/link")["status"] == "COMPLETED"
    assert caller.job("PUT", place, {"afmMode": "local-updates", "afmPrefetchThreshold": 100})["status"] == "COMPLETED"
    shown = caller.get(place)["filesets"][0]
    assert (shown["config"]["path"], shown["afm"]["afmMode"], shown["afm"]["afmPrefetchThreshold"]) == ("--", "lu", 100)
    assert caller.job("PUT", place, {"afmMode": "ro"})["status"] == "FAILED"
    assert caller.job("PUT", place, {"newFilesetName": "other"})["status"] == "COMPLETED"
    assert caller.get("filesystems/fs1/filesets/other")["filesets"][0]["filesetName"] == "other"


def test_a_cache_needs_the_keys_of_its_bucket(caller: Caller) -> None:
    """Where keys are to be verified and none are set, the job fails."""
    body = {"filesetName": "c", "endpoint": "https://home-map:443", "bucket": "a2d2", "verifyKeys": True}
    failed = caller.job("POST", "filesystems/fs1/filesets/cos", body)
    assert failed["result"]["stderr"] == ["No keys are set for bucket a2d2 of server home-map."]


def test_a_directory_that_is_not_empty(caller: Caller) -> None:
    """Safely it is not deleted, else with all below it."""
    for path in ("a", "a%2Fb"):
        assert caller.job("POST", f"filesystems/fs1/directory/{path}", {})["status"] == "COMPLETED"
    assert caller.job("DELETE", "filesystems/fs1/directory/a", safe="True")["status"] == "FAILED"
    assert caller.job("DELETE", "filesystems/fs1/directory/a")["status"] == "COMPLETED"
    assert caller.send("GET", "filesystems/fs1/owner/a%2Fb").status_code == 400
