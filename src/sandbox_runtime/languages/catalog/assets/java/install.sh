#!/usr/bin/env bash
# Puts the newest JDK of this machine where boxes find it, FOLDER/jdk, and javatuples beside it.
# usage: install.sh FOLDER
#
# Boxes see /usr, so a JDK below it is merely linked to. Debian's own packages keep their configuration in /etc, which boxes do not
# see: such a JDK is copied with its links followed. Times are kept, because the JDK's class archive is valid only with those.
set -euo pipefail
folder=$1

version_of() {
    "$1/bin/javac" -version 2>&1 | sed 's/^javac //; s/[^0-9.].*//'
}

newest() {
    local javac home
    for javac in /usr/lib/jvm/*/bin/javac "$(readlink -f "$(command -v javac || true)")"; do
        home=$(dirname "$(dirname "$(readlink -f "$javac")")")
        if [ -x "$home/bin/javac" ] && [[ "$home" == /usr/* ]]; then echo "$(version_of "$home") $home"; fi
    done | sort -uV | tail -n 1 | cut -d' ' -f2-
}

home=$(newest)
[ -n "$home" ] || { echo "there is no JDK below /usr" >&2; exit 1; }
rm -rf "$folder/jdk" "$folder/jdk.new"
if [ -L "$home/conf/security/java.security" ] || [ -L "$home/conf/security" ]; then
    # Links that lead nowhere (documentation, sources) are not worth failing for.
    cp -aL "$home" "$folder/jdk.new" 2>/dev/null || [ -e "$folder/jdk.new/conf/security/java.security" ]
    mv "$folder/jdk.new" "$folder/jdk"
else
    ln -s "$home" "$folder/jdk"
fi
cp -L /usr/share/java/javatuples.jar "$folder/javatuples-1.2.jar"
"$folder/jdk/bin/javac" -version
