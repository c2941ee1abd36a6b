#!/usr/bin/env bash
# tests/player/people.sh RONDO GRAPH: runs tools/stream/graphs/people.json on the host's teams, and again with all kernels on pocl. The video and
# the pictures are the same bytes.
set -euo pipefail
rondo=$1 graph=$2
skip() {
  echo "skipped: $1"
  exit
}
[[ -d /sys/devices/system/cpu ]] || skip "there is no /sys, which pocl reads"
clip=$(sed -n 's/.*"file": "\([^"]*\.avi\)".*/\1/p' "$graph")
[[ -f $clip ]] || skip "there is no $clip; tools/deps test installs it"

at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
# show NAME BACKEND DEVICE
show() {
  mkdir "$at/$1"
  sed "s/\"name\": \"people\",/&\n  \"backend\": \"$2\",/" "$graph" >"$at/$1.json"
  (cd "$at/$1" && "$rondo" stream "$at/$1.json" --device "$3" --ticks 60 --set stills.every=10 --quiet)
}
show host cpu cpu
show player opencl opencl:Portable
"$rondo" stream "$at/player.json" --device opencl:Portable --explain >"$at/explained"
for stage in find draw; do
  grep -q "^$stage .*kernels on opencl" "$at/explained" || { cat "$at/explained" && echo "the kernels of '$stage' did not play" && exit 1; }
done
count=$(find "$at/host" -type f | wc -l)
((count == 7)) || { echo "6 pictures and a video were expected, not $count files" && exit 1; }
diff -r "$at/host" "$at/player"
