! The gradient flow of quark fields, and its adjoint, which takes a field at a flow time to time 0.
! test: tests/data/quenched-b6.0-4x4x4x8.ildg
program example
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use plaq
  implicit none
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge, flowed
  type(plaq_spinor) :: field(4) ! chi, K chi, phi, K^dagger phi
  type(plaq_spinor_params) :: like
  type(plaq_spinor_flow_params) :: how
  type(plaq_spinor_flow_report) :: report
  real(c_double) :: left(2), right(2), norm(1)
  integer :: k
  call ok(plaq_spinor_params_init(like, c_sizeof(like)))
  call ok(plaq_spinor_flow_params_init(how, c_sizeof(how)))
  call ok(plaq_spinor_flow_report_init(report, c_sizeof(report)))
  call ok(plaq_context_create(context=context))
  call ok(plaq_gauge_read(context, argument(), gauge=gauge))
  call ok(plaq_gauge_read(context, argument(), gauge=flowed))
  like%gauge = gauge
  do k = 1, 4
    call ok(plaq_spinor_create(context, like, field(k)))
    call ok(plaq_spinor_noise(field(k), PLAQ_NOISE_Z4, 1_c_int64_t, int((k - 1)/2, c_int32_t)))
  end do
  how%time = 0.3d0
  how%step = 0.02d0
  call ok(plaq_spinor_flow(field(2), gauge, flowed, how, c_null_funptr, c_null_ptr, report)) ! flowed has the links at that time
  print '(a, f4.2, a, i0, a)', 'flow time ', report%time, ' in ', report%steps, ' steps'
  how%checkpoints = 3 ! states of the links that are kept on the way back
  call ok(plaq_spinor_flow_adjoint(field(4), gauge, how, c_null_funptr, c_null_ptr, report))
  print '(2(i0, a))', report%steps, ' steps back, ', report%link_steps, ' of links'
  call ok(plaq_spinor_dot(field(3), field(2), left, 1_c_int64_t))
  call ok(plaq_spinor_dot(field(4), field(1), right, 1_c_int64_t))
  call ok(plaq_spinor_norm2(field(3), norm, 1_c_int64_t))
  print '(a, f0.10, sp, f0.10, a)', '<phi, K chi> = ', left, ' i', '<K^dagger phi, chi> = ', right, ' i'
  if (norm2(left - right) > 1d-13*norm(1)) error stop 3
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
