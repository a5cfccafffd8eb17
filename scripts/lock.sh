#!/usr/bin/env bash
# Resolves the lock files anew to the newest versions that fit, with hashes, for every Python from 3.11 on and every Linux machine.
# No index is written into them: where packages come from is the business of the machine that installs them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The resolver is needed here alone, so it gets an environment of its own instead of a place in everybody's.
tool=.state/lock
"$tool/bin/uv" --version >/dev/null 2>&1 || .venv/bin/python -I -m venv --clear "$tool"
"$tool/bin/python" -I -m pip install --quiet --require-hashes -r requirements/resolver.lock

resolve() {
    "$tool/bin/uv" pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" "$@"
}

resolve pyproject.toml --output-file requirements/server.lock
# The server's versions bind the development tools, so that what is tested is what is served.
resolve pyproject.toml --group dev --constraints requirements/server.lock --output-file requirements/dev.lock
resolve requirements/sdk.in --constraints requirements/server.lock --output-file requirements/sdk.lock
resolve requirements/guest.in --output-file requirements/guest.lock
# The resolver itself, as it is now.
echo "uv" | resolve - --output-file requirements/resolver.lock
# What the package clients may fetch for language rows, and for `make test-mcp`.
.venv/bin/python scripts/lock_toolchains.py "$tool/bin/uv"
# The extras are not locked, but they must be installable next to all that.
resolve pyproject.toml --all-extras --constraints requirements/server.lock --output-file /dev/null

if grep -nE '://|^--(extra-)?index|^--find-links' requirements/*.lock; then
    echo "lock: an address got into the lock files (above)" >&2
    exit 1
fi
