#!/usr/bin/env bash
# From a fresh clone to a running dashboard: installs what is missing, builds, starts the server, uploads
# a demonstration trace and prints the address to open. Ctrl-C stops it.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
build="$root/build"
demo="$root/deploy/demo/worker0.1700000000000.pt.trace.json.gz"
# shellcheck source=deploy/packages.sh
source "$root/deploy/packages.sh"

usage() {
    cat <<'TEXT'
usage: deploy/quickstart.sh [--no-demo] [OPTION OF `kinetoscope serve`]...
       deploy/quickstart.sh --deps

Builds Kinetoscope and serves it on http://localhost:8080, with a demonstration trace. Ctrl-C stops it.

  --deps      install what a build needs, and do nothing else
  --no-demo   start with no demonstration trace
  --help      this text

Every other option goes to the server: --listen 127.0.0.1:9090, --data-dir DIR ... (see `build/kinetoscope
help`). With --token-file, put a writer's token into KINETOSCOPE_TOKEN to have the demonstration uploaded.
TEXT
}

only_deps=no
with_demo=yes
listen="${KINETOSCOPE_LISTEN:-127.0.0.1:8080}"
base_path="${KINETOSCOPE_BASE_PATH:-}"
token_file="${KINETOSCOPE_TOKEN_FILE:-}"
serve_options=()
server_pid=

# Keeps what is for the server, and notes what this script must know of it.
read_options() {
    while [[ $# -gt 0 ]]; do
        case "$1" in
        --deps) only_deps=yes ;;
        --no-demo) with_demo=no ;;
        -h | --help) usage && exit 0 ;;
        serve) ;;
        --listen=*) listen="${1#*=}" ;;
        --base-path=*) base_path="${1#*=}" && serve_options+=("$1") ;;
        --token-file=*) token_file="${1#*=}" && serve_options+=("$1") ;;
        --listen | --base-path | --token-file)
            [[ $# -ge 2 ]] || fail "$1 needs a value"
            case "$1" in
            --listen) listen="$2" ;;
            --base-path) base_path="$2" && serve_options+=("$1" "$2") ;;
            --token-file) token_file="$2" && serve_options+=("$1" "$2") ;;
            esac
            shift
            ;;
        *) serve_options+=("$1") ;;
        esac
        shift
    done
}

# host:port as a browser on this machine reaches it.
browser_host() {
    case "${listen%:*}" in
    127.0.0.1 | 0.0.0.0 | localhost | "$listen") echo localhost ;;
    *) echo "${listen%:*}" ;;
    esac
}

refuse_taken_port() {
    local host port="${listen##*:}"
    [[ "$port" =~ ^[0-9]+$ && "$port" -gt 0 ]] || fail "--listen $listen: a fixed port is needed, as in 127.0.0.1:8080"
    host="$(browser_host)"
    if (exec 3<>"/dev/tcp/$host/$port") 2>/dev/null; then
        fail "port $port is taken: stop the program that listens there, or choose another with --listen 127.0.0.1:$((port % 65535 + 1))"
    fi
}

build_program() {
    say "building (Release) in $build"
    cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release >&2
    cmake --build "$build" -j"$(nproc)" --target kinetoscope >&2
}

stop_server() {
    [[ -n "$server_pid" ]] || return 0
    kill -TERM "$server_pid" 2>/dev/null || true
    wait "$server_pid" 2>/dev/null || true
    server_pid=
}

# In a process group of its own: the terminal's Ctrl-C reaches this script only, which asks the server once to
# finish what it is doing (a second signal would end it at once).
start_server() {
    set -m
    "$build/kinetoscope" serve --listen "$listen" ${serve_options[@]+"${serve_options[@]}"} </dev/null &
    server_pid=$!
    set +m
    trap stop_server EXIT
    # Ctrl-C is how one leaves: no failure.
    trap 'stop_server; exit 0' INT TERM
}

wait_until_ready() {
    local tries
    for ((tries = 0; tries < 300; tries++)); do
        kill -0 "$server_pid" 2>/dev/null || end_with_server
        curl -fs -o /dev/null --max-time 5 "$url/readyz" && return 0
        sleep 0.1
    done
    fail "the server does not answer on $url/readyz"
}

# The server has ended by itself and has said why: its exit code is ours.
end_with_server() {
    local code=0
    wait "$server_pid" || code=$?
    server_pid=
    exit "$code"
}

# Prints the address of the uploaded trace's page; on failure that of the start page. The same bytes under
# the same name are no new trace, so starting twice uploads once.
upload_demo() {
    local answer id auth=()
    [[ -z "${KINETOSCOPE_TOKEN:-}" ]] || auth=(-H "Authorization: Bearer $KINETOSCOPE_TOKEN")
    if [[ -n "$token_file" && ${#auth[@]} -eq 0 ]]; then
        say "the demonstration trace is left out: KINETOSCOPE_TOKEN holds no token to upload it with"
        echo "$url/"
        return 0
    fi
    if ! answer="$(curl -sS --fail-with-body ${auth[@]+"${auth[@]}"} -T "$demo" "$url/api/v1/runs/demo/traces/")"; then
        say "the demonstration trace was refused: $answer"
        echo "$url/"
        return 0
    fi
    id="$(sed -n '1,/"id"/s/.*"id": *\([0-9][0-9]*\).*/\1/p' <<<"${answer//,/$'\n'}" | head -n 1)"
    echo "$url/#/traces/$id/overview"
}

main() {
    local address
    read_options "$@"
    if [[ $only_deps == yes ]]; then
        install_build_dependencies
        return
    fi
    url="http://$(browser_host):${listen##*:}${base_path%/}"
    refuse_taken_port
    install_build_dependencies
    build_program
    start_server
    wait_until_ready
    address="$url/"
    [[ $with_demo == no ]] || address="$(upload_demo)"
    printf 'Kinetoscope is running. Open %s\n' "$address"
    printf 'Upload your own: curl -T TRACE.pt.trace.json.gz %s/api/v1/runs/my-run/traces/\n' "$url"
    printf 'Ctrl-C stops it.\n'
    local code=0
    wait "$server_pid" || code=$?
    server_pid=
    return "$code"
}

main "$@"
