#!/usr/bin/env bash
# need.sh COMMAND PACKAGES HELP: makes sure that the command, or a file of such a name, is there, installing
# Debian packages where that is possible, or says in one line what to do.
set -eu
there() { command -v "$1" >/dev/null || compgen -G "$1" >/dev/null; }
there "$1" && exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  # A system installs one thing after the other.
  exec 9<"$0"
  ! command -v flock >/dev/null || flock 9
  echo "Installing $2 …"
  # Lists that a machine was made with may know a browser too old for what is tested.
  # shellcheck disable=SC2086
  (apt-get update || true; apt-get install -y --no-install-recommends $2) >/dev/null 2>&1 || true
fi
there "$1" || { echo "$1 is missing and could not be installed: $3" >&2; exit 1; }
