"""Rules for MPI jobs."""
