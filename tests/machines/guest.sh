# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154
# Part of `machines`: boots one shape. The guest's root is a folder of this machine, mounted by 9p under an overlay in the
# guest's memory: only the console's output comes back from the guest.

# Multiples of the boot time. Each test prints something when it ends, and the longest takes less than ten boot times.
silent_boots=60

load_shape() {
	local file=$here/shapes/$1.shape
	[ -e "$file" ] || fail "there is no shape '$1'; there are: $(list_shapes | tr '\n' ' ')"
	shape=$1 cpu=max smp=1 nodes='' memory=2560 mounts="cgroup tracefs" paranoid=2 user=root hide='' environment='' limits=''
	tests='' quick=''
	# shellcheck disable=SC1090
	. "$file"
}

# Makes the folder of a boot, in $run, with the first process, its drivers and its settings. The command comes from stdin.
make_run() {
	mkdir -p "$own/runs"
	run=$(mktemp -d "$own/runs/$shape.XXXXXX")
	guest=''
	: >"$run/console"
	trap end_run EXIT
	mark=@@machine-$(basename "$run")
	mkdir -p "$run/image"/{bin,modules,proc,sys,dev,lower,upper,root,job/locale}
	cp "$(command -v busybox)" "$run/image/bin/busybox"
	cp "$cache"/kernel/modules/* "$run/image/modules/"
	cp "$here/init" "$run/image/init"
	cp "$here/inside" "$run/image/job/inside"
	echo "mark=$mark mounts='$mounts' paranoid=$paranoid user=$user hide='$hide' limits='$limits' build='$guest_build'" \
		>"$run/image/job/machine"
	write_environment >"$run/image/job/environment"
	cat >"$run/image/job/command"
}

# Writes the shape's variables as shell commands; "-NAME" unsets one. Makes a locale here, as that is slow in a guest.
write_environment() {
	local word
	eval "set -- $environment"
	for word in "$@"; do
		case $word in
		-*) echo "unset ${word#-}" ;;
		LC_ALL=*.UTF-8) make_locale "${word#*=}" ;;
		esac
		[ "${word#-}" != "$word" ] || printf 'export %s=%q\n' "${word%%=*}" "${word#*=}"
	done
}

make_locale() {
	[ "$1" != C.UTF-8 ] || return 0
	if [ ! -d "$cache/locale/$1" ]; then
		mkdir -p "$cache/locale"
		localedef -i "${1%.*}" -f UTF-8 "$cache/locale/$1" || fail "the locale $1 can't be made"
	fi
	cp -r "$cache/locale/$1" "$run/image/job/locale/"
	echo "export LOCPATH=/run/job/locale"
}

# Boots the guest. It doesn't use this machine's CPU (TCG, no KVM), so the CPU models of both vendors are the same on every
# host. $smp may have a topology ("24,sockets=2,cores=6,threads=2"). One thread of the host runs all CPUs in turn. With a
# thread for each CPU, QEMU 7.2 goes on executing old kernel code after the guest has patched it (a static branch, when the
# first event of a task is opened), and three CPUs then trap for ever. As in lab, the console goes to $run/console, and
# $guest is the process.
boot() {
	local node index=0 count options=() command=()
	count=$(wc -w <<<"$nodes")
	for node in $nodes; do
		options+=(-object "memory-backend-ram,id=memory$index,size=$((memory / count))M"
			-numa "node,nodeid=$index,cpus=$node,memdev=memory$index")
		index=$((index + 1))
	done
	archive "$run/image" "$run/initramfs"
	command=(qemu-system-x86_64 -accel tcg,thread=single -cpu "$cpu" -smp "$smp" -m "$memory" "${options[@]}"
		-nic none -nographic -no-reboot
		-fsdev "local,id=root,path=$guest_root,security_model=none,readonly=on,multidevs=remap"
		-device virtio-9p-pci,fsdev=root,mount_tag=root -kernel "$cache/kernel/vmlinuz" -initrd "$run/initramfs"
		-append "console=ttyS0 quiet panic=-1 loglevel=1 mitigations=off nowatchdog rcupdate.rcu_cpu_stall_suppress=1")
	if [ "${1:-}" = terminal ]; then
		"${command[@]}"
		return
	fi
	"${command[@]}" </dev/null >"$run/console" 2>&1 &
	guest=$!
	watch_guest $guest &
}

run_one() {
	[ $# -ge 2 ] || usage
	load_shape "$1"
	shift
	prepare >&2
	make_run < <(quote "$@")
	local status=0
	boot
	tail -c +1 -s 0.1 --pid="$guest" -f "$run/console" | tr -d '\r' | pass_through || status=$?
	exit "$status"
}

open_shell() {
	[ $# = 1 ] || usage
	load_shape "$1"
	prepare
	make_run <<<'exec setsid bash -i </dev/console >/dev/console 2>&1'
	boot terminal || true
}
