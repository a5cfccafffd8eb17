"""Map between the schemas of this dialect and the model. Pure."""
