"""What the tools of a simulated job would print: pure functions over the job as it was admitted and placed."""
