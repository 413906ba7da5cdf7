# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154
# Part of `lab`: a boot of the guest with a list of jobs; one program or a shell there.

load_shape() {
	local file=$here/shapes/$1.shape
	[ -e "$file" ] || fail "there is no shape '$1'; there are: $(list_shapes | tr '\n' ' ')"
	shape=$1 cpu=cortex-a57 smp=1 nodes='' shift=0 memory=2048 limit=300 job_limit=60 tests=''
	# shellcheck disable=SC1090
	. "$file"
}

list_shapes() {
	(cd "$here/shapes" && printf '%s\n' *.shape | sed 's/\.shape$//')
}

# All, those that may take longest first.
list_longest() {
	local name
	for name in $(list_shapes); do
		load_shape "$name"
		echo "$limit $name"
	done | sort -rn | cut -d ' ' -f 2
}

# What a test may know of the machine: PS_LAB_SHIFT, PS_LAB_SMP ("8,sockets=2,cores=4"), PS_LAB_NODES (a number).
write_environment() {
	local word nodes_count=0
	for word in $nodes; do
		nodes_count=$((nodes_count + 1))
	done
	echo "export PS_LAB_SHAPE=$shape PS_LAB_SHIFT=$shift PS_LAB_SMP=$smp"
	echo "export PS_LAB_NODES=$((nodes_count > 1 ? nodes_count : 1)) PS_LAB_PARANOID=${PS_LAB_PARANOID:-1}"
	echo "PS_LAB_MARK=$mark"
}

# A new folder for a boot, in $run, with the guest's job folder in $run/root/lab.
make_run() {
	mkdir -p "$work/runs"
	run=$(mktemp -d "$work/runs/$shape.XXXXXX")
	trap 'rm -rf "$run"' EXIT
	mark=@@lab-$(basename "$run")
	mkdir -p "$run/root/lab/job"
	write_environment >"$run/root/lab/environment"
	: >"$run/root/lab/jobs"
}

# add_job NAME SECONDS, the shell commands from stdin.
add_job() {
	local number
	number=$(($(wc -l <"$run/root/lab/jobs") + 1))
	cat >"$run/root/lab/job/$number"
	echo "$number $2 $1" >>"$run/root/lab/jobs"
}

# All that could differ between two boots is fixed: the clock, the random seeds. $1 adds to -icount: ",sleep=off" skips the
# time in which the guest is idle.
boot() {
	local count=0 node options=()
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
	timeout --foreground "$limit" qemu-system-aarch64 -M virt,gic-version=3,dtb-randomness=off -cpu "$cpu" -smp "$smp" \
		-m "$memory" "${options[@]}" -seed 1 -rtc base=2024-01-01,clock=vm -nic none -nographic \
		-no-reboot -kernel "$cache/vmlinuz" -initrd "$run/initramfs" \
		-append "console=ttyAMA0 quiet panic=-1 loglevel=1"
}

quote() {
	local word
	for word in "$@"; do
		printf "'%s' " "${word//\'/\'\\\'\'}"
	done
	echo
}

# The program as the guest knows it. A file of this machine is brought along.
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

# Passes what is between the program's marks on, and exits as it did.
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
				# The last line end is the mark's.
				[ $held = no ] || printf '%s\n' "$last"
				last=$line held=yes
			else
				echo "$line" >>"$run/console"
			fi
			;;
		esac
	done
	[ $held = no ] || printf '%s' "$last"
	[ -n "$status" ] || { tail -n 20 "$run/console" >&2; fail "the guest ended before the program did"; }
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
	} | add_job "$program" "$limit"
	: >"$run/console"
	boot ,sleep=off </dev/null 2>&1 | pass_through || status=$?
	exit "$status"
}

open_shell() {
	[ $# = 1 ] || usage
	load_shape "$1"
	prepare >&2
	make_run
	echo "$shape: the build tree is in /perfsage. exit, or Ctrl-A x, ends the guest." >"$run/root/lab/shell"
	limit=0
	boot || true
}
