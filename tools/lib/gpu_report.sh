# Part of tools/gpu: keeps what visits brought back, and shows it in docs/benchmarks.md.
# shellcheck shell=bash
# shellcheck disable=SC2154 # rondo_root is set by tools/lib/common.sh

# latest COLUMN...: of the JSON lines on standard input with the same texts in these columns (separated by quotes), the last.
latest() {
  tac | awk -F'"' -v columns="$*" '{ key = ""; n = split(columns, c, " "); for (i = 1; i <= n; ++i) key = key "\"" $c[i] } !seen[key]++' | tac
}

gpu_report() {
  local into=$rondo_root archives=() work archive folder folders=() kept about name
  while (($#)); do
    case $1 in
      --help | -h) print_help && exit ;;
      --into) into=${2:?} && shift ;;
      -*) fail "unknown option '$1'; see --help" ;;
      *) archives+=("$1") ;;
    esac
    shift
  done
  ((${#archives[@]})) || fail "no archive was named; see --help"
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # its value now
  trap "rm -rf '$work'" EXIT
  for archive in "${archives[@]}"; do
    folder=$work/${#folders[@]}
    mkdir "$folder"
    tar -C "$folder" --strip-components=1 --no-same-owner -xzf "$archive" || fail "$archive cannot be unpacked"
    for name in results.jsonl provenance.json; do
      [[ -f $folder/$name ]] || fail "$archive has no $name; tools/gpu visit writes it"
    done
    folders+=("$folder")
    about=$(grep -oE '"(commit|device|gpu_name)": "[^"]*"' "$folder/provenance.json" | sort | paste -sd' ')
    [[ ${first:=$about} == "$about" ]] || fail "$archive comes from $about, but the first one from $first: one page cannot show both"
  done
  [[ $about != *'"device": "emulated"'* || $into != "$rondo_root" ]] ||
    fail "this is a rehearsal on the emulated device, whose figures mean nothing; look at them with --into DIR"

  kept=$into/bench/results
  mkdir -p "$kept" "$into/docs"
  [[ -f $into/docs/benchmarks.md ]] || cp "$rondo_root/docs/benchmarks.md" "$into/docs/"
  cp "${folders[-1]}/provenance.json" "$kept/gpu_provenance.json"
  cat "${folders[@]/%//results.jsonl}" | latest 4 8 >"$kept/gpu_cases.jsonl"
  cat "${folders[@]/%//bench.jsonl}" >"$kept/gpu_bench.jsonl" 2>/dev/null || true # bench_report takes the latest
  # One object per probe, in the unit that it names: the costs with which figures are predicted again, to be compared.
  {
    printf '{"provenance": %s,\n "probes": [\n' "$(cat "$kept/gpu_provenance.json")"
    { cat "${folders[@]/%//probes.jsonl}" 2>/dev/null || true; } | latest 4 | sed '$!s/$/,/'
    printf ']}\n'
  } >"$kept/gpu_costs.json"

  if find_nvcc >/dev/null; then
    build_preset gpu rondo_ptx_cost >/dev/null
    "$rondo_root/build/gpu/tests/ptx/cost/rondo_ptx_cost" --costs "$kept/gpu_costs.json" --page "$kept/gpu_predicted.md" >/dev/null ||
      fail "the figures were not predicted again with the costs that the probes have measured; the line above says why"
  else
    say "the predicted figures stay as they are: predicting them with the costs that the probes have measured needs nvcc"
    [[ $into == "$rondo_root" ]] || cp "$rondo_root"/bench/results/gpu_predicted.* "$kept/"
  fi
  build_preset gpu bench_report >/dev/null
  "$(find "$rondo_root/build/gpu" -name bench_report -type f -perm -u+x -print -quit)" --page "$into/docs/benchmarks.md" --gpu "$kept" ||
    fail "docs/benchmarks.md was not renewed; the line above says why"
  say "renewed docs/benchmarks.md and bench/results/gpu_*.json* in $into"
}
