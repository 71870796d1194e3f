"""The process of the simulated Spectrum Discover, over TLS."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from tests.support.recorded import ROOT
from toolkit.simulator.access.pki import create
from toolkit.simulator.processes import ports

pytestmark = pytest.mark.engine


def test_it_serves_with_the_clusters_certificate(tmp_path: Path) -> None:
    """A client that trusts the cluster's CA gets a token; the first line of the log says that it is simulated."""
    pki, port = create(tmp_path / "pki", "test"), ports.free()
    arguments = [
        f"--port={port}",
        f"--catalogue={tmp_path / 'data' / 'catalogue.sqlite'}",
        f"--account={tmp_path / 'account.json'}",
        f"--certificate={pki.certificate('server')}",
        f"--key={pki.key('server')}",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "toolkit.simulator.discover.service", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("simulated by hpc: Spectrum Discover on 127.0.0.1:")
        account = json.loads((tmp_path / "account.json").read_text())
        url = f"https://127.0.0.1:{port}/auth/v1/token"
        answer = requests.get(url, auth=(account["user"], account["password"]), verify=str(pki.ca), timeout=30)
        assert (answer.status_code, bool(answer.headers["X-Auth-Token"])) == (200, True)
        with pytest.raises(requests.exceptions.SSLError):
            requests.get(url, timeout=30)
    finally:
        process.kill()
        process.communicate()
