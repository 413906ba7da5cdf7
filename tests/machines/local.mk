# SPDX-License-Identifier: BSD-3-Clause
# Runs the project's tests in a bare Debian 12 and on emulated machines of other kinds.
EXTRA_DIST += \
	tests/machines/check.sh \
	tests/machines/fetch \
	tests/machines/guest.sh \
	tests/machines/init \
	tests/machines/inside \
	tests/machines/machines \
	tests/machines/root.sh \
	tests/machines/shapes

# Like check-lab, it needs nothing of this build.
check-machines:
	MAKEFLAGS= $(top_srcdir)/tests/machines/machines bare
	MAKEFLAGS= $(top_srcdir)/tests/machines/machines check

.PHONY: check-machines
