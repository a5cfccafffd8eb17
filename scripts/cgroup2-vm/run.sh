#!/usr/bin/env bash
# The tests of control groups on a host that has cgroup version 2 alone: a virtual machine, emulated in software, with Debian's
# kernel and Python. Needs no rights but to install qemu; everything else is downloaded once into .state/cgroup2-vm.
#
#   scripts/cgroup2-vm/run.sh [words for pytest]
set -euo pipefail

repo=$(cd "$(dirname "$0")/../.." && pwd)
state=$repo/.state/cgroup2-vm
limit_s=${CGROUP2_VM_LIMIT_S:-600}
tests="tests/isolation/kernel/test_cgroup.py tests/isolation/kernel/test_cgroup_life.py tests/isolation/kernel/test_cgroup_v2.py
tests/isolation/kernel/test_folders.py tests/isolation/kernel/test_freezer.py tests/isolation/test_watchdog.py"
packages="busybox-static libbz2-1.0 libc6 libcrypt1 libexpat1 libffi8 libgcc-s1 liblzma5 libpython3-stdlib libpython3.11-minimal
libpython3.11-stdlib libssl3 libuuid1 python3 python3-attr python3-exceptiongroup python3-iniconfig python3-minimal
python3-packaging python3-pluggy python3-pytest python3.11 python3.11-minimal zlib1g"

main() {
    install_tools
    mkdir -p "$state"
    exec 9>"$state/lock" && flock 9
    [ -e "$state/ready" ] || fetch_system
    pack_project "$@"
    boot
}

install_tools() {
    for tool in qemu-system-x86_64 cpio dpkg-deb apt-get; do
        command -v "$tool" >/dev/null && continue
        if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
            echo "$tool is missing; on Debian or Ubuntu, as root: apt-get install qemu-system-x86 cpio" >&2
            exit 1
        fi
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends qemu-system-x86 cpio >/dev/null
    done
}

# A Debian root made of unpacked packages: no package script runs, and nothing has to run as root.
fetch_system() {
    local kernel
    kernel=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | awk '$1 == "Depends:" && $2 ~ /^linux-image/ {print $2; exit}')
    if [ -z "$kernel" ]; then
        echo "apt knows no linux-image-cloud-amd64: this needs Debian 12 with its package lists (as root: apt-get update)" >&2
        exit 1
    fi
    rm -rf "$state/debs" "$state/root" "$state/kernel"
    mkdir -p "$state/debs" "$state/root" "$state/kernel"
    # shellcheck disable=SC2086 # one word per package
    (cd "$state/debs" && timeout 300 apt-get download -qq $packages "$kernel")
    dpkg-deb -x "$state"/debs/linux-image-*.deb "$state/kernel"
    rm "$state"/debs/linux-image-*.deb
    for deb in "$state"/debs/*.deb; do dpkg-deb -x "$deb" "$state/root"; done
    cp "$state"/kernel/boot/vmlinuz-* "$state/vmlinuz"
    rm -rf "$state/kernel" "$state/root/usr/share" "$state/debs"
    pack "$state/root" >"$state/root.cpio"
    touch "$state/ready"
}

# The second archive is unpacked over the first one: this working tree and the program to start.
pack_project() {
    local overlay=$state/overlay
    rm -rf "$overlay"
    mkdir -p "$overlay/project"
    (cd "$repo" && tar -c --exclude=__pycache__ src tests/isolation) | tar -x -C "$overlay/project"
    install -m 755 "$repo/scripts/cgroup2-vm/init.sh" "$overlay/init"
    printf '%q ' $tests "$@" >"$overlay/words"
    (cat "$state/root.cpio" && pack "$overlay") >"$state/initrd"
}

pack() {
    (cd "$1" && find . -print0 | cpio --quiet --null --create --format=newc --owner=0:0)
}

boot() {
    local status
    timeout "$limit_s" qemu-system-x86_64 -M q35 -accel tcg,thread=multi -cpu max -smp 2 -m 1024 -nodefaults -nographic -no-reboot \
        -serial stdio -kernel "$state/vmlinuz" -initrd "$state/initrd" \
        -append "console=ttyS0 quiet loglevel=1 panic=-1 cgroup_no_v1=all mitigations=off" </dev/null |
        stdbuf -oL tr -d '\r' | sed -u -n '/cgroup2-vm: Linux/,$ {s/.*\(cgroup2-vm: Linux\)/\1/; p}' | tee "$state/console"
    status=$(sed -n 's/^cgroup2-vm: pytest ended with //p' "$state/console")
    exit "${status:-1}"
}

main "$@"
