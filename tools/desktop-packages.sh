#!/bin/sh
# Sees to the programs of a desktop for `./orrery test desktop`: a display that is nobody's, a window manager, buses, and what is used on
# it. As root it installs what is missing from this distribution's archive (Debian and its like, some 300 MB); as anybody else it says in
# one sentence what to install. The suite says itself when it is skipped. What it does not take by itself is asked for by name:
#
#   sh tools/desktop-packages.sh --calc --chromium --vnc --user
#
# --calc: LibreOffice Calc. --chromium: a browser. --vnc: a display that can be looked at. --user: who owns the desktop of `up` of root.
set -eu

OWNER='orrery-desk'

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
need x11vnc x11vnc
need /usr/lib/openssh/gnome-ssh-askpass ssh-askpass-gnome
[ -d /usr/share/fonts/truetype/dejavu ] || missing="$missing fonts-dejavu-core"

owner=''
for option in "$@"; do
  case "$option" in
    --calc)
      need localc libreoffice-calc
      [ -e /usr/lib/libreoffice/program/libvclplug_gtk3lo.so ] || missing="$missing libreoffice-gtk3"
      ;;
    --chromium) need chromium chromium ;;
    --vnc) need Xtigervnc tigervnc-standalone-server ;;
    --user) id "$OWNER" >/dev/null 2>&1 || owner=$OWNER ;;
    *)
      say "$option is no option of this; there are --calc, --chromium, --vnc and --user."
      exit 3
      ;;
  esac
done
[ -n "$missing$owner" ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  say "a desktop needs${missing:+ the packages$missing}${missing:+${owner:+ and}}${owner:+ the user $owner}; see to that, or run this as root on Debian."
  exit 1
fi
if [ -n "$missing" ]; then
  log=$(mktemp "${TMPDIR:-/tmp}/orrery-desktop-packages.XXXXXX")
  say "installing$missing"
  # shellcheck disable=SC2086 # names of packages, a word each
  if ! DEBIAN_FRONTEND=noninteractive sh -c 'apt-get -qq update && apt-get -qq install -y --no-install-recommends "$@"' sh $missing >"$log" 2>&1; then
    say "the packages$missing could not be installed; see $log."
    exit 1
  fi
  rm -f "$log"
fi
[ -z "$owner" ] || useradd --system --user-group --shell /usr/sbin/nologin "$owner"
