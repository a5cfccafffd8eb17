"""Control groups: limit, account and kill the processes of one command as a unit. Supports cgroup v2, v1, and hosts with both.

Contract: `root.open_cgroup_root(name)` claims one directory per hierarchy for this server. `CgroupRoot.open_group` creates a
group in each of them for one command. `Group` sets limits, reads usage, kills and removes. Features that the host lacks are
listed in `CgroupRoot.missing` with a reason and a fix; none is skipped silently. Everything here raises OSError, and every wait
has a timeout.

    root         the server's directories, what the host supports, cleanup after dead servers
    group        one command's limits, usage and end
    hierarchy    the server's directory in one hierarchy (v1 and v2 implement it with their own file names)
    mounts       where the hierarchies are mounted and which group this process is in
    freezer      pause and resume all processes of a group
    tree         kill and remove directories by path; enter a group from inside
    diagnostics  why a controller is unavailable, and the fix
"""
