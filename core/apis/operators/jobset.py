"""JobSet, Red Hat's: several Jobs that start, fail and restart as one; Kubeflow Trainer builds on it.

Package, channels and modes as in the operator's own catalogues (openshift/jobset-operator, branch fbc, 316c034e); kind,
condition and ownership as in its code (f9d991e0, manifests/ and pkg/operator/target_config_reconciler.go). It starts
nothing before cert-manager.io/v1 is served. The catalogues of 4.18 to 4.21 also have tech-preview-v0.1, whose version
calls the object Available before the controller runs.
"""

from core.apis.kind import Kind
from core.apis.operator import Instance, Operator, Recommended, Upgrade

JOB_SET_OPERATOR = Kind("operator.openshift.io", "v1", "JobSetOperator", "jobsetoperators", "Cluster")
OPERATOR = Operator(
    package="job-set",
    api_groups=("jobset.x-k8s.io",),
    images=("jobset",),
    recommended=Recommended(
        namespace="openshift-jobset-operator",
        channels=dict.fromkeys(("4.18", "4.19", "4.20", "4.21", "4.22"), "stable-v1.0"),
        kubernetes=(1, 31),
    ),
    instance=Instance(
        JOB_SET_OPERATOR,
        removal="the definition of JobSet goes with it, and so do all JobSets of the cluster, with their jobs",
    ),
    upgrade=Upgrade(
        "its controller starts again: jobs that run go on; meanwhile new JobSets are refused, and failed ones stay so"
    ),
    numbered_channels=True,
)
