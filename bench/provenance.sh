# Shared by the scripts of bench/, which source it after tools/lib/common.sh: the provenance (machine and code) of figures.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154,SC2016 # used by those scripts; set by tools/lib/common.sh
commit=$(git -C "$rondo_root" describe --always --abbrev=12)
# Pages and results do not count: a bench writes them, and the next bench still measures the same commit.
git -C "$rondo_root" diff --quiet HEAD -- . ':!docs' ':!bench/results' || commit+=-dirty
processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
compiler=$(g++ --version | head -1)
load_now() { cut -d' ' -f1 /proc/loadavg; }

# provenance COMMAND: prints one JSON line, the first line of a file of results.
provenance() {
  printf '{"command": "%s", "commit": "%s", "date": "%s", "machine": {"cpu": "%s", "cores": %d, "kernel": "%s", "load_1m": %s}, "compiler": "%s"}\n' \
    "$1" "$commit" "$(date -u +%FT%TZ)" "$processor" "$(nproc)" "$(uname -r)" "$(load_now)" "$compiler"
}
# For awk programs: the quantile q, and the median, of a list of numbers separated by spaces.
awk_median='
function at(list, q,   n, i, j, t, v) {
  n = split(list, v, " ")
  for (i = 2; i <= n; ++i) for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; --j) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
  return n ? v[1 + int((n - 1) * q + 0.5)] : "-"
}
function median(list) { return at(list, 0.5) }'
# For awk programs: members of the JSON object that is the current line.
awk_json='
function text(key,   t) {
  if (!match($0, "\"" key "\": *\"[^\"]*\"")) return ""
  t = substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 4)
  sub(/^[^"]*"/, "", t)
  return t
}
function number(key,   t) {
  if (!match($0, "\"" key "\": *[-+.0-9e]+")) return 0
  t = substr($0, RSTART, RLENGTH)
  sub(/.*: */, "", t)
  return t + 0
}
'
