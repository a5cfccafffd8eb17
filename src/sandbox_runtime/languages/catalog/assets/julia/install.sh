#!/usr/bin/env bash
# Unpacks Julia and the libraries it was built with into FOLDER. Debian 11 is the last release that has packages of it; they come
# from the mirror this machine uses and are checked with the keys of Debian's archive. Nothing of the machine's own packages, lists
# or sources is touched.
# usage: install.sh FOLDER
set -euo pipefail
folder=$1 suite=bullseye
keys=/usr/share/keyrings/debian-archive-keyring.gpg
# These are on every Debian machine, newer: an older C library among newer programs would keep them from starting.
left_out='libc6 dpkg tar perl-base debconf libstdc++6 libgcc-s1 gcc-10-base'

[ "$(uname -m)" = x86_64 ] || { echo "there is no such route for $(uname -m) machines" >&2; exit 1; }
for needed in apt-get dpkg-deb; do
    command -v "$needed" >/dev/null || { echo "$needed is not on this machine; Julia comes as Debian packages" >&2; exit 1; }
done
mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' 'Origin: Debian' |
    awk '$2 ~ /^[a-z]+$/ && !found { print $1; found = 1 }')
[ -n "$mirror" ] || { echo "this machine's package sources name no mirror of Debian" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
touch "$work/status"
echo "deb [signed-by=$keys] $mirror $suite main" > "$work/sources.list"
apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" -o Dir::State::status="$work/status" \
        -o APT::Sandbox::User="$(id -un)" -o APT::Install-Recommends=false "$@"
}
apt update
apt install --yes --download-only julia

rm -rf "$folder/usr" "$folder/lib" "$folder/etc"
for package in "$work"/cache/archives/*.deb; do
    name=$(basename "$package")
    [[ " $left_out " == *" ${name%%_*} "* ]] || dpkg-deb -x "$package" "$folder"
done
rm -rf "$folder/usr/share/doc" "$folder/usr/share/man" "$folder/usr/share/locale"
