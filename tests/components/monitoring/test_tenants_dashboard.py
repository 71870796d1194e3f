"""The dashboard of tenants over samples, by promtool."""

import subprocess
from pathlib import Path

import pytest
import yaml

from components.monitoring.dashboards import TENANTS
from tests.support import debian

_POD = 'exported_namespace="adas", exported_pod="train"'
SAMPLES = {
    f'DCGM_FI_DEV_GPU_UTIL{{gpu="0", {_POD}}}': "80+0x180",
    f'DCGM_FI_DEV_GPU_UTIL{{gpu="1", {_POD}}}': "2+0x180",
    'DCGM_FI_DEV_GPU_UTIL{gpu="2"}': "0+0x180",
    'kube_pod_container_resource_requests{resource="nvidia_com_gpu", namespace="adas", pod="next"}': "8+0x180",
    'kube_pod_container_resource_requests{resource="nvidia_com_gpu", namespace="adas", pod="train"}': "2+0x180",
    'kube_pod_status_phase{phase="Pending", namespace="adas", pod="next"}': "1+0x180",
    'kube_pod_status_phase{phase="Pending", namespace="adas", pod="train"}': "0+0x180",
    'kube_resourcequota{resource="requests.nvidia.com/gpu", type="used", namespace="adas"}': "4+0x180",
    'kube_resourcequota{resource="requests.nvidia.com/gpu", type="hard", namespace="adas"}': "16+0x180",
}
"""Three hours, a sample a minute: two GPUs held, one of them idle; a third that no pod holds; a pod that waits."""
TENANT = '{exported_namespace="adas"}'
EXPECTED = {
    # Two GPUs over 120 min, both ends counted.
    "GPU hours of the last 24 h": (TENANT, 2 * 121 / 60),
    "GPUs held": (TENANT, 2),
    "GPUs held and under 5 % for 30 min": (TENANT, 1),
    "Mean use of GPUs held": (TENANT, 0.41),
    "GPUs that pending pods wait for": ('{namespace="adas"}', 8),
    "Quota used": ('{namespace="adas", resource="requests.nvidia.com/gpu"}', 0.25),
}
PANELS = {panel.title: panel for row in TENANTS.rows for panel in row.panels}


def test_every_panel_is_expected_here() -> None:
    """No panel is without samples that it returns a series for."""
    assert EXPECTED.keys() == PANELS.keys()


@pytest.mark.parametrize("title", EXPECTED)
def test_panels_show_what_the_samples_say(title: str, tmp_path: Path) -> None:
    """After two hours each panel has the tenant's value, without the GPU that no pod holds."""
    (series,) = PANELS[title].series
    labels, value = EXPECTED[title]
    inputs = [{"series": name, "values": values} for name, values in SAMPLES.items()]
    expected = {"expr": series.expression, "eval_time": "2h", "exp_samples": [{"labels": labels, "value": value}]}
    case = {"interval": "1m", "input_series": inputs, "promql_expr_test": [expected]}
    file = tmp_path / "tests.yaml"
    file.write_text(yaml.safe_dump({"rule_files": [], "evaluation_interval": "1m", "tests": [case]}))
    result = subprocess.run(
        [debian.program("promtool"), "test", "rules", file],
        env=debian.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert result.returncode == 0, result.stdout + result.stderr
