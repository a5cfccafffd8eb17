#!/usr/bin/env bash
# Compiles the crates of Cargo.toml with the rustc that boxes find, and puts them where boxes can read them.
# usage: install.sh ASSETS FOLDER
set -euo pipefail
assets=$1 folder=$2
# A compiler reads only what the same compiler made: the one of boxes, not the one this user may have for themselves.
RUSTC=$(PATH=/usr/local/bin:/usr/bin:/bin command -v rustc)
export RUSTC
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$assets"/Cargo.toml "$assets"/Cargo.lock "$work"
mkdir "$work/src" && touch "$work/src/lib.rs"
cd "$work"
cargo build --quiet --locked --release --target-dir "$work/target"
rm -rf "$folder/crates" && mkdir -p "$folder/crates/all"
cp "$work"/target/release/deps/*.rlib "$folder/crates/all"
rm -f "$folder"/crates/all/libcrates-*.rlib
for crate in md5 rand regex; do
    made=("$folder/crates/all/lib$crate"-*.rlib)
    ln -s "all/$(basename "${made[0]}")" "$folder/crates/lib$crate.rlib"
done
chmod -R a+rX "$folder"
