#!/usr/bin/env bash
# A machine that has nothing but Debian 12: makes one in a directory, copies the tree as git has it, and runs
# the two commands of the README there. usage: pristine.sh WORK_DIRECTORY     (as root; needs debootstrap)
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
work="$(realpath -m "$1")"
machine="$work/machine"
skipped=77
enter=(chroot "$machine" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
    LANG=C.UTF-8 CI=true /bin/bash -c)

skip() {
    echo "skipped: $*"
    exit "$skipped"
}

leave() {
    local mount
    for mount in dev/shm dev/pts dev proc; do
        umount "$machine/$mount" 2>/dev/null || true
    done
}

# Debian's base system is fetched once and kept.
make_machine() {
    mkdir -p "$work"
    if [[ ! -s "$work/base.tar" ]]; then
        rm -rf "$work/base"
        debootstrap --variant=minbase bookworm "$work/base" >"$work/debootstrap.log"
        tar -C "$work/base" -cf "$work/base.tar.part" .
        mv "$work/base.tar.part" "$work/base.tar"
        rm -rf "$work/base"
    fi
    leave
    # Never into a file system that is still mounted there, such as this machine's /dev.
    rm -rf --one-file-system "$machine"
    mkdir -p "$machine"
    tar -C "$machine" -xf "$work/base.tar"
}

# The network as this machine has it: names, and the certificates that its registries are trusted by.
connect_machine() {
    cp /etc/resolv.conf /etc/hosts "$machine/etc/"
    mkdir -p "$machine/usr/local/share/ca-certificates" "$machine/etc/ssl/certs"
    cp -r /usr/local/share/ca-certificates/. "$machine/usr/local/share/ca-certificates/"
    cp /etc/ssl/certs/ca-certificates.crt "$machine/etc/ssl/certs/"
    mount -t proc proc "$machine/proc"
    mount --bind /dev "$machine/dev"
    mount -t tmpfs tmpfs "$machine/dev/shm"
}

# What git knows of the tree, with changes that are not committed yet.
copy_tree() {
    mkdir -p "$machine/src"
    (cd "$root" && git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf -) | tar -C "$machine/src" -xf -
}

# Runs a command line in the copied tree, with nothing of this machine's environment.
inside() {
    "${enter[@]}" "cd /src && $1"
}

# The chroot shares this machine's network.
free_port() {
    local port
    for ((port = 18080; port < 19000; port++)); do
        (exec 3<>"/dev/tcp/localhost/$port") 2>/dev/null || break
    done
    echo "$port"
}

check_quickstart() {
    local log="$work/quickstart.log" port pid tries
    port="$(free_port)"
    # A command of its own, so that its process is the one to stop.
    "${enter[@]}" "cd /src && exec ./deploy/quickstart.sh --listen 127.0.0.1:$port --data-dir /tmp/data" >"$log" 2>&1 &
    pid=$!
    for ((tries = 0; tries < 6000; tries++)); do
        grep -q '^Ctrl-C stops it' "$log" && break
        kill -0 "$pid" 2>/dev/null || { cat "$log" && echo "the quick start ended by itself" && return 1; }
        sleep 0.2
    done
    grep '^Kinetoscope is running' "$log"
    inside "curl -fsS http://localhost:$port/ | grep -qi '<html'"
    inside "curl -fsS http://localhost:$port/api/v1/traces/1/overview | grep -q average_step_ns"
    kill -TERM "$pid"
    wait "$pid"
    echo "quick start: served a page and figures, and stopped with 0"
}

main() {
    [[ $EUID -eq 0 ]] || skip "only root can change the root directory"
    command -v debootstrap >/dev/null || skip "debootstrap is not installed"
    trap leave EXIT
    make_machine
    connect_machine
    copy_tree
    check_quickstart
    inside "./tests/run.sh"
}

main "$@"
