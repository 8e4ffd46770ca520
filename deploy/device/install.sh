#!/bin/sh
# Makes this machine a device of Orrery: fetches the client for its platform, compares it with the SHA-256 below, unpacks it beside what is
# there, and lets it install itself. Whoever got the SHA-256 of this script by another way has that of everything that it brings.
#
#   sh install.sh ADDRESS [--dir DIR] [--ca-file FILE] < token
#
# ADDRESS is that of the gateway, ws:// or wss://. Needs tar, gzip, sha256sum, and curl or wget. What is done already is not done again.
set -eu

release='@RELEASE@'
archives='@ARCHIVES@'

say() { printf 'orrery-device: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

fetch() { # ADDRESS FILE
  if command -v curl >/dev/null 2>&1; then
    curl -fsS ${ca:+--cacert "$ca"} -o "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q ${ca:+--ca-certificate="$ca"} -O "$2" "$1"
  else
    die 'curl or wget is needed, and neither is here.'
  fi
}

# Whole or not at all: what is unpacked lies apart until it is complete.
bring() {
  for old in "$dir"/releases/.incoming.*; do
    owner=${old##*.}
    # Of one that works still the address is an argument. Of a killed one that nobody has waited for there is none.
    [ ! -d "$old" ] || grep -qs 'wss*://' "/proc/$owner/cmdline" || rm -rf "$old"
  done
  incoming=$dir/releases/.incoming.$$
  trap 'rm -rf "$incoming"' EXIT
  trap 'exit 130' INT TERM HUP
  mkdir -p "$incoming/tree"
  say "fetching $file"
  fetch "$from/$file" "$incoming/archive" || die "$from/$file cannot be fetched."
  printf '%s  %s\n' "$sum" "$incoming/archive" | sha256sum -c - >/dev/null 2>&1 ||
    die "$file is not what was promised (SHA-256 differs); it is not used."
  tar -xzf "$incoming/archive" -C "$incoming/tree"
  sync
  # Another one may have been faster: then theirs is the same.
  [ -d "$dir/releases/$release" ] || mv "$incoming/tree" "$dir/releases/$release"
  rm -rf "$incoming"
  trap - EXIT INT TERM HUP
}

# Read to its end before anything of it runs.
main() {
  url=${1:-} dir='' ca=''
  case "$url" in ws://* | wss://*) shift ;; *) die 'the address of the gateway comes first: ws://host:5000/ws or wss://host/ws' ;; esac
  while [ $# -gt 0 ]; do
    case "$1,${2:-}" in
      --dir,?*) dir=$2 ;;
      --ca-file,?*) ca=$2 ;;
      *) die "\"$1\" is not known here; there are --dir DIR and --ca-file FILE." ;;
    esac
    shift 2
  done
  if [ -z "$dir" ]; then
    if [ "$(id -u)" = 0 ]; then dir=/opt/orrery-device; else dir=${XDG_DATA_HOME:-$HOME/.local/share}/orrery-device; fi
  fi
  [ "$(uname -s)" = Linux ] || die 'the client is there for Linux only.'
  case "$(uname -m)" in x86_64 | amd64) platform=linux-x64 ;; aarch64 | arm64) platform=linux-arm64 ;; *) platform=$(uname -m) ;; esac
  found=$(printf '%s\n' "$archives" | grep "^$platform ") || die "this system offers no client for $platform."
  # shellcheck disable=SC2086 # three words
  set -- $found
  file=$2 sum=$3
  from=${url%/*}/device
  from=http${from#ws}
  umask 022
  mkdir -p "$dir/releases"
  [ -d "$dir/releases/$release" ] || bring
  exec "$dir/releases/$release/bin/orrery-device" install --url "$url" --dir "$dir" ${ca:+--ca-file "$ca"}
}

main "$@"
