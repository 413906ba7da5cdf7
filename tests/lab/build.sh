# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154
# Part of `lab`: builds the project for the guest, and packs the programs and their libraries into an image.

# Lists the files of the checkout, without files of a native build.
list_sources() {
	if git -C "$top" rev-parse --git-dir >/dev/null 2>&1; then
		(cd "$top" && git ls-files -z --cached --others --exclude-standard) | grep -z .
	else
		[ ! -e "$top/config.status" ] || fail "this source tree was configured in place: make distclean, then configure" \
			"in a folder of its own"
		(cd "$top" && find . -name .git -prune -o -type f -printf '%P\0' -o -type l -printf '%P\0')
	fi
}

# Copies the sources, so that the checkout itself may be configured for this machine at the same time.
copy_sources() {
	local file
	mkdir -p "$work/src"
	list_sources | sort -z >"$work/list.new"
	if [ -e "$work/list" ]; then
		comm -z -23 "$work/list" "$work/list.new" | while IFS= read -r -d '' file; do
			rm -f "$work/src/$file"
		done
	fi
	(cd "$top" && tar -c --null --ignore-failed-read -T "$work/list.new") | tar -x -C "$work/src"
	mv "$work/list.new" "$work/list"
}

configure() {
	export PKG_CONFIG_SYSROOT_DIR=$sysroot PKG_CONFIG_PATH=
	export PKG_CONFIG_LIBDIR=$sysroot/usr/lib/$cross/pkgconfig:$sysroot/usr/share/pkgconfig
	[ -e "$work/src/configure" ] || (cd "$work/src" && ./autogen.sh) >"$work/autogen.log" 2>&1 ||
		fail "autogen.sh failed: $(tail -n 5 "$work/autogen.log")"
	[ ! -e "$work/build/config.status" ] || return 0
	mkdir -p "$work/build"
	(cd "$work/build" && ../src/configure --host=$cross CC="$cross-gcc --sysroot=$sysroot" CFLAGS=-O2 \
		--prefix=/usr) >"$work/configure.log" 2>&1 ||
		fail "configure for the guest failed: $(tail -n 5 "$work/configure.log")"
}

build() {
	local goal
	mkdir -p "$work"
	exec 8>"$work/lock"
	flock 8
	if [ "$(cat "$work/stamp" 2>/dev/null)" != "$(cat "$cache/stamp")" ]; then
		rm -rf "$work/build" # the libraries for the guest have changed
		cp "$cache/stamp" "$work/stamp"
	fi
	copy_sources
	configure
	echo "lab: building for the guest"
	for goal in all check-build lab-programs; do
		make -C "$work/build" -j "$(nproc)" --no-print-directory $goal >"$work/make.log" 2>&1 ||
			fail "building for the guest failed, see $work/make.log: $(grep -E -m 5 'error:|undefined|\*\*\*' "$work/make.log")"
	done
	pack
	flock -u 8
}

# Lists the programs of the build tree, by their paths there.
list_programs() {
	(cd "$work/build" && find examples tests tools bench -mindepth 1 -maxdepth 3 -name .libs -prune -o \
		-type f -perm -u+x ! -name '*.*' -print 2>/dev/null || true) | sort
}

# Copies a program or library, stripped, and then the libraries that it needs.
add_elf() {
	local from=$1 to=$2 library directory
	mkdir -p "$(dirname "$to")"
	"$cross-strip" -g -o "$to" "$from"
	for library in $("$cross-readelf" -d "$from" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		[ ! -e "$image/lib/$library" ] || continue
		for directory in "$work/build/.libs" "$sysroot/lib/$cross" "$sysroot/usr/lib/$cross" "$sysroot/lib"; do
			if [ -e "$directory/$library" ]; then
				add_elf "$directory/$library" "$image/lib/$library"
				continue 2
			fi
		done
		fail "$from needs $library, which is not among the packages"
	done
}

is_elf() {
	[ "$(head -c 4 "$1" 2>/dev/null | tr -d '\0')" = $'\177ELF' ]
}

add_program() {
	local directory name
	directory=$(dirname "$1")
	name=$(basename "$1")
	# .libs may have a program of an earlier build, so the other place is tried first.
	if is_elf "$work/build/$1"; then
		add_elf "$work/build/$1" "$image/perfsage/$1"
	elif is_elf "$work/build/$directory/.libs/$name"; then
		add_elf "$work/build/$directory/.libs/$name" "$image/perfsage/$1"
	fi
}

archive() {
	(cd "$1" && find . -print0 | LC_ALL=C sort -z | cpio --null -o -H newc --quiet --reproducible -R 0:0) >"$2"
}

pack() {
	local program folder
	image=$work/image
	rm -rf "$image"
	mkdir -p "$image"/{bin,dev,etc,lab,lib,perfsage/tests,proc,sys,tmp}
	cp "$sysroot/bin/busybox" "$image/bin/"
	cp "$here/init" "$image/init"
	echo 'root:x:0:0:root:/tmp:/bin/sh
nobody:x:65534:65534:nobody:/tmp:/bin/sh' >"$image/etc/passwd"
	echo 'nogroup:x:65534:' >"$image/etc/group"
	add_elf "$sysroot/lib/ld-linux-aarch64.so.1" "$image/lib/ld-linux-aarch64.so.1"
	# The C library loads libgcc_s itself when a thread is cancelled.
	for library in "$sysroot/lib/$cross/libgcc_s.so.1" "$sysroot/usr/lib/$cross/libgcc_s.so.1"; do
		[ ! -e "$library" ] || add_elf "$library" "$image/lib/libgcc_s.so.1"
	done
	for folder in fixtures golden; do
		[ ! -d "$work/src/tests/$folder" ] || cp -r "$work/src/tests/$folder" "$image/perfsage/tests/"
	done
	for program in $(list_programs); do
		add_program "$program"
	done
	# A test loads this library by its path.
	add_elf "$work/build/tests/api/.libs/loaded_marks.so" "$image/perfsage/tests/api/.libs/loaded_marks.so"
	archive "$image" "$work/image.cpio.new"
	mv "$work/image.cpio.new" "$work/image.cpio"
}

prepare() {
	"$here/fetch"
	if [ -n "${PS_LAB_NO_BUILD:-}" ]; then
		[ -e "$work/image.cpio" ] || fail "nothing was built yet, and PS_LAB_NO_BUILD is set"
	else
		build
	fi
}
