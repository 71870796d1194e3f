"""What finished jobs prove: parsers of their logs, criteria, reports. Needs neither Pulumi nor a cluster."""
