# Part of tools/gpu: builds the programs of a visit, and packs them into one folder that needs nothing but glibc and a driver.
# shellcheck shell=bash
# shellcheck disable=SC2154 # rondo_root is set by tools/lib/common.sh

pack_limit_mb=64
pack_programs=(test_gpu share_reader test_conformance bench_gpu gpu_probes)

# carry_libraries PROGRAM DIR: copies the shared libraries of a program to DIR, except glibc's and the driver's.
carry_libraries() {
  local name path
  while read -r name path; do
    case $name in
      linux-vdso.so* | */ld-linux* | ld-linux* | libc.so.6 | libm.so.6 | libpthread.so.0 | libdl.so.2 | librt.so.1 | libresolv.so.2 | libcuda.so* | libnvidia*) ;;
      *)
        [[ -f $path ]] || fail "$1 needs the shared library $name, which is not on this machine"
        cp -Lu "$path" "$2/$name"
        ;;
    esac
  done < <(ldd "$1" | sed -E 's/ \(0x[0-9a-f]+\)$//; s/ => not found$//; s/ =>//')
}

# check_libraries DIR: what each file of the packed folder needs is there, or comes with glibc or the driver.
check_libraries() {
  local file name
  for file in "$1"/bin/* "$1"/lib/*; do
    [[ -f $file ]] || continue
    for name in $(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
      case $name in
        ld-linux* | libc.so.6 | libm.so.6 | libpthread.so.0 | libdl.so.2 | librt.so.1 | libresolv.so.2 | libcuda.so*) ;;
        *) [[ -f $1/lib/$name ]] || fail "${file##*/} needs the shared library $name, which was not packed" ;;
      esac
    done
  done
}

# check_size DIR: the folder is small enough to carry.
check_size() {
  local bytes
  bytes=$(du -sb "$1" | cut -f1)
  ((bytes > pack_limit_mb << 20)) || return 0
  find "$1" -type f -printf '%s %P\n' | sort -rn | head -n 5 | awk '{ printf "%8.1f MB  %s\n", $1 / 1048576, $2 }' >&2
  fail "the folder would have $((bytes >> 20)) MB, more than $pack_limit_mb; its biggest files are listed above"
}

gpu_pack() {
  case ${1:-} in --help | -h) print_help && exit ;; esac
  local dir=${1:-$rondo_root/build/visit} new name path
  new=$dir.new
  [[ ! -e $dir || -f $dir/commit ]] || fail "$dir exists and was not packed by this script; remove it, or name another folder"
  "$rondo_root/tools/deps" build video test bench
  # Configured each time: the results name the commit, which is only read while configuring.
  CUDAARCHS=90 configure_preset gpu >/dev/null
  cmake --build "$rondo_root/build/gpu" --target "${pack_programs[@]}" || fail "could not build ${pack_programs[*]}; see the first error above"
  rm -rf "$new"
  mkdir -p "$new/bin" "$new/lib" "$new/ptx" "$new/tools/lib"
  for name in "${pack_programs[@]}"; do
    path=$(find "$rondo_root/build/gpu" -name "$name" -type f -perm -u+x -print -quit)
    strip -o "$new/bin/$name" "$path" || fail "could not strip $path"
    carry_libraries "$new/bin/$name" "$new/lib"
  done
  check_libraries "$new"
  # For a rehearsal alone, and mostly the names of source files.
  for name in testbed testbed_next; do
    gzip -9 <"$rondo_root/build/gpu/tests/conformance/$name.ptx" >"$new/ptx/$name.ptx.gz" || fail "the build has no PTX of the conformance suite"
  done
  cp "$rondo_root/tools/gpu" "$new/tools/"
  cp "$rondo_root"/tools/lib/{common,gpu_visit,gpu_steps}.sh "$new/tools/lib/"
  git -C "$rondo_root" describe --always --dirty --abbrev=12 >"$new/commit" || fail "this is no git checkout, so the results could not name a commit"
  check_size "$new"
  rm -rf "$dir"
  mv "$new" "$dir"
  say "packed ${dir#"$rondo_root/"}: $(du -sm "$dir" | cut -f1) MB at $(cat "$dir/commit"); on the machine, run bash tools/gpu visit probes smoke in it"
}
