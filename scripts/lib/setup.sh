# Sourced by scripts/serve and scripts/test: finds the tools that they need and installs the Debian packages that are
# missing. Once everything is there it asks nobody anything, so both work offline.
# shellcheck shell=bash
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"

# What the host is built from, and what only its tests use.
build_packages=(
  libuv1-dev node-llhttp libnghttp2-dev libssl-dev zlib1g-dev libsqlite3-dev libre2-dev libcurl4-openssl-dev libargon2-dev libstdc++-12-dev
  pkg-config git ca-certificates tzdata
)
test_packages=(python3 python3-venv curl openssl gcc gdb libc6-dev strace valgrind procps systemd zsh fish chromium)

say() { printf '%s\n' "$*" >&2; }
fail() { say "${0##*/}: $*"; exit 1; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; return; fi
  command -v sudo >/dev/null || fail "no root rights and no sudo; run as root: $*"
  sudo "$@"
}

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# need_packages NAME...: installs those that are missing, with one look at the package index.
need_packages() {
  command -v dpkg-query >/dev/null || fail "this is not Debian; it needs what these packages hold: $*"
  local missing=() name
  for name in "$@"; do is_installed "$name" || missing+=("$name"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "Installing Debian packages: ${missing[*]}"
  as_root apt-get update -qq || fail "the package index could not be read; install these yourself: ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2 ||
    fail "these Debian packages could not be installed: ${missing[*]}"
}

# swift_version COMMAND: prints its version, as in 6.3.1.
swift_version() {
  "$1" --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' | head -n 1
}

# find_swift: puts a Swift of at least 6.3 first on PATH.
find_swift() {
  local candidate version
  for candidate in "$(command -v swift || true)" /opt/swift/usr/bin/swift "${HOME:-/root}/.local/share/swiftly/bin/swift"; do
    [ -x "$candidate" ] || continue
    version=$(swift_version "$candidate")
    [ -n "$version" ] || continue
    if [ "$(printf '6.3\n%s\n' "$version" | sort -V | head -n 1)" = 6.3 ]; then
      PATH=$(dirname "$candidate"):$PATH
      export PATH
      return 0
    fi
  done
  fail "Swift 6.3 or newer was not found on PATH or in /opt/swift; see https://www.swift.org/install/linux"
}

# Without colours: on a terminal the package manager would give the compiler another argument than the host's own builds do, and each
# of the two would compile everything anew.
build_release() {
  say "Building the host and its plugins (swift build -c release)"
  swift build -c release --no-color-diagnostics >&2 || fail "the release build failed; its messages are above"
}
