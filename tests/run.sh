#!/usr/bin/env bash
# Everything that can be tested: installs what is missing, builds with sanitizers, runs every test through
# ctest, whose words are the last.
#
#   tests/run.sh [--quick | --long] [CTEST OPTION]...      e.g. tests/run.sh -R program.upload
#
#   --quick   the unit tests only, each sweep over thousands of cases as a sample: under a minute from a built tree, without
#             a browser, for the time between two edits
#   --long    also a thousand rounds of damage, two hundred kills of the server, longer fuzzing, deeper analysis, a pristine Debian
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
build="$root/build-tests"
# shellcheck source=deploy/packages.sh
source "$root/deploy/packages.sh"

test_packages=(libcmocka-dev chromium clang libclang-rt-14-dev clang-format clang-tidy python3 zstd git valgrind)
# Servers that checks start for themselves: a check whose server cannot be installed is skipped and says so.
server_packages=(postgresql postgresql-15-auto-failover haproxy ceph-mon ceph-osd ceph-common radosgw)
long=OFF
quick=no
ctest_options=()

read_options() {
    local option
    for option in "$@"; do
        case "$option" in
        --long) long=ON ;;
        --quick) quick=yes ;;
        -h | --help) sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
        *) ctest_options+=("$option") ;;
        esac
    done
}

install_everything() {
    install_build_dependencies
    if [[ $quick == yes ]]; then
        install_missing libcmocka-dev
        return
    fi
    install_missing "${test_packages[@]}"
    install_missing mold || say "not here, ld links the tests, which takes longer: mold"
    local package
    for package in "${server_packages[@]}"; do
        install_missing "$package" || say "not here, its checks are skipped: $package"
    done
    [[ $long == OFF ]] || install_missing debootstrap
}

# -O1: sanitizers stay readable and the run short; -g1: their reports need functions and lines, no more. Not
# RelWithDebInfo, which would drop assert().
build_tests() {
    local linker=
    ! command -v mold >/dev/null || linker=-fuse-ld=mold
    cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g1" -DCMAKE_EXE_LINKER_FLAGS="$linker" \
        -DKS_SANITIZE=ON -DKS_WERROR=ON -DKS_CHECKS=ON -DKS_LONG_TESTS="$long"
    cmake --build "$build" -j"$(nproc)"
}

main() {
    read_options "$@"
    install_everything
    build_tests
    export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}"
    export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
    local jobs=3 # for two processors: those that stand on other servers mostly wait
    if [[ $quick == yes ]]; then
        export KINETOSCOPE_QUICK=1
        jobs=$((2 * $(nproc))) # many of them wait for the disk
        ctest_options=(-L unit ${ctest_options[@]+"${ctest_options[@]}"})
    fi
    ctest --test-dir "$build" --output-on-failure -j"$jobs" ${ctest_options[@]+"${ctest_options[@]}"}
}

main "$@"
