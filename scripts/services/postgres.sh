#!/usr/bin/env bash
# A PostgreSQL server for tests, on loopback, from the system's packages.
#
#   postgres.sh start FOLDER PORT   makes FOLDER, starts the server and prints its URL when it answers
#   postgres.sh stop FOLDER         ends it and removes FOLDER
#
# Nothing of it is for production: it does not sync, and its password is no secret.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/server.sh"
# Debian keeps the server's programs apart, a folder for each version: the newest is taken.
for bin in $(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V); do PATH="$bin:$PATH"; done

user=sandbox password=sandbox-test

# The server refuses to be root.
drop=()
owner=$(id -un)
if [ "$(id -u)" = 0 ]; then owner=postgres drop=(runuser -u postgres --); fi

start() {
    local folder=$1 port=$2
    need initdb postgresql
    need postgres postgresql
    make_folder "$folder" "$owner"
    printf '%s\n' "$password" >"$folder/password"
    chown "$owner" "$folder/password"
    (cd / && "${drop[@]}" initdb --pgdata="$folder/data" --username="$user" --pwfile="$folder/password" --auth=scram-sha-256 \
        --encoding=UTF8 --locale=C --no-sync) >"$folder/log" 2>&1 || give_up "$folder" "initdb failed"
    (cd / && exec "${drop[@]}" postgres -D "$folder/data" -k "$folder" -h 127.0.0.1 -p "$port" -c fsync=off \
        -c external_pid_file="$folder/pid" -c max_connections=300 </dev/null >>"$folder/log" 2>&1) &
    export PGPASSWORD="$password"
    wait_until "$folder" $! psql --host=127.0.0.1 --port="$port" --username="$user" --dbname=postgres -c 'CREATE DATABASE sandbox'
    echo "postgresql://$user:$password@127.0.0.1:$port/sandbox"
}

main "$@"
