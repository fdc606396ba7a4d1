# shellcheck shell=bash
# Installing what is missing, for the scripts that source this file. Nothing here runs by itself.
# Debian and its children only; elsewhere the names are printed and the build says what it misses.

build_packages=(gcc libc6-dev make cmake libcivetweb-dev libsqlite3-dev libisal-dev libzstd-dev
    libjansson-dev libssl-dev libcurl4-openssl-dev libpq-dev ca-certificates curl)
oldest_node=18

say() { printf '==> %s\n' "$*" >&2; }
fail() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

is_installed() {
    [[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]
}

as_root() {
    if [[ $EUID -eq 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "installing packages needs root or sudo; or have these installed: $missing_text"
    fi
}

# Installs those of the named packages that are not there. Asks apt nothing when all are.
install_missing() {
    local package missing=()
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "no apt-get here: make sure that you have: $*"
        return 0
    fi
    for package in "$@"; do
        is_installed "$package" || missing+=("$package")
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0
    missing_text="${missing[*]}"
    say "installing: $missing_text"
    if [[ -z "${package_lists_read:-}" ]]; then
        as_root apt-get -qq update
        package_lists_read=yes
    fi
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
        "${missing[@]}" >&2
}

# Node may come from Debian, or from elsewhere with its own npm; Debian's npm package conflicts with the
# latter, so it is asked for only where no npm has come with node.
install_node() {
    command -v node >/dev/null || install_missing nodejs
    command -v npm >/dev/null || install_missing npm
    command -v npm >/dev/null || fail "npm is missing: install Node.js $oldest_node or newer with npm"
    local major
    major="$(node -p 'process.versions.node.split(".")[0]')"
    [[ "$major" -ge "$oldest_node" ]] || fail "node $major is too old: $oldest_node or newer is needed"
}

install_build_dependencies() {
    install_missing "${build_packages[@]}"
    install_node
}
