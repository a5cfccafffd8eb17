"""A Backend opens a Box under a Policy; a Box runs a Command and returns an Outcome.

Contract: knows no languages, users or HTTP. kernel/ and inside/ are standard library only and import nothing of the rest, because
they also run in the guest's interpreter. No backend knows another.
"""
