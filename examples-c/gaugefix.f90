!> gaugefix: Landau, Coulomb or maximally Abelian gauge of a configuration in a file; the twin of
!> gaugefix.c, with the same options, table and files. docs/gaugefix.md describes them.
!>
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --method combined --temperatures 20 --stochastic-sweeps 20 --out $OUT/landau_f --transformation $OUT/landau_f.g --history $OUT/history_f
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --method fourier-descent --alpha 0.06 --check-every 1 --plot $OUT/fourier_f.svg
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --condition mag --residual yes --copies 2 --format milc --out $OUT/mag_f
include 'example.inc'
include 'plot.inc'
include 'fixing.inc'

program gaugefix
  use plaq
  use example
  use plots
  use gaugefix_progress
  implicit none
  character(len=7), parameter :: condition_names(3) = [character(len=7) :: 'landau', 'coulomb', 'mag']
  integer(c_int32_t), parameter :: condition_values(3) = &
    [PLAQ_GAUGEFIX_LANDAU, PLAQ_GAUGEFIX_COULOMB, PLAQ_GAUGEFIX_MAXIMALLY_ABELIAN]
  !> Relaxation is overrelaxation with omega = 1.
  character(len=15), parameter :: method_names(7) = &
    [character(len=15) :: 'overrelaxation', 'stochastic', 'annealing', 'combined', 'relaxation', 'fourier-descent', &
     'fourier-cg']
  integer(c_int32_t), parameter :: method_values(7) = &
    [PLAQ_GAUGEFIX_OVERRELAXATION, PLAQ_GAUGEFIX_STOCHASTIC, PLAQ_GAUGEFIX_ANNEALING, PLAQ_GAUGEFIX_COMBINED, &
     PLAQ_GAUGEFIX_OVERRELAXATION, PLAQ_GAUGEFIX_FOURIER_DESCENT, PLAQ_GAUGEFIX_FOURIER_CG]
  character(len=6), parameter :: precision_names(3) = [character(len=6) :: 'single', 'mixed', 'double']
  integer(c_int32_t), parameter :: precision_values(3) = &
    [PLAQ_GAUGEFIX_SINGLE, PLAQ_GAUGEFIX_MIXED, PLAQ_GAUGEFIX_DOUBLE]
  character(len=3), parameter :: no_yes(2) = [character(len=3) :: 'no', 'yes']
  character(len=87), parameter :: needs(9) = [character(len=87) :: &
    '--time: --condition=coulomb', &
    '--residual: --condition=mag', &
    '--omega: --method=(overrelaxation)|annealing|combined --residual', &
    '--alpha: --method=fourier-descent|fourier-cg', &
    '--probability: --method=stochastic|combined', &
    '--stochastic-sweeps: --method=combined', &
    '--hot --cold --temperatures --microcanonical --logarithmic: --method=annealing|combined', &
    '--seed: --copies --random-start=yes --method=stochastic|annealing|combined', &
    '--format: --out']
  character(len=106), parameter :: help(36) = [character(len=106) :: &
    'usage: gaugefix_f --gauge FILE [options]', &
    'Landau, Coulomb or maximally Abelian gauge of a configuration (docs/gaugefix.md).', &
    '  --gauge FILE         configuration: NERSC, ILDG, MILC, openQCD or DDalphaAMG, found out by itself', &
    '  --condition C        landau, coulomb or mag: maximally Abelian (landau)', &
    '  --time MU            of Coulomb gauge: the direction that is left out, 0 to 3 for x, y, z, t (3)', &
    '  --residual B         yes: after mag Landau gauge by diagonal transformations (no)', &
    '  --method M           overrelaxation, relaxation, stochastic, annealing, combined, fourier-descent or', &
    '                       fourier-cg (overrelaxation)', &
    '  --precision P        single, mixed or double (mixed)', &
    '  --omega W            power of overrelaxation, 1 to below 2 (1.7)', &
    '  --alpha A            step of the Fourier-accelerated methods (0.08)', &
    '  --probability P      of stochastic relaxation, 0 to below 1 (0.5)', &
    '  --stochastic-sweeps N  sweeps of it in combined (1000)', &
    '  --hot T, --cold T    first and last temperature of annealing (1.4, 0.1)', &
    '  --temperatures N     how many, a heat bath each (1000)', &
    '  --microcanonical N   sweeps after each heat bath (3)', &
    '  --logarithmic B      yes: temperatures with equal ratios, no: with equal differences (no)', &
    '  --stop-theta T       largest violation theta; 0: not asked for (1e-12, in single precision 1e-11)', &
    '  --stop-theta-max T   largest violation of a site; 0: not asked for (0)', &
    '  --stop-change C      largest rise of the functional in a sweep; 0: not asked for (0)', &
    '  --max-iterations N   sweeps after which a copy is given up (20000)', &
    '  --check-every N      sweeps between two looks at the violation (10)', &
    '  --copies N           gauge copies, of which the best is kept (1)', &
    '  --random-start B     yes: the first copy starts from a random transformation, too (no)', &
    '  --seed S             of the random numbers (1)', &
    '  --out FILE           the fixed links (none is written)', &
    '  --format F           of it: nersc, nersc3x3, ildg, milc, openqcd or ddalphaamg (ildg)', &
    '  --transformation F   the matrices g(x) as this machine''s doubles without a header: sites with x fastest,', &
    '                       then y, z, t; each 3 x 3, row major, real and imaginary part; one rank only (none)', &
    '  --json FILE          all results as JSON (none)', &
    '  --history FILE       a line for every look: copy, sweeps, functional, theta, temperature (none)', &
    '  --plot FILE.svg      functional and theta of all looks as a picture (none)', &
    '  --device D           auto, cpu or cuda (auto)', &
    '  --threads N          of the CPU; 0: all (0)', &
    '  --help, -h, --version', &
    'example: gaugefix_f --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --condition coulomb --out coulomb.ildg']
  !> Numbers of a matrix of SU(3).
  integer, parameter :: numbers = 18

  character(len=:), allocatable :: gauge_file, out_file, transformation_file, json_file, history_file, plot_file, method, device
  integer(c_int32_t) :: form
  integer(c_int64_t) :: direction
  type(plaq_context) :: context
  type(plaq_context_report) :: place
  type(plaq_gauge) :: gauge
  type(plaq_gaugefix) :: fixed
  type(plaq_gaugefix_params) :: params
  type(plaq_gaugefix_report) :: report
  type(plaq_gaugefix_state), allocatable :: copies(:), slices(:)
  type(plaq_file_report) :: file
  type(plaq_plaquette) :: before, after
  !> Of the fixed links.
  type(plaq_unitarity) :: unitarity
  integer :: last

  last = command_argument_count()
  call read_options()
  context = open_context(last)
  call ok(plaq_context_report_init(place, c_sizeof(place)))
  call ok(plaq_context_describe(context, place))
  if (len(transformation_file) > 0 .and. place%ranks > 1) call usage_error('--transformation', 'needs one rank')
  device = device_name(context)
  write (error_unit, '(a)') 'gaugefix on '//device
  call ok(plaq_file_report_init(file, c_sizeof(file)))
  call ok(plaq_gauge_read_file(context, gauge_file//c_null_char, gauge=gauge, report=file))
  call ok(plaq_gauge_plaquette(gauge, before))
  call fix()
  call ok(plaq_gauge_plaquette(gauge, after))
  call ok(plaq_gauge_unitarity(gauge, unitarity))
  if (len(out_file) > 0) call write_links()
  if (len(transformation_file) > 0) call write_transformation()
  call print_table()
  if (len(json_file) > 0 .and. place%rank == 0) call write_json()
  if (len(plot_file) > 0 .and. place%rank == 0) call write_plot()
  call ok(plaq_context_destroy(context))
  call leave(merge(0, 3, report%converged == 1))

contains

  subroutine read_options()
    call check_options(last, '--gauge --condition --time --residual --method --precision --omega --alpha '// &
                       '--probability --stochastic-sweeps --hot --cold --temperatures --microcanonical --logarithmic '// &
                       '--stop-theta --stop-theta-max --stop-change --max-iterations --check-every --copies --random-start '// &
                       '--seed --out --format --transformation --json --history --plot --device --threads', help, needs)
    call ok(plaq_gaugefix_params_init(params, c_sizeof(params)))
    gauge_file = option(last, '--gauge')
    out_file = option(last, '--out', '')
    transformation_file = option(last, '--transformation', '')
    json_file = option(last, '--json', '')
    history_file = option(last, '--history', '')
    plot_file = option(last, '--plot', '')
    call check_output(out_file, overwrite=.true.)
    call check_output(transformation_file, overwrite=.true.)
    call check_output(json_file, overwrite=.true.)
    call check_output(history_file, overwrite=.true.)
    call check_plot(plot_file, overwrite=.true.)
    form = choose(last, '--format', 'ildg', format_names, format_values)
    method = option(last, '--method', 'overrelaxation')
    params%condition = choose(last, '--condition', 'landau', condition_names, condition_values)
    params%method = choose(last, '--method', 'overrelaxation', method_names, method_values)
    params%precision = choose(last, '--precision', 'mixed', precision_names, precision_values)
    params%residual = choose(last, '--residual', 'no', no_yes, [0_c_int32_t, 1_c_int32_t])
    params%logarithmic = choose(last, '--logarithmic', 'no', no_yes, [0_c_int32_t, 1_c_int32_t])
    params%random_start = choose(last, '--random-start', 'no', no_yes, [0_c_int32_t, 1_c_int32_t])
    direction = params%time
    call set_whole('--time', direction)
    if (direction > 3) call refuse('--time', option(last, '--time'), '0, 1, 2 or 3 for x, y, z or t')
    params%time = int(direction, c_int32_t)
    call set_number('--omega', params%omega)
    if (method == 'relaxation') then
      if (option(last, '--omega', '') /= '') call usage_error('--omega', 'relaxation has none')
      params%omega = 1
    end if
    call set_number('--alpha', params%alpha)
    call set_number('--probability', params%probability)
    call set_whole('--stochastic-sweeps', params%stochastic_sweeps)
    call set_number('--hot', params%hot)
    call set_number('--cold', params%cold)
    call set_whole('--temperatures', params%temperatures)
    call set_whole('--microcanonical', params%microcanonical)
    call set_number('--stop-theta', params%stop_theta)
    if (option(last, '--stop-theta', '') /= '' .and. params%stop_theta < 0) call usage_error('--stop-theta', 'expected 0 or more')
    call set_number('--stop-theta-max', params%stop_theta_max)
    call set_number('--stop-change', params%stop_change)
    call set_whole('--max-iterations', params%max_iterations)
    call set_whole('--check-every', params%check_every)
    call set_whole('--copies', params%copies)
    call set_whole('--seed', params%seed)
  end subroutine

  !> An option that is given replaces the library's default.
  subroutine set_number(name, value)
    character(len=*), intent(in) :: name
    real(c_double), intent(inout) :: value
    if (option(last, name, '') /= '') value = number(last, name)
  end subroutine

  subroutine set_whole(name, value)
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(inout) :: value
    if (option(last, name, '') /= '') value = whole(last, name)
  end subroutine

  subroutine fix()
    integer(c_int64_t) :: n
    call ok(plaq_gaugefix_report_init(report, c_sizeof(report)))
    if (len(history_file) > 0 .and. place%rank == 0) then
      history = begin_file(history_file)
      write (history, '(a)') '# copy, sweeps, functional, theta, temperature'
    end if
    drawn = len(plot_file) > 0
    call watch_signals()
    call ok(plaq_gaugefix_run(gauge, params, c_funloc(progress), c_null_ptr, report, fixed))
    call progress_end()
    if (history /= 0) call end_file(history, history_file)
    call ok(plaq_gaugefix_copies(fixed, capacity=0_c_int64_t, count=n))
    allocate (copies(n))
    call ok(plaq_gaugefix_copies(fixed, copies, n, n))
    call ok(plaq_gaugefix_slices(fixed, -1_c_int64_t, capacity=0_c_int64_t, count=n))
    allocate (slices(n))
    call ok(plaq_gaugefix_slices(fixed, -1_c_int64_t, slices, n, n))
  end subroutine

  subroutine write_links()
    type(plaq_write_params) :: p
    call ok(plaq_write_params_init(p, c_sizeof(p)))
    p%format = form
    p%sequence_number = file%sequence_number
    call ok(plaq_gauge_write_file(gauge, out_file//c_null_char, p))
  end subroutine

  subroutine write_transformation()
    real(c_double), allocatable :: g(:)
    integer :: unit, status
    allocate (g(numbers * product(int(file%extents, c_int64_t))))
    call ok(plaq_gaugefix_transformation(fixed, g))
    open (newunit=unit, file=transformation_file//'.part', action='write', status='replace', access='stream', iostat=status)
    if (status == 0) write (unit, iostat=status) g
    if (status == 0) close (unit, iostat=status)
    call into_place(transformation_file, status)
  end subroutine

  subroutine write_plot()
    call plot_page(plot_file, &
                   [plot_one('Gauge functional', 'sweep', 'F', plot_history('F', '#0072b2', functional_points)), &
                    plot_one('Violation of the gauge condition', 'sweep', 'log10 theta', &
                             plot_history('theta', '#d55e00', theta_points))])
  end subroutine

  subroutine print_states(what, states)
    character(len=*), intent(in) :: what
    type(plaq_gaugefix_state), intent(in) :: states(:)
    integer :: i
    print '(a,a8,a)', '#', what, '        functional       theta  iterations  converged'
    do i = 1, size(states)
      print '(i9,2x,f16.12,2x,es10.3,2x,i10,2x,a)', i - 1, states(i)%functional, states(i)%theta, &
        states(i)%iterations, trim(merge('yes', 'no ', states(i)%converged == 1))
    end do
  end subroutine

  subroutine print_table()
    print '(3a,3(i0," x "),i0,a,f14.12)', '# ', gauge_file, ' ('//format_name(file%format)//'), ', file%extents, &
      ', plaquette ', before%total
    print '(a)', '# '//name_of(params%condition, condition_names, condition_values)//' gauge by '//method//', '// &
      name_of(params%precision, precision_names, precision_values)//' precision, '//device
    call print_states('copy', copies)
    if (size(slices) > 0) call print_states('slice', slices)
    print '(a,f14.12,a,es9.3,a,i0)', '# kept: functional ', report%functional, ', theta ', report%theta, ', copy ', &
      report%best_copy
    if (params%residual == 1) print '(a,f14.12,a,es9.3)', '# residual: functional ', report%residual_functional, &
      ', theta ', report%residual_theta
    print '(a,f14.12)', '# plaquette ', after%total
    print '(a)', '# '//word(report%iterations + report%residual_iterations)//' iterations, '// &
      shown(report%seconds, '(f12.3)')//' s'// &
      trim(merge('               ', merge(', INTERRUPTED  ', ', NOT CONVERGED', report%stopped == 1), report%converged == 1))
  end subroutine

  subroutine json_states(unit, name, states, after)
    integer, intent(in) :: unit
    character(len=*), intent(in) :: name, after
    type(plaq_gaugefix_state), intent(in) :: states(:)
    integer :: i
    write (unit, '(a)') '  "'//name//'": ['
    do i = 1, size(states)
      write (unit, '(a)') '    {"functional": '//exact(states(i)%functional)//', "theta": '//exact(states(i)%theta)// &
        ', "iterations": '//word(states(i)%iterations)//', "converged": '//truth(states(i)%converged)// &
        ', "seconds": '//exact(states(i)%seconds)//'}'// &
        trim(merge(',', ' ', i < size(states)))
    end do
    write (unit, '(a)') '  ]'//after
  end subroutine

  function json_plaquette(name, p) result(text)
    character(len=*), intent(in) :: name
    type(plaq_plaquette), intent(in) :: p
    character(len=:), allocatable :: text
    text = '  "'//name//'": {"total": '//exact(p%total)//', "spatial": '//exact(p%spatial)//', "temporal": '// &
      exact(p%temporal)//'},'
  end function

  subroutine write_json()
    integer :: unit
    unit = begin_file(json_file)
    write (unit, '(a)') '{', '  "version": '//quoted(plaq_text(plaq_version()))//',', '  "device": '//quoted(device)//','
    write (unit, '(a)') '  "gauge": {"file": '//quoted(gauge_file)//', "format": "'//format_name(file%format)// &
      '", "lattice": '//json_integers(file%extents)//'},'
    write (unit, '(a)') '  "condition": "'//name_of(params%condition, condition_names, condition_values)// &
      '", "time": '//word(direction)//', "method": "'//method//'", "precision": "'// &
      name_of(params%precision, precision_names, precision_values)//'",'
    write (unit, '(a)') '  "omega": '//exact(params%omega)//', "alpha": '//exact(params%alpha)// &
      ', "stop_theta": '//exact(report%stop_theta)//', "stop_theta_max": '//exact(params%stop_theta_max)//','
    write (unit, '(a)') '  "stop_change": '//exact(params%stop_change)//', "seed": '//word(params%seed)//','
    write (unit, '(a)') '  "functional": '//exact(report%functional)//', "theta": '//exact(report%theta)// &
      ', "iterations": '//word(report%iterations)//','
    if (params%residual == 1) write (unit, '(a)') '  "residual": {"functional": '//exact(report%residual_functional)// &
      ', "theta": '//exact(report%residual_theta)//', "iterations": '//word(report%residual_iterations)//'},'
    write (unit, '(a)') '  "converged": '//truth(report%converged)//', "stopped": '//truth(report%stopped)// &
      ', "seconds": '//exact(report%seconds)//', "best_copy": '//word(report%best_copy)//','
    write (unit, '(a)') json_plaquette('plaquette_before', before), json_plaquette('plaquette_after', after)
    write (unit, '(a)') '  "unitarity": {"unitary": '//exact(unitarity%unitary)//', "det": '//exact(unitarity%det)//'},'
    call json_states(unit, 'copies', copies, ',')
    call json_states(unit, 'slices', slices, '')
    write (unit, '(a)') '}'
    call end_file(unit, json_file)
  end subroutine
end program
