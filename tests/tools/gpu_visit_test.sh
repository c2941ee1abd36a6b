#!/usr/bin/env bash
# Tests tools/gpu visit with a packed folder whose programs are short scripts: cases that pass, fail, hang, ignore SIGTERM, print
# too much and are skipped. The archive must tell them apart, and a second visit must continue the first.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/pack/bin" "$work/pack/tools/lib"
cp "$root/tools/gpu" "$work/pack/tools/"
cp "$root"/tools/lib/{common,gpu_visit,gpu_steps}.sh "$work/pack/tools/lib/"
echo 0123456789ab >"$work/pack/commit"
cat >"$work/pack/bin/gpu_probes" <<'FAKE'
#!/usr/bin/env bash
case $1 in
  --list) printf '%s\n' passes fails hangs ignores_sigterm is_killed prints_too_much finds_itself_hanging skips leaves_a_child ;;
  passes) echo '{"probe": "passes", "value": 1.5, "unit": "ns", "note": ""}' ;;
  fails) echo 'expected "1", found 2' && exit 3 ;;
  hangs) echo "begins" && exec sleep 60 ;;
  ignores_sigterm) trap '' TERM && for _ in {1..600}; do sleep 0.1; done ;;
  is_killed) kill -SEGV $$ ;;
  prints_too_much) echo first && head -c 2000000 /dev/zero | tr '\0' x && echo && echo last ;;
  finds_itself_hanging) echo "finds_itself_hanging: not done after 15 s" && exit 124 ;;
  skips) echo "skipped: there is no GPU" ;;
  leaves_a_child) sleep 60 & echo $! >"$LEFT_BEHIND" ;;
esac
FAKE
chmod +x "$work/pack/bin/gpu_probes"

broken() {
  echo "gpu_visit: $1; results:" && cat "$work/got/results/results.jsonl"
  exit 1
}
export LEFT_BEHIND=$work/child
visit() { bash "$work/pack/tools/gpu" visit --device emulated --limit 4 "$@" probes >"$work/printed" 2>&1; }
unpack() { rm -rf "$work/got" && mkdir "$work/got" && tar -C "$work/got" -xzf "$work/pack/results.tar.gz"; }

# The first visit has time for one case only.
visit --case passes --seconds 20 || { cat "$work/printed" && exit 1; }
unpack
[[ $(wc -l <"$work/got/results/results.jsonl") == 1 ]] || broken "a visit of one case has another number of results"

if visit; then broken "a visit with failing cases succeeds"; fi
unpack
got=$work/got/results
is() { grep -q "^{\"step\": \"probes\", \"case\": \"$1\", \"status\": \"$2\", \"seconds\": [0-9.]*, \"output\": \"logs/probes-[0-9]*.log\"$3" "$got/results.jsonl" || broken "$1 is not recorded as $2$3"; }
is passes passed '}'
is fails failed ', "reason": "exit status 3: expected \\"1\\", found 2"}'
is hangs timeout ', "reason": "not done after 4 s"}'
is ignores_sigterm hung ', "reason": "not done after 4 s, and SIGTERM did not end it"}'
is is_killed failed ', "reason": "ended by signal 11: "}'
is prints_too_much passed ', "truncated": true}'
is finds_itself_hanging hung ', "reason": "finds_itself_hanging: not done after 15 s"}'
is skips skipped ', "reason": "there is no GPU"}'
is leaves_a_child passed '}'
[[ $(wc -l <"$got/results.jsonl") == 9 ]] || broken "the second visit did not continue the first"
# It may still be listed as a zombie, where nothing waits for orphans.
if grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$(cat "$LEFT_BEHIND")/status"; then broken "a process that a case left behind still runs"; fi

log=$got/$(sed -n 's/.*"prints_too_much".*"output": "\([^"]*\)".*/\1/p' "$got/results.jsonl")
[[ $(head -n 1 "$log") == first && $(tail -n 1 "$log") == last ]] || broken "the log of prints_too_much lacks an end"
(($(stat -c %s "$log") < 70000)) || broken "the log of prints_too_much is not bounded"
grep -q begins "$got"/logs/*.log || broken "the output of the case that hangs is lost"
grep -q 'position of its kernels' "$got"/logs/*.hang.log || broken "nothing was recorded about the hang"
[[ $(cat "$got/probes.jsonl") == '{"probe": "passes", "value": 1.5, "unit": "ns", "note": ""}' ]] || broken "probes.jsonl lacks a probe"
grep -q '"commit": "0123456789ab"' "$got/provenance.json" || broken "provenance.json lacks the commit"
grep -q 'wrote .*results.tar.gz, [0-9]* KiB' "$work/printed" || broken "the visit does not say how big its archive is"

# A case that the visit's end cuts short has no result: it was not reached.
rm -r "$work/pack/results"
bash "$work/pack/tools/gpu" visit --device emulated --case hangs --seconds 9 probes >"$work/printed" 2>&1 || broken "a visit whose end cuts a case fails"
[[ ! -s $work/pack/results/results.jsonl && ! $(ls "$work/pack/results/logs") ]] || broken "a case that was cut short is recorded"
grep -q "1 cases were not reached, from 'probes: hangs' on" "$work/printed" || broken "a case that was cut short is not said to be left"

# Without time left no case runs, and the visit says where it would continue.
rm -r "$work/pack/results"
visit --seconds 1 || broken "a visit that is too short fails"
grep -q "9 cases were not reached, from 'probes: passes' on" "$work/printed" || broken "a visit that is too short does not say so"
