# SPDX-License-Identifier: BSD-3-Clause
# The public headers.
include_HEADERS = include/perfsage.h
pkginclude_HEADERS = \
	include/perfsage/attr.h \
	include/perfsage/collect.h \
	include/perfsage/component.h \
	include/perfsage/cost.h \
	include/perfsage/counter.h \
	include/perfsage/diagnose.h \
	include/perfsage/error.h \
	include/perfsage/event.h \
	include/perfsage/eventset.h \
	include/perfsage/export.h \
	include/perfsage/formula.h \
	include/perfsage/hooks.h \
	include/perfsage/marks.h \
	include/perfsage/log.h \
	include/perfsage/log_reader.h \
	include/perfsage/metric.h \
	include/perfsage/papi.h \
	include/perfsage/paths.h \
	include/perfsage/print.h \
	include/perfsage/record.h \
	include/perfsage/report.h \
	include/perfsage/region.h \
	include/perfsage/read.h \
	include/perfsage/sampler.h \
	include/perfsage/sampling.h \
	include/perfsage/session.h \
	include/perfsage/slow_visit.h \
	include/perfsage/snapshot.h \
	include/perfsage/task.h \
	include/perfsage/thread.h \
	include/perfsage/topology.h \
	include/perfsage/unit_cost.h \
	include/perfsage/value.h \
	include/perfsage/version.h \
	include/perfsage/visibility.h

# The Fortran module is installed as source, because each compiler has its own module files.
pkginclude_HEADERS += include/perfsage/perfsage.f90
