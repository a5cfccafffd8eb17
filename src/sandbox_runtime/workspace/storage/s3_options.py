"""How a bucket is reached. Apart from what uses it, so that settings can be read without the client being installed."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class S3Options:
    bucket: str
    region: str = "us-east-1"
    access_key_id: str = ""
    """Empty: the client looks for credentials where the machine keeps them."""
    secret_access_key: str = field(default="", repr=False)
    endpoint_url: str = ""
    """Empty: that of the region."""
    public_endpoint_url: str = ""
    """Under which address others reach the same endpoint, for presigned URLs. Empty: the same."""
    prefix: str = ""
    """In front of every key, for a bucket that is shared."""
