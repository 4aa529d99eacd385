! Gradient flow: t^2 E and the topological charge along it, and t0 where it is reached.
! test: tests/data/quenched-b6.0-4x4x4x8.ildg
program example
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use plaq
  implicit none
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge
  type(plaq_flow_params) :: how
  type(plaq_flow_report) :: report
  type(plaq_flow_point) :: points(100)
  integer(c_int64_t) :: k, count
  call ok(plaq_flow_params_init(how, c_sizeof(how)))
  call ok(plaq_flow_report_init(report, c_sizeof(report)))
  call ok(plaq_context_create(context=context))
  call ok(plaq_gauge_read(context, argument(), gauge=gauge))
  how%time = 1
  how%step = 0.02d0
  how%every = 10
  call ok(plaq_gauge_flow(gauge, how, c_null_funptr, c_null_ptr, report, points, 100_c_int64_t, count)) ! the links flow
  print '(a)', '# t, t^2 E, charge'
  do k = 1, count
    associate (p => points(k))
      print '(f4.2, f10.6, sp, f9.4)', p%time, p%time**2*(p%energy_spatial + p%energy_temporal), p%charge
    end associate
  end do
  if (report%t0_clover > 0) print '(a, f0.6)', '# t0 ', report%t0_clover
  call ok(plaq_context_destroy(context))

contains

  subroutine ok(status)
    integer(c_int32_t), intent(in) :: status
    if (status == PLAQ_SUCCESS) return
    write (error_unit, '(a)') plaq_text(plaq_last_error())
    error stop 1
  end subroutine

  function argument() result(text)
    character(len=:), allocatable :: text
    character(len=1000) :: word
    call get_command_argument(1, word)
    text = trim(word)//c_null_char
  end function
end program
