# SPDX-License-Identifier: BSD-3-Clause
# Tests of the perfsage command: scripts that run it, and what they count or run.
tool_tests = \
	tests/tool/completion \
	tests/tool/confined \
	tests/tool/doctor \
	tests/tool/list \
	tests/tool/stat-counts \
	tests/tool/stat-errors \
	tests/tool/stat-files \
	tests/tool/stat-names \
	tests/tool/stat-output \
	tests/tool/stat-programs \
	tests/tool/stat-signals \
	tests/tool/stat-status \
	tests/tool/stat-threads \
	tests/tool/stat-uncounted \
	tests/tool/topo

EXTRA_DIST += $(tool_tests) tests/tool/common.sh

check_PROGRAMS += tests/tool/faults tests/tool/filtered
tests_tool_faults_SOURCES = tests/tool/faults.c
tests_tool_faults_LDADD =
tests_tool_filtered_SOURCES = tests/tool/filtered.c
tests_tool_filtered_LDADD =
