! Errors: a call that is refused has a status, a sentence that names the argument, and has changed nothing.
! test:
program example
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use plaq
  implicit none
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge
  type(plaq_dirac) :: dirac
  type(plaq_gauge_params) :: shape
  type(plaq_dirac_params) :: action
  call ok(plaq_gauge_params_init(shape, c_sizeof(shape)))
  call ok(plaq_dirac_params_init(action, c_sizeof(action)))
  call ok(plaq_context_create(context=context))
  shape%extents(1) = 3 ! odd, and the others are 0
  call expect(plaq_gauge_create(context, shape, gauge), PLAQ_BAD_EXTENTS)
  call expect(plaq_gauge_read(context, 'absent'//c_null_char, gauge=gauge), PLAQ_FILE_OPEN)
  shape%extents = 4
  call ok(plaq_gauge_create(context, shape, gauge))
  call expect(plaq_dirac_create(context, gauge, action, dirac), PLAQ_BAD_PARAMETER) ! neither kappa nor mass
  call ok(plaq_gauge_destroy(gauge))
  call expect(plaq_gauge_unit(gauge), PLAQ_INVALID_HANDLE) ! the handle is stale
  call ok(plaq_context_destroy(context))

contains

  subroutine ok(status)
    integer(c_int32_t), intent(in) :: status
    if (status == PLAQ_SUCCESS) return
    write (error_unit, '(a)') plaq_text(plaq_last_error())
    error stop 1
  end subroutine

  subroutine expect(status, expected)
    integer(c_int32_t), intent(in) :: status, expected
    print '(i0, 2a)', status, ': ', plaq_text(plaq_last_error())
    if (status /= expected) error stop 3
  end subroutine
end program
