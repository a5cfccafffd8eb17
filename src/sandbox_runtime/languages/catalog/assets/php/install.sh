#!/usr/bin/env bash
# Debian keeps in /etc, which boxes do not see, which extensions PHP loads: copies that into FOLDER.
# usage: install.sh FOLDER
set -euo pipefail
folder=$1
settings=$(printf '%s\n' /etc/php/*/cli | sort -V | tail -n 1)
[ -e "$settings/php.ini" ] || { echo "there is no php.ini below /etc/php" >&2; exit 1; }
rm -rf "$folder/conf.d"
mkdir -p "$folder/conf.d"
cp -L "$settings"/conf.d/*.ini "$folder/conf.d/"
cp -L "$settings/php.ini" "$folder/php.ini"
