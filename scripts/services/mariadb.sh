#!/usr/bin/env bash
# A MariaDB server for tests, on loopback, from the system's packages.
#
#   mariadb.sh start FOLDER PORT   makes FOLDER, starts the server and prints its URL when it answers
#   mariadb.sh stop FOLDER         ends it and removes FOLDER
#
# Nothing of it is for production: it does not sync, and its password is no secret.
set -euo pipefail
export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
. "$(dirname "${BASH_SOURCE[0]}")/server.sh"

user=sandbox password=sandbox-test

# The server refuses to be root, and gives up rights only to a user that can reach its folder.
drop=()
owner=$(id -un)
if [ "$(id -u)" = 0 ]; then owner=mysql drop=(--user=mysql); fi

start() {
    local folder=$1 port=$2
    need mariadbd mariadb-server
    need mariadb-install-db mariadb-server
    make_folder "$folder" "$owner"
    mariadb-install-db --no-defaults "${drop[@]}" --datadir="$folder/data" --auth-root-authentication-method=normal --skip-test-db \
        >"$folder/log" 2>&1 || give_up "$folder" "mariadb-install-db failed"
    mariadbd --no-defaults "${drop[@]}" --datadir="$folder/data" --socket="$folder/socket" --pid-file="$folder/pid" \
        --bind-address=127.0.0.1 --port="$port" --skip-log-bin --innodb-buffer-pool-size=64M --innodb-flush-log-at-trx-commit=2 \
        --max-connections=300 </dev/null >>"$folder/log" 2>&1 &
    wait_until "$folder" $! mariadb-admin --no-defaults --user=root --socket="$folder/socket" ping
    mariadb --no-defaults --user=root --socket="$folder/socket" -e "
        CREATE USER '$user'@'127.0.0.1' IDENTIFIED BY '$password';
        GRANT ALL ON *.* TO '$user'@'127.0.0.1';
        CREATE DATABASE sandbox;" || give_up "$folder" "making the user failed"
    echo "mysql://$user:$password@127.0.0.1:$port/sandbox"
}

main "$@"
