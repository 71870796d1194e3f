"""Makes the MPI jobs that the setting `objects` describes, each after the one before it, by the real component."""

import sys

import pulumi
from pulumi_kubernetes import Provider

config = pulumi.Config("kit")
sys.path.insert(0, config.require("root"))

from components.jobs.mpi_job import MpiJob, MpiJobArgs  # noqa: E402 - the path is a setting

provider = Provider("cluster", **config.require_object("provider"))
before: list[pulumi.Output[str]] = []
for arguments in config.require_object("objects"):
    args = MpiJobArgs.model_validate(arguments)
    job = MpiJob(args.job_name, args, lambda *_: "", before, opts=pulumi.ResourceOptions(provider=provider))
    before = [job.finished]
