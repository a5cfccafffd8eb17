# What the scripts beside this one share; sourced, never run.

need() {
    command -v "$1" >/dev/null 2>&1 && return
    echo "$1 is not installed: as root, apt-get install -y --no-install-recommends $2" >&2
    exit 3
}

make_folder() {
    mkdir -p "$1"
    chmod 0711 "$1"
    if [ "$(id -u)" = 0 ]; then chown "$2" "$1"; fi
}

# wait_until FOLDER PID COMMAND…: every wait has a bound, and nobody waits for a server that has ended.
wait_until() {
    local folder=$1 server=$2 left=300
    shift 2
    until "$@" >/dev/null 2>&1; do
        left=$((left - 1))
        kill -0 "$server" 2>/dev/null || give_up "$folder" "the server has ended"
        [ "$left" -gt 0 ] || give_up "$folder" "the server does not answer"
        sleep 0.2
    done
}

give_up() {
    echo "$2; the end of $1/log:" >&2
    tail -20 "$1/log" >&2
    stop_server "$1"
    exit 1
}

stop_server() {
    local pid
    pid=$(head -1 "$1/pid" 2>/dev/null) || return 0
    kill -TERM "$pid" 2>/dev/null || return 0
    for _ in $(seq 100); do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
}

stop() {
    stop_server "$1"
    rm -rf "$1"
}

# FOLDER becomes absolute, for servers change their working folder.
main() {
    case "${1:-}:$#" in
        start:3) start "$(realpath -m "$2")" "$3" ;;
        stop:2) stop "$(realpath -m "$2")" ;;
        *) echo "usage: $0 start FOLDER PORT | stop FOLDER" >&2; exit 2 ;;
    esac
}
