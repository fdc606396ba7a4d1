#!/usr/bin/env bash
# Everything that can be tested: installs what is missing, builds with sanitizers, runs every test through
# ctest, whose words are the last.
#
#   tests/run.sh [--long] [CTEST OPTION]...      e.g. tests/run.sh -L unit     tests/run.sh -R program.upload
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
build="$root/build-tests"
# shellcheck source=deploy/packages.sh
source "$root/deploy/packages.sh"

test_packages=(libcmocka-dev chromium clang libclang-rt-14-dev clang-format clang-tidy python3 zstd git valgrind)
long=OFF
ctest_options=()

read_options() {
    local option
    for option in "$@"; do
        case "$option" in
        --long) long=ON ;;
        -h | --help) sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
        *) ctest_options+=("$option") ;;
        esac
    done
}

install_everything() {
    install_build_dependencies
    install_missing "${test_packages[@]}"
    [[ $long == OFF ]] || install_missing debootstrap
}

# -O1: sanitizers stay readable and the run short. Not RelWithDebInfo, which would drop assert().
build_tests() {
    cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" -DKS_SANITIZE=ON \
        -DKS_WERROR=ON -DKS_CHECKS=ON -DKS_LONG_TESTS="$long"
    cmake --build "$build" -j"$(nproc)"
}

main() {
    read_options "$@"
    install_everything
    build_tests
    export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}"
    export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
    ctest --test-dir "$build" --output-on-failure -j2 ${ctest_options[@]+"${ctest_options[@]}"}
}

main "$@"
