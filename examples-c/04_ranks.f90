! Many ranks: MPI is of the program, plaq takes its communicator. Compile with mpifort, start with mpirun -n N.
! test: tests/data/quenched-b6.0-4x4x4x8.ildg
program example
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use plaq
  implicit none
  include 'mpif.h'
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge
  type(plaq_plaquette) :: average
  type(plaq_context_params) :: params
  type(plaq_context_report) :: place
  type(plaq_gauge_report) :: part
  integer :: ierror
  call MPI_Init(ierror)
  call ok(plaq_context_params_init(params, c_sizeof(params)))
  call ok(plaq_context_report_init(place, c_sizeof(place)))
  call ok(plaq_gauge_report_init(part, c_sizeof(part)))
  params%communicator_kind = PLAQ_COMMUNICATOR_FORTRAN
  params%communicator_fortran = MPI_COMM_WORLD ! the grid is left out: all ranks along t
  call ok(plaq_context_create(params, context))
  call ok(plaq_gauge_read(context, argument(), gauge=gauge)) ! every rank reads its part
  call ok(plaq_gauge_plaquette(gauge, average))                   ! the same on all ranks
  call ok(plaq_context_describe(context, place))
  call ok(plaq_gauge_describe(gauge, part))
  if (place%rank == 0) print '(a, f14.12, 2(a, i0), 3(" x ", i0), a)', 'plaquette ', average%total, '; ', place%ranks, &
    ' ranks, each with ', part%extents, ' sites'
  call ok(plaq_context_destroy(context)) ! before MPI ends
  call MPI_Finalize(ierror)

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
