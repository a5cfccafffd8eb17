"""Gives a box that already lives in its own network namespace a way to the outside, and nothing but the outside.

Contract: called by backends, from the server's event loop, before any guest code runs in the box. `Nat.open` either returns a
NatLink with every rule in force or raises with nothing left behind; there is no state in between and no weaker form. Closing a
link, and closing Nat, is idempotent and leaves no interface, table, setting or process. What a box may reach is told in
docs/concepts/network.md and decided in kernel/egress.py alone.

Files: link (Nat, NatLink: the order of things) · options · namespace (the rules go in) · veth, gateway, forwarding, leases
(wiring as root) · userspace (wiring without) · resolvers · tools (the programs we start).
"""

from sandbox_runtime.isolation.nat.link import Nat, NatLink
from sandbox_runtime.isolation.nat.options import NatOptions

__all__ = ["Nat", "NatLink", "NatOptions"]
