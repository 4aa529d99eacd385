! Landau gauge, and the transformation g(x) that leads to it: applied to the links of the file it gives the same.
! test: tests/data/quenched-b6.0-4x4x4x8.ildg
program example
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use plaq
  implicit none
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge, original
  type(plaq_gaugefix) :: result
  type(plaq_plaquette) :: fixed, again
  type(plaq_file_report) :: file
  type(plaq_gaugefix_params) :: how
  type(plaq_gaugefix_report) :: report
  real(c_double), allocatable :: g(:)
  call ok(plaq_file_report_init(file, c_sizeof(file)))
  call ok(plaq_gaugefix_params_init(how, c_sizeof(how)))
  call ok(plaq_gaugefix_report_init(report, c_sizeof(report)))
  call ok(plaq_context_create(context=context))
  call ok(plaq_gauge_read(context, argument(), gauge=gauge, report=file))
  call ok(plaq_gauge_read(context, argument(), gauge=original))
  how%method = PLAQ_GAUGEFIX_FOURIER_CG
  call ok(plaq_gauge_fix(gauge, how, c_null_funptr, c_null_ptr, report, result))
  print '(a, f14.12, a, es8.1, a, i0, a)', 'functional ', report%functional, ', theta', report%theta, ' after ', &
    report%iterations, ' iterations'
  call ok(plaq_gaugefix_apply(result, original))
  call ok(plaq_gauge_plaquette(gauge, fixed))
  call ok(plaq_gauge_plaquette(original, again))
  print '(a, f14.12, a, f14.12)', 'link trace ', fixed%link_trace, ', of the transformed links ', again%link_trace
  allocate (g(18*product(int(file%extents)))) ! 3 x 3 complex numbers a site, sites with x fastest
  call ok(plaq_gaugefix_transformation(result, g))
  print '(a, f9.6, sp, f10.6, a)', 'g(0): first entry ', g(1), g(2), ' i'
  if (report%converged == 0 .or. abs(again%link_trace - fixed%link_trace) > 1d-10) error stop 3
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
