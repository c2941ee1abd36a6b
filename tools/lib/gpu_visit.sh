# Part of tools/gpu: runs cases one by one, each in a process of its own, and collects their results. It needs bash and the
# programs of coreutils, util-linux, tar and gzip.
# shellcheck shell=bash
# shellcheck disable=SC2154 # rondo_root is set by tools/lib/common.sh
# shellcheck source-path=SCRIPTDIR/../..
source "$rondo_root/tools/lib/gpu_steps.sh"

log_bytes=65536 # kept of each output: one half from its beginning, one from its end
grace_s=2       # between SIGTERM and SIGKILL
inspect_s=30    # for finding the position of a kernel that hangs
own_watchdog=124 # the exit status of a program that found itself hanging
results='' archive='' only='' until_s=540 case_limit=100000 device=cuda ptx='' unreached=()

now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }

# json_text TEXT: prints it as a JSON string.
json_text() {
  local text=${1//\\/\\\\}
  text=${text//\"/\\\"}
  printf '"%s"' "${text//[[:cntrl:]]/ }"
}

# program NAME: prints the path of one of our programs.
program() {
  local path=$rondo_root/bin/$1
  [[ -e $path ]] || path=$(find "$rondo_root/build/gpu" -name "$1" -type f -perm -u+x -print -quit 2>/dev/null) || true
  [[ $path ]] || fail "$1 is neither in bin/ nor in build/gpu; run tools/gpu pack"
  echo "$path"
}

# keep_bounded FILE: copies the beginning and the end of standard input, and leaves FILE.cut if something lies between them.
keep_bounded() {
  local half=$((log_bytes / 2))
  head -c "$half" >"$1"
  tail -c "$half" >"$1.end"
  if (($(stat -c %s "$1.end") == half)); then
    echo $'\n[the middle of this output is left out]' >>"$1"
    touch "$1.cut"
  fi
  cat "$1.end" >>"$1"
  rm "$1.end"
}

# youngest PID: prints the process that does the work: a child of a child of PID, if there is one.
youngest() {
  local pid=$1 stat id rest parent child
  while :; do
    child=
    for stat in /proc/[0-9]*/stat; do
      read -r id rest 2>/dev/null <"$stat" || continue
      read -r _ parent _ <<<"${rest##*) }" # after the name, which may hold spaces
      if [[ $parent == "$pid" ]]; then child=$id; fi
    done
    [[ $child ]] || break
    pid=$child
  done
  echo "$pid"
}

# inspect PID: prints where the kernels and threads of a hanging program are.
inspect() {
  command -v cuda-gdb >/dev/null || { echo "cuda-gdb is not installed, so the position of its kernels is unknown" && return; }
  timeout --kill-after=5 "$inspect_s" cuda-gdb -batch -p "$(youngest "$1")" -ex 'info cuda kernels' -ex 'info cuda warps' \
    -ex 'thread apply all bt 12' 2>&1 </dev/null || echo "cuda-gdb did not find the position of its kernels"
}

alive() { kill -0 "$1" 2>/dev/null; }
# wait_for PID MS: waits until the process has ended; fails if it has not after MS milliseconds.
wait_for() {
  local until=$(($(now_ms) + $2))
  while alive "$1"; do
    (($(now_ms) < until)) || return 1
    sleep 0.1
  done
}

# record STEP NAME STATUS MS LOG REASON: writes a result, and shows it.
record() {
  local more=
  if [[ -e $results/$5.cut ]]; then more=', "truncated": true' && rm "$results/$5.cut"; fi
  if [[ $6 ]]; then more+=", \"reason\": $(json_text "$6")"; fi
  printf '{"step": "%s", "case": %s, "status": "%s", "seconds": %d.%03d, "output": "%s"%s}\n' "$1" "$(json_text "$2")" "$3" \
    $(($4 / 1000)) $(($4 % 1000)) "$5" "$more" >>"$results/results.jsonl"
  printf '%-7s %4d.%01d s  %s: %s%s\n' "$3" $(($4 / 1000)) $(($4 % 1000 / 100)) "$1" "$2" "${6:+ ($6)}"
}

# reason_in LOG: the last line with words that a program printed.
reason_in() { { grep -a "[[:alpha:]]" "$1" || true; } | tail -n 1 | tr -cd "[:print:]" | cut -c1-200; }

# run_case STEP NAME LIMIT_S COMMAND...: runs one case, unless a result of it is there.
run_case() {
  local step=$1 name=$2 limit=$3 log number left cut=''
  shift 3
  [[ $name == *"$only"* ]] || return 0
  grep -qF "{\"step\": \"$step\", \"case\": $(json_text "$name")," "$results/results.jsonl" && return
  left=$((until_s - SECONDS - grace_s - 3))
  if ((left < 1)); then
    unreached+=("$step: $name")
    return
  fi
  if ((limit > case_limit)); then limit=$case_limit; fi
  if ((limit > left)); then limit=$left cut=yes; fi
  number=$(wc -l <"$results/results.jsonl")
  log=logs/$(printf '%s-%03d.log' "$step" $((number + 1)))

  local pipe=$results/pipe keeper pid began status=0 verdict='' reason=''
  rm -f "$pipe" && mkfifo "$pipe"
  began=$(now_ms)
  keep_bounded "$results/$log" <"$pipe" &
  keeper=$!
  setsid "$@" >"$pipe" 2>&1 </dev/null &
  pid=$!
  if wait_for "$pid" $((limit * 1000)); then
    wait "$pid" || status=$?
  else
    verdict=timeout reason="not done after $limit s"
    if ((limit + inspect_s < left)); then inspect "$pid" | head -c "$log_bytes" >"$results/${log%.log}.hang.log" || true; fi
    kill -TERM -- "-$pid" 2>/dev/null || true
    if ! wait_for "$pid" $((grace_s * 1000)); then
      verdict=hung reason+=", and SIGTERM did not end it"
      kill -KILL -- "-$pid" 2>/dev/null || true
      # A process that the driver holds may outlive even that.
      wait_for "$pid" 2000 || reason+=", nor did SIGKILL"
    fi
  fi
  kill -KILL -- "-$pid" 2>/dev/null || true # what it may have left
  wait_for "$keeper" 2000 || kill "$keeper" 2>/dev/null || true
  rm -f "$pipe"
  if [[ $verdict && $cut ]]; then # by the end of the visit: the next one runs it again
    rm -f "$results/${log%.log}"{.log,.log.cut,.hang.log}
    unreached+=("$step: $name")
    return
  fi

  if [[ ! $verdict ]]; then
    case $status in
      0) verdict=passed ;;
      "$own_watchdog") verdict=hung reason=$(reason_in "$results/$log") ;;
      *) verdict=failed reason="exit status $status: $(reason_in "$results/$log")" ;;
    esac
    if ((status > 128)); then reason="ended by signal $((status - 128)): $(reason_in "$results/$log")"; fi
    local first=
    read -r first <"$results/$log" || true
    if [[ $verdict == passed && $first == 'skipped: '* ]]; then verdict=skipped reason=${first#skipped: }; fi
  fi
  record "$step" "$name" "$verdict" $(($(now_ms) - began)) "$log" "$reason"
}

query() { timeout 10 nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null | head -n 1; }
write_provenance() {
  local commit
  commit=$(cat "$rondo_root/commit" 2>/dev/null || git -C "$rondo_root" describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
  {
    printf '{"commit": %s, "date": "%s", "device": "%s",\n' "$(json_text "$commit")" "$(date -u +%FT%TZ)" "$device"
    printf ' "host": %s, "cores": %d, "kernel": %s, "load_1m": %s' \
      "$(json_text "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)")" "$(nproc)" \
      "$(json_text "$(uname -sr)")" "$(cut -d' ' -f1 /proc/loadavg)"
    if [[ $device == cuda ]]; then
      local field
      for field in name driver_version memory.total clocks.sm clocks.mem clocks.max.sm clocks.max.mem power.draw power.limit \
        pcie.link.gen.current pcie.link.width.current compute_mode mig.mode.current ecc.mode.current; do
        printf ',\n "gpu_%s": %s' "${field//./_}" "$(json_text "$(query "$field")")"
      done
    fi
    printf '}\n'
  } >"$results/provenance.json"
}

write_archive() {
  tar -C "$(dirname "$results")" -czf "$archive.new" "$(basename "$results")" || fail "could not write $archive"
  mv "$archive.new" "$archive"
}

gpu_visit() {
  local steps=() step needed
  while (($#)); do
    case $1 in
      --help | -h) print_help && exit ;;
      --results) results=${2:?} && shift ;;
      --archive) archive=${2:?} && shift ;;
      --case) only=${2:?} && shift ;;
      --seconds) until_s=${2:?} && shift ;;
      --limit) case_limit=${2:?} && shift ;;
      --device) device=${2:?} && shift ;;
      probes | smoke | test | bench | experiments | sanitize | faults) steps+=("$1") ;;
      *) fail "unknown step or option '$1'; see --help" ;;
    esac
    shift
  done
  ((${#steps[@]})) || fail "no step was named; see --help"
  [[ $device == cuda || $device == emulated || $device == ptx ]] ||
    fail "unknown device '$device'; expected cuda, emulated or ptx"
  [[ $device != cuda ]] || gpu_here || [[ -e /dev/nvidiactl ]] ||
    fail "no NVIDIA GPU found (nvidia-smi lists none); --device emulated rehearses a visit"
  for needed in setsid timeout tar gzip mkfifo; do
    command -v "$needed" >/dev/null || fail "$needed is not installed, which a visit needs"
  done
  if [[ ! $results ]]; then
    if [[ -d $rondo_root/bin ]]; then results=$rondo_root/results; else results=$rondo_root/build/gpu-visit; fi
  fi
  mkdir -p "$results/logs"
  results=$(cd "$results" && pwd)
  archive=$(realpath -m "${archive:-$results.tar.gz}")
  mkdir -p "$(dirname "$archive")"
  until_s=$((until_s + SECONDS))
  touch "$results/results.jsonl"
  if [[ $device == ptx ]]; then
    [[ ! -d $rondo_root/ptx ]] || gunzip -kf "$rondo_root"/ptx/*.gz
    ptx=$(find "$rondo_root/ptx" "$rondo_root/build/gpu" -name testbed.ptx -print -quit 2>/dev/null) || true
    [[ $ptx ]] || fail "testbed.ptx is neither in ptx/ nor in build/gpu; run tools/gpu pack"
    device=emulated
  fi
  export RONDO_DEVICE=$device LD_LIBRARY_PATH=$rondo_root/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  [[ ! -d $rondo_root/bin ]] || chmod -R u+x "$rondo_root/bin" # a copy may have lost it
  PATH=$PATH:/usr/local/cuda/bin # cuda-gdb and compute-sanitizer may be there
  write_provenance
  trap write_archive EXIT
  trap 'exit 1' INT TERM

  for step in "${steps[@]}"; do
    "step_$step"
    write_archive
  done
  trap - EXIT
  summarise_visit "${steps[@]}"
}

summarise_visit() {
  local step status line bad
  for step in "$@"; do
    line=
    for status in passed failed timeout hung skipped; do
      line+=", $(grep -c "^{\"step\": \"$step\".* \"status\": \"$status\"" "$results/results.jsonl" || true) $status"
    done
    say "$step: ${line#, }"
  done
  ((${#unreached[@]} == 0)) ||
    say "${#unreached[@]} cases were not reached, from '${unreached[0]}' on; the same command continues with them"
  say "wrote $archive, $((($(stat -c %s "$archive") + 1023) / 1024)) KiB"
  bad=$(grep -cE '"status": "(failed|timeout|hung)"' "$results/results.jsonl" || true)
  ((bad == 0)) || fail "cases that did not pass: $bad; results.jsonl in the archive names them"
}
