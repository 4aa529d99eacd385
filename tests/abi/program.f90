!> The Fortran module from a Fortran program.
program main
  use plaq
  implicit none
  type(plaq_context) :: context
  type(plaq_context_params) :: params
  type(plaq_context_report) :: report
  character(kind=c_char) :: name(256)
  integer(c_int64_t) :: stale

  call done(plaq_context_params_init(params, c_sizeof(params)))
  params%device = PLAQ_DEVICE_CPU
  params%threads = 1
  call done(plaq_context_create(params, context))
  call done(plaq_context_report_init(report, c_sizeof(report)))
  call done(plaq_context_describe(context, report))
  if (report%memory_total <= 0 .or. report%device /= PLAQ_DEVICE_CPU) stop 2
  call done(plaq_context_describe(context))
  call done(plaq_context_name(context, name, 256_c_int64_t))
  if (name(1) /= 'c') stop 3
  stale = context%id
  call done(plaq_context_destroy(context))
  if (plaq_context_synchronize(context) /= PLAQ_INVALID_HANDLE) stop 4
  if (index(plaq_text(plaq_last_error()), 'plaq_context_synchronize') /= 1) stop 5
  if (plaq_text(plaq_status_name(PLAQ_BUSY)) /= 'PLAQ_BUSY') stop 6
  if (stale == 0) stop 7

contains

  subroutine done(status)
    integer(c_int32_t), intent(in) :: status
    if (status == PLAQ_SUCCESS) return
    print '(a)', plaq_text(plaq_last_error())
    stop 1
  end subroutine
end program
