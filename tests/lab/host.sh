# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Installs the programs that emulated machines need on this machine. The fetch scripts of `lab` and `machines` source it.

# install_host LOG COMMAND:PACKAGE...: installs the packages of missing commands, as root or by sudo.
install_host() {
	local log=$1 pair missing=()
	shift
	for pair in "$@"; do
		command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	command -v apt-get >/dev/null || fail "needs apt and: ${missing[*]}"
	local sudo=()
	if [ "$(id -u)" != 0 ]; then
		sudo -n true 2>/dev/null || fail "these packages are missing; install them with:
  sudo apt-get install --no-install-recommends ${missing[*]}"
		sudo=(sudo -n)
	fi
	echo "installing ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	apt-cache show "${missing[@]}" >/dev/null 2>&1 || "${sudo[@]}" apt-get -qq update
	"${sudo[@]}" apt-get -qq -y --no-install-recommends install "${missing[@]}" >"$log" 2>&1 ||
		fail "installing ${missing[*]} failed: $(tail -n 3 "$log")"
}
