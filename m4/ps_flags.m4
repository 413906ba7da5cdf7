# SPDX-License-Identifier: BSD-3-Clause
# Options of the compiler (warnings, sanitizers, OpenMP), Fortran, PAPI, libpfm4 and OTF2.

# PS_TRY_CFLAG(VARIABLE, FLAG): appends FLAG to VARIABLE if the compiler accepts it without a warning.
AC_DEFUN([PS_TRY_CFLAG],
[AS_VAR_PUSHDEF([ps_cache], [ps_cv_cflag_$2])dnl
AC_CACHE_CHECK([whether $CC takes $2], [ps_cache],
	[ps_saved_cflags=$CFLAGS
	CFLAGS="$CFLAGS -Werror $2"
	AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [AS_VAR_SET([ps_cache], [yes])], [AS_VAR_SET([ps_cache], [no])])
	CFLAGS=$ps_saved_cflags])
AS_VAR_IF([ps_cache], [yes], [$1="$$1 $2"])
AS_VAR_POPDEF([ps_cache])])

AC_DEFUN([PS_WARNINGS],
[AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [warnings end the build])], [], [enable_werror=no])
WARNING_CFLAGS=
m4_foreach_w([ps_flag], [-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wstrict-prototypes
	-Wmissing-prototypes -Wold-style-definition -Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings
	-Wimplicit-fallthrough -Wduplicated-cond -Wlogical-op], [PS_TRY_CFLAG([WARNING_CFLAGS], ps_flag)])
ps_werror_summary="shown"
AS_IF([test "$enable_werror" = yes], [WARNING_CFLAGS="$WARNING_CFLAGS -Werror"; ps_werror_summary="errors"])
AC_SUBST([WARNING_CFLAGS])])

AC_DEFUN([PS_SANITIZERS],
[AC_ARG_ENABLE([sanitizers],
	[AS_HELP_STRING([--enable-sanitizers=LIST], [build with sanitizers: address,undefined or thread])],
	[], [enable_sanitizers=no])
AS_CASE([$enable_sanitizers],
	[no], [ps_sanitizers=none],
	[yes], [ps_sanitizers=address,undefined],
	[ps_sanitizers=$enable_sanitizers])
SANITIZER_CFLAGS=
AS_IF([test "$ps_sanitizers" != none],
	[SANITIZER_CFLAGS="-fsanitize=$ps_sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer"
	AC_MSG_CHECKING([whether $CC builds programs with $SANITIZER_CFLAGS])
	ps_saved_cflags=$CFLAGS
	CFLAGS="$CFLAGS $SANITIZER_CFLAGS"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])],
		[AC_MSG_RESULT([no])
		AC_MSG_ERROR([--enable-sanitizers=$ps_sanitizers: the compiler or its runtime libraries don't have them])])
	CFLAGS=$ps_saved_cflags])
AC_SUBST([SANITIZER_CFLAGS])])

# Only examples use OpenMP. ThreadSanitizer doesn't know the barriers of libgomp and libomp, and would report
# false errors, so its build doesn't use OpenMP.
AC_DEFUN([PS_OPENMP],
[ps_without_openmp=
AS_CASE([,$ps_sanitizers,],
	[*,thread,*], [enable_openmp=no; ps_without_openmp="ThreadSanitizer does not know OpenMP's barriers"])
AC_OPENMP
AS_CASE([${ac_cv_prog_c_openmp:-disabled}],
	[unsupported], [ps_without_openmp="$CC has no OpenMP"],
	[disabled], [ps_without_openmp=${ps_without_openmp:-"configured with --disable-openmp"}])
AC_SUBST([ps_without_openmp])
AM_CONDITIONAL([HAVE_OPENMP], [test -z "$ps_without_openmp"])
AS_IF([test -z "$ps_without_openmp"], [ps_openmp_summary="all"],
	[ps_openmp_summary="without those of OpenMP: $ps_without_openmp"])])

# Only an example and a test need a Fortran compiler. AC_PROG_FC isn't used, because libtool would then test everything that
# the compiler can do. Its code must be linkable with $CC's. One of these options enables OpenMP, or none does.
AC_DEFUN([PS_FORTRAN],
[AC_ARG_VAR([FC], [Fortran compiler, for an example and a test])
AC_ARG_VAR([FCFLAGS], [Fortran compiler flags])
FCFLAGS=${FCFLAGS-"-O2 -g"}
AC_CHECK_TOOLS([FC], [gfortran flang-new flang ifx nvfortran])
FC_OPENMP=
ps_without_fortran="there is no Fortran compiler"
AS_IF([test "$ps_sanitizers" != none], [ps_without_fortran="$ps_sanitizers sanitizers are for C alone"],
	[test -n "$FC"],
	[ps_without_fortran="$FC does not compile perfsage.f90, which is Fortran 2008, or not for $CC's objects"
	AC_MSG_CHECKING([for the option of $FC for OpenMP])
	ps_module=$(cd "$srcdir" && pwd)/include/perfsage/perfsage.f90
	mkdir conftest.dir
	cat > conftest.dir/main.f90 <<'END'
program main
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function answer(pointer) bind(C)
      import
      type(c_ptr), value :: pointer
    end function
  end interface
  integer(c_int) :: number
  !$omp parallel default(shared)
  !$omp single
  number = answer(c_null_ptr)
  !$omp end single
  !$omp end parallel
  if (number /= 42) error stop 1
end program
END
	AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int answer(const void *pointer); int answer(const void *pointer) { return pointer ? 0 : 42; }]])],
		[AS_IF([test "$enable_openmp" = no], [ps_options=], [ps_options="-fopenmp -qopenmp -mp"])
		for FC_OPENMP in $ps_options ''; do
			AS_IF([(cd conftest.dir && $FC $FCFLAGS $FC_OPENMP -c "$ps_module" &&
				$FC $FCFLAGS $FC_OPENMP -o main main.f90 ../conftest.$ac_objext) >&AS_MESSAGE_LOG_FD 2>&1],
				[ps_without_fortran=
				break])
		done])
	rm -rf conftest.dir
	AC_MSG_RESULT([${ps_without_fortran:-${FC_OPENMP:-none}}])])
AC_SUBST([FC_OPENMP])
AC_SUBST([ps_without_fortran])
AM_CONDITIONAL([HAVE_FORTRAN], [test -z "$ps_without_fortran"])
AS_IF([test -n "$ps_without_fortran"],
	[ps_openmp_summary="$ps_openmp_summary; none in Fortran: $ps_without_fortran"])])

# With PAPI, its event sets can be wrapped, and the benchmarks compare it with perfsage.
AC_DEFUN([PS_PAPI],
[AC_ARG_WITH([papi], [AS_HELP_STRING([--without-papi], [no event sets of PAPI; benchmarks don't measure it])],
	[], [with_papi=check])
ps_have_papi=no
ps_papi_summary="none: --without-papi"
AS_IF([test "$with_papi" != no],
	[ps_papi_summary="none: ps_eventset_from_papi says so (Debian: libpapi-dev; Fedora: papi-devel; Spack: papi)"
	PKG_CHECK_MODULES([PAPI], [papi],
		[ps_have_papi=yes; ps_papi_summary="$($PKG_CONFIG --modversion papi)"], [ps_have_papi=no])])
AS_IF([test "$with_papi" = yes && test "$ps_have_papi" = no], [AC_MSG_ERROR([--with-papi: pkg-config finds no PAPI])])
ps_papi_requires=
ps_without_papi="there is no PAPI"
AS_IF([test "$ps_have_papi" = yes],
	[ps_papi_requires=", papi"
	ps_without_papi=
	AC_DEFINE([PS_WITH_PAPI], [1], [Define to 1 if event sets of PAPI can be wrapped.])])
AC_SUBST([ps_papi_requires])
AC_SUBST([ps_without_papi])
AM_CONDITIONAL([HAVE_PAPI], [test "$ps_have_papi" = yes])])

# libpfm4 has the names of events by CPU model. Names of perf, of PMUs and of tracepoints don't need it.
AC_DEFUN([PS_PFM],
[AC_ARG_WITH([pfm], [AS_HELP_STRING([--without-pfm], [leave out libpfm4's names of events])], [], [with_pfm=check])
PFM_LIBS=
ps_have_pfm=no
ps_pfm_summary="none: --without-pfm"
AS_IF([test "$with_pfm" != no],
	[ps_pfm_summary="none: its names of events are left out (Debian: libpfm4-dev; Fedora: libpfm-devel; Spack: libpfm4)"
	AC_CHECK_HEADER([perfmon/pfmlib_perf_event.h],
		[AC_CHECK_LIB([pfm], [pfm_get_os_event_encoding],
			[ps_have_pfm=yes; PFM_LIBS=-lpfm; ps_pfm_summary="its names of events are known"])])])
AS_IF([test "$ps_have_pfm" = yes],
	[AC_DEFINE([PS_WITH_PFM], [1], [Define to 1 if libpfm4's names of events are known.])])
AS_IF([test "$with_pfm" = yes && test "$ps_have_pfm" = no], [AC_MSG_ERROR([--with-pfm: there is no libpfm4, or not its headers])])
AC_SUBST([PFM_LIBS])
AM_CONDITIONAL([HAVE_PFM], [test "$ps_have_pfm" = yes])])

# OTF2's library writes traces in its format. Only perfsage log convert uses it.
AC_DEFUN([PS_OTF2],
[AC_ARG_WITH([otf2], [AS_HELP_STRING([--without-otf2], [no traces in OTF2])], [], [with_otf2=check])
OTF2_LIBS=
ps_have_otf2=no
ps_otf2_summary="none: --without-otf2"
AS_IF([test "$with_otf2" != no],
	[ps_otf2_summary="none: perfsage log convert has no --format otf2 (Debian: libotf2-trace-dev; Fedora: otf2-devel; Spack: otf2)"
	AC_CHECK_HEADER([otf2/otf2.h],
		[AC_CHECK_LIB([otf2], [OTF2_Archive_SetSerialCollectiveCallbacks],
			[ps_have_otf2=yes; OTF2_LIBS=-lotf2; ps_otf2_summary="perfsage log convert writes it"])])])
AS_IF([test "$with_otf2" = yes && test "$ps_have_otf2" = no], [AC_MSG_ERROR([--with-otf2: there is no OTF2, or not its headers])])
AC_SUBST([OTF2_LIBS])
AM_CONDITIONAL([HAVE_OTF2], [test "$ps_have_otf2" = yes])])
