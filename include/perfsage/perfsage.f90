! SPDX-License-Identifier: BSD-3-Clause
!
! The Fortran module of perfsage: perfsage(7), "Fortran". Names and arguments are those of C, and each call has a manual
! page under its name. Compile this file with the program's compiler, as each compiler has module files of its own:
!     gfortran -c $(pkg-config --variable=fortran perfsage)
!
! A handle (a topology, a component, an event set ...) is a type(c_ptr). The module differs from C in this:
!   - A string is any character expression. Blanks at its end are cut off. A returned string is a copy.
!   - ps_read, ps_accum and ps_stop have no argument thread, and timestamp, an integer(c_int64_t), can be left out.
!   - ps_print and ps_paths_export write to standard output, and flush Fortran's output_unit before.
! NULL is c_null_ptr. Unsigned numbers of C are integers of the same size. The module also has the names of iso_c_binding.
!
! tests/scripts/check-fortran compares the interfaces with the C headers. It expects one statement on each line.
! Procedures are recursive: then no compiler keeps local variables in static memory, which threads would share.
module perfsage
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: output_unit
  implicit none
  private :: text_of, store_reading, output_unit

  ! perfsage/error.h
  integer(c_int), parameter :: PS_OK = 0, PS_EINVAL = -1, PS_ENOMEM = -2, PS_ESYS = -3, PS_ECMP = -4, &
    PS_ECLOST = -5, PS_EBUG = -6, PS_ENOEVNT = -7, PS_ECNFLCT = -8, PS_ENOTRUN = -9, PS_EISRUN = -10, PS_ENOEVST = -11, &
    PS_ENOTPRESET = -12, PS_ENOCNTR = -13, PS_EMISC = -14, PS_EPERM = -15, PS_ENOINIT = -16, PS_ENOCMP = -17, &
    PS_ENOSUPP = -18, PS_ENOIMPL = -19, PS_EBUF = -20, PS_EINVAL_DOM = -21, PS_EATTR = -22, PS_ECOUNT = -23, &
    PS_ECOMBO = -24, PS_ECMP_DISABLED = -25, PS_EDELAY_INIT = -26, PS_EMULPASS = -27, PS_PARTIAL = -28
  ! perfsage/value.h
  integer(c_int), parameter :: PS_STATUS_COUNTED = 0, PS_STATUS_SCALED = 1, PS_STATUS_NEVER_SCHEDULED = 2, &
    PS_STATUS_NOT_SUPPORTED = 3, PS_STATUS_INCOMPLETE = 4
  integer(c_int), parameter :: PS_ATTRIBUTION_EXACT = 0, PS_ATTRIBUTION_PINNED = 1, PS_ATTRIBUTION_ATTACHED = 2, &
    PS_ATTRIBUTION_MIXED = 3, PS_ATTRIBUTION_LAST_CPU = 4
  integer(c_int32_t), parameter :: PS_VALUE_USER_ONLY = 1, PS_VALUE_MOVED = 2, PS_VALUE_WENT_BACK = 4, &
    PS_VALUE_ENDED = 8, PS_VALUE_INTERRUPTED = 16, PS_VALUE_MERGED = 32, PS_VALUE_SATURATED = 256, &
    PS_VALUE_SAMPLED = 512, PS_VALUE_PAUSED = 1024
  ! perfsage/component.h
  integer(c_int), parameter :: PS_COMPONENT_MACHINE = 0, PS_COMPONENT_PACKAGE = 1, PS_COMPONENT_DIE = 2, &
    PS_COMPONENT_NUMA = 3, PS_COMPONENT_CACHE = 4, PS_COMPONENT_GROUP = 5, PS_COMPONENT_CORE = 6, PS_COMPONENT_THREAD = 7
  ! perfsage/eventset.h
  integer(c_int), parameter :: PS_ATTRIBUTE_AUTO = 0, PS_ATTRIBUTE_EXACT = 1, PS_ATTRIBUTE_LAST_CPU = 2, &
    PS_ATTRIBUTE_TIME_SHARE = 3, PS_ATTRIBUTE_BPF = 4, PS_ATTRIBUTE_LOOKS = 5
  ! perfsage/paths.h, perfsage/export.h
  integer(c_int), parameter :: PS_SHARE_EXCLUSIVE = 0, PS_SHARE_INCLUSIVE = 1
  integer(c_int), parameter :: PS_FORMAT_TEXT = 0, PS_FORMAT_JSON = 1, PS_FORMAT_CSV = 2, PS_FORMAT_XML = 3

  ! ps_value(3)
  type, bind(C) :: ps_value
    integer(c_int64_t) :: timestamp
    integer(c_long_long) :: value
    integer(c_int64_t) :: raw, enabled_ns, running_ns
    integer(c_int) :: status, attribution
    integer(c_int32_t) :: flags
  end type

  interface
    real(c_double) function ps_value_coverage(value) bind(C)
      import
      type(ps_value), intent(in) :: value
    end function
    integer(c_int) function ps_topology_load(topology, options) bind(C)
      import
      type(c_ptr), value :: options
      type(c_ptr), intent(inout) :: topology
    end function
    type(c_ptr) function ps_topology_root(topology) bind(C)
      import
      type(c_ptr), value :: topology
    end function
    subroutine ps_topology_destroy(topology) bind(C)
      import
      type(c_ptr), value :: topology
    end subroutine
    integer(c_size_t) function ps_component_count(component, type) bind(C)
      import
      type(c_ptr), value :: component
      integer(c_int), value :: type
    end function
    type(c_ptr) function ps_component_find(component, type, os_id) bind(C)
      import
      type(c_ptr), value :: component
      integer(c_int), value :: type, os_id
    end function
    type(c_ptr) function ps_component_find_logical(component, type, cache_level, logical_id) bind(C)
      import
      type(c_ptr), value :: component
      integer(c_int), value :: type, cache_level, logical_id
    end function
    integer(c_int) function ps_print_to_fd(root, options, fd) bind(C)
      import
      type(c_ptr), value :: root, options
      integer(c_int), value :: fd
    end function
    integer(c_int) function ps_eventset_create(set) bind(C)
      import
      type(c_ptr), intent(inout) :: set
    end function
    integer(c_int) function ps_eventset_add_default(set) bind(C)
      import
      type(c_ptr), value :: set
    end function
    integer(c_int) function ps_eventset_clone(set, model) bind(C)
      import
      type(c_ptr), value :: model
      type(c_ptr), intent(inout) :: set
    end function
    integer(c_int) function ps_eventset_destroy(set) bind(C)
      import
      type(c_ptr), value :: set
    end function
    integer(c_size_t) function ps_eventset_event_count(set) bind(C)
      import
      type(c_ptr), value :: set
    end function
    integer(c_int) function ps_eventset_set_attribution(set, mode) bind(C)
      import
      type(c_ptr), value :: set
      integer(c_int), value :: mode
    end function
    integer(c_int) function ps_eventset_counts(set, timestamp, counts, count) bind(C)
      import
      type(c_ptr), value :: set
      integer(c_int64_t), value :: timestamp
      integer(c_size_t), value :: count
      integer(c_long_long), intent(inout) :: counts(*)
    end function
    integer(c_int) function ps_eventset_check(set, residual, n) bind(C)
      import
      type(c_ptr), value :: set
      integer(c_int), value :: n
      integer(c_long_long), intent(inout) :: residual(*)
    end function
    integer(c_int) function ps_start(set) bind(C)
      import
      type(c_ptr), value :: set
    end function
    integer(c_int) function ps_reset(set) bind(C)
      import
      type(c_ptr), value :: set
    end function
    integer(c_int) function ps_store(set, counters, n, root, timestamp, thread) bind(C)
      import
      type(c_ptr), value :: set, root, timestamp, thread
      integer(c_int), value :: n
      integer(c_long_long), intent(in) :: counters(*)
    end function
    integer(c_int) function ps_profile_create(profile, model, root) bind(C)
      import
      type(c_ptr), value :: model, root
      type(c_ptr), intent(inout) :: profile
    end function
    integer(c_int) function ps_profile_join(profile) bind(C)
      import
      type(c_ptr), value :: profile
    end function
    integer(c_int) function ps_profile_leave(profile) bind(C)
      import
      type(c_ptr), value :: profile
    end function
    subroutine ps_profile_destroy(profile) bind(C)
      import
      type(c_ptr), value :: profile
    end subroutine
    integer(c_int) function ps_region_enter(region) bind(C)
      import
      type(c_ptr), value :: region
    end function
    integer(c_int) function ps_region_leave(region) bind(C)
      import
      type(c_ptr), value :: region
    end function
    integer(c_int) function ps_region_add_value(named, value) bind(C)
      import
      type(c_ptr), value :: named
      integer(c_int64_t), value :: value
    end function
    integer(c_int) function ps_paths_create(paths, profile) bind(C)
      import
      type(c_ptr), value :: profile
      type(c_ptr), intent(inout) :: paths
    end function
    subroutine ps_paths_destroy(paths) bind(C)
      import
      type(c_ptr), value :: paths
    end subroutine
    integer(c_int) function ps_paths_export_to_fd(paths, format, options, fd) bind(C)
      import
      type(c_ptr), value :: paths, options
      integer(c_int), value :: format, fd
    end function
    ! The C functions that the procedures below call: strings end with c_null_char, and pointers can be c_null_ptr
    type(c_ptr) function ps_version_c() bind(C, name='ps_version')
      import
    end function
    type(c_ptr) function ps_strerror_c(code) bind(C, name='ps_strerror')
      import
      integer(c_int), value :: code
    end function
    type(c_ptr) function ps_error_detail_c() bind(C, name='ps_error_detail')
      import
    end function
    type(c_ptr) function ps_component_name_c(component) bind(C, name='ps_component_name')
      import
      type(c_ptr), value :: component
    end function
    integer(c_int) function ps_component_total_c(component, event, total) bind(C, name='ps_component_total')
      import
      type(c_ptr), value :: component
      character(kind=c_char), intent(in) :: event(*)
      type(ps_value), intent(inout) :: total
    end function
    integer(c_int) function ps_print_to_path_c(root, options, path) bind(C, name='ps_print_to_path')
      import
      type(c_ptr), value :: root, options
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int) function ps_eventset_add_c(set, event) bind(C, name='ps_eventset_add')
      import
      type(c_ptr), value :: set
      character(kind=c_char), intent(in) :: event(*)
    end function
    integer(c_int) function ps_eventset_add_optional_c(set, event) bind(C, name='ps_eventset_add_optional')
      import
      type(c_ptr), value :: set
      character(kind=c_char), intent(in) :: event(*)
    end function
    integer(c_int) function ps_eventset_attribution_c(set, why) bind(C, name='ps_eventset_attribution')
      import
      type(c_ptr), value :: set
      type(c_ptr), intent(inout) :: why
    end function
    type(c_ptr) function ps_eventset_event_name_c(set, index) bind(C, name='ps_eventset_event_name')
      import
      type(c_ptr), value :: set
      integer(c_size_t), value :: index
    end function
    integer(c_int) function ps_eventset_reading_c(set, component, event, timestamp, reading) bind(C, name='ps_eventset_reading')
      import
      type(c_ptr), value :: set, component
      character(kind=c_char), intent(in) :: event(*)
      integer(c_int64_t), value :: timestamp
      type(ps_value), intent(inout) :: reading
    end function
    integer(c_int) function ps_read_c(set, root, timestamp, thread) bind(C, name='ps_read')
      import
      type(c_ptr), value :: set, root, timestamp, thread
    end function
    integer(c_int) function ps_region_define_c(region, profile, name) bind(C, name='ps_region_define')
      import
      type(c_ptr), value :: profile
      type(c_ptr), intent(inout) :: region
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function ps_paths_region_value_c(paths, name, component, event, share, sum) bind(C, name='ps_paths_region_value')
      import
      type(c_ptr), value :: paths, component
      character(kind=c_char), intent(in) :: name(*), event(*)
      integer(c_int), value :: share
      type(ps_value), intent(inout) :: sum
    end function
    integer(c_int) function ps_paths_export_to_path_c(paths, format, options, path) bind(C, name='ps_paths_export_to_path')
      import
      type(c_ptr), value :: paths, options
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: format
    end function
  end interface
  procedure(ps_strerror_c), bind(C, name='ps_status_name') :: ps_status_name_c
  procedure(ps_strerror_c), bind(C, name='ps_attribution_name') :: ps_attribution_name_c
  procedure(ps_read_c), bind(C, name='ps_accum') :: ps_accum_c
  procedure(ps_read_c), bind(C, name='ps_stop') :: ps_stop_c

contains
  ! Returns a copy of a C string; '' for NULL
  recursive function text_of(string) result(text)
    type(c_ptr), intent(in) :: string
    character(:), allocatable :: text
    character(kind=c_char), pointer :: bytes(:)
    integer(c_size_t) :: i, length
    interface
      integer(c_size_t) function strlen(string) bind(C)
        import
        type(c_ptr), value :: string
      end function
    end interface

    length = 0
    if (c_associated(string)) length = strlen(string)
    allocate (character(length) :: text)
    if (length > 0) call c_f_pointer(string, bytes, [length])
    do i = 1, length
      text(i:i) = bytes(i)
    end do
  end function

  ! Calls ps_read, ps_accum or ps_stop with a copy of the timestamp, because the caller's need not be a target.
  recursive integer(c_int) function store_reading(store, set, root, timestamp)
    procedure(ps_read_c) :: store
    type(c_ptr), intent(in) :: set, root
    integer(c_int64_t), intent(inout), optional :: timestamp
    integer(c_int64_t), target :: copy

    if (present(timestamp)) then
      copy = timestamp
      store_reading = store(set, root, c_loc(copy), c_null_ptr)
      timestamp = copy
    else
      store_reading = store(set, root, c_null_ptr, c_null_ptr)
    end if
  end function

  recursive function ps_version() result(text)
    character(:), allocatable :: text
    text = text_of(ps_version_c())
  end function

  recursive function ps_strerror(code) result(text)
    integer(c_int), intent(in) :: code
    character(:), allocatable :: text
    text = text_of(ps_strerror_c(code))
  end function

  recursive function ps_error_detail() result(text)
    character(:), allocatable :: text
    text = text_of(ps_error_detail_c())
  end function

  recursive function ps_status_name(status) result(text)
    integer(c_int), intent(in) :: status
    character(:), allocatable :: text
    text = text_of(ps_status_name_c(status))
  end function

  recursive function ps_attribution_name(attribution) result(text)
    integer(c_int), intent(in) :: attribution
    character(:), allocatable :: text
    text = text_of(ps_attribution_name_c(attribution))
  end function

  recursive function ps_component_name(component) result(text)
    type(c_ptr), intent(in) :: component
    character(:), allocatable :: text
    text = text_of(ps_component_name_c(component))
  end function

  recursive function ps_eventset_event_name(set, index) result(text)
    type(c_ptr), intent(in) :: set
    integer(c_size_t), intent(in) :: index
    character(:), allocatable :: text
    text = text_of(ps_eventset_event_name_c(set, index))
  end function

  recursive integer(c_int) function ps_component_total(component, event, total)
    type(c_ptr), intent(in) :: component
    character(*), intent(in) :: event
    type(ps_value), intent(inout) :: total
    ps_component_total = ps_component_total_c(component, trim(event)//c_null_char, total)
  end function

  recursive integer(c_int) function ps_print(root)
    type(c_ptr), intent(in) :: root
    flush (output_unit)
    ps_print = ps_print_to_fd(root, c_null_ptr, 1_c_int)
  end function

  recursive integer(c_int) function ps_print_to_path(root, options, path)
    type(c_ptr), intent(in) :: root, options
    character(*), intent(in) :: path
    ps_print_to_path = ps_print_to_path_c(root, options, trim(path)//c_null_char)
  end function

  recursive integer(c_int) function ps_eventset_add(set, event)
    type(c_ptr), intent(in) :: set
    character(*), intent(in) :: event
    ps_eventset_add = ps_eventset_add_c(set, trim(event)//c_null_char)
  end function

  recursive integer(c_int) function ps_eventset_add_optional(set, event)
    type(c_ptr), intent(in) :: set
    character(*), intent(in) :: event
    ps_eventset_add_optional = ps_eventset_add_optional_c(set, trim(event)//c_null_char)
  end function

  recursive integer(c_int) function ps_eventset_attribution(set, why)
    type(c_ptr), intent(in) :: set
    character(:), allocatable, intent(out), optional :: why
    type(c_ptr) :: sentence
    sentence = c_null_ptr
    ps_eventset_attribution = ps_eventset_attribution_c(set, sentence)
    if (present(why)) why = text_of(sentence)
  end function

  recursive integer(c_int) function ps_eventset_reading(set, component, event, timestamp, reading)
    type(c_ptr), intent(in) :: set, component
    character(*), intent(in) :: event
    integer(c_int64_t), intent(in) :: timestamp
    type(ps_value), intent(inout) :: reading
    ps_eventset_reading = ps_eventset_reading_c(set, component, trim(event)//c_null_char, timestamp, reading)
  end function

  recursive integer(c_int) function ps_read(set, root, timestamp)
    type(c_ptr), intent(in) :: set, root
    integer(c_int64_t), intent(inout), optional :: timestamp
    ps_read = store_reading(ps_read_c, set, root, timestamp)
  end function

  recursive integer(c_int) function ps_accum(set, root, timestamp)
    type(c_ptr), intent(in) :: set, root
    integer(c_int64_t), intent(inout), optional :: timestamp
    ps_accum = store_reading(ps_accum_c, set, root, timestamp)
  end function

  recursive integer(c_int) function ps_stop(set, root, timestamp)
    type(c_ptr), intent(in) :: set, root
    integer(c_int64_t), intent(inout), optional :: timestamp
    ps_stop = store_reading(ps_stop_c, set, root, timestamp)
  end function

  recursive integer(c_int) function ps_region_define(region, profile, name)
    type(c_ptr), intent(inout) :: region
    type(c_ptr), intent(in) :: profile
    character(*), intent(in) :: name
    ps_region_define = ps_region_define_c(region, profile, trim(name)//c_null_char)
  end function

  recursive integer(c_int) function ps_paths_region_value(paths, name, component, event, share, sum)
    type(c_ptr), intent(in) :: paths, component
    character(*), intent(in) :: name, event
    integer(c_int), intent(in) :: share
    type(ps_value), intent(inout) :: sum
    ps_paths_region_value = &
      ps_paths_region_value_c(paths, trim(name)//c_null_char, component, trim(event)//c_null_char, share, sum)
  end function

  recursive integer(c_int) function ps_paths_export(paths, format)
    type(c_ptr), intent(in) :: paths
    integer(c_int), intent(in) :: format
    flush (output_unit)
    ps_paths_export = ps_paths_export_to_fd(paths, format, c_null_ptr, 1_c_int)
  end function

  recursive integer(c_int) function ps_paths_export_to_path(paths, format, options, path)
    type(c_ptr), intent(in) :: paths, options
    integer(c_int), intent(in) :: format
    character(*), intent(in) :: path
    ps_paths_export_to_path = ps_paths_export_to_path_c(paths, format, options, trim(path)//c_null_char)
  end function
end module perfsage
