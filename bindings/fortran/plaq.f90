!> plaq: embeddable lattice QCD, for Fortran 2008 with iso_c_binding. Generated from src/capi; do
!> not edit. The rules are those of include/plaq.h. Strings that go in end with c_null_char; strings
!> that come back as c_ptr are read with plaq_text. Absent optional arguments are NULL.
module plaq
  use, intrinsic :: iso_c_binding
  implicit none
  public

  ! Statuses
  integer(c_int32_t), parameter :: PLAQ_SUCCESS = 0
  integer(c_int32_t), parameter :: PLAQ_INVALID_ARGUMENT = 1
  integer(c_int32_t), parameter :: PLAQ_NULL_POINTER = 2
  integer(c_int32_t), parameter :: PLAQ_INVALID_HANDLE = 3
  integer(c_int32_t), parameter :: PLAQ_STRUCT_SIZE = 4
  integer(c_int32_t), parameter :: PLAQ_UNSUPPORTED = 5
  integer(c_int32_t), parameter :: PLAQ_WRONG_CONTEXT = 6
  integer(c_int32_t), parameter :: PLAQ_STOPPED = 7
  integer(c_int32_t), parameter :: PLAQ_BUSY = 8
  integer(c_int32_t), parameter :: PLAQ_INTERNAL = -1
  integer(c_int32_t), parameter :: PLAQ_NO_DEVICE = 100
  integer(c_int32_t), parameter :: PLAQ_DRIVER_MISSING = 101
  integer(c_int32_t), parameter :: PLAQ_DRIVER_TOO_OLD = 102
  integer(c_int32_t), parameter :: PLAQ_NVRTC_MISSING = 103
  integer(c_int32_t), parameter :: PLAQ_COMPILE_FAILED = 104
  integer(c_int32_t), parameter :: PLAQ_OUT_OF_MEMORY = 105
  integer(c_int32_t), parameter :: PLAQ_DEVICE_LOST = -100
  integer(c_int32_t), parameter :: PLAQ_PROCESS_GRID = 200
  integer(c_int32_t), parameter :: PLAQ_COMM_FAILED = -200
  integer(c_int32_t), parameter :: PLAQ_BAD_EXTENTS = 300
  integer(c_int32_t), parameter :: PLAQ_NOT_UNITARY = 301
  integer(c_int32_t), parameter :: PLAQ_NOT_FINITE = 302
  integer(c_int32_t), parameter :: PLAQ_BAD_LAYOUT = 303
  integer(c_int32_t), parameter :: PLAQ_FIELD_MISMATCH = 304
  integer(c_int32_t), parameter :: PLAQ_FILE_OPEN = 400
  integer(c_int32_t), parameter :: PLAQ_FILE_FORMAT = 401
  integer(c_int32_t), parameter :: PLAQ_FILE_TRUNCATED = 402
  integer(c_int32_t), parameter :: PLAQ_FILE_CHECKSUM = 403
  integer(c_int32_t), parameter :: PLAQ_FILE_PLAQUETTE = 404
  integer(c_int32_t), parameter :: PLAQ_FILE_EXTENTS = 405
  integer(c_int32_t), parameter :: PLAQ_FILE_WRITE = 406
  integer(c_int32_t), parameter :: PLAQ_SINGULAR_CLOVER = 500
  integer(c_int32_t), parameter :: PLAQ_BAD_PARAMETER = 501
  integer(c_int32_t), parameter :: PLAQ_SOLVER_BREAKDOWN = 502

  ! Library: version, messages, log
  !> What a log callback is told: everything up to a level.
  !> Nothing (the default).
  integer(c_int32_t), parameter :: PLAQ_LOG_OFF = 0
  !> Defects of plaq and lost devices.
  integer(c_int32_t), parameter :: PLAQ_LOG_ERROR = 1
  !> Refused calls.
  integer(c_int32_t), parameter :: PLAQ_LOG_WARN = 2
  !> What takes long: compilation, tuning, solves.
  integer(c_int32_t), parameter :: PLAQ_LOG_INFO = 3
  integer(c_int32_t), parameter :: PLAQ_LOG_DEBUG = 4
  !> Every call and its time.
  integer(c_int32_t), parameter :: PLAQ_LOG_TRACE = 5
  !> plaq_log_callback: a bind(c) procedure; pass c_funloc of it.
  !> Gets one line of the log; may be called from any thread.
  !> Arguments: level, message, user.

  ! Context: a device and everything on it
  !> A device with its memory and threads. Fields and operators belong to a context and
  !> die with it; several contexts live side by side.
  type, bind(c) :: plaq_context
    integer(c_int64_t) :: id = 0
  end type
  !> Where a context computes.
  !> CUDA if there is a usable GPU, else the CPU.
  integer(c_int32_t), parameter :: PLAQ_DEVICE_AUTO = 0
  integer(c_int32_t), parameter :: PLAQ_DEVICE_CPU = 1
  integer(c_int32_t), parameter :: PLAQ_DEVICE_CUDA = 2
  !> How to make a context.
  type, bind(c) :: plaq_context_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    integer(c_int32_t) :: device
    !> Which GPU, counted from 0.
    integer(c_int32_t) :: ordinal
    !> Threads of the CPU back end; 0: as many as this process may use.
    integer(c_int32_t) :: threads
    !> Must be 0.
    integer(c_int32_t) :: reserved
  end type
  !> What a context is and holds. Sizes in bytes.
  type, bind(c) :: plaq_context_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> PLAQ_DEVICE_CPU or PLAQ_DEVICE_CUDA.
    integer(c_int32_t) :: device
    !> Most virtual nodes (SIMD lanes) that a lattice is divided over.
    integer(c_int32_t) :: lanes
    integer(c_int64_t) :: memory_total
    integer(c_int64_t) :: memory_free
    !> Held by the fields of this context now, and the most so far.
    integer(c_int64_t) :: memory_used
    integer(c_int64_t) :: memory_peak
  end type

  interface
    !> Version of the library, "major.minor.patch".
    type(c_ptr) function plaq_version() bind(c)
      import :: c_ptr, c_int32_t
    end function
    !> The message of this thread's last failed call: function, argument, expected, found.
    !> Valid until the next call of this thread fails; never NULL.
    type(c_ptr) function plaq_last_error() bind(c)
      import :: c_ptr, c_int32_t
    end function
    !> Name of a status, e.g. "PLAQ_NULL_POINTER"; "unknown status" for other numbers.
    type(c_ptr) function plaq_status_name(status) bind(c)
      import
      integer(c_int32_t), value :: status
    end function
    !> What a status means, in a sentence.
    type(c_ptr) function plaq_status_help(status) bind(c)
      import
      integer(c_int32_t), value :: status
    end function
    !> Sends the log up to `level` to the host; NULL or PLAQ_LOG_OFF makes plaq quiet again.
    !> One callback per process.
    integer(c_int32_t) function plaq_log_set(callback, user, level) bind(c)
      import
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      integer(c_int32_t), value :: level
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_context_params_init(params, struct_size) bind(c)
      import
      type(plaq_context_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_context_report_init(report, struct_size) bind(c)
      import
      type(plaq_context_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Makes a context. Errors: NO_DEVICE, DRIVER_MISSING, DRIVER_TOO_OLD, NVRTC_MISSING.
    integer(c_int32_t) function plaq_context_create(params, context) bind(c)
      import
      type(plaq_context_params), intent(in), optional :: params
      type(plaq_context), intent(inout) :: context
    end function
    !> Destroys a context and all its objects. The zero handle is accepted.
    integer(c_int32_t) function plaq_context_destroy(context) bind(c)
      import
      type(plaq_context), value :: context
    end function
    !> Name of the device, e.g. "NVIDIA H200", into a buffer of `capacity` bytes.
    integer(c_int32_t) function plaq_context_name(context, name, capacity) bind(c)
      import
      type(plaq_context), value :: context
      character(kind=c_char), intent(inout) :: name(*)
      integer(c_int64_t), value :: capacity
    end function
    !> Device and memory.
    integer(c_int32_t) function plaq_context_describe(context, report) bind(c)
      import
      type(plaq_context), value :: context
      type(plaq_context_report), intent(inout), optional :: report
    end function
    !> Lets memory_peak start again from memory_used.
    integer(c_int32_t) function plaq_context_reset_peak(context) bind(c)
      import
      type(plaq_context), value :: context
    end function
    !> Waits until everything asked of the device is done.
    integer(c_int32_t) function plaq_context_synchronize(context) bind(c)
      import
      type(plaq_context), value :: context
    end function
  end interface

contains

  !> A Fortran string from a C string.
  function plaq_text(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i, n
    text = ''
    if (.not. c_associated(pointer)) return
    call c_f_pointer(pointer, letters, [huge(0)])
    n = 0
    do while (letters(n + 1) /= c_null_char)
      n = n + 1
    end do
    text = repeat(' ', n)
    do i = 1, n
      text(i:i) = letters(i)
    end do
  end function
end module
