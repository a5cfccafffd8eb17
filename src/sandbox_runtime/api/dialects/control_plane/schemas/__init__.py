"""Requests and responses. If the two versions of the protocol have different names for a field, responses contain both and
requests may use either."""
