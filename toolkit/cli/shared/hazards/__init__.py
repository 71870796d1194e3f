"""What of a site endangers its platform or its next upgrade, found from live objects. It only reads."""
