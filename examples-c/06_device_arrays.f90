! Arrays of the program: plaq writes them and reads them back. In the memory of a GPU (of OpenACC, CUDA Fortran) the
! layout has location = PLAQ_LOCATION_DEVICE and the address is that of the array there (06_device_arrays.c).
! test:
program example
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use plaq
  implicit none
  type(plaq_context) :: context
  type(plaq_spinor) :: spinor
  type(plaq_spinor_params) :: shape
  type(plaq_layout_params) :: layout
  real(c_double) :: norm(1), again(1)
  complex(c_double_complex), target :: array(3, 4, 4, 4, 4, 8) ! colour, spin, x, y, z, t
  call ok(plaq_spinor_params_init(shape, c_sizeof(shape)))
  call ok(plaq_layout_params_init(layout, c_sizeof(layout)))
  call ok(plaq_context_create(context=context))
  shape%extents = [4, 4, 4, 8]
  call ok(plaq_spinor_create(context, shape, spinor))
  call ok(plaq_spinor_noise(spinor, PLAQ_NOISE_NORMAL, 7_c_int64_t, 0))
  call ok(plaq_spinor_norm2(spinor, norm, 1_c_int64_t))
  call ok(plaq_spinor_save(spinor, layout, c_loc(array)))
  print '(a, es18.11, a, es18.11)', 'norm', norm, ', of the array', sum(abs(array)**2)
  call ok(plaq_spinor_zero(spinor))
  call ok(plaq_spinor_load(spinor, layout, c_loc(array)))
  call ok(plaq_spinor_norm2(spinor, again, 1_c_int64_t))
  if (norm(1) /= again(1)) error stop 3
  call ok(plaq_context_destroy(context))

contains

  subroutine ok(status)
    integer(c_int32_t), intent(in) :: status
    if (status == PLAQ_SUCCESS) return
    write (error_unit, '(a)') plaq_text(plaq_last_error())
    error stop 1
  end subroutine
end program
