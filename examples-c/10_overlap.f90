! The index of the overlap operator: its zero modes of negative chirality less those of positive chirality.
! test: tests/data/quenched-b6.0-4x4x4x8.ildg
program example
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use plaq
  implicit none
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge
  type(plaq_overlap) :: overlap
  type(plaq_spinor) :: none
  type(plaq_overlap_params) :: params
  real(c_double) :: plus(2), minus(2), violation
  integer(c_int32_t) :: zeros(2)
  call ok(plaq_overlap_params_init(params, c_sizeof(params)))
  call ok(plaq_context_create(context=context))
  call ok(plaq_gauge_read(context, argument(), gauge=gauge))
  params%modes = 6 ! low modes of the kernel that are projected
  params%delta = 1d-4
  call ok(plaq_overlap_create(context, gauge, params, none, c_null_funptr, c_null_ptr, overlap))
  call ok(plaq_overlap_ginsparg_wilson(overlap, 1_c_int64_t, violation))
  print '(a, es8.1)', 'violation of the Ginsparg-Wilson relation', violation
  call ok(plaq_overlap_index(overlap, 2, 1d-4, c_null_funptr, c_null_ptr, plus, minus, zeros))
  print '(a, i0, a, f0.6, a, f0.6)', 'index ', zeros(2) - zeros(1), '; least |lambda|^2 of positive chirality ', plus(1), &
    ', of negative ', minus(1)
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
