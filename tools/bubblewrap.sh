#!/bin/sh
# Prints the path of bubblewrap for tests of the walls: the one named by ORRERY_BWRAP, the one on PATH, one unpacked before, or the one of
# this distribution's archive, unpacked into the user's cache without root and not installed. What it needs beside is part of
# every system (libcap, libselinux). Says in one sentence why there is none.
set -eu

say() { printf 'orrery: %s\n' "$*" >&2; }
works() { [ -x "$1" ] && "$1" --version >/dev/null 2>&1; }

cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}/orrery/bubblewrap
for found in "${ORRERY_BWRAP:-}" "$(command -v bwrap || true)" "$cache/bwrap"; do
  if [ -n "$found" ] && works "$found"; then
    printf '%s\n' "$found"
    exit
  fi
done

work=$(mktemp -d "${TMPDIR:-/tmp}/orrery-bwrap.XXXXXX")
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
  apt-get -qq download bubblewrap && return
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
  apt_here update || true
  apt_here download bubblewrap
}

say 'fetching bubblewrap for the tests of walls'
mkdir "$work/debs"
if command -v apt-get >/dev/null 2>&1 && (fetch) >"$work/log" 2>&1 && dpkg -x "$work"/debs/bubblewrap_*.deb "$work/unpacked"; then
  if works "$work/unpacked/usr/bin/bwrap"; then
    mkdir -p "$cache"
    # Whole or not at all: others may be looking.
    cp "$work/unpacked/usr/bin/bwrap" "$cache/bwrap.$$"
    mv -f "$cache/bwrap.$$" "$cache/bwrap"
    printf '%s\n' "$cache/bwrap"
    exit
  fi
fi
say 'no bubblewrap could be found or fetched for the tests of walls; install it, or set ORRERY_BWRAP to it.'
exit 1
