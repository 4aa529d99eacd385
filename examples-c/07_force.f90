! The force of the Wilson gauge action against a difference of the action: links move along momenta by a small step.
! test:
program example
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use plaq
  implicit none
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge, moved
  type(plaq_momentum) :: force, along
  type(plaq_gauge_params) :: shape
  type(plaq_gauge_action_params) :: action
  real(c_double) :: step = 1d-4, actions(2), kinetic(3), product, slope
  integer :: side
  call ok(plaq_gauge_params_init(shape, c_sizeof(shape)))
  call ok(plaq_gauge_action_params_init(action, c_sizeof(action)))
  call ok(plaq_context_create(context=context))
  shape%extents = 4
  call ok(plaq_gauge_create(context, shape, gauge))
  call ok(plaq_gauge_create(context, shape, moved))
  call ok(plaq_gauge_warm(gauge, 7_c_int64_t, 0.5d0))
  action%beta = 5.7d0
  call ok(plaq_momentum_create(gauge, force))
  call ok(plaq_momentum_create(gauge, along))
  call ok(plaq_momentum_gaussian(along, 3_c_int64_t, 0))
  call ok(plaq_momentum_gaussian(force, 4_c_int64_t, 0))
  call ok(plaq_momentum_add(force, 0d0, along, 0d0))
  call ok(plaq_gauge_force(gauge, action, force, -1d0)) ! 0 + F
  call ok(plaq_momentum_kinetic(force, kinetic(1)))
  call ok(plaq_momentum_kinetic(along, kinetic(2)))
  call ok(plaq_momentum_add(force, 1d0, along, 1d0)) ! the product follows from the square of the sum
  call ok(plaq_momentum_kinetic(force, kinetic(3)))
  do side = 1, 2
    call ok(plaq_gauge_copy(gauge, moved))
    call ok(plaq_gauge_evolve(moved, along, merge(step, -step, side == 1)))
    call ok(plaq_gauge_action(moved, action, actions(side)))
  end do
  product = kinetic(3) - kinetic(1) - kinetic(2)
  slope = (actions(1) - actions(2))/(2*step)
  print '(a, f0.6, a, f0.6)', 'dS/dt by the force ', product, ', by differences ', slope
  if (abs(product - slope) > 1d-3) error stop 3
  call ok(plaq_context_destroy(context))

contains

  subroutine ok(status)
    integer(c_int32_t), intent(in) :: status
    if (status == PLAQ_SUCCESS) return
    write (error_unit, '(a)') plaq_text(plaq_last_error())
    error stop 1
  end subroutine
end program
