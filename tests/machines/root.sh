# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154
# Part of `machines`: a bare Debian 12 in a folder, where quickstart installs, builds and tests the project. The guests
# boot from that folder, and run the programs built there.

root=$own/root
# The lab's copy_sources copies to $work/src.
work=$root/perfsage
# Packages that the tests use in addition to quickstart's; a shape may hide some programs from its guest.
extra="groff mandoc locales python3 procps perl xz-utils git"

# in_root COMMAND...: runs the command in the bare Debian, with this machine's network. All mounts end with it.
in_root() {
	# shellcheck disable=SC2016
	unshare --mount --propagation private bash -c '
		root=$1
		shift
		mount -t proc proc "$root/proc"
		mount --rbind /dev "$root/dev"
		mount -t sysfs -o ro sys "$root/sys"
		mount --bind "$root/../archives" "$root/var/cache/apt/archives"
		exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
			${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} "$@"
	' in_root "$root" "$@"
}

# Makes the folder: a new bare Debian, and the project's sources.
new_root() {
	rm -rf "$root"
	mkdir -p "$root" "$own/archives/partial"
	tar -x -C "$root" -f "$cache/bare.tar" --exclude='./dev/*'
	cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
	copy_sources
}

# bare_step NAME COMMAND...: runs the command with its output in $own/NAME.log. A command without totals is one test.
bare_step() {
	local name=$1 log=$own/$1.log started=$SECONDS status=0
	shift
	in_root sh -c "cd /perfsage/src && $*" >"$log" 2>&1 </dev/null || status=$?
	if ! grep -qE "$totals_pattern" "$log"; then
		echo "$((status == 0)) passed, $((status != 0)) failed, 0 skipped" >>"$log"
	fi
	show_log "$name" "$log" "$((SECONDS - started))"
	logs+=("$log")
}

# Does what a new user does first, on a machine without any of the needed packages.
check_bare() {
	"$here/fetch" --root
	mkdir -p "$own"
	lock_root
	new_root
	local logs=()
	bare_step quickstart ./quickstart
	bare_step quickstart-check ./quickstart check
	sum_up || exit 1
}

lock_root() {
	exec 8>"$own/lock"
	flock 8
}

# Builds everything that the guests' tests need.
prepare() {
	mkdir -p "$own"
	if [ $here_only = yes ]; then
		"$here/fetch"
		[ -e "$guest_build/Makefile" ] || fail "nothing was built in $guest_build"
		return
	fi
	"$here/fetch" --root
	lock_root
	if [ ! -e "$work/src/build/config.status" ]; then
		new_root
		in_root sh -c "cd /perfsage/src && ./quickstart" >"$own/quickstart.log" 2>&1 || fail "quickstart failed: $own/quickstart.log"
	fi
	copy_sources
	in_root sh -c "export DEBIAN_FRONTEND=noninteractive
		apt-get -q -y --no-install-recommends install $extra &&
		make -s -j$(nproc) -C /perfsage/src/build --no-print-directory check-build" >"$own/build.log" 2>&1 </dev/null ||
		fail "the bare Debian's build failed: $(tail -n 5 "$own/build.log"), see $own/build.log"
	flock -u 8
}
