"""JobSets and TrainJobs under their real controllers and the real Kueue."""
