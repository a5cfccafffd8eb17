"""Run untrusted commands in isolated boxes: a Backend opens a Box under a Policy, a Box runs a Command and returns an Outcome.

Contract: this package knows nothing of languages, users or HTTP. kernel/ and inside/ use the standard library only and import
nothing else of ours, because they also run in the guest's interpreter. Backends do not import each other.
"""
