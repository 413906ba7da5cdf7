# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154
# Part of `machines`: runs the tests of the shapes, as many guests at once as there are CPUs, and adds up the results.

totals_pattern='^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$'
# Shapes for --here: a machine of each vendor.
here_shapes="one-cpu amd-4"

# Translates a shape's tests into make's names: "unit" is all unit tests, "unit/read" is tests/unit/test_read.
expand_tests() {
	local word
	for word in "$@"; do
		case $word in
		unit | api | tool) printf '$(%s_tests) ' "$word" ;;
		unit/* | api/*) printf 'tests/%s/test_%s ' "${word%/*}" "${word#*/}" ;;
		*) printf 'tests/%s ' "$word" ;;
		esac
	done
}

# Prints the tests and their environment, as make knows them, as lines for a shell.
ask_make() {
	local make=(make -s --no-print-directory -C "$guest_build" print-tests "TESTS=$(expand_tests "$@")")
	if [ $here_only = yes ]; then
		env -i PATH="$PATH" "${make[@]}"
	else
		in_root "${make[@]}"
	fi | grep -vE "^(export|declare -x) (PATH|HOME|LANG|PWD|OLDPWD|SHLVL|TESTS|MFLAGS|MAKE(FLAGS|LEVEL|OVERRIDES|_TERM[A-Z]*))(=|$)"
}

# Writes the guest's script: it runs the tests one after the other without a terminal, as automake would, and prints their
# totals and the logs of failed tests.
write_check() {
	ask_make "$@"
	cat <<'TXT'
logs=()
for test in $tests; do
	program=$test
	[ -e "$program" ] || program=$top_srcdir/$test
	status=0
	# Logs of another user couldn't be overwritten, and would be counted.
	rm -f "$test.log" "$test.trs"
	"$program" >"$test.log" 2>&1 </dev/null || status=$?
	case $status in 0) word=PASS ;; 77) word=SKIP ;; *) word=" FAIL (status $status)" ;; esac
	echo ":test-result: $word" >"$test.trs"
	echo "$word: $test, $SECONDS s after the start"
	logs+=("$test.log")
done
"$top_srcdir/tests/scripts/totals" "${logs[@]}" 2>&1 | cat
for log in $(grep -l '^:test-result:  FAIL' "${logs[@]/%.log/.trs}"); do
	echo "-- $log"
	tail -n 40 "${log%.trs}.log" | sed 's/^/  | /'
done
TXT
}

check_shape() {
	local log=$results/$1.log started=$SECONDS
	load_shape "$1"
	[ $here_only = no ] || tests=$quick
	tests=${PS_MACHINES_TESTS:-$tests}
	if [ -z "$tests" ]; then
		printf 'Failed:\n  --here has no tests for this machine: name some in PS_MACHINES_TESTS\n0 passed, 1 failed, 0 skipped\n' >"$log"
		show_log "$1" "$log" 0
		return
	fi
	# shellcheck disable=SC2086
	make_run < <(write_check $tests)
	boot
	wait "$guest" || true
	# On a busy host an emulated CPU may starve for ever. So a guest without totals is booted again; hanging twice is a failure.
	if ! tr -d '\r' <"$run/console" | grep -qE "$totals_pattern"; then
		echo "$1: no totals after $((SECONDS - started)) s ($(why_ended)): booted once more; its last line:"
		tail -n 1 "$run/console"
		rm -f "$run/hung"
		boot
		wait "$guest" || true
	fi
	tr -d '\r' <"$run/console" >"$log"
	grep -qE "$totals_pattern" "$log" || printf 'Failed:\n  %s\n0 passed, 1 failed, 0 skipped\n' "$(why_ended)" >>"$log"
	end_run
	show_log "$shape" "$log" "$((SECONDS - started))"
}

# show_log NAME LOG SECONDS: shows a log's totals and failures.
show_log() {
	local totals
	totals=$(grep -E "$totals_pattern" "$2" | tail -n 1)
	echo "$1: $3 s: $totals"
	case $totals in *" 0 failed,"*) ;; *) sed -n '/^Failed:/,$p' "$2" | head -n 150 | sed 's/^/  /' ;; esac
	grep "^@@machine[^ ]* kernel" "$2" | sed 's/^/  /' || true
}

# Prints the sum of $logs. Fails if a test failed, or none passed.
sum_up() {
	local log p f s passed=0 failed=0 skipped=0
	for log in "${logs[@]}"; do
		read -r p _ f _ s _ < <(grep -E "$totals_pattern" "$log" | tail -n 1)
		passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	done
	echo "$passed passed, $failed failed, $skipped skipped"
	[ $failed = 0 ] && [ $passed != 0 ]
}

check() {
	local name log logs=()
	if [ $here_only = yes ] && [ "$(uname -m)" != x86_64 ]; then
		echo "SKIP: the guests are x86-64 machines, and can't run this machine's own system"
		echo "0 passed, 0 failed, 1 skipped"
		return
	fi
	if [ $# = 0 ] && [ $here_only = yes ]; then
		# shellcheck disable=SC2086
		set -- $here_shapes
	elif [ $# = 0 ]; then
		# shellcheck disable=SC2046
		set -- $(list_shapes)
	fi
	for name in "$@"; do
		load_shape "$name"
	done
	prepare
	results=$own/results
	# Brings make's own files up to date first: two makes at once would write the same files.
	ask_make >/dev/null
	rm -rf "$results"
	mkdir -p "$results"
	# A guest uses one CPU of this machine.
	for name in "$@"; do
		while [ "$(jobs -rp | wc -l)" -ge "$(getconf _NPROCESSORS_ONLN)" ]; do wait -n || true; done
		(check_shape "$name") >"$results/$name.out" 2>&1 &
	done
	wait
	for name in "$@"; do
		cat "$results/$name.out"
		log=$results/$name.log
		grep -qsE "$totals_pattern" "$log" || echo "0 passed, 1 failed, 0 skipped" >>"$log"
		logs+=("$log")
	done
	sum_up || exit 1
}
