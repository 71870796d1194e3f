"""Names by which the jobs of a performance suite, the script that starts them, and readers of their results agree."""

SCRIPT = "suite.sh"
"""File of stacks/scripts, and key of the suite's ConfigMap."""
PLAN = "plan"
"""Key of the ConfigMap with a line for each job: file, resource, name, seconds."""
REPEATS = "HPC_REPEATS"
"""Variable of the runner: how often each job runs in a round."""
FOLDER = "/suite"
"""Where the runner has the ConfigMap."""

SUITE, JOB = "hpc.pulumi/suite", "hpc.pulumi/suite-job"
"""Labels of what a run creates: the suite, and what the same object of the stack is called."""
ROUND, RUN = "hpc.pulumi/suite-round", "hpc.pulumi/suite-run"
"""Labels of a run: when its round began, `yymmddhhmm` in UTC, and the same with the number of the repeat."""

VERSIONS = "hpc.pulumi/suite-versions"
"""Annotation of a run: versions of the stack's parts when it was created, as JSON."""

ROUND_TOKEN = "yymmddhhmm"  # noqa: S105 - a place in a text, not a secret
RUN_TOKEN = f"{ROUND_TOKEN}-n"
"""What the script replaces in a manifest; as long as what takes its place, so that lengths of names are checked."""
ROUND_FORMAT = "%y%m%d%H%M"
"""Of a round's time, for strftime."""
MOST_REPEATS = 9
"""One digit has room in a run's name."""

OWNER = "suite"
"""Value of app.kubernetes.io/managed-by on what the runner has created: no update of the stack knows it."""

ALERT = "SuiteFinding"
"""Name of the alerts about a round that `./hpc suite` sends."""
