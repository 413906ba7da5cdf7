# SPDX-License-Identifier: BSD-3-Clause
# The manual pages. Makefile.am sets the lists before it includes this file.

dist_man1_MANS += \
	man/perfsage.1 \
	man/perfsage-doctor.1 \
	man/perfsage-list.1 \
	man/perfsage-log.1 \
	man/perfsage-place.1 \
	man/perfsage-stat.1 \
	man/perfsage-timeline.1 \
	man/perfsage-topo.1

dist_man3_MANS += \
	man/ps_attach.3 \
	man/ps_attr.3 \
	man/ps_attribution.3 \
	man/ps_collect.3 \
	man/ps_component.3 \
	man/ps_cost.3 \
	man/ps_counter.3 \
	man/ps_diagnose.3 \
	man/ps_error.3 \
	man/ps_event.3 \
	man/ps_eventset.3 \
	man/ps_export.3 \
	man/ps_formula.3 \
	man/ps_hooks.3 \
	man/ps_marks.3 \
	man/ps_log.3 \
	man/ps_log_reader.3 \
	man/ps_metric.3 \
	man/ps_papi.3 \
	man/ps_paths.3 \
	man/ps_print.3 \
	man/ps_read.3 \
	man/ps_reading.3 \
	man/ps_record.3 \
	man/ps_region.3 \
	man/ps_report.3 \
	man/ps_sampler.3 \
	man/ps_sampling.3 \
	man/ps_session.3 \
	man/ps_slow_visit.3 \
	man/ps_snapshot.3 \
	man/ps_task.3 \
	man/ps_thread.3 \
	man/ps_topology.3 \
	man/ps_unit_cost.3 \
	man/ps_value.3 \
	man/ps_version.3

dist_man5_MANS += \
	man/perfsage-metrics.5

dist_man7_MANS += \
	man/perfsage.7
