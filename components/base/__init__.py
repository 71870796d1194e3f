"""What components share: their base class, and the models and parts of manifests that several of them have."""
