"""`./hpc ci ...`: a module for each subcommand."""

from toolkit.cli.shared.command_groups import group

app = group(
    "What pipelines need: comments, kubeconfig, policies.",
    {
        "comment": "toolkit.cli.ci.comment",
        "kubeconfig": "toolkit.cli.ci.kubeconfig",
        "policy-config": "toolkit.cli.ci.policy_config",
    },
)
