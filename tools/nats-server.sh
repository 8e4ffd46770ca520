#!/bin/sh
# Prints the path of a usable nats-server: the one named by ORRERY_NATS_SERVER, the one on PATH, one fetched before, or one
# fetched now into the user's cache, without root. Says on standard error what it fetches, and in one sentence why it cannot.
set -eu

MIN_MAJOR=2
MIN_MINOR=12
DEBIAN_SUITES='forky sid'        # the first that has a nats-server new enough; only its package is unpacked, nothing is installed
UBUNTU_SUITES='devel'            # Ubuntu's own name for its newest suite; untested where this was written
CONNECT_SECONDS=5
DOWNLOAD_SECONDS=300
RELEASES='https://github.com/nats-io/nats-server/releases/download'

tools=$(CDPATH='' cd -P -- "$(dirname "$0")" && pwd -P)
if [ -n "${XDG_CACHE_HOME:-}${HOME:-}" ]; then
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/orrery
else
  cache=$(dirname "$tools")/.cache/orrery # a service without a home
fi

say() { printf 'orrery: %s\n' "$*" >&2; }

# Prints the version when the program runs and is new enough.
version_of() {
  version=$("$1" --version 2>/dev/null) || return 1
  version=${version##*v}
  major=${version%%.*} rest=${version#*.}
  minor=${rest%%.*}
  case "$major,$minor" in *[!0-9,]* | ,* | *,) return 1 ;; esac
  [ "$major" -gt "$MIN_MAJOR" ] || { [ "$major" -eq "$MIN_MAJOR" ] && [ "$minor" -ge "$MIN_MINOR" ]; } || return 1
  printf '%s\n' "$version"
}

# found PATH: is it one to use?
found() { [ -x "$1" ] && version_of "$1" >/dev/null && printf '%s\n' "$1"; }

# keep PATH: moves a fetched program into the cache under its version. Whole or not at all: others may be looking.
keep() {
  version=$(version_of "$1") || return 1
  mkdir -p "$cache/nats-server-$version"
  cp "$1" "$cache/nats-server-$version/nats-server.$$"
  chmod 755 "$cache/nats-server-$version/nats-server.$$"
  mv -f "$cache/nats-server-$version/nats-server.$$" "$cache/nats-server-$version/nats-server"
  printf '%s\n' "$cache/nats-server-$version/nats-server"
}

platform() {
  case "$(uname -s)" in Linux) os=linux ;; Darwin) os=darwin ;; *) return 1 ;; esac
  case "$(uname -m)" in x86_64 | amd64) arch=amd64 ;; aarch64 | arm64) arch=arm64 ;; *) return 1 ;; esac
  printf '%s-%s\n' "$os" "$arch"
}

download() { # URL FILE
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --connect-timeout "$CONNECT_SECONDS" --max-time "$DOWNLOAD_SECONDS" -o "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q --tries=1 --connect-timeout="$CONNECT_SECONDS" --read-timeout="$CONNECT_SECONDS" -O "$2" "$1"
  else
    return 1
  fi
}

sha256_of() { if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -c 1-64; }

# The official release, only where its checksum is pinned: what is not known beforehand is not run.
from_release() {
  for_platform=$(platform) || return 1
  pin=$(awk -v p="$for_platform" '!/^#/ && $2 == p { print $1, $3; exit }' "$tools/nats-release.txt")
  [ -n "$pin" ] || return 1
  version=${pin% *} sum=${pin#* }
  name=nats-server-v$version-$for_platform
  download "$RELEASES/v$version/$name.tar.gz" "$work/release.tar.gz" || return 1
  if [ "$(sha256_of "$work/release.tar.gz")" != "$sum" ]; then
    say "the nats-server release $version is not the pinned one (sha256 differs); it is not used."
    return 1
  fi
  tar -xzf "$work/release.tar.gz" -C "$work" "$name/nats-server" && keep "$work/$name/nats-server"
}

# Copies every stanza and line that may be this distribution's own main archive, with another suite in it. Mirror, signing
# key and options stay what this machine uses, and nothing outside the temporary directory is written. A third party's
# archive may slip in; it has no such suite, so apt complains about it and goes on.
sources_for() { # SUITE
  rm -rf "$work/sources"
  mkdir "$work/sources"
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -r "$file" ] || continue
    awk -v RS='' -v suite="$1" -v codename="$codename" -v component="$component" '
      function has(value, word) { return (" " value " ") ~ ("[ \t]" word "[ \t]") }
      {
        count = split($0, lines, "\n"); stanza = field = ""; split("", all)
        for (i = 1; i <= count; i++) {
          if (lines[i] ~ /^#/) continue
          value = lines[i]
          if (value !~ /^[ \t]/) { field = tolower(value); sub(/:.*/, "", field); sub(/^[^:]*:/, "", value) }
          all[field] = all[field] " " value
          if (field !~ /^(types|suites|components|enabled)$/) stanza = stanza lines[i] "\n"
        }
        own = has(all["suites"], codename) || has(all["suites"], "(stable|testing|unstable)")
        if (has(all["types"], "deb") && own && has(all["components"], "main") && !has(tolower(all["enabled"]), "(no|false)"))
          printf "Types: deb\nSuites: %s\nComponents: %s\n%s\n", suite, component, stanza
      }' "$file" >>"$work/sources/suite.sources"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -r "$file" ] || continue
    awk -v suite="$1" -v codename="$codename" -v component="$component" '
      $1 == "deb" {
        options = ""; i = 2
        if ($2 ~ /^\[/) { do { options = options " " $i; i++ } while ($(i - 1) !~ /\]$/ && i <= NF) }
        own = $(i + 1) == codename || $(i + 1) ~ /^(stable|testing|unstable)$/
        main = 0
        for (j = i + 2; j <= NF; j++) if ($j == "main") main = 1
        if (own && main) print "deb" options " " $i " " suite " " component
      }' "$file" >>"$work/sources/suite.list"
  done
  cat "$work"/sources/* 2>/dev/null | grep -q .
}

apt_here() {
  apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/sources" -o Dir::State::lists="$work/lists" \
    -o Dir::Cache="$work/cache" -o APT::Get::List-Cleanup=0 -o APT::Sandbox::User=root -o Debug::NoLocking=1 \
    -o Acquire::Retries=0 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 -o Acquire::Languages=none "$@"
}

# The download decides, not the update: one archive of several may have failed.
fetch_package() {
  rm -rf "$work/lists" "$work/cache" "$work/debs" "$work/unpacked"
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs" "$work/unpacked"
  apt_here update || true
  (cd "$work/debs" && apt_here download nats-server) && dpkg -x "$work"/debs/nats-server_*.deb "$work/unpacked"
}

from_archive() {
  command -v apt-get >/dev/null 2>&1 && command -v dpkg >/dev/null 2>&1 && [ -r /etc/os-release ] || return 1
  distribution=$(. /etc/os-release && printf '%s' "${ID:-}")
  codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
  case "$distribution" in
    debian) suites=$DEBIAN_SUITES component=main ;;
    ubuntu) suites=$UBUNTU_SUITES component='main universe' ;;
    *) return 1 ;;
  esac
  for suite in $suites; do
    sources_for "$suite" || return 1
    # Archives are busy or half synchronised now and then: one more try, then the next suite.
    fetch_package || fetch_package || continue
    for program in "$work/unpacked/usr/sbin/nats-server" "$work/unpacked/usr/bin/nats-server"; do
      if [ -x "$program" ] && keep "$program"; then return; fi
    done
  done
  return 1
}

if [ -n "${ORRERY_NATS_SERVER:-}" ]; then
  found "$ORRERY_NATS_SERVER" && exit
  say "ORRERY_NATS_SERVER=$ORRERY_NATS_SERVER is not a nats-server $MIN_MAJOR.$MIN_MINOR or newer."
  exit 1
fi
on_path=$(command -v nats-server || true)
if [ -n "$on_path" ] && found "$on_path"; then exit; fi
for kept in "$cache"/nats-server-*/nats-server; do
  if found "$kept"; then exit; fi
done

work=$(mktemp -d "${TMPDIR:-/tmp}/orrery-nats.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
printf 'orrery: fetching nats-server ... ' >&2
begun=$(date +%s)
for source in from_release from_archive; do
  if "$source" >"$work/path" 2>"$work/log"; then
    printf '%s s\n' "$(($(date +%s) - begun))" >&2
    cat "$work/path"
    exit
  fi
  # What the script itself has to say, such as a wrong checksum, is told even when the next source helps.
  if grep '^orrery: ' "$work/log" >"$work/said"; then { echo && cat "$work/said"; } >&2; fi
  cat "$work/log" >>"$work/logs"
done
printf 'failed\n' >&2
tail -n 5 "$work/logs" | sed 's#://[^/ ]*#://(host)#g' >&2
say "no nats-server $MIN_MAJOR.$MIN_MINOR or newer could be found or fetched; install one on PATH, or set ORRERY_NATS_SERVER to it."
exit 1
