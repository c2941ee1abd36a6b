# Shared by the scripts of tools/ and .ci/: the root of the tree, error messages, and building a preset.
# shellcheck shell=bash
set -euo pipefail

rondo_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
rondo_me=${0#"$rondo_root/"}
export LC_ALL=C.UTF-8 # one language for what the scripts parse and print

say() { printf '%s: %s\n' "$rondo_me" "$*"; }
fail() {
  printf '%s: %s\n' "$rondo_me" "$*" >&2
  exit 1
}

# The comment block at the top of the calling script is its help text.
print_help() { sed -n '2,/^[^#]/{/^#/!q;s/^# \{0,1\}//;p}' "$0"; }

# use_ccache: makes CMake compile through ccache, if it is installed and no other launcher is set. Paths are relative, so a
# second checkout reuses what the first one compiled.
use_ccache() {
  [[ -z ${CMAKE_CXX_COMPILER_LAUNCHER:-} ]] && command -v ccache >/dev/null || return 0
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
  export CCACHE_BASEDIR=$rondo_root CCACHE_NOHASHDIR=1
}

# configure_preset NAME [CMAKE ARGS...]: configures build/NAME.
configure_preset() {
  command -v cmake >/dev/null || fail "cmake is not installed; run tools/deps, or install it yourself"
  use_ccache
  # A release only needs code for the GPU of this machine: all generations take minutes. If there is none, PTX from which the driver of a
  # machine with one makes it.
  if [[ $1 == release ]]; then export CUDAARCHS=${CUDAARCHS:-$(if gpu_here; then echo native; else echo 90-virtual; fi)}; fi
  (cd "$rondo_root" && cmake --preset "$@") ||
    fail "could not configure the preset '$1'; see the first 'CMake Error' above"
}
# Prints where nvcc is.
find_nvcc() {
  local nvcc
  for nvcc in "${CUDACXX:-}" "$(command -v nvcc)" /usr/local/cuda/bin/nvcc; do
    if [[ -x $nvcc ]]; then printf '%s\n' "$nvcc" && return; fi
  done
  return 1
}
gpu_here() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; }

# build_preset NAME [TARGET]: configures when needed, then builds build/NAME, all of it or one target. Ninja notices changed
# CMakeLists files, but not changed presets, so after those it configures again.
build_preset() {
  local dir=$rondo_root/build/$1
  command -v ninja >/dev/null || fail "ninja is not installed; run tools/deps, or install it yourself"
  if [[ ! -f $dir/build.ninja || $rondo_root/CMakePresets.json -nt $dir/build.ninja ]]; then configure_preset "$1"; fi
  use_ccache
  cmake --build "$dir" ${2:+--target "$2"} ||
    fail "could not build the preset '$1'; see the first error above"
}
