#!/bin/busybox sh
# The first process of the virtual machine: makes it a version 2 host, runs the tests, turns it off.
/bin/busybox mkdir -p /proc /sys /dev /tmp /run /bin /sbin /usr/bin
/bin/busybox --install -s /bin
export PATH=/bin:/usr/bin:/sbin:/usr/sbin HOME=/tmp LANG=C.UTF-8
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tmpfs none /tmp
mount -t cgroup2 none /sys/fs/cgroup
ip link set lo up 2>/dev/null
cd /project || poweroff -f
export PYTHONPATH=/project/src:/project PYTHONDONTWRITEBYTECODE=1
echo "cgroup2-vm: Linux $(uname -r), $(cat /sys/fs/cgroup/cgroup.controllers)"
eval "set -- $(cat /words)"
# Its own settings: the project's name plugins that this Debian does not have.
/usr/bin/python3 -m pytest -c /dev/null --rootdir=/project --noconftest --import-mode=importlib -ra --color=no -p no:cacheprovider "$@"
echo "cgroup2-vm: pytest ended with $?"
poweroff -f
