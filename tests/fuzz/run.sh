#!/usr/bin/env bash
# Fuzzes every target, in a build of its own (clang, libFuzzer, AddressSanitizer, UndefinedBehaviorSanitizer).
#
#   tests/fuzz/run.sh [--seconds N] [--jobs N] [--go-on] BUILD_DIRECTORY [TARGET]...
#
# Each target runs N seconds (8), as many at a time as there are jobs (2). What it finds lies in
# BUILD_DIRECTORY/found/TARGET-*, what it has learnt in BUILD_DIRECTORY/learnt/TARGET, its words in
# BUILD_DIRECTORY/TARGET.log. --go-on: a finding does not end the run of its target, and what earlier runs have
# learnt is kept.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
readonly SKIPPED=77
seconds=8
jobs=2
go_on=
targets=()
build=

read_options() {
    while [[ $# -gt 0 ]]; do
        case "$1" in
        --seconds) seconds="$2" && shift ;;
        --jobs) jobs="$2" && shift ;;
        --go-on) go_on=yes ;;
        *) if [[ -z $build ]]; then build="$1"; else targets+=("$1"); fi ;;
        esac
        shift
    done
    [[ -n $build ]] || { sed -n '4p' "${BASH_SOURCE[0]}" >&2 && exit 2; }
}

has_libfuzzer() {
    local probe
    probe="$(mktemp -d)"
    echo 'int LLVMFuzzerTestOneInput(const unsigned char *b, unsigned long n) { (void)b; (void)n; return 0; }' >"$probe/t.c"
    clang -fsanitize=fuzzer,address -o "$probe/t" "$probe/t.c" >/dev/null 2>&1
    local status=$?
    rm -r "$probe"
    return $status
}

build_targets() {
    cmake -S "$here/../.." -B "$build" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g1" \
        -DKS_SANITIZE=ON -DKS_FUZZ=ON >"$build/build.log"
    # From the folder of the targets: what they need, and not the page.
    cmake --build "$build" --target fuzz_targets -j"$jobs" >>"$build/build.log" || { tail -40 "$build/build.log" && exit 1; }
}

fuzz_target() {
    local target="$1" learnt="$build/learnt/$1" status=0 options=() regressions=()
    [[ -n $go_on ]] || rm -rf "$learnt"
    mkdir -p "$learnt"
    [[ ! -d $here/regressions/$target ]] || regressions=("$here/regressions/$target")
    [[ ! -f $here/$target.dict ]] || options+=("-dict=$here/$target.dict")
    [[ -z $go_on ]] || options+=(-fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1)
    # The limits are guards: no target may take a second or a gigabyte for an input of this size.
    "$build/fuzz/fuzz_$target" -seed=1 -max_total_time="$seconds" -max_len=16384 -timeout=25 -rss_limit_mb=2048 \
        -malloc_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$build/found/$target-" ${options[@]+"${options[@]}"} \
        "$learnt" "$here/corpus/$target" ${regressions[@]+"${regressions[@]}"} >"$build/$target.log" 2>&1 || status=$?
    [[ $status -eq 0 ]] || { echo "$target: ended with $status" && grep -aE 'does not hold|ERROR:|runtime error' "$build/$target.log" | head -3; } || true
}

main() {
    read_options "$@"
    has_libfuzzer || { echo "clang with libFuzzer not found" && exit $SKIPPED; }
    mkdir -p "$build/found"
    [[ -n $go_on ]] || rm -f "$build"/found/*
    build_targets
    if [[ ${#targets[@]} -eq 0 ]]; then
        mapfile -t targets < <(cd "$here/corpus" && ls)
    fi
    export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
    local target
    for target in "${targets[@]}"; do
        while [[ $(jobs -rp | wc -l) -ge $jobs ]]; do wait -n || true; done
        fuzz_target "$target" &
    done
    wait
    local found
    found="$(find "$build/found" -type f | wc -l)"
    for target in "${targets[@]}"; do
        echo "$target: $(grep -aoE 'stat::number_of_executed_units: .*|^#[0-9]+: cov.*' "$build/$target.log" | tail -1 | tr -s ' ')"
    done
    echo "fuzz: ${#targets[@]} targets, $seconds s each, $found findings"
    [[ $found -eq 0 ]]
}

main "$@"
