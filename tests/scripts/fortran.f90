! SPDX-License-Identifier: BSD-3-Clause
!
! Run by check-fortran: calls of the module with known results. Each check prints "ok" or "not ok" and what must hold.
program check_module
  use, intrinsic :: iso_fortran_env, only: output_unit
  use perfsage
  !$ use omp_lib, only: omp_get_thread_num
  implicit none
  ! Linux's mmap(2) and madvise(2)
  interface
    type(c_ptr) function mmap(address, length, protection, flags, fd, offset) bind(C)
      import
      type(c_ptr), value :: address
      integer(c_size_t), value :: length
      integer(c_int), value :: protection, flags, fd
      integer(c_int64_t), value :: offset
    end function
    integer(c_int) function madvise(address, length, advice) bind(C)
      import
      type(c_ptr), value :: address
      integer(c_size_t), value :: length
      integer(c_int), value :: advice
    end function
    integer(c_int) function munmap(address, length) bind(C)
      import
      type(c_ptr), value :: address
      integer(c_size_t), value :: length
    end function
    integer(c_int) function getpagesize() bind(C)
      import
    end function
  end interface
  ! Page faults that the program and its stack may have besides those of the pages; more would be an error.
  integer(c_long_long), parameter :: pages = 1000, others = 16
  character(*), parameter :: event = 'page-faults'
  integer(c_int), parameter :: protect_read_write = 3, map_private_anonymous = 34, advice_no_huge_page = 15
  type(c_ptr) :: topology, root

  call judge('the size of ps_value is that of C', c_sizeof(empty_value()) == 56)
  call judge('a topology is loaded', ps_topology_load(topology, c_null_ptr) == PS_OK)
  root = ps_topology_root(topology)
  call judge('it has a name', ps_component_name(root) == 'Machine')
  call judge('the name of no component is empty', len(ps_component_name(c_null_ptr)) == 0)
  call check_strings()
  call check_errors()
  call check_counts()
  call check_team()
  call check_regions()
  call ps_topology_destroy(topology)

contains

  recursive subroutine judge(what, holds)
    character(*), intent(in) :: what
    logical, intent(in) :: holds
    character(:), allocatable :: detail

    detail = ps_error_detail()
    !$omp critical
    if (holds) then
      print '(2a)', 'ok ', what
    else
      print '(4a)', 'not ok ', what, '; the last error: ', detail
    end if
    !$omp end critical
  end subroutine

  type(ps_value) function empty_value()
    empty_value = ps_value(0, 0, 0, 0, 0, 0, 0, 0)
  end function

  logical function are_pages(count, wanted)
    integer(c_long_long), intent(in) :: count, wanted

    are_pages = count >= wanted .and. count <= wanted + others
    if (.not. are_pages) print '(2(a, i0))', 'page faults: ', count, ', pages: ', wanted
  end function

  ! Writes to fresh pages, through a Fortran pointer.
  recursive subroutine touch_pages(length_pages)
    integer(c_long_long), intent(in) :: length_pages
    integer(c_int8_t), pointer :: bytes(:)
    integer(c_size_t) :: length, page, i
    integer(c_int) :: code
    type(c_ptr) :: memory

    page = int(getpagesize(), c_size_t)
    length = length_pages * page
    memory = mmap(c_null_ptr, length, protect_read_write, map_private_anonymous, -1_c_int, 0_c_int64_t)
    code = madvise(memory, length, advice_no_huge_page)
    call c_f_pointer(memory, bytes, [length])
    do i = 1, length, page
      bytes(i) = 1
    end do
    code = munmap(memory, length)
    if (code /= 0) error stop 'munmap'
  end subroutine

  recursive type(c_ptr) function new_set()
    integer(c_int) :: code

    new_set = c_null_ptr
    code = ps_eventset_create(new_set)
    if (code == PS_OK) code = ps_eventset_add(new_set, event)
    if (code /= PS_OK) error stop 'no event set'
  end function

  subroutine check_strings()
    type(c_ptr) :: set, profile, one, same
    character(40) :: padded
    logical :: holds

    set = c_null_ptr
    holds = ps_eventset_create(set) == PS_OK
    padded = event
    call judge('an event is added by a string with blanks at its end', ps_eventset_add(set, padded) == PS_OK)
    call judge('its name has none', len(ps_eventset_event_name(set, 0_c_size_t)) == len(event))
    call judge('it is the name', ps_eventset_event_name(set, 0_c_size_t) == event)
    call judge('there is no second name', len(ps_eventset_event_name(set, 1_c_size_t)) == 0)
    call judge('the same event is refused', ps_eventset_add(set, event) == PS_ECNFLCT)
    call judge('so it is with a zero byte at its end', ps_eventset_add(set, event//c_null_char) == PS_ECNFLCT)
    holds = ps_profile_create(profile, set, root) == PS_OK
    call judge('a region is defined', ps_region_define(one, profile, 'two words') == PS_OK)
    padded = 'two words'
    holds = ps_region_define(same, profile, padded) == PS_OK
    call judge('blanks at the end of its name are no part of it', holds .and. c_associated(one, same))
    call judge('a name of blanks is empty', ps_region_define(same, profile, '   ') == PS_EINVAL)
    call ps_profile_destroy(profile)
    holds = ps_eventset_destroy(set) == PS_OK
    call judge('an event set is destroyed', holds)
  end subroutine

  subroutine check_errors()
    type(c_ptr) :: set, thread
    type(ps_value) :: total
    integer(c_int) :: code

    set = new_set()
    total = empty_value()
    code = ps_eventset_add(set, 'no-such-event  ')
    call judge('an unknown event is an error', code == PS_ENOEVNT)
    call judge('the detail names it', index(ps_error_detail(), '''no-such-event''') > 0)
    call judge('the error has a name', len(ps_strerror(code)) > 0)
    call judge('which is its own', ps_strerror(code) /= ps_strerror(PS_EINVAL))
    call judge('a set that does not run can''t be stopped', ps_stop(set, root) == PS_ENOTRUN)
    call judge('NULL is refused', ps_start(c_null_ptr) == PS_EINVAL)
    thread = ps_component_find_logical(root, PS_COMPONENT_THREAD, 0_c_int, 0_c_int)
    call judge('an event that nothing counted has no total', ps_component_total(thread, 'nothing', total) == PS_ENOEVNT)
    call judge('there is no such thread', .not. c_associated(ps_component_find(root, PS_COMPONENT_THREAD, -7_c_int)))
    call judge('a status has a name', ps_status_name(PS_STATUS_NEVER_SCHEDULED) == 'never scheduled')
    call judge('an attribution has a name', ps_attribution_name(PS_ATTRIBUTION_LAST_CPU) == 'last-cpu')
    call judge('a file that can''t be written is an error', ps_print_to_path(root, c_null_ptr, '/dev/null ') == PS_ESYS)
    code = ps_eventset_destroy(set)
  end subroutine

  subroutine check_counts()
    type(c_ptr) :: set
    type(ps_value) :: reading
    integer(c_int64_t) :: first, second
    integer(c_int64_t), target :: third
    integer(c_long_long) :: counts(1)
    integer(c_int) :: code
    character(:), allocatable :: why

    set = new_set()
    reading = empty_value()
    ! Run once before measuring, so that all pages of the program are in memory.
    call touch_pages(1_c_long_long)
    code = ps_eventset_set_attribution(set, PS_ATTRIBUTE_AUTO)
    call judge('a set starts', ps_start(set) == PS_OK)
    call touch_pages(pages)
    code = ps_reset(set)
    call touch_pages(pages)
    first = 0
    code = ps_read(set, root, first)
    call judge('a reading has a timestamp', code == PS_OK .and. first > 0)
    call judge('its counts are copied', ps_eventset_counts(set, first, counts, 1_c_size_t) == PS_OK)
    call judge('it has the faults of the pages since the reset', are_pages(counts(1), pages))
    second = 0
    call touch_pages(pages)
    code = ps_accum(set, root, second)
    call touch_pages(pages)
    code = ps_accum(set, root, second)
    call judge('ps_accum adds to its reading', code == PS_OK .and. second > first)
    call judge('which is found', ps_eventset_reading(set, root, event//'  ', second, reading) == PS_OK)
    call judge('it has the faults of all pages', are_pages(reading%value, 3 * pages))
    call judge('a set is stopped without a timestamp', ps_stop(set, root) == PS_OK)
    code = ps_eventset_check(set, counts, 1_c_int)
    call judge('the residual is 0', code == PS_OK .and. counts(1) == 0)
    code = ps_component_total(root, event, reading)
    call judge('the total is counted', code == PS_OK .and. reading%status == PS_STATUS_COUNTED)
    call judge('it is covered', ps_value_coverage(reading) >= 1)
    code = ps_eventset_attribution(set, why)
    call judge('the set has an attribution', ps_attribution_name(code) /= 'unknown')
    call judge('and a reason', allocated(why))
    call judge('the reason can be left out', ps_eventset_attribution(set) == code)
    third = 0
    code = ps_store(set, [42_c_long_long], 1_c_int, root, c_loc(third), c_null_ptr)
    call judge('the program''s own counts are stored', code == PS_OK)
    code = ps_eventset_reading(set, root, event, third, reading)
    call judge('and are read', code == PS_OK .and. reading%value == 42)
    write (output_unit, '(a)') 'before the tree'
    call judge('the tree is printed', ps_print(root) == PS_OK)
    code = ps_eventset_destroy(set)
  end subroutine

  ! Each thread counts with its own set, and has its own errors.
  subroutine check_team()
    type(c_ptr) :: model, team_topology
    type(ps_value) :: total
    integer :: errors, threads

    model = new_set()
    total = empty_value()
    errors = ps_topology_load(team_topology, c_null_ptr)
    threads = 0
    !$omp parallel default(shared) reduction(+: errors, threads) num_threads(4)
    threads = threads + 1
    errors = errors + count_in_team(model, ps_topology_root(team_topology))
    !$omp end parallel
    call judge('threads count with clones, and have errors of their own', errors == 0)
    errors = ps_component_total(ps_topology_root(team_topology), event, total)
    call judge('the tree has the sum', errors == PS_OK .and. total%value >= threads * pages .and. &
      total%value <= threads * (pages + 10 * others))
    errors = ps_eventset_destroy(model)
    call ps_topology_destroy(team_topology)
  end subroutine

  recursive integer function count_in_team(model, tree) result(errors)
    type(c_ptr), intent(in) :: model, tree
    type(c_ptr) :: set
    character(20) :: name
    integer :: thread, round

    thread = 0
    !$ thread = omp_get_thread_num()
    write (name, '(a, i0)') 'unknown-', thread
    set = c_null_ptr
    errors = ps_eventset_clone(set, model)
    errors = errors + ps_start(set)
    call touch_pages(pages)
    errors = errors + ps_stop(set, tree)
    do round = 1, 100
      if (ps_eventset_add(set, name) /= PS_ENOEVNT) errors = errors + 1
      if (index(ps_error_detail(), trim(name)//'''') == 0) errors = errors + 1
    end do
    errors = errors + ps_eventset_destroy(set)
  end function

  subroutine check_regions()
    type(c_ptr) :: model, profile, inner, outer, paths, tree
    type(ps_value) :: sum
    integer(c_int) :: code

    model = new_set()
    sum = empty_value()
    code = ps_topology_load(tree, c_null_ptr)
    code = ps_profile_create(profile, model, ps_topology_root(tree))
    code = ps_region_define(outer, profile, 'outer')
    code = ps_region_define(inner, profile, 'inner')
    call judge('a thread is counted', ps_profile_join(profile) == PS_OK)
    call judge('a region is entered', ps_region_enter(outer) == PS_OK)
    code = ps_region_enter(inner)
    call touch_pages(pages)
    call judge('only the innermost one can be left', ps_region_leave(outer) == PS_EINVAL)
    call judge('it is left', ps_region_leave(inner) == PS_OK)
    call judge('a number is given', ps_region_add_value(inner, 7_c_int64_t) == PS_OK)
    code = ps_region_leave(outer)
    call judge('the thread is no longer counted', ps_profile_leave(profile) == PS_OK)
    call judge('paths are taken', ps_paths_create(paths, profile) == PS_OK)
    code = ps_paths_region_value(paths, 'inner  ', ps_topology_root(tree), event, PS_SHARE_EXCLUSIVE, sum)
    call judge('the region is counted', code == PS_OK)
    call judge('it has the faults of its pages', are_pages(sum%value, pages))
    call judge('the regions are printed', ps_paths_export(paths, PS_FORMAT_TEXT) == PS_OK)
    code = ps_paths_export_to_path(paths, PS_FORMAT_CSV, c_null_ptr, 'regions.csv   ')
    call judge('the regions are written to a file', code == PS_OK)
    call ps_paths_destroy(paths)
    call ps_profile_destroy(profile)
    code = ps_eventset_destroy(model)
    call ps_topology_destroy(tree)
  end subroutine
end program check_module
