# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034
# For the tests of the perfsage command, which source it.
. "$(dirname "$0")/../scripts/common.sh"
make_scratch
# Tables as the tests expect them, on any user's machine.
unset NO_COLOR COLUMNS
perfsage=$top_builddir/tools/perfsage
faults=$top_builddir/tests/tool/faults
out=$scratch/out
err=$scratch/err

# Under a sanitizer a program allocates, and faults, as it likes.
has_sanitizer() {
	[ -n "${SANITIZERS-}" ]
}

# as_user COMMAND...: runs it without privileges.
as_user() {
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
	else
		"$@"
	fi
}

# What stops perfsage from counting page faults here; empty if nothing does.
obstacle() {
	"$perfsage" stat -e page-faults -o /dev/null true 2>&1 | head -n 1
}

# Ends the test if nothing can be counted here.
need_counting() {
	reason=$(obstacle)
	[ -z "$reason" ] && return
	skip "$(basename "$0")" "$reason"
	finish
}

# wait_for FILE: until it has a line, two minutes at most.
wait_for() {
	tries=0
	while [ ! -s "$1" ] && [ $tries -lt 1200 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
}

# wait_until_counting PID: until this perfsage has opened events, and then does nothing but wait; two minutes at most, and
# not for one that has ended.
wait_until_counting() {
	tries=0
	calm=0
	while [ $calm -lt 3 ] && [ $tries -lt 1200 ]; do
		sleep 0.1
		tries=$((tries + 1))
		calm=$((calm + 1))
		ls -l "/proc/$1/fd" 2> /dev/null | grep -q 'anon_inode:\[perf_event\]' || calm=0
		grep -q '^State:[[:space:]]*S' "/proc/$1/status" 2> /dev/null || calm=0
		case $(sed -n 's/^State:[[:space:]]*//p' "/proc/$1/status" 2> /dev/null) in "" | Z*) return ;; esac
	done
}

# value FILE COMPONENT [COLUMN]: a number of a table that --raw printed; column 1 is the first event.
value() {
	awk -v name="$2" -v column="${3-1}" '
		index($0, name) == 1 || index($0, name) == match($0, /[^ ]/) {
			rest = substr($0, index($0, name) + length(name))
			if (rest !~ /^ /) next
			split(rest, fields, " ")
			# Counts may be those of user space alone, and say so.
			sub(/u$/, "", fields[column])
			print fields[column]
			exit
		}' "$1"
}

# expect_status NAME WANTED COMMAND...: runs it, with its output in $out and its errors in $err. sh has no local variables:
# a script's own $name and $wanted must stay.
expect_status() {
	expected_name=$1
	expected_status=$2
	shift 2
	"$@" > "$out" 2> "$err"
	got=$?
	if [ "$got" -eq "$expected_status" ]; then
		pass "$expected_name"
	else
		sed 's/^/    /' "$err"
		fail "$expected_name" "it ended with $got, not $expected_status"
	fi
}

# expect_text NAME FILE PATTERN: an extended regular expression.
expect_text() {
	if grep -Eq -- "$3" "$2"; then
		pass "$1"
	else
		sed 's/^/    /' "$2"
		fail "$1" "'$3' is not in it"
	fi
}

# What binds perfsage and its command to CPU 0, which each description has, or nothing where that can't be.
on_first=
! taskset -c 0 true 2> /dev/null || on_first='taskset -c 0'

# expect_least NAME GOT WANTED
expect_least() {
	if [ -n "$2" ] && [ "$2" -ge "$3" ]; then
		pass "$1"
	else
		fail "$1" "it is '$2', and should be $3 at least"
	fi
}

# expect_near NAME GOT WANTED TOLERANCE
expect_near() {
	if [ -n "$2" ] && [ "$2" -ge "$(($3 - $4))" ] && [ "$2" -le "$(($3 + $4))" ]; then
		pass "$1"
	else
		fail "$1" "it is '$2', and should be $3, give or take $4"
	fi
}
