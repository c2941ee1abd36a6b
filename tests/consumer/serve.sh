#!/usr/bin/env bash
# serve.sh PROGRAM: serves an actor of the consumer's module, asks it from another process, and stops the service.
set -euo pipefail
program=$1
folder=$(mktemp -d)
"$program" serve --name greetings --listen "unix:$folder/socket" --actor door=greeter --quiet &
service=$!
trap 'kill "$service" 2>/dev/null || true; rm -rf "$folder"' EXIT
for _ in {1..1200}; do # a minute, for a busy machine
  if [[ -S $folder/socket ]] || ! kill -0 "$service" 2>/dev/null; then break; fi
  sleep 0.05
done
"$program" ask --at "unix:$folder/socket" door hello '{"number": 41}'
kill -TERM "$service"
wait "$service"
