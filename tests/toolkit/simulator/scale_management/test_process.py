"""The process of the simulated GUI of Storage Scale, over TLS."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.support.recorded import ROOT
from toolkit.simulator.access.pki import Pki, create
from toolkit.simulator.processes import ports

pytestmark = pytest.mark.engine

CLUSTER = "16217308676014575381"


class Process:
    """A GUI over a folder."""

    def __init__(self, folder: Path, pki: Pki) -> None:
        self.pki, self.port, self.account = pki, ports.free(), folder / "account.json"
        arguments = [
            f"--port={self.port}",
            f"--state={folder / 'scale' / 'state.json'}",
            f"--account={self.account}",
            f"--objects={folder / 'objects'}",
            f"--certificate={pki.certificate('server')}",
            f"--key={pki.key('server')}",
            f"--cluster-id={CLUSTER}",
            "--file-system=fs1",
        ]
        self.popen = subprocess.Popen(
            [sys.executable, "-m", "toolkit.simulator.scale_management.service", *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.popen.stdout is not None
        self.first_line = self.popen.stdout.readline()

    def kill(self) -> None:
        """Kill it as `kill -9` does."""
        self.popen.kill()
        self.popen.communicate()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Return what it answers."""
        account = json.loads(self.account.read_text())
        answer = requests.request(
            method,
            f"https://127.0.0.1:{self.port}/scalemgmt/v2/{path}",
            json=body,
            auth=(account["user"], account["password"]),
            verify=str(self.pki.ca),
            timeout=30,
        )
        return answer.json()


def test_it_serves_with_the_clusters_certificate_and_survives_a_kill(tmp_path: Path) -> None:
    """A client that trusts the cluster's CA is answered; what was acknowledged is there after `kill -9`."""
    pki = create(tmp_path / "pki", "test")
    process = Process(tmp_path, pki)
    try:
        assert process.first_line.startswith("simulated by hpc: GUI of Storage Scale on 127.0.0.1:")
        assert process.ask("GET", "cluster")["cluster"]["clusterSummary"]["clusterId"] == int(CLUSTER)
        job = process.ask("POST", "filesystems/fs1/filesets", {"filesetName": "a"})["jobs"][0]
        with pytest.raises(requests.exceptions.SSLError):
            requests.get(f"https://127.0.0.1:{process.port}/scalemgmt/v2/info", timeout=30)
    finally:
        process.kill()
    process = Process(tmp_path, pki)
    try:
        assert process.ask("GET", "filesystems/fs1/filesets/a")["filesets"][0]["filesetName"] == "a"
        assert process.ask("GET", f"jobs/{job['jobId']}")["jobs"][0]["status"] == "RUNNING"
    finally:
        process.kill()
