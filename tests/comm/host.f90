!> A Fortran host: a context on its communicator and on a part of it.
program main
  use plaq
  use mpi
  implicit none
  type(plaq_context) :: context
  type(plaq_context_params) :: params
  type(plaq_context_report) :: report
  integer :: half, rank, error
  integer(c_int32_t), target :: backwards(4) = [3, 2, 1, 0]

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call done(plaq_context_params_init(params, c_sizeof(params)))
  params%device = PLAQ_DEVICE_CPU
  params%threads = 1
  params%communicator_kind = PLAQ_COMMUNICATOR_FORTRAN
  params%communicator_fortran = MPI_COMM_WORLD
  params%grid = [1, 2, 1, 2]
  params%rank_table = c_loc(backwards)
  call done(plaq_context_create(params, context))
  call done(plaq_context_report_init(report, c_sizeof(report)))
  call done(plaq_context_describe(context, report))
  if (report%ranks /= 4 .or. report%rank /= rank) stop 2
  if (any(report%coords /= [0, mod(3 - rank, 2), 0, (3 - rank) / 2])) stop 3
  call done(plaq_context_destroy(context))

  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, error)
  params%communicator_fortran = half
  params%rank_table = c_null_ptr
  params%rank_callback = c_funloc(place)
  params%grid = [1, 1, 2, 1]
  call done(plaq_context_create(params, context))
  call done(plaq_context_describe(context, report))
  if (report%ranks /= 2 .or. report%coords(3) /= rank / 2) stop 4
  call done(plaq_context_destroy(context))
  params%grid = [1, 1, 1, 4]
  if (plaq_context_create(params, context) /= PLAQ_PROCESS_GRID) stop 5
  call MPI_Finalize(error)

contains

  integer(c_int32_t) function place(coords, user) bind(c)
    integer(c_int32_t), intent(in) :: coords(4)
    type(c_ptr), value :: user
    place = coords(3)
    if (c_associated(user)) place = -1
  end function

  subroutine done(status)
    integer(c_int32_t), intent(in) :: status
    if (status == PLAQ_SUCCESS) return
    print '(a)', plaq_text(plaq_last_error())
    stop 1
  end subroutine
end program
