"""What is sent and answered, field by field. Where the implementation of this protocol and its design have two names for one
thing, answers carry both and requests take either."""
