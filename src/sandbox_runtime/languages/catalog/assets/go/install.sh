#!/usr/bin/env bash
# Fetches the modules of go.mod and compiles what most programs import, both into folders that boxes read and cannot write.
# usage: install.sh ASSETS FOLDER
set -euo pipefail
assets=$1 folder=$2
export GOMODCACHE="$folder/mod" GOCACHE="$folder/cache" GOTOOLCHAIN=local GOWORK=off CGO_ENABLED=1
export GOFLAGS="-mod=mod -modcacherw -buildvcs=false"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$assets"/go.mod "$assets"/go.sum "$assets"/warm.go "$assets"/warm_test.go "$work"
cd "$work"
"$folder/go/bin/go" mod download
"$folder/go/bin/go" build -o warm warm.go
"$folder/go/bin/go" test warm_test.go
chmod -R a+rX "$folder"
