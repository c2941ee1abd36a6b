# Part of tools/gpu: the steps of a visit, and the limits of their cases.
# shellcheck shell=bash
# shellcheck disable=SC2154 # results, device and ptx are set by tools/lib/gpu_visit.sh

# catch_cases STEP LIMIT_S PROGRAM SELECTION [TOOL COMMAND...]: runs each test case that matches the selection, through COMMAND.
catch_cases() {
  local step=$1 limit=$2 path selection=$4 tool=${5:-} tests name exact
  path=$(program "$3")
  tests=$("$path" --list-test-names-only "$selection" </dev/null) || true # Catch2 exits with their number
  [[ $tests ]] || fail "$3 has no test case that matches $selection"
  while IFS= read -r name; do
    exact=${name//\\/\\\\} exact=${exact//,/\\,} exact=${exact//\[/\\[}
    run_case "$step" "${tool:+$tool, }$3: $name" "$limit" "${@:6}" "$path" "$exact" --warn NoTests --durations yes
  done <<<"$tests"
}

# bench_cases STEP OPTION...: runs each case of bench_gpu that the options select. On the emulated device it has fewer.
bench_cases() {
  local step=$1 path line possible
  path=$(program bench_gpu)
  shift
  possible=$("$path" --device "$device" "$@" --list 2>/dev/null </dev/null) || true
  while IFS= read -r line; do
    if ! grep -qxF "$line" <<<"$possible"; then
      run_case "$step" "$line" 5 echo "skipped: it runs on cuda alone"
      continue
    fi
    # Less than the 30 s after which the bench ends a sample itself: the visit first finds where it hangs.
    run_case "$step" "$line" 25 "$path" --device "$device" "$@" --exact --case "${line%% | *}" --peer "${line#* | }" \
      --json "$results/bench.jsonl"
  done < <("$path" "$@" --list </dev/null)
}

step_probes() {
  local path name log
  path=$(program gpu_probes)
  for name in $("$path" --list </dev/null); do run_case probes "$name" 20 "$path" "$name"; done
  for log in "$results"/logs/probes-*.log; do grep -a '^{' "$log" 2>/dev/null || true; done >"$results/probes.jsonl"
}

step_smoke() { catch_cases smoke 20 test_gpu '[smoke]'; }

step_test() {
  catch_cases test 30 test_gpu '[gpu]~[faults]~[smoke]'
  if [[ $ptx ]]; then # the cases that CI runs
    catch_cases test 120 test_conformance '~[G9]~[several]~[allocations]' ptx env RONDO_CONFORMANCE_PTX="$ptx"
  else
    catch_cases test 45 test_conformance '~[.]'
  fi
}

step_bench() {
  bench_cases bench --rounds 3 --seconds 0.2 --long 3
  local idle=(bash -c "$idle_power" idle_power "$(program bench_gpu)")
  [[ $device == cuda ]] || idle=(echo "skipped: it runs on cuda alone")
  run_case bench "idle power" 40 "${idle[@]}"
}
# The power and the clock without a runtime, and with one that has nothing to do.
# shellcheck disable=SC2016 # expanded by the shell that runs it
idle_power='
sample() {
  for _ in 1 2 3 4 5; do
    sleep 1
    echo "$1, $(nvidia-smi --query-gpu=power.draw,clocks.sm,utilization.gpu --format=csv,noheader)"
  done
}
echo "what, power, clock of the multiprocessors, use"
sample "no runtime"
"$1" --idle 15 & sleep 5
sample "idle runtime"
wait $!'

step_experiments() { bench_cases experiments --experiments --rounds 3 --seconds 0.2; }

# Each access is checked, so the tests are few and small.
step_sanitize() {
  local tool selection
  if ! command -v compute-sanitizer >/dev/null; then
    run_case sanitize compute-sanitizer 5 echo "skipped: compute-sanitizer is not installed"
    return
  fi
  for tool in memcheck racecheck synccheck; do
    catch_cases sanitize 60 test_gpu '[smoke]' "$tool" compute-sanitizer --tool "$tool" --error-exitcode 9
    for selection in 'a payload of the full*' 'actors send to and ask*' 'a wide message computes*' 'a cooperative handler*'; do
      catch_cases sanitize 60 test_conformance "$selection" "$tool" compute-sanitizer --tool "$tool" --error-exitcode 9
    done
  done
}

step_faults() { catch_cases faults 60 test_gpu '[faults]'; }
