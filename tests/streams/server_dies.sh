#!/usr/bin/env bash
# server_dies.sh RONDO XVFB: the X server of a window is killed while `rondo stream` also writes a file. The command
# says so, and the file is whole.
set -euo pipefail
rondo=$1 xvfb=$2
folder=$(mktemp -d)
trap 'kill -9 "${server:-}" "${run:-}" 2>/dev/null || true; rm -rf "$folder"' EXIT
cat >"$folder/graph.json" <<END
{"rate": 30, "stages": [
  {"name": "pattern", "stage": "test_pattern", "options": {"width": 64, "height": 64}},
  {"name": "file", "stage": "file_sink", "options": {"file": "$folder/out.mp4"}},
  {"name": "screen", "stage": "display"}],
 "connections": [{"from": "pattern", "to": "file"}, {"from": "pattern", "to": "screen"}]}
END
cat >"$folder/read.json" <<END
{"stages": [{"name": "file", "stage": "file_source", "options": {"file": "$folder/out.mp4"}}, {"name": "end", "stage": "null_sink"}],
 "connections": [{"from": "file", "to": "end"}]}
END
"$xvfb" -displayfd 3 -screen 0 320x240x24 3>"$folder/display" 2>/dev/null &
server=$!
for ((i = 0; i < 600; ++i)); do
  if [[ -s $folder/display ]]; then break; fi
  sleep 0.1
done
DISPLAY=:$(cat "$folder/display") "$rondo" stream "$folder/graph.json" --quiet 2>"$folder/log" &
run=$!
# Some pictures are in the file.
for ((i = 0; i < 600; ++i)); do
  if [[ -e $folder/out.mp4.part ]]; then break; fi
  sleep 0.1
done
sleep 1
kill -9 "$server"
status=0
wait "$run" || status=$?
cat "$folder/log"
((status == 69))
grep -q "the display has gone" "$folder/log"
"$rondo" stream "$folder/read.json" --quiet
echo "the display's end is named, and the file is whole"
