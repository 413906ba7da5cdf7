# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by the checks in this folder: sets the paths, and has functions to report results. tests/scripts/totals
# counts the lines that pass, fail and skip print; finish ends the script with the status that automake expects.

set -u
# With LC_ALL=C, patterns such as [a-z] and the order of sort don't depend on the user's language.
LC_ALL=C
export LC_ALL
here=$(dirname "$0")
top_srcdir=${top_srcdir-$(cd "$here/../.." && pwd)}
top_builddir=${top_builddir-$top_srcdir/build}
CC=${CC-cc}
CFLAGS=${CFLAGS-}
NM=${NM-nm}
MAKE=${MAKE-make}
failures=0
passes=0

pass() {
	echo "PASS: $1"
	passes=$((passes + 1))
}

fail() {
	echo "FAIL: $1: $2"
	failures=$((failures + 1))
}

skip() {
	echo "SKIP: $1: $2"
}

# judge NAME COMPLAINTS: passes if COMPLAINTS is empty, else shows them and fails.
judge() {
	if [ -z "$2" ]; then
		pass "$1"
	else
		printf '%s\n' "$2"
		fail "$1" "$(printf '%s\n' "$2" | sed -n '1,5p' | paste -s -d ';')"
	fi
}

make_scratch() {
	scratch=$(mktemp -d "${TMPDIR:-/tmp}/perfsage.XXXXXX") || exit 99
	trap 'rm -rf "$scratch"' EXIT
	trap 'exit 99' HUP INT TERM
}

finish() {
	[ "$failures" -eq 0 ] || exit 1
	[ "$passes" -gt 0 ] || exit 77
	exit 0
}
