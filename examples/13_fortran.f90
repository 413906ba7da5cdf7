! SPDX-License-Identifier: BSD-3-Clause
!
! Fortran with OpenMP: each thread counts its part of the STREAM triad with a set of its own. Then the same triad is
! counted as a region of a profile.
!
!     gfortran -O2 -fopenmp $(pkg-config --variable=fortran perfsage) 13_fortran.f90 -o triad \
!         $(pkg-config --libs perfsage) -Wl,-rpath,$(pkg-config --variable=libdir perfsage)
!     ./triad
!
! A set counts the thread that starts it, so each thread clones a model. The readings stay in the tree when the set is
! destroyed. The program prints the count of each event on each hardware thread, and how the count is known ("Thread 1" is
! the hardware thread that the system calls CPU 1); then the table of the regions. The profile has a tree of its own: a
! tree shows the sum over all event sets that store in it.
program fortran_triad
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use perfsage
  !$ use omp_lib, only: omp_get_thread_num
  implicit none
  integer, parameter :: elements = 1000000, repeats = 20
  real(real64), allocatable :: a(:), b(:), c(:)
  type(c_ptr) :: topology, region_topology, model, profile, triad, paths
  integer :: errors

  allocate (a(elements), b(elements), c(elements))
  b = 1
  c = 2
  call check(ps_topology_load(topology, c_null_ptr), 'ps_topology_load')
  call check(ps_topology_load(region_topology, c_null_ptr), 'ps_topology_load')
  call check(ps_eventset_create(model), 'ps_eventset_create')
  call check(ps_eventset_add_default(model), 'ps_eventset_add_default')

  errors = 0
  !$omp parallel default(shared) reduction(+: errors)
  errors = errors + count_part()
  !$omp end parallel
  call print_threads(ps_topology_root(topology))

  call check(ps_profile_create(profile, model, ps_topology_root(region_topology)), 'ps_profile_create')
  call check(ps_region_define(triad, profile, 'triad'), 'ps_region_define')
  !$omp parallel default(shared) reduction(+: errors)
  errors = errors + failures(ps_region_enter(triad), 'ps_region_enter')
  call run_triad()
  errors = errors + failures(ps_region_leave(triad), 'ps_region_leave')
  !$omp end parallel
  call check(ps_paths_create(paths, profile), 'ps_paths_create')
  print '(/, a, /)', 'The regions:'
  call check(ps_paths_export(paths, PS_FORMAT_TEXT), 'ps_paths_export')
  call ps_paths_destroy(paths)
  ! The threads of the team still exist, and are counted. They leave before the profile is destroyed.
  !$omp parallel default(shared) reduction(+: errors)
  !$ if (omp_get_thread_num() /= 0) errors = errors + failures(ps_profile_leave(profile), 'ps_profile_leave')
  !$omp end parallel

  call ps_profile_destroy(profile)
  call check(ps_eventset_destroy(model), 'ps_eventset_destroy')
  call ps_topology_destroy(region_topology)
  call ps_topology_destroy(topology)
  if (any(a < 7 .or. a > 7)) error stop 'triad: a wrong sum'
  if (errors > 0) error stop 1

contains

  ! Returns 1 for an error, which is written with its detail; else 0. After PS_PARTIAL, which is
  ! written, too, the other counts are right.
  recursive integer function failures(code, call)
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: call

    failures = 0
    if (code == PS_OK) return
    failures = merge(0, 1, code == PS_PARTIAL)
    !$omp critical
    write (error_unit, '(4a, /, 4x, a)') call, ': ', ps_strerror(code), ':', ps_error_detail()
    !$omp end critical
  end function

  subroutine check(code, call)
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: call

    if (failures(code, call) > 0) error stop 1
  end subroutine

  ! The team's threads share the loop; !$omp do belongs to the parallel region of the caller.
  recursive subroutine run_triad()
    integer :: i, repeat

    do repeat = 1, repeats
      !$omp do
      do i = 1, elements
        a(i) = b(i) + 3 * c(i)
      end do
      !$omp end do
    end do
  end subroutine

  ! Runs in each thread. A thread must not leave the team early, because the others would wait for it in the loop.
  recursive integer function count_part()
    type(c_ptr) :: set

    set = c_null_ptr
    count_part = failures(ps_eventset_clone(set, model), 'ps_eventset_clone')
    if (count_part == 0) count_part = failures(ps_start(set), 'ps_start')
    call run_triad()
    if (count_part == 0) count_part = failures(ps_stop(set, ps_topology_root(topology)), 'ps_stop')
    count_part = count_part + failures(ps_eventset_destroy(set), 'ps_eventset_destroy')
  end function

  subroutine print_threads(root)
    type(c_ptr), intent(in) :: root
    type(c_ptr) :: thread
    type(ps_value) :: total
    character(:), allocatable :: event
    integer(c_int) :: cpu
    integer(c_size_t) :: i

    print '(a)', 'perfsage '//ps_version()
    do i = 0, ps_eventset_event_count(model) - 1
      event = ps_eventset_event_name(model, i)
      print '(/, a)', event
      do cpu = 0, int(ps_component_count(root, PS_COMPONENT_THREAD), c_int) - 1
        thread = ps_component_find_logical(root, PS_COMPONENT_THREAD, 0_c_int, cpu)
        ! An error here means that the event set was never on this hardware thread.
        if (ps_component_total(thread, event, total) /= PS_OK) cycle
        call print_value(ps_component_name(thread), total)
      end do
      call check(ps_component_total(root, event, total), 'ps_component_total')
      call print_value('all', total)
    end do
  end subroutine

  ! An unknown value is not 0; its number has no meaning.
  subroutine print_value(place, total)
    character(*), intent(in) :: place
    type(ps_value), intent(in) :: total
    character(:), allocatable :: known

    known = ps_status_name(total%status)
    if (total%status == PS_STATUS_NEVER_SCHEDULED .or. total%status == PS_STATUS_NOT_SUPPORTED) then
      print '(2x, a, t16, a18)', place, known
      return
    end if
    known = known//', '//ps_attribution_name(total%attribution)
    if (iand(total%flags, PS_VALUE_USER_ONLY) /= 0) known = known//', of user space alone'
    print '(2x, a, t16, i18, 2x, a)', place, total%value, known
  end subroutine
end program fortran_triad
