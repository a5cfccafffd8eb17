#!/usr/bin/env bash
# Prints the path of a base interpreter that can make a virtual environment, or fails without a word.
#
#   find-python.sh            the server's: the first that fits
#   find-python.sh --shared   the guest's: only one that every user of this machine can reach
#
# $PYTHON, when set, is the only candidate. A shim or a virtual environment is followed to the interpreter behind it, because an
# environment made from a path this user alone can read breaks as soon as another user, or a box, looks at it.
set -euo pipefail

shared=0
[ "${1:-}" = "--shared" ] && shared=1

probe='
import os, pathlib, sys
import ensurepip, ssl, venv
shared = sys.argv[1] == "1"
base = pathlib.Path(getattr(sys, "_base_executable", None) or sys.executable)
seen = [p for place in (base, base.resolve(), pathlib.Path(os.__file__)) for p in (place, *place.parents)]
if sys.version_info < (3, 11) or sys.implementation.name != "cpython":
    sys.exit(1)
if shared and not all(p.stat().st_mode & 0o005 == 0o005 or p.is_file() and p.stat().st_mode & 0o004 for p in seen):
    sys.exit(1)
print(base)
'

if [ -n "${PYTHON:-}" ]; then
    candidates=("$PYTHON")
else
    candidates=(python3 python3.14 python3.13 python3.12 python3.11 /usr/local/bin/python3 /usr/bin/python3)
fi

for candidate in "${candidates[@]}"; do
    # -I: neither the caller's PYTHON* variables nor the current folder decide what is found. Shims complain on stderr: not news.
    if found=$(cd / && "$candidate" -I -c "$probe" "$shared" 2>/dev/null) && [ -x "$found" ]; then
        echo "$found"
        exit 0
    fi
done
exit 1
