# SPDX-License-Identifier: BSD-3-Clause
# One suite for each file or behaviour, linked with the layers and the fake kernel of tests/support.
unit_tests = \
	tests/unit/test_add_attr \
	tests/unit/test_affinity \
	tests/unit/test_aggregate \
	tests/unit/test_alike \
	tests/unit/test_arena \
	tests/unit/test_attrmap \
	tests/unit/test_attr \
	tests/unit/test_attr_check \
	tests/unit/test_attr_fields \
	tests/unit/test_bpf \
	tests/unit/test_bpf_refused \
	tests/unit/test_btf \
	tests/unit/test_buffer \
	tests/unit/test_cgroup \
	tests/unit/test_child \
	tests/unit/test_clear \
	tests/unit/test_clock \
	tests/unit/test_collect \
	tests/unit/test_collect_again \
	tests/unit/test_colour \
	tests/unit/test_component \
	tests/unit/test_cost \
	tests/unit/test_counter \
	tests/unit/test_group \
	tests/unit/test_pause \
	tests/unit/test_pause_event \
	tests/unit/test_diagnose \
	tests/unit/test_diagnose_events \
	tests/unit/test_diagnose_limits \
	tests/unit/test_diagnose_papi \
	tests/unit/test_destination \
	tests/unit/test_distance \
	tests/unit/test_earlier \
	tests/unit/test_error_restart \
	tests/unit/test_error_state \
	tests/unit/test_event \
	tests/unit/test_event_faults \
	tests/unit/test_event_names \
	tests/unit/test_event_pmu \
	tests/unit/test_event_probe \
	tests/unit/test_event_scope \
	tests/unit/test_eventset \
	tests/unit/test_exact \
	tests/unit/test_ended \
	tests/unit/test_exec \
	tests/unit/test_export \
	tests/unit/test_faults \
	tests/unit/test_file \
	tests/unit/test_formula \
	tests/unit/test_formula_corpus \
	tests/unit/test_formula_names \
	tests/unit/test_topology_find \
	tests/unit/test_heat \
	tests/unit/test_heat_drawn \
	tests/unit/test_hybrid \
	tests/unit/test_hybrid_groups \
	tests/unit/test_import_file \
	tests/unit/test_import_limits \
	tests/unit/test_interruption \
	tests/unit/test_event_list \
	tests/unit/test_per_cpu \
	tests/unit/test_layout \
	tests/unit/test_queue \
	tests/unit/test_lines \
	tests/unit/test_known \
	tests/unit/test_list \
	tests/unit/test_looks \
	tests/unit/test_looks_again \
	tests/unit/test_listen \
	tests/unit/test_lock \
	tests/unit/test_attribution \
	tests/unit/test_attribution_records \
	tests/unit/test_mark_values \
	tests/unit/test_metric \
	tests/unit/test_metric_define \
	tests/unit/test_metric_file \
	tests/unit/test_metric_load \
	tests/unit/test_metric_names \
	tests/unit/test_mixed \
	tests/unit/test_no_proc \
	tests/unit/test_number \
	tests/unit/test_open \
	tests/unit/test_os \
	tests/unit/test_owner \
	tests/unit/test_papi \
	tests/unit/test_papi_changes \
	tests/unit/test_papi_faults \
	tests/unit/test_papi_names \
	tests/unit/test_papi_places \
	tests/unit/test_papi_targets \
	tests/unit/test_parts \
	tests/unit/test_path_export \
	tests/unit/test_place_masks \
	tests/unit/test_place_show \
	tests/unit/test_place_sums \
	tests/unit/test_place_sweep \
	tests/unit/test_placement \
	tests/unit/test_print \
	tests/unit/test_printable \
	tests/unit/test_proc_status \
	tests/unit/test_fast_path \
	tests/unit/test_explain \
	tests/unit/test_fast_path_calls \
	tests/unit/test_fast_path_open \
	tests/unit/test_read \
	tests/unit/test_reading_of \
	tests/unit/test_profile \
	tests/unit/test_region \
	tests/unit/test_region_doubt \
	tests/unit/test_region_gone \
	tests/unit/test_region_left \
	tests/unit/test_region_torn \
	tests/unit/test_sampled_rates \
	tests/unit/test_sampled_times \
	tests/unit/test_sampling \
	tests/unit/test_slice_holes \
	tests/unit/test_slice_names \
	tests/unit/test_slices \
	tests/unit/test_slow_visits \
	tests/unit/test_visit_log \
	tests/unit/test_region_threads \
	tests/unit/test_record \
	tests/unit/test_record_damage \
	tests/unit/test_record_sample \
	tests/unit/test_records \
	tests/unit/test_paths_file \
	tests/unit/test_report \
	tests/unit/test_report_mixed \
	tests/unit/test_report_refused \
	tests/unit/test_recover \
	tests/unit/test_topology_refused \
	tests/unit/test_ring \
	tests/unit/test_run_time \
	tests/unit/test_sampler \
	tests/unit/test_sampler_group \
	tests/unit/test_sampler_open \
	tests/unit/test_sampler_user \
	tests/unit/test_screens \
	tests/unit/test_screens_log \
	tests/unit/test_screens_stat \
	tests/unit/test_stat_task_rows \
	tests/unit/test_search \
	tests/unit/test_list_events \
	tests/unit/test_interval_label \
	tests/unit/test_log \
	tests/unit/test_log_condition \
	tests/unit/test_log_convert \
	tests/unit/test_log_copied \
	tests/unit/test_log_damage \
	tests/unit/test_log_end \
	tests/unit/test_log_faults \
	tests/unit/test_log_live \
	tests/unit/test_log_lost \
	tests/unit/test_log_paused \
	tests/unit/test_log_refused \
	tests/unit/test_log_replaced \
	tests/unit/test_log_ring \
	tests/unit/test_log_space \
	tests/unit/test_session \
	tests/unit/test_session_attach \
	tests/unit/test_session_faults \
	tests/unit/test_session_hear \
	tests/unit/test_session_start \
	tests/unit/test_session_store \
	tests/unit/test_snapshot \
	tests/unit/test_snapshot_faults \
	tests/unit/test_stat_aggregate \
	tests/unit/test_stat_children \
	tests/unit/test_stat_defaults \
	tests/unit/test_stat_method \
	tests/unit/test_stat_start \
	tests/unit/test_status \
	tests/unit/test_bound \
	tests/unit/test_bound_snapshots \
	tests/unit/test_table \
	tests/unit/test_targets \
	tests/unit/test_task \
	tests/unit/test_task_records \
	tests/unit/test_tasks \
	tests/unit/test_text \
	tests/unit/test_threads \
	tests/unit/test_time_namespace \
	tests/unit/test_time_share \
	tests/unit/test_time_share_choice \
	tests/unit/test_timeline \
	tests/unit/test_timeline_counters \
	tests/unit/test_timeline_known \
	tests/unit/test_timeline_text \
	tests/unit/test_timestamps \
	tests/unit/test_topology \
	tests/unit/test_total \
	tests/unit/test_trace \
	tests/unit/test_uncounted \
	tests/unit/test_uncounted_visits \
	tests/unit/test_unit_cost \
	tests/unit/test_unit_cost_sizes \
	tests/unit/test_user \
	tests/unit/test_user_open \
	tests/unit/test_values \
	tests/unit/test_vector \
	tests/unit/test_waiting \
	tests/unit/test_waiting_left \
	tests/unit/test_waiting_process \
	tests/unit/test_switch_ring \
	tests/unit/test_wrap

if HAVE_PFM
unit_tests += tests/unit/test_event_pfm
else
unit_tests += tests/unit/test_event_pfm_none
endif

if HAVE_CHECK
check_LTLIBRARIES += tests/support/libsupport.la
endif
tests_support_libsupport_la_SOURCES = \
	tests/support/fake.c \
	tests/support/fake.h \
	tests/support/fake_arch.h \
	tests/support/fake_bpf.c \
	tests/support/fake_counters.c \
	tests/support/fake_files.c \
	tests/support/fake_internal.h \
	tests/support/fake_list.c \
	tests/support/fake_memory.c \
	tests/support/fake_papi.c \
	tests/support/fake_papi.h \
	tests/support/fake_pmu.c \
	tests/support/fake_pmu.h \
	tests/support/fake_ring.c \
	tests/support/fake_tasks.c \
	tests/support/fake_view.c \
	tests/support/fixture.c \
	tests/support/fixture.h \
	tests/support/formula_fuzz.c \
	tests/support/formula_fuzz.h \
	tests/support/golden.c \
	tests/support/golden.h \
	tests/support/gone.h \
	tests/support/machines.c \
	tests/support/machines.h \
	tests/support/papi_scene.c \
	tests/support/papi_scene.h \
	tests/support/random.h \
	tests/support/record_bytes.c \
	tests/support/descriptors.h \
	tests/support/record_bytes.h \
	tests/support/record_fuzz.c \
	tests/support/regions.c \
	tests/support/regions.h \
	tests/support/resident.h \
	tests/support/rows.c \
	tests/support/rows.h \
	tests/support/scene.c \
	tests/support/scene.h \
	tests/support/screen.c \
	tests/support/screen.h \
	tests/support/sanitizer.h \
	tests/support/skip.h \
	tests/support/small.h \
	tests/support/step.h \
	tests/support/task_records.c \
	tests/support/task_records.h \
	tests/support/unmarked.h
tests_support_libsupport_la_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)

EXTRA_DIST += \
	tests/unit/test_bpf.h \
	tests/unit/test_diagnose.h \
	tests/unit/test_error_state.h \
	tests/unit/test_event.h \
	tests/unit/test_heat.h \
	tests/unit/test_hybrid.h \
	tests/unit/test_log.h \
	tests/unit/test_looks.h \
	tests/unit/test_place.h \
	tests/unit/test_record.h \
	tests/unit/test_report.h \
	tests/unit/test_time_share.h \
	tests/unit/test_waiting.h \
	tests/unit/test_sampler.h \
	tests/unit/test_session.h \
	tests/unit/test_slices.h \
	tests/unit/test_log_blocks.h \
	tests/unit/test_snapshot.h \
	tests/unit/test_user.h

# Automake builds tests/unit/test_x from tests/unit/test_x.c, and uses LDADD for all programs without their own one.
LDADD = tests/support/libsupport.la $(layers) $(CHECK_LIBS) -lm
tests_unit_test_event_pfm_LDADD = $(LDADD) $(PFM_LIBS)
tests_unit_test_file_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_known_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_list_events_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_log_condition_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_log_convert_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_place_masks_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_place_show_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_place_sums_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_place_sweep_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_placement_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_slice_holes_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_slice_names_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_screens_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_screens_log_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_screens_stat_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_stat_task_rows_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_slices_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_timeline_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_timeline_counters_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_timeline_known_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_timeline_text_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_stat_aggregate_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_stat_children_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_stat_defaults_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_stat_method_LDADD = tools/libtools.la $(LDADD)
tests_unit_test_stat_start_LDADD = tools/libtools.la $(LDADD)

# Run by hand, for any number of runs: tests/fuzz/fuzz_record RUNS SEED, and fuzz_formula
if HAVE_CHECK
check_PROGRAMS += tests/fuzz/fuzz_formula tests/fuzz/fuzz_record
endif
tests_fuzz_fuzz_formula_SOURCES = tests/fuzz/fuzz_formula.c
tests_fuzz_fuzz_record_SOURCES = tests/fuzz/fuzz_record.c
