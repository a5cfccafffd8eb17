"""From the wire to the nouns of the model and back. Pure."""
