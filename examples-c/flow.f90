!> flow: gradient flow of a configuration: action density, scales t0 and w0, topological charge; the twin
!> of flow.c.
!>
!>   flow_f --gauge FILE [--flow wilson|symanzik|zeuthen] [--step EPS] [--time T] [--tolerance D] [--every N]
!>          [--json FILE] [--plot FILE.svg] [--device auto|cpu|cuda] [--threads N]
!>
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --time 0.5 --every 5 --json $OUT/flow_f.json --plot $OUT/flow_f.svg
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --flow zeuthen --time 0.3 --tolerance 1e-4
include 'example.inc'
include 'plot.inc'

module flow_progress
  use, intrinsic :: iso_c_binding
  use example, only: interrupted, progress_due, progress_line, decimals
  implicit none
  real(c_double), save :: shown_at = -1d9
contains
  !> Called at every measurement.
  integer(c_int32_t) function progress(time, t2e, charge, user) bind(c)
    real(c_double), value :: time, t2e, charge
    type(c_ptr), value :: user
    integer(c_int64_t) :: count, rate
    progress = interrupted
    call system_clock(count, rate)
    if (c_associated(user)) return
    if (progress_due(real(count, c_double) / real(rate, c_double), shown_at)) &
      call progress_line(.false., '  t '//decimals(time, 4)//', t^2 E '//decimals(t2e, 5)//', charge '//decimals(charge, 4))
  end function
end module

program flow
  use plaq
  use example
  use plots
  use flow_progress
  implicit none
  character(len=99), parameter :: help(14) = [character(len=99) :: &
    'usage: flow_f --gauge FILE [options]', &
    'Gradient flow of a configuration: action density, scales t0 and w0, topological charge.', &
    '  --gauge FILE         configuration: NERSC, ILDG, MILC, openQCD or DDalphaAMG, found out by itself', &
    '  --flow F             wilson, symanzik or zeuthen (wilson)', &
    '  --step EPS           of the integrator; with --tolerance the first one (0.02)', &
    '  --time T             flow time t / a^2 at the end (1)', &
    '  --tolerance D        error of a step''s links, which then sets the steps; 0: steps are equal (0)', &
    '  --every N            steps from one measurement to the next (1)', &
    '  --json FILE          all measurements as JSON (none)', &
    '  --plot FILE.svg      t^2 E over t as a picture (none)', &
    '  --device D           auto, cpu or cuda (auto)', &
    '  --threads N          of the CPU; 0: all (0)', &
    '  --help, -h, --version', &
    'example: flow_f --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --time 2 --plot flow.svg']
  character(len=8), parameter :: flow_names(3) = [character(len=8) :: 'wilson', 'symanzik', 'zeuthen']
  integer(c_int32_t), parameter :: flow_values(3) = [PLAQ_FLOW_WILSON, PLAQ_FLOW_SYMANZIK, PLAQ_FLOW_ZEUTHEN]
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge
  type(plaq_flow_params) :: params
  type(plaq_flow_report) :: report
  type(plaq_flow_point), allocatable :: points(:)
  integer(c_int64_t) :: count, room, k
  character(len=:), allocatable :: gauge_file, json_file, plot_file
  integer :: last

  last = command_argument_count()
  call check_options(last, '--gauge --flow --step --time --tolerance --every --json --plot --device --threads', help)
  gauge_file = option(last, '--gauge')
  json_file = option(last, '--json', '')
  plot_file = option(last, '--plot', '')
  call check_output(json_file, overwrite=.true.)
  call check_plot(plot_file, overwrite=.true.)
  call ok(plaq_flow_params_init(params, c_sizeof(params)))
  call ok(plaq_flow_report_init(report, c_sizeof(report)))
  params%kind = choose(last, '--flow', 'wilson', flow_names, flow_values)
  params%step = number(last, '--step', '0.02')
  params%time = number(last, '--time', '1')
  params%tolerance = number(last, '--tolerance', '0')
  params%every = whole32(last, '--every', '1')
  if (.not. params%step > 0) call usage_error('--step', 'expected more than 0')
  if (params%every < 1) call usage_error('--every', 'expected 1 or more')
  if (.not. (params%time >= 0 .and. params%time < 1d9 * params%step)) call usage_error('--time', 'expected 0 to 1e9 steps')

  context = open_context(last)
  call ok(plaq_gauge_read_file(context, gauge_file//c_null_char, gauge=gauge))
  room = int(params%time / params%step, c_int64_t) / params%every + 8
  if (params%tolerance > 0) room = room + 1000000
  allocate (points(room))
  call watch_signals()
  call ok(plaq_flow_run(gauge, params, c_funloc(progress), c_null_ptr, report, points, room, count))
  call progress_line(.true., '  t '//decimals(report%time, 4)//', '//decimals(report%seconds, 3)//' s')
  print '(a)', '# t, plaquette spatial, temporal, E spatial, temporal, t^2 E, charge'
  do k = 1, min(count, room)
    print '(f9.5,2x,2f13.10,2x,2f13.8,2x,f12.8,2x,f9.5)', points(k)%time, points(k)%plaquette_spatial, &
      points(k)%plaquette_temporal, points(k)%energy_spatial, points(k)%energy_temporal, clover(points(k)), points(k)%charge
  end do
  if (report%t0_clover > 0) print '(a,f0.6,a,f0.6,a)', '# t0 ', report%t0_clover, ' (plaquette: ', report%t0_plaquette, ')'
  if (report%w0_clover > 0) print '(a,f0.6,a,f0.6,a)', '# w0 ', report%w0_clover, ' (plaquette: ', report%w0_plaquette, ')'
  print '(a,a,a)', '# ', word(report%steps), ' steps'
  if (report%stopped == 1) print '(a)', '# INTERRUPTED at t = '//decimals(report%time, 5)
  if (len(json_file) > 0 .and. first_rank(context)) call write_json()
  if (len(plot_file) > 0 .and. first_rank(context)) call write_plot()
  call ok(plaq_context_destroy(context))
  call leave(merge(3, 0, report%stopped == 1))

contains

  !> t^2 E from clover leaves.
  real(c_double) function clover(p)
    type(plaq_flow_point), intent(in) :: p
    clover = p%time**2 * (p%energy_spatial + p%energy_temporal)
  end function

  function array(name, values) result(text)
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: values(:)
    character(len=:), allocatable :: text
    integer :: i
    text = '    "'//name//'": ['
    do i = 1, size(values)
      if (i > 1) text = text//', '
      text = text//exact(values(i))
    end do
    text = text//']'
  end function

  subroutine write_json()
    integer :: unit
    associate (p => points(:min(count, room)))
      unit = begin_file(json_file)
      write (unit, '(a)') '{', '  "gauge": '//quoted(gauge_file)//',', &
        '  "kind": "'//option(last, '--flow', 'wilson')//'",', '  "step": '//exact(params%step)//',', &
        '  "tolerance": '//exact(params%tolerance)//',', '  "steps": '//word(report%steps)//',', &
        '  "seconds": '//exact(report%seconds)//','
      write (unit, '(a)') '  "t0": {"clover": '//exact(report%t0_clover)//', "plaquette": '// &
        exact(report%t0_plaquette)//'},', '  "w0": {"clover": '//exact(report%w0_clover)//', "plaquette": '// &
        exact(report%w0_plaquette)//'},', '  "flow": {', array('t', p%time)//',', &
        array('plaquette_spatial', p%plaquette_spatial)//',', array('plaquette_temporal', p%plaquette_temporal)//',', &
        array('energy_spatial', p%energy_spatial)//',', array('energy_temporal', p%energy_temporal)//',', &
        array('charge', p%charge), '  }', '}'
      call end_file(unit, json_file)
    end associate
  end subroutine

  subroutine write_plot()
    type(plot_points) :: energy, line
    type(plot_panel) :: panel(1)
    do k = 1, min(count, room)
      call plot_add(energy, points(k)%time, clover(points(k)))
      call plot_add(line, points(k)%time, 0.3d0)
    end do
    panel(1) = plot_one('Gradient flow', 't / a^2', 't^2 E', plot_history('clover', '#0072b2', energy))
    panel(1)%series = [panel(1)%series, plot_history('0.3', '#d55e00', line)]
    call plot_page(plot_file, panel)
  end subroutine
end program
