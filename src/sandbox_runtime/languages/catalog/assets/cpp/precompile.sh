#!/bin/bash
# Precompiled headers for g++: precompile.sh FOLDER FLAG…
#
# g++ uses one when it is what the program includes first, when it was made by the very same g++ with the same flags, and when
# nothing defined before it matters to it; in every other case it reads the plain header. So a header here can make a compile
# faster but never different, and one that is out of date is merely not used. The plain header is reached through one of the same
# name beside it: g++ remembers where it found a header, and looks there again when it is included a second time.
set -euo pipefail

folder=$1
shift
headers=(bits/stdc++.h iostream vector string algorithm map set unordered_map queue sstream)

fresh=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
for header in "${headers[@]}"; do
    mkdir -p "$fresh/$(dirname "$header")"
    # Through a file of its own, so that the header itself is read as what it is, one of the system's.
    printf '#include <%s>\n' "$header" >"$fresh/source.h"
    g++ "$@" -x c++-header "$fresh/source.h" -o "$fresh/$header.gch"
    printf '#pragma GCC system_header\n#include_next <%s>\n' "$header" >"$fresh/$header"
done
rm "$fresh/source.h"
chmod -R a+rX "$fresh"
rm -rf "$folder"
mv "$fresh" "$folder"
