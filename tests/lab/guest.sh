# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154
# Part of `lab`: boots the guest with a list of jobs, or with one program or a shell.

load_shape() {
	local file=$here/shapes/$1.shape
	[ -e "$file" ] || fail "there is no shape '$1'; there are: $(list_shapes | tr '\n' ' ')"
	shape=$1 cpu=cortex-a57 smp=1 nodes='' shift=0 memory=2048 effort=1 guests=1 job_limit=60 tests='' in_guest=''
	# shellcheck disable=SC1090
	. "$file"
}

list_shapes() {
	(cd "$here/shapes" && printf '%s\n' *.shape | sed 's/\.shape$//')
}

# Lists all shapes; those that may take longest come first.
list_longest() {
	local name
	for name in $(list_shapes); do
		load_shape "$name"
		echo "$effort $name"
	done | sort -rn | cut -d ' ' -f 2
}

# Writes variables that describe the machine to tests: PS_LAB_SHIFT, PS_LAB_SMP ("8,sockets=2,cores=4"), PS_LAB_NODES (a
# number).
write_environment() {
	local word nodes_count=0
	for word in $nodes; do
		nodes_count=$((nodes_count + 1))
	done
	echo "export PS_LAB_SHAPE=$shape PS_LAB_SHIFT=$shift PS_LAB_SMP=$smp"
	echo "export PS_LAB_NODES=$((nodes_count > 1 ? nodes_count : 1)) PS_LAB_PARANOID=${PS_LAB_PARANOID:-1}"
	echo "PS_LAB_MARK=$mark PS_LAB_JOB_BOOTS=$([ "$shift" = none ] && echo "$job_boots")"
	echo "export PS_TEST_SMALL=${PS_TEST_SMALL-1}"
}

# Cleans up after a boot; also called when the lab is interrupted.
end_run() {
	[ -z "$guest" ] || kill "$guest" 2>/dev/null || true
	rm -rf "$run"
}

# Makes a new folder for a boot, in $run, with the guest's job folder in $run/root/lab.
make_run() {
	mkdir -p "$work/runs"
	run=$(mktemp -d "$work/runs/$shape.XXXXXX")
	guest=''
	: >"$run/console"
	trap end_run EXIT
	mark=@@lab-$(basename "$run")
	mkdir -p "$run/root/lab/job"
	write_environment >"$run/root/lab/environment"
	: >"$run/root/lab/jobs"
}

# add_job NAME SECONDS: adds a job; its shell commands come from stdin.
add_job() {
	local number
	number=$(($(wc -l <"$run/root/lab/jobs") + 1))
	cat >"$run/root/lab/job/$number"
	echo "$number $2 $1" >>"$run/root/lab/jobs"
}

# Limits are multiples of the guest's boot time, because the speed of this machine is unknown. A guest hangs if it was silent
# for silent_boots times the CPU time of its boot, or idle for idle_seconds. If the guest's time is this machine's, a job may
# take job_boots times the boot. In other guests time is counted in instructions, so their limits are the same everywhere.
silent_boots=150
idle_seconds=600
job_boots=40
# A guest that has not booted after this CPU time hangs.
boot_seconds=300

# Prints the CPU time that a process has used, in ticks (proc(5)); its name must not contain spaces.
used_ticks() {
	local field
	read -r -a field <"/proc/$1/stat" && echo $((field[13] + field[14]))
} 2>/dev/null

# Ends the guest if it hangs, and notes this in $run/hung. A slow guest still prints something from time to time.
watch_guest() {
	local size old_size=0 used booted=0 silent_from=0 idle_from=$SECONDS idle_used=0 word=''
	while sleep 1 && used=$(used_ticks "$1"); do
		size=$(stat -c %s "$run/console")
		[ "$booted" != 0 ] || ! grep -q "^$mark booted" "$run/console" || booted=$used
		if [ "$size" != "$old_size" ]; then
			old_size=$size silent_from=$used idle_from=$SECONDS idle_used=$used
		elif [ $((used - idle_used)) -gt "$booted" ]; then
			idle_from=$SECONDS idle_used=$used
		fi
		if [ "$booted" != 0 ] && [ $((used - silent_from)) -gt $((silent_boots * booted)) ]; then
			word="it computed $silent_boots times as long as its boot took and said nothing"
		elif [ "$booted" = 0 ] && [ "$used" -gt $((boot_seconds * $(getconf CLK_TCK))) ]; then
			word="it computed for $boot_seconds s and had not booted"
		elif [ $((SECONDS - idle_from)) -gt $idle_seconds ]; then
			word="it did nothing and said nothing for $idle_seconds s"
		fi
		[ -n "$word" ] || continue
		echo "$word" >"$run/hung"
		kill "$1"
		return
	done
}

why_ended() {
	if [ -e "$run/hung" ]; then
		echo "the guest hung, and was ended: $(cat "$run/hung")"
	else
		echo "the guest ended too early"
	fi
}

# Boots the guest. Everything that could differ between two boots is fixed, such as the clock and the random seeds. $1 is
# appended to -icount: ",sleep=off" skips the time in which the guest is idle. Its output goes to $run/console, and $guest is
# its process. With "terminal" as $2 it runs on the terminal until it ends.
boot() {
	local count=0 node options=() command=()
	[ "$shift" = none ] || options=(-icount "shift=$shift${1:-}")
	for node in $nodes; do
		count=$((count + 1))
	done
	[ "$count" = 0 ] || memory=$((memory / count * count))
	local index=0
	for node in $nodes; do
		options+=(-object "memory-backend-ram,id=memory$index,size=$((memory / count))M"
			-numa "node,nodeid=$index,cpus=$node,memdev=memory$index")
		index=$((index + 1))
	done
	archive "$run/root" "$run/jobs.cpio"
	cat "$work/image.cpio" "$run/jobs.cpio" >"$run/initramfs"
	command=(qemu-system-aarch64 -M virt,gic-version=3,dtb-randomness=off -cpu "$cpu" -smp "$smp"
		-m "$memory" "${options[@]}" -seed 1 -rtc base=2024-01-01,clock=vm -nic none -nographic
		-no-reboot -kernel "$cache/vmlinuz" -initrd "$run/initramfs"
		-append "console=ttyAMA0 quiet panic=-1 loglevel=1")
	if [ "${2:-}" = terminal ]; then
		"${command[@]}"
		return
	fi
	"${command[@]}" </dev/null >"$run/console" 2>&1 &
	guest=$!
	watch_guest $guest &
}

quote() {
	local word
	for word in "$@"; do
		printf "'%s' " "${word//\'/\'\\\'\'}"
	done
	echo
}

# Finds the program's path in the guest. A file of this machine is copied into the guest.
find_program() {
	if [ -e "$work/image/perfsage/$1" ]; then
		program=/perfsage/$1
	elif is_elf "$1"; then
		image=$run/root
		cp -rn "$work/image/lib" "$run/root/lib"
		add_elf "$1" "$run/root/lab/$(basename "$1")"
		program=/lab/$(basename "$1")
	else
		program=$1
	fi
}

# Prints what is between the program's marks, and exits with the program's status.
pass_through() {
	local line inside=no held=no last='' status=''
	while IFS= read -r line || [ -n "$line" ]; do
		case $line in
		"$mark begin "*) inside=yes held=no ;;
		"$mark end "*)
			inside=no status=${line#"$mark end "}
			status=${status#* } status=${status%% *}
			;;
		*)
			if [ $inside = yes ]; then
				# The last line end belongs to the mark.
				[ $held = no ] || printf '%s\n' "$last"
				last=$line held=yes
			fi
			;;
		esac
	done
	[ $held = no ] || printf '%s' "$last"
	[ -n "$status" ] || { tail -n 20 "$run/console" >&2; fail "$(why_ended)"; }
	return "$status"
}

run_one() {
	[ $# -ge 2 ] || usage
	load_shape "$1"
	shift
	prepare >&2
	make_run
	local program status=0
	find_program "$1"
	shift
	{
		echo 'cd /perfsage'
		echo "exec $(quote "$program" "$@")"
	} | add_job "$program" 3600
	boot ,sleep=off
	tail -c +1 -s 0.1 --pid="$guest" -f "$run/console" | pass_through || status=$?
	exit "$status"
}

open_shell() {
	[ $# = 1 ] || usage
	load_shape "$1"
	prepare >&2
	make_run
	echo "$shape: the build tree is in /perfsage. exit, or Ctrl-A x, ends the guest." >"$run/root/lab/shell"
	boot '' terminal || true
}
