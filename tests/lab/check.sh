# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154
# Part of `lab`: runs the tests of the shapes, with a boot for each shape, and adds up the results.

# Prints the programs whose names match a pattern of a shape's tests; "unit/read" is tests/unit/test_read.
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

# add_test PREFIX NAME PROGRAM: adds a job. An example prints no test result, so its job does. PREFIX user: run it as an
# unprivileged user.
add_test() {
	local run_it="./$3" name=$2
	[ "$1" != user ] || name=user-$name run_it="su -s /bin/sh nobody -c 'cd /tmp && /perfsage/$3'"
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
	local pattern prefix name program found number=0
	for pattern in $tests; do
		prefix=''
		[ "$pattern" = "${pattern#user:}" ] || prefix=user
		found=no
		while read -r name program; do
			found=yes
			[ $((number++ % parts + 1)) = "$part" ] || continue
			add_test "$prefix" "$name" "$program"
		done < <(match_programs "${pattern#user:}")
		[ $found = yes ] || echo "FAIL: $pattern: no such program was built" >>"$results/$boot/guest.log"
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

# Prints a line for each boot of these shapes: "two-packages"; or "suites-1of2 suites-2of2" if the jobs of a shape are divided
# among guests that run at the same time, as many as there are CPUs.
list_boots() {
	local name number count
	for name in "$@"; do
		load_shape "$name"
		count=$((guests < $(nproc) ? guests : $(nproc)))
		for ((number = 1; number <= count; number++)); do
			echo "$name$([ $count = 1 ] || echo "-${number}of$count")"
		done
	done
}

# Runs one boot with all jobs of a shape, or a part of them. Results go to $results/BOOT.
check_boot() {
	local started=$SECONDS name log boot=$1 part=1 parts=1
	set -f # the shell must not expand the patterns: they match names of programs
	if [[ $boot =~ ^(.*)-([0-9]+)of([0-9]+)$ ]]; then
		part=${BASH_REMATCH[2]} parts=${BASH_REMATCH[3]}
		load_shape "${BASH_REMATCH[1]}"
	else
		load_shape "$boot"
	fi
	[ -z "$in_guest" ] || [ $emulates = no ] || tests=$in_guest
	[ -z "$only" ] || tests=$only
	log=$results/$boot/guest.log
	mkdir -p "$results/$boot"
	: >"$results/$boot/jobs"
	make_run
	add_tests
	while read -r _ _ name; do
		mkdir -p "$results/$boot/$(dirname "$name")"
		echo "$boot/$name.log" >>"$results/$boot/jobs"
	done <"$run/root/lab/jobs"
	boot ,sleep=off
	wait "$guest" || true
	split_console "$results/$boot" <"$run/console" >>"$log"
	if ! grep -q '^PASS: the guest' "$log"; then
		echo "FAIL: the guest: $(why_ended); see below"
		echo "the last lines of its console:"
		tail -n 40 "$run/console" | tr -d '\r'
	fi >>"$log"
	echo "$((SECONDS - started)) s" >"$results/$boot/seconds"
	echo ":test-result: PASS" >"$results/$boot/guest.trs" # its log decides
}

# Lists the failed jobs of lab/* in a boot. They count instructions, which the emulator may disturb.
list_disturbed() {
	local log name
	while read -r log; do
		name=${log#"$1/"} name=${name%.log}
		[[ $name == lab/* ]] || continue
		! totals "$log" >/dev/null || continue
		echo "$name"
	done <"$results/$1/jobs"
}

# Runs failed jobs of lab/* once more, in a separate boot. If they pass, the log says what the first boot found. An error in
# perfsage makes a test fail twice; a disturbance by the emulator's other CPUs rarely happens twice.
repeat_disturbed() {
	local boot name again names log
	for boot in "$@"; do
		names=$(list_disturbed "$boot" | tr '\n' ' ')
		[ -n "$names" ] || continue
		again=$results/again
		rm -rf "$again"
		mkdir "$again"
		(only=$names results=$again check_boot "${boot%-*of*}")
		for name in $names; do
			log=$again/${boot%-*of*}/$name
			[ -e "$log.log" ] || continue
			(results=$again && totals "${log#"$again/"}.log" >/dev/null) || continue
			# If the first boot ended before the program, there is no log.
			[ ! -e "$results/$boot/$name.log" ] ||
				sed -n "/:[FE]:/ { s/:\([FE]\):/ (\1) /g; s/^/lab: failed in one of two boots: / p }" \
					"$results/$boot/$name.log" >>"$log.log"
			mv "$log.log" "$results/$boot/$name.log"
			mv "$log.trs" "$results/$boot/$name.trs"
		done
	done
	rm -rf "$results/again"
}

# Prints the totals of some logs (paths below $results). Only the last line is "N passed, N failed, N skipped".
totals() {
	(cd "$results" && "$top/tests/scripts/totals" "$@")
}

# Prints a line for each boot, with the figures that its tests printed ("lab: ..."); then the totals of all.
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

# emulate NAME PROGRAM: runs a program for arm64 on this machine's kernel. The results look like those of a boot's job.
emulate() {
	local status=0 log=$results/emulated/$1 word
	(
		cd "$work/image/perfsage"
		export PS_TEST_SMALL=${PS_TEST_SMALL-1} CK_DEFAULT_TIMEOUT=$job_limit
		exec qemu-aarch64 -L "$work/image" "./$2"
	) >"$log.log" 2>&1 </dev/null || status=$?
	case $status in
	0) word=PASS ;;
	77) word=SKIP ;;
	*) word=" FAIL (status $status)" ;;
	esac
	echo ":test-result: $word" >"$log.trs"
}

# Runs the programs that need no guest kernel, one after the other; guests run at the same time.
run_emulated() {
	local name program started=$SECONDS
	load_shape suites
	mkdir -p "$results/emulated/unit"
	while read -r name program; do
		case " $in_guest " in *" $name "*) continue ;; esac
		echo "emulated/$name.log" >>"$results/emulated/jobs"
		emulate "$name" "$program"
	done < <(match_programs "$tests")
	echo "PASS: all programs were run" >"$results/emulated/guest.log"
	echo ":test-result: PASS" >"$results/emulated/guest.trs"
	echo "$((SECONDS - started)) s" >"$results/emulated/seconds"
}

# Runs all boots, and "emulated", as many at a time as there are CPUs. Results go below $1, a new folder.
run_boots() {
	local name results=$1
	shift
	for name in "$@"; do
		while [ "$(jobs -pr | wc -l)" -ge "$(nproc)" ]; do
			wait -n || true
		done
		if [ "$name" = emulated ]; then run_emulated; else check_boot "$name"; fi &
	done
	wait
}

# Runs a check with a test that was built with a wrong expectation. This passes only if that check fails.
prove_failure() {
	local output status=0 name="a wrong expectation fails the check"
	mkdir "$1/wrong"
	only='wrong/*' run_boots "$1/wrong" two-packages
	output=$(results=$1/wrong report two-packages) || status=$?
	{
		echo "the check of a test with a wrong expectation, which must fail:"
		sed 's/^/  | /; s/:\([FE]\):/ (\1) /g' <<<"$output" # so that totals doesn't count this failure
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
	local only='' shapes=("$@") boots prove=no emulates=no status=0 results
	if [ $# = 0 ]; then
		prove=yes emulates=yes
		mapfile -t shapes < <(list_longest)
	elif [ "$1" = --prove-failure ]; then
		prove=yes shapes=()
	fi
	boots=$(list_boots "${shapes[@]}")
	prepare
	programs=$(list_programs)
	results=$(mktemp -d "$work/results.XXXXXX")
	# Second place, because it takes long; the longest boot is first.
	[ $emulates = no ] || boots=${boots/$'\n'/$'\n'emulated$'\n'}
	# shellcheck disable=SC2086 # several words
	run_boots "$results" $boots
	# shellcheck disable=SC2086
	repeat_disturbed $boots
	[ $prove = no ] || prove_failure "$results"
	# shellcheck disable=SC2086
	report $boots || status=$?
	rm -rf "$work/results"
	mv "$results" "$work/results"
	exit $status
}
