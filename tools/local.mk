# SPDX-License-Identifier: BSD-3-Clause
# The perfsage command: a file for each subcommand. It is linked with the layers, as kmod's tools are: what the library and
# the command both do stands in the library. All but main.c is a library of its own, for tests.
noinst_LTLIBRARIES += tools/libtools.la
tools_libtools_la_SOURCES = \
	tools/command.h \
	tools/commands.h \
	tools/complaint.c \
	tools/complaint.h \
	tools/doctor.c \
	tools/ending.c \
	tools/ending.h \
	tools/file.c \
	tools/file.h \
	tools/heat.c \
	tools/heat.h \
	tools/inheritance.c \
	tools/inheritance.h \
	tools/launch.c \
	tools/launch.h \
	tools/list.c \
	tools/list_events.c \
	tools/list_events.h \
	tools/names.c \
	tools/names.h \
	tools/options.c \
	tools/options.h \
	tools/paragraph.c \
	tools/paragraph.h \
	tools/part.c \
	tools/part.h \
	tools/screen.c \
	tools/screen.h \
	tools/stat.c \
	tools/stat_count.c \
	tools/stat_count.h \
	tools/stat_events.c \
	tools/stat_events.h \
	tools/stat_export.c \
	tools/stat_export.h \
	tools/stat_fields.c \
	tools/stat_fields.h \
	tools/stat_footer.c \
	tools/stat_footer.h \
	tools/stat_metrics.c \
	tools/stat_metrics.h \
	tools/stat_options.c \
	tools/stat_options.h \
	tools/stat_quality.c \
	tools/stat_quality.h \
	tools/stat_runs.c \
	tools/stat_runs.h \
	tools/stat_show.c \
	tools/stat_show.h \
	tools/stat_sums.c \
	tools/stat_sums.h \
	tools/stat_tally.c \
	tools/stat_tally.h \
	tools/stat_tasks.c \
	tools/stat_tasks.h \
	tools/stat_uncounted.c \
	tools/stat_uncounted.h \
	tools/topo.c \
	tools/watcher.c \
	tools/watcher.h
bin_PROGRAMS = tools/perfsage
tools_perfsage_SOURCES = tools/main.c
completionsdir = $(datadir)/bash-completion/completions
EXTRA_DIST += tools/perfsage.bash

# bash-completion looks for a file of the command's name.
install-data-local:
	$(MKDIR_P) '$(DESTDIR)$(completionsdir)'
	$(INSTALL_DATA) $(srcdir)/tools/perfsage.bash '$(DESTDIR)$(completionsdir)/perfsage'
uninstall-local:
	rm -f '$(DESTDIR)$(completionsdir)/perfsage'

# It contains the library: it runs wherever it is installed or moved to, and with file capabilities (setcap), where the loader
# takes no LD_LIBRARY_PATH. Bound at load, as the shared library is.
tools_perfsage_LDFLAGS = $(AM_LDFLAGS) -Wl,-z,now
tools_perfsage_LDADD = tools/libtools.la $(layers) -lm
