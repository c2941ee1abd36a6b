# Shared by the scripts of bench/, which source it after tools/lib/common.sh: the machine and the code that figures come from.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # used by those scripts; set by tools/lib/common.sh
commit=$(git -C "$rondo_root" describe --always --abbrev=12)
# Pages and results are what a bench writes; the one that runs next is of the same commit.
git -C "$rondo_root" diff --quiet HEAD -- . ':!docs' ':!bench/results' || commit+=-dirty
processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
compiler=$(g++ --version | head -1)
load_now() { cut -d' ' -f1 /proc/loadavg; }

# provenance COMMAND: one JSON line, the first of a file of results.
provenance() {
  printf '{"command": "%s", "commit": "%s", "date": "%s", "machine": {"cpu": "%s", "cores": %d, "kernel": "%s", "load_1m": %s}, "compiler": "%s"}\n' \
    "$1" "$commit" "$(date -u +%FT%TZ)" "$processor" "$(nproc)" "$(uname -r)" "$(load_now)" "$compiler"
}
