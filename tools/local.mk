# SPDX-License-Identifier: BSD-3-Clause
# The perfsage command: a file for each subcommand. It sees what a user's program sees.
bin_PROGRAMS = tools/perfsage
tools_perfsage_SOURCES = \
	tools/command.h \
	tools/commands.h \
	tools/complaint.c \
	tools/complaint.h \
	tools/main.c \
	tools/nearest.c \
	tools/nearest.h \
	tools/options.c \
	tools/options.h
tools_perfsage_CPPFLAGS = -D_GNU_SOURCE $(public_cppflags)
tools_perfsage_LDADD = libperfsage.la
