#!/usr/bin/env bash
# Makes a home of R that does not lean on the machine's own configuration, which boxes do not see: everything in it leads to
# where the packages are installed, but for the folder etc, which is copied, and the script that names the home.
# usage: install.sh INSTALLED HOME
set -euo pipefail
installed=$1 home=$2
rm -rf "$home"
mkdir -p "$home"
ln -s "$installed"/* "$home/"
rm "$home/bin" "$home/etc"
mkdir "$home/bin"
ln -s "$installed"/bin/* "$home/bin/"
rm "$home/bin/R"
sed "s|^R_HOME_DIR=.*|R_HOME_DIR='$home'|" "$installed/bin/R" > "$home/bin/R"
chmod 755 "$home/bin/R"
cp -RL "$installed/etc" "$home/etc"
