"""The simulated object store: S3 over HTTP on loopback, for the Pulumi state of a cluster that is to have a bucket."""

REGION = "us-east-1"
