#!/usr/bin/env bash
# Makes this checkout ready, and is done in a blink when it already is.
#
#   .venv          the server and its development tools, from requirements/dev.lock; this package, editable
#   .state/guest   the interpreter untrusted Python runs in, from requirements/guest.lock; shares nothing with .venv
#
# Each step leaves a stamp in the environment it made: a hash of what went in. Same hash and a working interpreter: nothing to do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
umask 022
# Settings of the caller's own Python must not leak into the environments made here.
unset PYTHONHOME PYTHONPATH VIRTUAL_ENV PIP_USER PIP_TARGET PIP_PREFIX
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

fail() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

digest() {
    { printf '%s\n' "$PWD"; cat "$@"; } | sha256sum | cut -d' ' -f1
}

works() {
    "$1/bin/python" -I -c '' 2>/dev/null
}

is_stamped() {
    [ "$(cat "$1" 2>/dev/null)" = "$2" ]
}

no_python() {
    if [ -n "${PYTHON:-}" ]; then
        fail "PYTHON=$PYTHON is not a CPython 3.11 or newer with the venv, ensurepip and ssl modules." \
            "Point PYTHON at one that is, or unset it to let setup look for one."
    fi
    fail "found no CPython 3.11 or newer with the venv, ensurepip and ssl modules that $(id -un) may run." \
        "On Debian and Ubuntu, run as root:  apt-get update && apt-get install -y python3-venv" \
        "(where python3 is older than 3.11: python3.11-venv). Or name one:  make PYTHON=/path/to/python3 ..."
}

make_venv() {
    local folder=$1 python=$2
    works "$folder" && return
    if [ -e "$folder" ] && [ ! -w "$folder" ]; then
        fail "$PWD/$folder does not work for $(id -un) and belongs to another user; use a checkout of your own."
    fi
    echo "setup: creating $folder with $python"
    "$python" -I -m venv --clear "$folder" || fail "$python could not create $folder (see above)"
}

pip_install() {
    local folder=$1
    shift
    "$folder/bin/python" -I -m pip install --quiet --retries 2 "$@"
}

setup_server() {
    local python lock project
    lock=$(digest requirements/dev.lock)
    project=$(digest pyproject.toml VERSION)
    if works .venv && is_stamped .venv/.lock-stamp "$lock" && is_stamped .venv/.project-stamp "$project"; then return; fi
    python=$(scripts/find-python.sh) || no_python
    make_venv .venv "$python"
    if ! is_stamped .venv/.lock-stamp "$lock"; then
        echo "setup: installing requirements/dev.lock into .venv"
        pip_install .venv --require-hashes -r requirements/dev.lock || fail "installing requirements/dev.lock failed (see above)"
        echo "$lock" >.venv/.lock-stamp
    fi
    pip_install .venv --no-deps --no-build-isolation --editable . || fail "installing this package into .venv failed (see above)"
    echo "$project" >.venv/.project-stamp
}

# What every program's home begins with: matplotlib's list of fonts, which would else be made in every box anew.
make_guest_home() {
    MPLCONFIGDIR="$PWD/.state/guest/share/sandbox-home/.cache/matplotlib" \
        .state/guest/bin/python -I -c 'import matplotlib.font_manager' 2>/dev/null || true
}

setup_guest() {
    local python lock
    lock=$(digest requirements/guest.lock)
    if works .state/guest && is_stamped .state/guest/.lock-stamp "$lock"; then return; fi
    # An interpreter only this user can reach still serves this user's boxes; it is merely the second choice.
    python=$(scripts/find-python.sh --shared || scripts/find-python.sh) || no_python
    make_venv .state/guest "$python"
    echo "setup: installing requirements/guest.lock into .state/guest (what untrusted Python may import; once)"
    if pip_install .state/guest --require-hashes --only-binary :all: -r requirements/guest.lock; then
        echo "$lock" >.state/guest/.lock-stamp
    else
        echo "setup: the guest interpreter has no data packages (see above): the 'data' preset and its tests are skipped" >&2
    fi
}

mkdir -p .state 2>/dev/null || fail "cannot write to $PWD as $(id -un); use a checkout of your own."
# Two makes at once must not build one environment twice.
if command -v flock >/dev/null 2>&1 && [ -w .state ]; then
    exec 9>.state/setup.lock
    flock -w 900 9 || fail "another setup has held .state/setup.lock for 15 minutes; end it and try again"
fi
scripts/system-packages.sh
setup_server
setup_guest
[ -d .state/guest/share/sandbox-home ] || make_guest_home
