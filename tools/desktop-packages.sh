#!/bin/sh
# Sees to the programs of a desktop for `./orrery test desktop`: a display that is nobody's, a window manager, buses, and what is used on
# it. As root it installs what is missing from this distribution's archive (Debian and its like, some 300 MB); as anybody else it says in
# one sentence what to install. The suite says itself when it is skipped.
set -eu

say() { printf 'orrery: %s\n' "$*" >&2; }

missing=''
need() {
  command -v "$1" >/dev/null 2>&1 || [ -x "$1" ] || missing="$missing $2"
}
need Xvfb xvfb
need openbox openbox
need dbus-daemon dbus-daemon
need /usr/libexec/at-spi-bus-launcher at-spi2-core
need mousepad mousepad
need xterm xterm
need /usr/lib/openssh/gnome-ssh-askpass ssh-askpass-gnome
[ -d /usr/share/fonts/truetype/dejavu ] || missing="$missing fonts-dejavu-core"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  say "tests of a desktop need the packages$missing; install them, or run this as root on Debian."
  exit 1
fi
log=$(mktemp "${TMPDIR:-/tmp}/orrery-desktop-packages.XXXXXX")
say "installing$missing for tests of a desktop"
# shellcheck disable=SC2086 # names of packages, a word each
if DEBIAN_FRONTEND=noninteractive sh -c 'apt-get -qq update && apt-get -qq install -y --no-install-recommends "$@"' sh $missing >"$log" 2>&1; then
  rm -f "$log"
  exit 0
fi
say "the packages$missing could not be installed; see $log."
exit 1
