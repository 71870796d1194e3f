"""What an environment is: settings, releases, and the layers that compose the components."""
