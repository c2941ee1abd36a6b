#!/usr/bin/env bash
# Tests what tools/gpu pack refuses: a shared library that is missing, and a folder that is too large.
# shellcheck disable=SC2317 # ldd and readelf are called by the functions under test
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/tools/lib/common.sh"
source "$root/tools/lib/gpu_pack.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/lib"
echo "a library" >"$work/libhere.so.1"
echo "a program" >"$work/bin/program"

needed="libhere.so.1 => $work/libhere.so.1 (0x00007f0000000000)"
ldd() { printf '\t%s\n' 'linux-vdso.so.1 (0x00007ffd00000000)' 'libc.so.6 => /lib/libc.so.6 (0x00007f0000000000)' "$needed" '/lib64/ld-linux-x86-64.so.2 (0x00007f0000000000)'; }
readelf() { printf ' 0x0000000000000001 (NEEDED)  Shared library: [%s]\n' libhere.so.1 libc.so.6; }
# refused WORDS COMMAND...: the command must fail and say these words.
refused() {
  local words=$1 said
  shift
  if said=$("$@" 2>&1); then echo "not refused: $*" && exit 1; fi
  [[ $said == *"$words"* ]] || { echo "refused with other words than '$words': $said" && exit 1; }
}

refused "program needs the shared library libhere.so.1, which was not packed" check_libraries "$work"
carry_libraries "$work/bin/program" "$work/lib"
[[ $(ls "$work/lib") == libhere.so.1 ]] || { echo "carried: $(ls "$work/lib")" && exit 1; }
check_libraries "$work"
needed='libgone.so.2 => not found'
refused "needs the shared library libgone.so.2, which is not on this machine" carry_libraries "$work/bin/program" "$work/lib"

check_size "$work"
pack_limit_mb=1
head -c 1100000 /dev/zero >"$work/bin/large"
refused "1.0 MB  bin/large" check_size "$work"
refused "more than 1;" check_size "$work"
