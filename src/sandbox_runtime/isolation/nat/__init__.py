"""Connect a box, which has its own network namespace, to the outside and to nothing else.

Contract: called by backends in the server's event loop before any guest code runs in the box. `Nat.open` either returns a
NatLink with every rule in force or raises and leaves nothing behind; there is no intermediate state and no weaker form. Closing
a link or Nat is idempotent and leaves no interface, table, setting or process. docs/concepts/network.md describes what a box
may reach; kernel/egress.py alone decides it.

Files: link (Nat, NatLink: the sequence of steps) · options · namespace (installs the rules) · veth, gateway, ip_forward, leases
(driver as root) · userspace (driver without root) · resolvers · tools (external programs).
"""

from sandbox_runtime.isolation.nat.link import Nat, NatLink
from sandbox_runtime.isolation.nat.options import NatOptions

__all__ = ["Nat", "NatLink", "NatOptions"]
