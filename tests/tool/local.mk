# SPDX-License-Identifier: BSD-3-Clause
# Tests of the perfsage command: scripts that run it, and the programs that they count or run.
tool_tests = \
	tests/tool/completion \
	tests/tool/confined \
	tests/tool/doctor \
	tests/tool/list \
	tests/tool/log \
	tests/tool/marks \
	tests/tool/metrics \
	tests/tool/namespaces \
	tests/tool/place \
	tests/tool/ranks \
	tests/tool/stat-append \
	tests/tool/stat-cgroup \
	tests/tool/stat-children \
	tests/tool/stat-closed \
	tests/tool/stat-counts \
	tests/tool/stat-defaults \
	tests/tool/stat-delay \
	tests/tool/stat-errors \
	tests/tool/stat-files \
	tests/tool/stat-groups \
	tests/tool/stat-handlers \
	tests/tool/stat-kept \
	tests/tool/stat-looks \
	tests/tool/stat-lost \
	tests/tool/stat-method \
	tests/tool/stat-names \
	tests/tool/stat-output \
	tests/tool/stat-perf-options \
	tests/tool/stat-programs \
	tests/tool/stat-ranks \
	tests/tool/stat-regions \
	tests/tool/stat-signals \
	tests/tool/stat-status \
	tests/tool/stat-threads \
	tests/tool/stat-times \
	tests/tool/stat-uncounted \
	tests/tool/timeline \
	tests/tool/topo

# without-memory is in TESTS of tests/local.mk.
EXTRA_DIST += $(tool_tests) tests/tool/without-memory tests/tool/common.sh tests/tool/perfetto.py tests/tool/scaled.py

check_PROGRAMS += tests/tool/closing tests/tool/faults tests/tool/filtered tests/tool/heeding tests/tool/heirs tests/tool/marked tests/tool/moves tests/tool/placed
check_PROGRAMS += tests/tool/fields tests/tool/kept tests/tool/lacking tests/tool/leaderless tests/tool/restarted tests/tool/signalled tests/tool/visits
tests_tool_closing_SOURCES = tests/tool/closing.c tests/tool/touch.h
tests_tool_closing_LDADD =
tests_tool_faults_SOURCES = tests/tool/faults.c
tests_tool_faults_LDADD =
tests_tool_fields_SOURCES = tests/tool/fields.c
tests_tool_fields_LDADD = libperfsage.la
tests_tool_filtered_SOURCES = tests/tool/filtered.c
tests_tool_filtered_LDADD =
tests_tool_heeding_SOURCES = tests/tool/heeding.c tests/tool/touch.h
tests_tool_heeding_LDADD =
tests_tool_heirs_SOURCES = tests/tool/heirs.c tests/tool/touch.h
tests_tool_heirs_CFLAGS = -pthread $(WARNING_CFLAGS)
tests_tool_heirs_LDFLAGS = -pthread
tests_tool_heirs_LDADD =
tests_tool_kept_SOURCES = tests/tool/kept.c
tests_tool_kept_CFLAGS = -pthread $(WARNING_CFLAGS)
tests_tool_kept_LDFLAGS = -pthread
tests_tool_kept_LDADD =
tests_tool_marked_SOURCES = tests/tool/marked.c tests/tool/touch.h
tests_tool_marked_LDADD =
# lacking.c includes tools/main.c.
tests_tool_lacking_SOURCES = tests/tool/lacking.c
tests_tool_lacking_LDADD = tools/libtools.la $(layers) -lm
# Built without sanitizers, which would add tasks that are counted, too, and that keep a process alive after its last own
# thread has ended. The command is what these programs test.
tests_tool_leaderless_SOURCES = tests/tool/leaderless.c tests/tool/touch.h
tests_tool_leaderless_CFLAGS = -pthread $(WARNING_CFLAGS)
tests_tool_leaderless_LDFLAGS = -pthread
tests_tool_leaderless_LDADD =
tests_tool_restarted_SOURCES = tests/tool/restarted.c
tests_tool_restarted_LDADD = libperfsage.la
tests_tool_signalled_SOURCES = tests/tool/signalled.c
tests_tool_signalled_LDADD =
tests_tool_moves_SOURCES = tests/tool/moves.c
tests_tool_moves_CFLAGS = -pthread $(WARNING_CFLAGS)
tests_tool_moves_LDFLAGS = -pthread
tests_tool_moves_LDADD =
tests_tool_placed_SOURCES = tests/tool/placed.c
tests_tool_placed_CFLAGS = -pthread $(WARNING_CFLAGS)
tests_tool_placed_LDFLAGS = -pthread
tests_tool_placed_LDADD =
tests_tool_visits_SOURCES = tests/tool/visits.c
tests_tool_visits_LDADD = libperfsage.la
