#!/bin/sh
# Prints the path of a program for tests: the one that its variable names, the one on PATH, one unpacked before, or the one of
# this distribution's archive, unpacked into the user's cache without root and not installed. What they need beside is part of
# every system (libc; of bwrap: libcap, libselinux). Says in one sentence why there is none.
#
#   sh tools/debian-program.sh bwrap       for tests of the walls; ORRERY_BWRAP
#   sh tools/debian-program.sh promtool    for tests of rules of Prometheus; ORRERY_PROMTOOL
set -eu

name=${1:?which program}
case "$name" in
  bwrap) package=bubblewrap variable=ORRERY_BWRAP tests='tests of walls' given=${ORRERY_BWRAP:-} ;;
  promtool) package=prometheus variable=ORRERY_PROMTOOL tests='tests of rules' given=${ORRERY_PROMTOOL:-} ;;
  *) printf 'orrery: no test needs "%s".\n' "$name" >&2 && exit 1 ;;
esac

say() { printf 'orrery: %s\n' "$*" >&2; }
works() { [ -x "$1" ] && "$1" --version >/dev/null 2>&1; }

cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}/orrery/$package
for found in "$given" "$(command -v "$name" || true)" "$cache/$name"; do
  if [ -n "$found" ] && works "$found"; then
    printf '%s\n' "$found"
    exit
  fi
done

work=$(mktemp -d "${TMPDIR:-/tmp}/orrery-$name.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# With the lists of the machine, then with own ones: a fresh image has none.
apt_here() {
  apt-get -qq -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" -o Debug::NoLocking=1 -o APT::Sandbox::User=root \
    -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 -o Acquire::Languages=none "$@"
}
fetch() {
  cd "$work/debs"
  apt-get -qq download "$package" && return
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
  apt_here update || true
  apt_here download "$package"
}

say "fetching $package for $tests"
mkdir "$work/debs"
if command -v apt-get >/dev/null 2>&1 && (fetch) >"$work/log" 2>&1 && dpkg -x "$work"/debs/"$package"_*.deb "$work/unpacked"; then
  if works "$work/unpacked/usr/bin/$name"; then
    mkdir -p "$cache"
    # Whole or not at all: others may be looking.
    cp "$work/unpacked/usr/bin/$name" "$cache/$name.$$"
    mv -f "$cache/$name.$$" "$cache/$name"
    printf '%s\n' "$cache/$name"
    exit
  fi
fi
say "no $name could be found or fetched for $tests; install the package $package, or set $variable to it."
exit 1
