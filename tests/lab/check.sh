# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154
# Part of `lab`: runs the tests of the shapes, a boot for each shape, and adds up what they found.

# "unit/log" for tests/unit/test_log, and so on: the programs whose names match a pattern of a shape's tests.
match_programs() {
	local program name
	for program in $programs; do
		case $program in
		tests/unit/test_* | tests/api/test_*) name=${program#tests/} name=${name/\/test_//} ;;
		tests/lab/tests/test_lab_*) name=lab/${program##*/test_lab_} ;;
		tests/lab/tests/wrong_*) name=wrong/${program##*/wrong_} ;;
		*) name=$program ;;
		esac
		# shellcheck disable=SC2254
		case $name in
		$1) echo "$name $program" ;;
		esac
	done
}

# add_test PREFIX NAME PROGRAM. Examples say nothing of tests, so their job does. With user: as an unprivileged user.
add_test() {
	local run_it="./$3" name=$2
	[ "$1" != user ] || name=user-$name run_it="su -s /bin/sh nobody -c ./$3"
	{
		echo "export CK_DEFAULT_TIMEOUT=$job_limit"
		[ "$1" != user ] || echo "echo 2 >/proc/sys/kernel/perf_event_paranoid"
		echo "$run_it"
		echo 'status=$?'
		[ "$1" != user ] || echo 'echo $PS_LAB_PARANOID >/proc/sys/kernel/perf_event_paranoid'
		case $3 in
		examples/*) echo "[ \$status != 0 ] || echo 'PASS: $name ends well'" ;;
		esac
		echo 'exit $status'
	} | add_job "$name" "$job_limit"
}

add_tests() {
	local pattern prefix name program found
	for pattern in $tests; do
		prefix=''
		[ "$pattern" = "${pattern#user:}" ] || prefix=user
		found=no
		while read -r name program; do
			found=yes
			add_test "$prefix" "$name" "$program"
		done < <(match_programs "${pattern#user:}")
		[ $found = yes ] || echo "FAIL: $pattern: no such program was built" >>"$results/$shape/guest.log"
	done
}

# Cuts the console into a log and a .trs file for each job, as automake's test driver leaves them for totals.
split_console() {
	awk -v mark="$mark" -v folder="$1" '
		{ sub(/\r$/, "") }
		index($0, mark " begin ") == 1 {
			name = $4; log_file = folder "/" name ".log"; trs = folder "/" name ".trs"
			printf "" >log_file; next
		}
		index($0, mark " end ") == 1 {
			print ":test-result: " ($4 == 0 ? "PASS" : $4 == 77 ? "SKIP" : " FAIL (status " $4 ")") >trs
			close(log_file); close(trs); log_file = ""
			print $5 - uptime, name >(folder "/times"); uptime = $5; next
		}
		index($0, mark " kernel ") == 1 { print "FAIL: the kernel complained: " $0; next }
		index($0, mark " booted ") == 1 { uptime = $3; print "booted after " $3 " s of its time"; next }
		index($0, mark " over") == 1 { over = 1; next }
		log_file != "" { print >log_file }
		END {
			if (log_file != "")
				print ":test-result:  FAIL (the guest ended before it did)" >trs
			if (over)
				print "PASS: the guest ran all its jobs"
		}'
}

# One boot: all jobs of a shape; the results go to $results/SHAPE.
check_shape() {
	local started=$SECONDS name status=0 log
	set -f # the patterns are of programs' names, not of files
	load_shape "$1"
	[ -z "$only" ] || tests=$only
	log=$results/$shape/guest.log
	mkdir -p "$results/$shape"
	: >"$results/$shape/jobs"
	make_run
	add_tests
	while read -r _ _ name; do
		mkdir -p "$results/$shape/$(dirname "$name")"
		echo "$shape/$name.log" >>"$results/$shape/jobs"
	done <"$run/root/lab/jobs"
	boot ,sleep=off </dev/null >"$run/console" 2>&1 || status=$?
	split_console "$results/$shape" <"$run/console" >>"$log"
	if ! grep -q '^PASS: the guest' "$log"; then
		echo "FAIL: the guest: it $([ $status = 124 ] && echo "took longer than $limit s" || echo "ended too early"); see below"
		echo "the last lines of its console:"
		tail -n 40 "$run/console" | tr -d '\r'
	fi >>"$log"
	echo "$((SECONDS - started)) s" >"$results/$shape/seconds"
	echo ":test-result: PASS" >"$results/$shape/guest.trs" # what it says counts
}

# The totals of some logs, by their paths below $results; the last line alone says "N passed, N failed, N skipped".
totals() {
	(cd "$results" && "$top/tests/scripts/totals" "$@")
}

# A line for each shape, with the figures that its tests printed ("lab: ..."); then the totals of all.
report() {
	local name logs=() own suites
	for name in "$@"; do
		mapfile -t own <"$results/$name/jobs"
		mapfile -t suites < <(grep -E '/(unit|api)/' "$results/$name/jobs" || true)
		own+=("$name/guest.log")
		logs+=("${own[@]}")
		echo "$name: ${#own[@]} logs, $(cat "$results/$name/seconds"): $(totals "${own[@]}" | tail -n 1)"
		[ ${#suites[@]} = 0 ] || echo "  of which the unit and API suites: $(totals "${suites[@]}" | tail -n 1)"
		(cd "$results" && cat "${own[@]}" 2>/dev/null) | sed -n 's/^lab: /  /p'
		! grep -q '^FAIL' "$results/$name/guest.log" || sed 's/^/  /' "$results/$name/guest.log"
	done
	[ ! -e "$results/proof.log" ] || logs+=(proof.log)
	totals "${logs[@]}"
}

# All shapes, as many at a time as there are processors. Results go below $1, a new folder.
run_shapes() {
	local name results=$1
	shift
	for name in "$@"; do
		while [ "$(jobs -pr | wc -l)" -ge "$(nproc)" ]; do
			wait -n || true
		done
		check_shape "$name" &
	done
	wait
}

# A test built with a wrong expectation goes the whole way. Only if that check fails is this a passed test.
prove_failure() {
	local output status=0 name="a wrong expectation fails the check"
	mkdir "$1/wrong"
	only='wrong/*' run_shapes "$1/wrong" two-packages
	output=$(results=$1/wrong report two-packages) || status=$?
	{
		echo "the check of a test with a wrong expectation, which must fail:"
		sed 's/^/  | /; s/:\([FE]\):/ (\1) /g' <<<"$output" # totals shall not take it for a failure of its own
		if [ $status = 1 ] && tail -n 1 <<<"$output" | grep -q '^[0-9]* passed, [1-9][0-9]* failed'; then
			echo "PASS: $name"
		else
			echo "FAIL: $name: it ended with status $status"
		fi
	} >"$1/proof.log"
	echo ":test-result: PASS" >"$1/proof.trs"
	sed '/^PASS\|^FAIL/d' "$1/proof.log"
}

check() {
	local only='' shapes=("$@") prove=no status=0 results
	if [ $# = 0 ]; then
		prove=yes
		mapfile -t shapes < <(list_longest)
	elif [ "$1" = --prove-failure ]; then
		prove=yes shapes=()
	fi
	for shape in "${shapes[@]}"; do
		load_shape "$shape"
	done
	prepare
	programs=$(list_programs)
	results=$(mktemp -d "$work/results.XXXXXX")
	run_shapes "$results" "${shapes[@]}"
	[ $prove = no ] || prove_failure "$results"
	report "${shapes[@]}" || status=$?
	rm -rf "$work/results"
	mv "$results" "$work/results"
	exit $status
}
