#!/usr/bin/env bash
# packages_in_fresh_root.sh: in a fresh Debian of tools/fresh-root, as root, installs the packages of /src/packages, uses them as the
# README says, removes them, and compares which files there were before and after. It changes the system: `tools/deb --check` runs it.
set -euo pipefail
[[ -f /.made-by-rondo ]] || { echo "this is for the inside of a Debian of tools/fresh-root" >&2; exit 2; }
readme=$PWD/README.md log=/tmp/apt.log
export DEBIAN_FRONTEND=noninteractive HOME=/tmp
packages=(/src/packages/*.deb)
apt() { apt-get -q -y --no-install-recommends -o APT::Sandbox::User=root "$@" >"$log" 2>&1 || { tail -n 30 "$log" && exit 1; }; }
step() { printf '%4d s  %s\n' "$SECONDS" "$*"; }

# All files, except for what apt and dpkg know, and where programs work.
files() {
  find / \( -path /proc -o -path /sys -o -path /dev -o -path /src -o -path /tmp -o -path /var/lib/dpkg -o -path /var/lib/apt \
    -o -path /var/cache/apt -o -path /var/log -o -path /var/cache/ldconfig \) -prune -o -print | sort
}

echo 'force-unsafe-io' >/etc/dpkg/dpkg.cfg.d/fast # nothing here outlives the test
apt install g++ cmake ninja-build
# What they depend on stays: it is not theirs.
for package in "${packages[@]}"; do apt satisfy "$(dpkg-deb -f "$package" Depends)"; done
step "the packages that they depend on are installed"
files >/tmp/before
apt install "${packages[@]}"
step "${packages[*]##*/} are installed"

# The README's program: its first block of C++, with its first block of CMake.
block() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/{//!p;/^\`\`\`\$/q}" "$readme"; }
mkdir /tmp/clicks && cd /tmp/clicks
block cpp >clicks.cpp
{ printf 'cmake_minimum_required(VERSION 3.25)\nproject(clicks LANGUAGES CXX)\n' && block cmake; } >CMakeLists.txt
{ cmake -G Ninja -B build && cmake --build build; } >/tmp/cmake.log 2>&1 || { cat /tmp/cmake.log && exit 1; }
said=$(build/clicks)
[[ $said == '42 clicks' ]] || { echo "the README's program said '$said'" && exit 1; }
step "the README's program says '$said'"

# The README's service.
mkdir -m 700 /tmp/run && export XDG_RUNTIME_DIR=/tmp/run
rondo-serve serve --actor clicks=counter --quiet &
service=$!
rondo tell clicks add '{"amount": 40}'
said=$(rondo ask clicks add_and_get '{"amount": 2}')
kill "$service" && wait "$service"
[[ $said == '{"value":42}' ]] || { echo "the service answered '$said'" && exit 1; }
rondo --help >/tmp/help && grep -q stream /tmp/help
step "a service answers $said"

apt purge rondo librondo-dev
files >/tmp/after
if ! diff /tmp/before /tmp/after; then
  echo "after the packages were removed, other files are there than before (<: missing, >: left behind)"
  exit 1
fi
step "they are removed, and left no file behind"
