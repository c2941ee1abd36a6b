#!/usr/bin/env bash
# service_page.sh PAGE PREFIX FOLDER: makes in FOLDER the project that PAGE (docs/service.md) shows, builds it with the Rondo installed in
# PREFIX, runs the page's commands, and compares what they print with the page.
set -euo pipefail
page=$(realpath "$1") prefix=$(realpath "$2") folder=$3
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder"

# A block whose first line is a comment with a name is a file of the project. The blocks marked sh are commands: to build, to run.
awk '/^```/ { inside = !inside; is_first = inside; language = substr($0, 4); file = ""; next }
  is_first && /^(\/\/|#) [A-Za-z_]+\.[a-z]+$/ { file = $2 }
  is_first && language == "sh" { file = "commands." ++count }
  { is_first = 0 }
  inside && file != "" { print >file }' "$page"
for file in stock.fbs CMakeLists.txt shelf.hpp warehouse.cpp take.cpp commands.1 commands.2; do
  [[ -s $file ]] || { echo "$page does not show $file" >&2 && exit 1; }
done

export CMAKE_PREFIX_PATH=$prefix CMAKE_GENERATOR=Ninja
bash -e commands.1 >build.log 2>&1 || { cat build.log >&2 && exit 1; }

XDG_RUNTIME_DIR=$(mktemp -d) && export XDG_RUNTIME_DIR # for the service's socket
sed -n 's/.*[^ ]  *# //p' commands.2 >expected
set -m # the commands are a group of processes, which ends with them
timeout 120 bash -e commands.2 >said &
commands=$!
trap 'kill -- "-$commands" 2>/dev/null || true; rm -rf "$XDG_RUNTIME_DIR"' EXIT
wait "$commands" || { echo "the commands of $page ended with $?; they printed:" >&2 && cat said >&2 && exit 1; }
diff expected said || { echo "the commands of $page print something else than the page says (<)" >&2 && exit 1; }
cat said
