# SPDX-License-Identifier: BSD-3-Clause
# The perfsage command, with a file for each subcommand. It is linked with the layers, so that code which library and
# command share exists only once, in the library. All files but main.c form a convenience library, for tests.
noinst_LTLIBRARIES += tools/libtools.la
tools_libtools_la_SOURCES = \
	tools/cgroup.c \
	tools/cgroup.h \
	tools/command.h \
	tools/doctor.c \
	tools/file.c \
	tools/file.h \
	tools/heat.c \
	tools/heat.h \
	tools/launch.c \
	tools/list.c \
	tools/list_events.c \
	tools/list_events.h \
	tools/list_metrics.c \
	tools/log.c \
	tools/log.h \
	tools/log_condition.c \
	tools/log_convert.c \
	tools/log_cost.c \
	tools/log_intervals.c \
	tools/log_intervals.h \
	tools/log_intervals_export.c \
	tools/log_intervals_text.c \
	tools/log_missing.c \
	tools/log_select.c \
	tools/log_show.c \
	tools/log_sums.c \
	tools/log_sums.h \
	tools/log_tracks.c \
	tools/log_tracks.h \
	tools/metrics.c \
	tools/metrics.h \
	tools/names.c \
	tools/names_group.c \
	tools/names_group.h \
	tools/options.c \
	tools/options.h \
	tools/own_path.c \
	tools/part.c \
	tools/place.c \
	tools/place.h \
	tools/place_findings.c \
	tools/place_json.c \
	tools/place_record.c \
	tools/place_sharing.c \
	tools/place_show.c \
	tools/place_spans.c \
	tools/place_sums.c \
	tools/place_sums.h \
	tools/place_sweep.c \
	tools/place_sweep.h \
	tools/place_masks.c \
	tools/place_intent.c \
	tools/placement.c \
	tools/placement.h \
	tools/placement_cpus.c \
	tools/placement_gomp.c \
	tools/program.c \
	tools/processes.c \
	tools/processes.h \
	tools/slice_holes.c \
	tools/slice_notes.c \
	tools/slice_records.c \
	tools/slice_records.h \
	tools/slice_spans.c \
	tools/slice_tasks.c \
	tools/slice_tasks.h \
	tools/slices.c \
	tools/slices.h \
	tools/stat.c \
	tools/stat_conflicts.c \
	tools/stat_count.c \
	tools/stat_count.h \
	tools/stat_export.c \
	tools/stat_footer.c \
	tools/stat_footer.h \
	tools/stat_method.c \
	tools/stat_method.h \
	tools/stat_metrics.c \
	tools/stat_metrics.h \
	tools/stat_notes.c \
	tools/stat_options.c \
	tools/stat_options.h \
	tools/stat_output.c \
	tools/stat_output.h \
	tools/stat_rates.c \
	tools/stat_regions.c \
	tools/stat_region_sums.c \
	tools/stat_reports.c \
	tools/stat_regions.h \
	tools/stat_run.h \
	tools/stat_show.c \
	tools/stat_show.h \
	tools/stat_start.c \
	tools/stat_start_cpus.c \
	tools/stat_aggregate.c \
	tools/stat_aggregate.h \
	tools/stat_task_rows.c \
	tools/stat_tasks.c \
	tools/stat_tasks.h \
	tools/stat_times.c \
	tools/stat_times.h \
	tools/stat_trust.c \
	tools/stat_uncounted.c \
	tools/stat_uncounted.h \
	tools/stat_usage.c \
	tools/stat_usage.h \
	tools/stat_wait.c \
	tools/terminal.c \
	tools/terminal.h \
	tools/timeline.c \
	tools/timeline.h \
	tools/timeline_counters.c \
	tools/timeline_counters.h \
	tools/timeline_counters_read.c \
	tools/timeline_events.c \
	tools/timeline_json.c \
	tools/timeline_notes.c \
	tools/timeline_run.c \
	tools/timeline_sums.c \
	tools/timeline_text.c \
	tools/timeline_there.c \
	tools/timeline_trace.c \
	tools/topo.c \
	tools/trace_file.c \
	tools/trace_file.h \
	tools/watcher.c \
	tools/watcher.h \
	tools/watcher_processes.c \
	tools/witness.c \
	tools/witness.h
if HAVE_OTF2
tools_libtools_la_SOURCES += tools/trace_otf2.c tools/trace_otf2.h tools/trace_otf2_names.c
tools_libtools_la_LIBADD = $(OTF2_LIBS)
else
tools_libtools_la_SOURCES += tools/trace_otf2_none.c
endif
# Folders where the command looks for the library that it preloads, and for metrics.
tools_libtools_la_CPPFLAGS = $(AM_CPPFLAGS) -DPS_PREFIX='"$(prefix)"' -DPS_BINDIR='"$(bindir)"' \
	-DPS_LIBDIR='"$(libdir)"' -DPS_PKGDATADIR='"$(pkgdatadir)"'
bin_PROGRAMS = tools/perfsage
tools_perfsage_SOURCES = tools/main.c
completionsdir = $(datadir)/bash-completion/completions
EXTRA_DIST += tools/perfsage.bash

# bash-completion looks for a file with the command's name.
install-data-local:
	$(MKDIR_P) '$(DESTDIR)$(completionsdir)'
	$(INSTALL_DATA) $(srcdir)/tools/perfsage.bash '$(DESTDIR)$(completionsdir)/perfsage'
uninstall-local:
	rm -f '$(DESTDIR)$(completionsdir)/perfsage'

# The command contains the library. So it runs wherever it is installed or moved, also with file capabilities (setcap), for
# which the loader ignores LD_LIBRARY_PATH. Its symbols are bound at load, as in the shared library.
tools_perfsage_LDFLAGS = $(AM_LDFLAGS) -Wl,-z,now
tools_perfsage_LDADD = tools/libtools.la $(layers) -lm
