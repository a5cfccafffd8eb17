#!/usr/bin/env bash
# Installs the system tools that are missing, when this user may; otherwise says what is missing, what that costs and how to mend it.
# Never fails: everything but a Python with venv can be done without, and setup.sh checks that one itself.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# A plain user's PATH often lacks the sbin folders in which nft and ip live.
export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

# command | Debian package | what is skipped without it
tools="bwrap|bubblewrap|the bubblewrap backend and its tests
nft|nftables|network 'nat' as root and its tests
ip|iproute2|network 'nat' as root and its tests
pasta|passt|network 'nat' without root (pasta) and its tests
slirp4netns|slirp4netns|network 'nat' without root (slirp4netns) and its tests
g++|g++|C++ programs and their tests"
# What only tests need, asked for by the word `tests`.
test_tools="mariadbd|mariadb-server|the store's tests on MariaDB
pg_ctlcluster|postgresql|the store's tests on PostgreSQL
chromium|chromium|the tests of pages in a browser"
# And the conformance suite of MCP, asked for by the word `mcp`.
mcp_tools="npm|npm|the published conformance suite of MCP"
case "${1:-}" in
tests) tools="$tools"$'\n'"$test_tools" ;;
mcp) tools="$tools"$'\n'"$mcp_tools" ;;
esac

list_missing() {
    local command package cost
    while IFS='|' read -r command package cost; do
        command -v "$command" >/dev/null 2>&1 || echo "$package|$cost"
    done <<<"$tools"
    # With $PYTHON given the choice is made, and a missing venv module is for the caller to mend. A guest interpreter that already
    # works needs no look around, which would cost more than all the rest of an idle setup.
    if [ -z "${PYTHON:-}" ] && [ ! -x "$here/.state/guest/bin/python" ] && ! "$here/scripts/find-python.sh" --shared >/dev/null; then
        echo "python3-venv|a guest interpreter that every user can reach"
    fi
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

may_install() {
    command -v apt-get >/dev/null 2>&1 || return 1
    [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; }
}

apt_install() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

install() {
    local package
    echo "setup: installing system packages: $*"
    as_root apt-get update -qq >/dev/null || echo "setup: apt-get update failed; trying with the package lists at hand"
    apt_install "$@" && return
    # One name this release does not know must not cost all the others.
    for package in "$@"; do
        apt_install "$package" || echo "setup: could not install $package"
    done
}

packages_of() {
    cut -d'|' -f1 <<<"$1" | sort -u | tr '\n' ' '
}

report() {
    echo "setup: some system tools are missing. What needs them is skipped:"
    sed 's/^\([^|]*\)|\(.*\)$/setup:   \1: \2/' <<<"$1"
    if command -v apt-get >/dev/null 2>&1; then
        echo "setup: to have them, run as root:  apt-get update && apt-get install -y $(packages_of "$1")"
    else
        echo "setup: to have them, install with this system's package manager what Debian calls: $(packages_of "$1")"
    fi
}

missing=$(list_missing)
[ -n "$missing" ] || exit 0
# What could not be installed once is not tried again at every `make`; `make clean` forgets it.
tried="$here/.state/system-packages${1:+-$1}.tried"
if [ "$(cat "$tried" 2>/dev/null)" != "$missing" ] && may_install; then
    read -ra wanted <<<"$(packages_of "$missing")"
    install "${wanted[@]}"
    missing=$(list_missing)
    [ -n "$missing" ] || exit 0
    printf '%s\n' "$missing" >"$tried"
fi
report "$missing"
