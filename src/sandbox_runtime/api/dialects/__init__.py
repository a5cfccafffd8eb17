"""The wire protocols in front of the same verbs, one folder each. Contract: no dialect knows another."""
