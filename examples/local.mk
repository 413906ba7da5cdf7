# SPDX-License-Identifier: BSD-3-Clause
# The examples. make builds them, make check runs them (tests/scripts/check-examples), and their sources are installed.
# They are compiled as a user's program is, with the public headers only. Makefile.am sets noinst_PROGRAMS and
# public_cppflags before it includes this file.

examples_programs = \
	examples/01_count_region \
	examples/03_spmv \
	examples/04_attach \
	examples/05_history \
	examples/07_migrating \
	examples/09_unit_costs \
	examples/10_event_loop \
	examples/11_sampler \
	examples/12_session

examples_01_count_region_SOURCES = examples/01_count_region.c
examples_01_count_region_CPPFLAGS = $(public_cppflags)
examples_01_count_region_LDADD = libperfsage.la

examples_03_spmv_SOURCES = examples/03_spmv.c
examples_03_spmv_CPPFLAGS = $(public_cppflags)
examples_03_spmv_LDADD = libperfsage.la -lm

examples_04_attach_SOURCES = examples/04_attach.c
examples_04_attach_CPPFLAGS = $(public_cppflags)
examples_04_attach_CFLAGS = $(AM_CFLAGS) -pthread
examples_04_attach_LDADD = libperfsage.la

examples_05_history_SOURCES = examples/05_history.c
examples_05_history_CPPFLAGS = $(public_cppflags)
examples_05_history_LDADD = libperfsage.la -lm

examples_07_migrating_SOURCES = examples/07_migrating.c
examples_07_migrating_CPPFLAGS = $(public_cppflags)
examples_07_migrating_LDADD = libperfsage.la

examples_09_unit_costs_SOURCES = examples/09_unit_costs.c
examples_09_unit_costs_CPPFLAGS = $(public_cppflags)
examples_09_unit_costs_LDADD = libperfsage.la

examples_10_event_loop_SOURCES = examples/10_event_loop.c
examples_10_event_loop_CPPFLAGS = $(public_cppflags)
examples_10_event_loop_CFLAGS = $(AM_CFLAGS) -pthread
examples_10_event_loop_LDADD = libperfsage.la

examples_11_sampler_SOURCES = examples/11_sampler.c
examples_11_sampler_CPPFLAGS = $(public_cppflags)
examples_11_sampler_CFLAGS = $(AM_CFLAGS) -pthread
examples_11_sampler_LDADD = libperfsage.la

examples_12_session_SOURCES = examples/12_session.c
examples_12_session_CPPFLAGS = $(public_cppflags)
examples_12_session_CFLAGS = $(AM_CFLAGS) -pthread
examples_12_session_LDADD = libperfsage.la

if HAVE_PAPI
examples_programs += examples/06_papi
endif

examples_06_papi_SOURCES = examples/06_papi.c
examples_06_papi_CPPFLAGS = $(public_cppflags)
examples_06_papi_CFLAGS = $(AM_CFLAGS) $(PAPI_CFLAGS)
examples_06_papi_LDADD = libperfsage.la $(PAPI_LIBS)

if HAVE_OPENMP
examples_programs += examples/02_openmp_triad examples/08_regions
endif

examples_02_openmp_triad_SOURCES = examples/02_openmp_triad.c
examples_02_openmp_triad_CPPFLAGS = $(public_cppflags)
examples_02_openmp_triad_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
examples_02_openmp_triad_LDADD = libperfsage.la

examples_08_regions_SOURCES = examples/08_regions.c
examples_08_regions_CPPFLAGS = $(public_cppflags)
examples_08_regions_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
examples_08_regions_LDADD = libperfsage.la

noinst_PROGRAMS += $(examples_programs)

# Not listed as an automake program: automake would require AC_PROG_FC. It is compiled in its own folder, because the
# compiler writes the module's files into the current folder.
if HAVE_FORTRAN
fortran_examples = examples/13_fortran
noinst_DATA = $(fortran_examples)
examples/13_fortran: include/perfsage/perfsage.f90 examples/13_fortran.f90 libperfsage.la
	$(AM_V_GEN)$(MKDIR_P) examples/fortran && \
	(cd examples/fortran && $(FC) $(FCFLAGS) $(FC_OPENMP) -c '$(abs_top_srcdir)/include/perfsage/perfsage.f90' \
		'$(abs_top_srcdir)/examples/13_fortran.f90') && \
	$(LIBTOOL) --silent --tag=CC --mode=link $(FC) $(FCFLAGS) $(FC_OPENMP) -o $@ examples/fortran/perfsage.o \
		examples/fortran/13_fortran.o libperfsage.la
CLEANFILES += examples/13_fortran examples/fortran/*.o examples/fortran/*.mod
endif

# Installed with a Makefile that builds them by pkg-config.
exampledir = $(docdir)/examples
dist_example_DATA = \
	examples/01_count_region.c \
	examples/02_openmp_triad.c \
	examples/03_spmv.c \
	examples/04_attach.c \
	examples/05_history.c \
	examples/06_papi.c \
	examples/07_migrating.c \
	examples/08_regions.c \
	examples/09_marks.cc \
	examples/09_unit_costs.c \
	examples/10_event_loop.c \
	examples/11_sampler.c \
	examples/12_session.c \
	examples/13_fortran.f90 \
	examples/Makefile
