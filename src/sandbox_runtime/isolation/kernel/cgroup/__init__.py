"""Groups of processes that the kernel limits and accounts as one: cgroup version 2, version 1, and hosts that mix them.

Contract: `place.open_place(name)` claims one directory per hierarchy for this server, `Place.open_group` makes a group in each of
them for one command, `Group` limits, accounts, kills and removes it. What the host does not offer is named in `Place.missing`
with the exact fix, never passed over. Everything here raises OSError; nothing waits without a bound.

    place   what this host offers; the server's directories; stale ones of dead servers are swept
    group   one command's limits, usage and end
    branch  the server's directory in one hierarchy (v1 and v2 speak their own file names)
    mounts  where the hierarchies are and where in them this process is
    freezer all processes of a group stopped for a while
    tree    kill and remove by path; entering a group from within
"""
