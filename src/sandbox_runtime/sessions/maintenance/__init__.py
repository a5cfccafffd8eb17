"""Background work: expiry, supervision, health and storage use."""
