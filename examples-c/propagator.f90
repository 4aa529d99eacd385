!> propagator: quark propagators on gauge configurations, and their hadron correlators; the twin of propagator.c: its
!> options, its table, its picture and its JSON. docs/propagator.md describes them.
!>
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --csw 1.2 --json $OUT/point_f.json --plot=$OUT/point_f.svg
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.11 --time-bc periodic --source wall,3 --solver bicgstab --precision double --normalisation mass --rhs 5
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --kappa-strange 0.11 --source point,0,0,0,0:point,2,2,2,4 --source-smear 0.3,5 --sink-smear 0.3,5 --smear-links 0.5,2 --momenta 0,0,0:1,0,0 --baryons all --save $OUT/quark_f.lime
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.11 --source volume --noise z2 --dilute spin,colour,parity --sequential 4,15,0,0,0
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.11 --source wall,all --noise z4 --rhs 4 --json $OUT/walls_f.json
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.11 --source wall,all --noise z4 --json $OUT/walls_f.json --continue yes
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12,0.11 --source-smear 0.3,2 --json $OUT/kappas_f.json --save $OUT/kappas_f.lime
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.13 --csw 1.2 --solver bicgstab --tol 1e-6 --error 1e-11 --mg-smoother red-black --mg-post 3 --mg-coarsest direct
include 'example.inc'
include 'hadrons.inc'
include 'samples.inc'
include 'cycle.inc'
include 'plot.inc'
include 'results.inc'

module propagator_progress
  use, intrinsic :: iso_c_binding
  use example, only: interrupted, progress_due, progress_line, word, small, decimals
  implicit none
  real(c_double), save :: shown_at = 0
contains
  !> Called after every iteration of the solver.
  integer(c_int32_t) function progress(iteration, residual, seconds, user) bind(c)
    integer(c_int64_t), value :: iteration
    real(c_double), value :: residual, seconds
    type(c_ptr), value :: user
    progress = interrupted
    if (c_associated(user)) return
    if (progress_due(seconds, shown_at)) &
      call progress_line(.false., '  iteration '//word(iteration)//', residual '//small(residual, 2)//', '// &
                         decimals(seconds, 1)//' s')
  end function
end module

program propagator
  use plaq
  use example
  use hadron_lists
  use sample_lists
  use multigrid_cycle
  use results
  use propagator_progress
  implicit none
  character(len=83), parameter :: needs(9) = [character(len=83) :: &
    '--dilute --seed: --noise=z2|z4', &
    '--smear-links: --source-smear --sink-smear', &
    '--solver --tol --precision --max-iterations --rhs: !--load', &
    '--save-multigrid --load-multigrid --mg-* --krylov: !--load', &
    '--save-multigrid --load-multigrid --mg-*: --solver=mg --error', &
    '--krylov: --solver=gcr|mg --error', &
    '--mg-setup --mg-setup-solver --mg-setup-columns --mg-refinements: !--load-multigrid', &
    '--mg-coarsest-tol: --mg-coarsest=gcr|(ca-gcr)|bicgstab', &
    '--continue: --json']
  character(len=118), parameter :: help(60) = [character(len=118) :: &
    'usage: propagator_f --gauge FILE[:FILE...] --kappa K[,K...] [options]', &
    'Quark propagators on a gauge configuration; correlators of mesons and baryons with effective masses.', &
    '  --gauge FILE         configuration: NERSC, ILDG, MILC, openQCD or DDalphaAMG, found out by itself', &
    '                       several with colons between, or @LIST: a file with a name a line', &
    '  --kappa K[,K...]     hopping parameter; of several, to 16, heavy quarks first, multigrid keeps the null vectors from', &
    '                       one to the next where they are good', &
    '  --kappa-strange K    of a second, heavier quark (none)', &
    '  --csw C              coefficient of the clover term (0: Wilson)', &
    '  --time-bc B          periodic or antiperiodic (antiperiodic)', &
    '  --source S[:S...]    point,x,y,z,t or wall,t; of several the average is taken; or wall,all: a wall on', &
    '                       every time slice, with noise its dilution in time; or volume: noise of all sites', &
    '                       (point,0,0,0,0)', &
    '  --source-momentum P  nx,ny,nz: sources carry exp(i p x), p = 2 pi n / L (0,0,0)', &
    '  --noise N            none, z2 or z4: sources of noise, one for all spins and colours; no baryons (none)', &
    '  --dilute D[,D...]    of noise: spin, colour, time, parity; columns of a part have nothing else (spin,colour)', &
    '  --seed N             of the noise (0)', &
    '  --sequential T,G,NX,NY,NZ  a second propagator from the first one at the sink: time slice (-1: all), number of', &
    '                       the gamma and momentum; mesons "ls" are then three-point functions; no baryons (none)', &
    '  --source-smear A,N   Gaussian smearing of sources, N steps of weight A, e.g. 0.3,20 (none)', &
    '  --sink-smear A,N     the same at the sink (none)', &
    '  --smear-links A,N    N steps of spatial APE smearing of the links in these, e.g. 0.5,5 (none)', &
    '  --momenta P[:P...]   of the sink, nx,ny,nz; the table shows the first (0,0,0)', &
    '  --baryons B[,B...]   nucleon, sigma, xi, lambda, delta, sigma_star, xi_star, omega; all; none (nucleon)', &
    '  --solver S           cg, cgne, cgnr, bicgstab, gcr, mr, or mg: multigrid (cg)', &
    '  --save-multigrid F   null vectors of multigrid; F.strange of the other quark', &
    '  --load-multigrid F   null vectors that --save-multigrid wrote, in place of a set-up from random ones', &
    '  --mg-cycle C         of multigrid''s second level: v, w or k (k); --mg-deep-cycle C: of the next one (the same)', &
    '  --mg-smoother S      of its finest level: mr, gcr, ca-gcr, richardson, schwarz (additive) or red-black', &
    '                       (Schwarz, multiplicative); --mg-coarse-smoother S: of the next ones (ca-gcr)', &
    '  --mg-post N          steps of these after a correction (10); --mg-coarse-post N: on the next levels (the same)', &
    '  --mg-precision P     of the finest level''s smoother: single or half (half on GPUs with ca-gcr, else single)', &
    '  --mg-links P         of coarse operators'' links: half, quarter or single (quarter on GPUs, else half)', &
    '  --mg-coarsest S      gcr, ca-gcr, bicgstab or direct (ca-gcr)', &
    '  --mg-modes N         low modes of the coarsest level that are solved for exactly (-1: as the', &
    '                       lattice suggests)', &
    '  --mg-tol R, --mg-iterations N, --mg-coarsest-tol R  where solves on coarse levels end (0.25, 8, 0.25)', &
    '  --mg-levels N        with the finest and the coarsest (0: as the lattice suggests)', &
    '  --mg-aggregate A[:A...]  x,y,z,t: sites of a level that become one of the next (as the lattice suggests)', &
    '  --mg-vectors N, --mg-setup N, --mg-refinements N  null vectors and their making (24, 20, 3)', &
    '  --mg-setup-solver S  what makes them of random ones: bicgstab, cg or gcr (bicgstab)', &
    '  --mg-setup-columns N that are iterated at a time (8)', &
    '  --krylov N           directions that GCR keeps (0: 4 with multigrid, else 10)', &
    '  --error R            solve once more with multigrid to the residual R and report in JSON how far', &
    '                       off the propagator was; of one source and one quark', &
    '  --tol R              residual |b - M x| / |b| (1e-10)', &
    '  --precision P        of the iteration inside double: double, single or half (single)', &
    '  --max-iterations N   of each solve (10000)', &
    '  --rhs N              right-hand sides at a time, 1 to 12; fewer take less memory (12)', &
    '  --normalisation N    kappa: M = 1 - kappa H, mass: D = m + 4 - H/2 (kappa)', &
    '  --save FILE          the propagator, SciDAC in LIME; FILE.1 of a second source, FILE.strange of the', &
    '                       other quark', &
    '  --load FILE          propagators that --save wrote for the same links, sources and quarks, in place of solves', &
    '  --device D           auto, cpu or cuda (auto)', &
    '  --threads N          of the CPU; 0: all (0)', &
    '  --bin N              configurations of a jackknife bin (1)', &
    '  --json FILE          everything as JSON, written again and again while the run goes on', &
    '  --continue B         yes: configurations and sources that the JSON has already are not done again (no)', &
    '  --plot FILE.svg      effective masses as a picture, of several configurations with errors', &
    '  --help, -h, --version', &
    'example: propagator_f --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --csw 1.2 --plot pion.svg']

  type(plaq_context) :: context
  integer :: last, c, k
  logical :: finished

  last = command_argument_count()
  call read_options()
  context = open_context(last)
  device = device_name(context)
  write (error_unit, '(a)') 'propagator on '//device
  written = now()
  if (goes_on) call go_on()
  call watch_signals()
  finished = .true.
  do c = 1, jobs(1)%found%configurations
    if (finished) call configuration(c, finished)
  end do
  do k = 1, size(jobs)
    call jackknife(jobs(k)%found, shape_of, jobs(k)%values, jobs(k)%deviations)
    if (has_begun(jobs(k))) call print_table(jobs(k))
  end do
  if (len(json_file) > 0 .and. first_rank(context)) call write_json()
  if (len(plot_file) > 0 .and. first_rank(context)) call write_plot()
  call ok(plaq_context_destroy(context))
  call leave(merge(0, 3, all(jobs%solved%converged == 1) .and. finished))

contains

  !> Kappas with commas between, small ones, of heavy quarks, first.
  function kappa_list(text) result(list)
    character(len=*), intent(in) :: text
    real(c_double), allocatable :: list(:)
    real(c_double) :: value
    integer :: from, to, status, k
    allocate (list(0))
    from = 1
    do
      to = index(text(from:), ',')
      to = merge(len(text), from + to - 2, to == 0)
      status = 1
      if (to >= from .and. verify(text(from:max(from, to)), '0123456789+-.eEdD') == 0) &
        read (text(from:to), *, iostat=status) value
      if (status /= 0) call refuse('--kappa', text, 'a number, or several with commas between')
      if (.not. (value > 0 .and. value < huge(value))) call usage_error('--kappa', 'expected a positive number')
      if (size(list) == most_kappas) call usage_error('--kappa', 'expected at most 16')
      if (any(.not. abs(list - value) > 0)) call usage_error('--kappa', 'a number is given twice')
      k = count(list < value)
      list = [list(:k), value, list(k + 1:)]
      if (to >= len(text)) return
      from = to + 2
    end do
  end function

  subroutine read_options()
    type(job) :: j
    real(c_double), allocatable :: kappas(:)
    integer :: k
    call check_options(last, '--gauge --kappa --kappa-strange --csw --time-bc --source --source-momentum --noise --dilute '// &
                       '--seed --sequential --source-smear --sink-smear --smear-links --momenta --baryons --solver --tol '// &
                       '--precision --max-iterations --rhs --normalisation --save --load --save-multigrid --load-multigrid '// &
                       '--mg-cycle --mg-deep-cycle --mg-smoother --mg-coarse-smoother --mg-post --mg-coarse-post '// &
                       '--mg-precision --mg-links --mg-coarsest --mg-modes --mg-tol --mg-iterations --mg-coarsest-tol '// &
                       '--mg-levels --mg-aggregate --mg-setup-solver --mg-setup-columns --mg-vectors --mg-setup '// &
                       '--mg-refinements --krylov --error --bin --device --threads --json '// &
                       '--continue --plot', help, needs)
    call file_list('--gauge', option(last, '--gauge'), j%found)
    j%found%bin = whole(last, '--bin', '1')
    goes_on = yes(last, '--continue')
    json_file = option(last, '--json', '')
    plot_file = option(last, '--plot', '')
    save_file = option(last, '--save', '')
    load_file = option(last, '--load', '')
    save_multigrid = option(last, '--save-multigrid', '')
    load_multigrid = option(last, '--load-multigrid', '')
    allocate (kappas, source=kappa_list(option(last, '--kappa')))
    j%kappa(1) = kappas(1)
    j%kappa(2) = number(last, '--kappa-strange', '0')
    quarks = merge(2, 1, abs(j%kappa(2)) > 0)
    csw = number(last, '--csw', '0')
    tol = number(last, '--tol', '1e-10')
    tol_error = number(last, '--error', '0')
    boundary = choose(last, '--time-bc', 'antiperiodic', boundary_names, boundary_values)
    algorithm = choose(last, '--solver', 'cg', solver_names, solver_values)
    precision = choose(last, '--precision', 'single', precision_names, precision_values)
    normalisation = choose(last, '--normalisation', 'kappa', normalisation_names, normalisation_values)
    max_iterations = whole32(last, '--max-iterations', '10000')
    rhs = whole32(last, '--rhs', '12')
    krylov = whole32(last, '--krylov', '0')
    levels = read_cycle(last)
    call source_list(last, source, sources)
    at_source = smearing_option(last, '--source-smear')
    at_sink = smearing_option(last, '--sink-smear')
    of_links = smearing_option(last, '--smear-links')
    shape_of%quarks = quarks
    call sequential_option(last, shape_of)
    call momentum_list(last, shape_of)
    call baryon_list(last, trim(merge('none   ', 'nucleon', source(1)%noise /= PLAQ_SOURCE_NOISE_NONE .or. &
                                      shape_of%sequential)), shape_of)
    if (j%kappa(2) < 0) call usage_error('--kappa-strange', 'expected a positive number')
    if (quarks > 1 .and. size(kappas) > 1) call usage_error('--kappa-strange', 'expected one --kappa beside it')
    if (max_iterations < 1 .or. max_iterations > 2**30) call usage_error('--max-iterations', 'expected 1 to 2^30')
    if (krylov < 0 .or. krylov > 2**20) call usage_error('--krylov', 'expected 0 to 2^20')
    if (rhs < 1 .or. rhs > columns) call usage_error('--rhs', 'expected 1 to 12 right-hand sides at a time')
    if (source(1)%noise /= PLAQ_SOURCE_NOISE_NONE .and. shape_of%baryon_count > 0) &
      call usage_error('--baryons', 'expected none with noise')
    if (shape_of%sequential .and. (quarks > 1 .or. at_sink%steps > 0 .or. shape_of%baryon_count > 0)) &
      call usage_error('--sequential', 'expected no strange quark, sink smearing or baryons')
    if (len(save_file) > 0 .and. len(load_file) > 0) call usage_error('--load', 'propagators are loaded or saved, not both')
    if (len(save_multigrid) > 0 .and. len(load_multigrid) > 0) &
      call usage_error('--load-multigrid', 'null vectors are loaded or saved, not both')
    if (abs(tol_error) > 0 .and. (tol_error < 0 .or. len(load_file) > 0 .or. sources > 1 .or. has_parts(source(1)) &
                                  .or. shape_of%quarks > 1 .or. j%found%configurations > 1 .or. goes_on)) &
      call usage_error('--error', 'expected a positive number, one configuration, source and quark, no --load or --continue')
    if (j%found%bin < 1) call usage_error('--bin', 'expected 1 or more')
    call check_output(json_file, overwrite=.true.)
    call check_plot(plot_file, overwrite=.true.)
    call ok(plaq_solve_report_init(j%solved, c_sizeof(j%solved)))
    call ok(plaq_dirac_report_init(j%action, c_sizeof(j%action)))
    call ok(plaq_multigrid_report_init(j%hierarchy, c_sizeof(j%hierarchy)))
    j%solved%converged = 1
    j%hierarchy%refresh = PLAQ_REFRESH_NONE
    allocate (jobs(size(kappas)))
    do k = 1, size(jobs)
      jobs(k) = j
      jobs(k)%kappa(1) = kappas(k)
      jobs(k)%action%kappa = kappas(k)
      jobs(k)%action%mass = 0.5d0 / kappas(k) - 4
      call check_outputs(jobs(k), save_file, .true.)
    end do
    call check_outputs(jobs(1), save_multigrid, .false.)
  end subroutine

  !> Files of propagators and null vectors have their names from one option.
  subroutine check_outputs(j, base, of_kappa)
    type(job), intent(in) :: j
    character(len=*), intent(in) :: base
    logical, intent(in) :: of_kappa
    character(len=:), allocatable :: name
    integer :: c, q
    if (len(base) == 0) return
    do c = 1, j%found%configurations
      do q = 1, quarks
        name = file_of(j, base, of_kappa, c, 1, q)
        call check_output(name(:len(name) - 1), overwrite=.true.)
      end do
    end do
  end subroutine

  !> Reads a configuration for all jobs.
  subroutine read_links(c, links)
    integer, intent(in) :: c
    type(plaq_gauge), intent(inout) :: links
    type(plaq_file_report) :: report
    real(c_double) :: start
    start = now()
    call ok(plaq_file_report_init(report, c_sizeof(report)))
    call ok(plaq_gauge_read_file(context, jobs(1)%found%files(c)%text//c_null_char, gauge=links, report=report))
    if (times > 0) then
      if (any(report%extents /= file%extents)) then
        write (error_unit, '(a)') jobs(1)%found%files(c)%text//': '//json_integers(report%extents)// &
          ', the other configurations '//json_integers(file%extents)
        call leave(1)
      end if
    end if
    file = report
    call ok(plaq_gauge_plaquette(links, average))
    part = file%extents
    call divide(context, part)
    call start_averages(file%extents)
    jobs(1)%seconds_load = jobs(1)%seconds_load + now() - start
  end subroutine

  !> Makes the operators of a job and, where something is smeared with them, smeared links. Links that no job after it
  !> needs are smeared in place, or stay in the operators only.
  subroutine make_operators(j, last_one, links, smeared, dirac)
    type(job), intent(inout) :: j
    logical, intent(in) :: last_one
    type(plaq_gauge), intent(inout) :: links, smeared
    type(plaq_dirac), intent(inout) :: dirac(2)
    type(plaq_dirac_params) :: params
    type(plaq_gauge_params) :: p
    type(plaq_gauge_smear_params) :: smear
    type(plaq_gauge) :: none
    real(c_double) :: start
    integer :: q
    start = now()
    do q = 1, quarks
      call ok(plaq_dirac_params_init(params, c_sizeof(params)))
      params%kappa = j%kappa(q)
      params%csw = csw
      params%boundary(4) = boundary
      params%normalisation = normalisation
      call ok(plaq_dirac_create(context, links, params, dirac(q)))
    end do
    call ok(plaq_dirac_report_init(j%action, c_sizeof(j%action)))
    call ok(plaq_dirac_describe(dirac(1), j%action))
    if ((at_source%steps > 0 .or. at_sink%steps > 0) .and. smeared%id == 0) then
      if (last_one) then
        smeared = links
        links = none
      else
        call ok(plaq_gauge_params_init(p, c_sizeof(p)))
        p%extents = int(part, c_int32_t)
        call ok(plaq_gauge_create(context, p, smeared))
        call ok(plaq_gauge_copy(links, smeared))
      end if
      call ok(plaq_gauge_smear_params_init(smear, c_sizeof(smear)))
      smear%kind = PLAQ_SMEARING_APE
      smear%steps = of_links%steps
      smear%alpha(1) = of_links%alpha
      smear%directions = 7
      if (of_links%steps > 0) call ok(plaq_gauge_smear(smeared, smear))
    end if
    if (last_one) then
      call ok(plaq_gauge_destroy(links))
      links = none
    end if
    j%seconds_load = j%seconds_load + now() - start
  end subroutine

  !> Refuses places that the lattice does not have, before any work.
  subroutine check_places(extents)
    integer(c_int32_t), intent(in) :: extents(4)
    character(len=:), allocatable :: lattice
    integer :: s, mu
    lattice = 'a place on the lattice '
    do mu = 1, 4
      lattice = lattice//word(int(extents(mu), c_int64_t))//trim(merge(', ', '  ', mu < 4))
    end do
    do s = 1, sources
      if (any(source(s)%position >= extents)) call refuse('--source', source_name(source(s)), lattice)
    end do
    if (shape_of%sequential .and. shape_of%sequence%time >= extents(4)) &
      call refuse('--sequential', 'time slice '//word(int(shape_of%sequence%time, c_int64_t)), lattice)
  end subroutine

  !> What needs the lattice's extents.
  subroutine start_averages(extents)
    integer(c_int32_t), intent(in) :: extents(4)
    integer :: k
    if (times > 0) return
    call check_places(extents)
    times = extents(4)
    shape_of%times = times
    call all_parts(source, sources, times)
    do k = 1, size(jobs)
      associate (j => jobs(k))
        call start_samples(j%found, sources, hadron_numbers(shape_of))
        allocate (j%values(hadron_numbers(shape_of) + derived * times))
        allocate (j%deviations(size(j%values)))
      end associate
    end do
  end subroutine

  !> A configuration, for the jobs of which an earlier run has not all. done is false if it was interrupted.
  subroutine configuration(c, done)
    integer, intent(in) :: c
    logical, intent(out) :: done
    type(plaq_dirac) :: dirac(2)
    type(plaq_gauge) :: links, smeared
    type(plaq_multigrid) :: multigrid(2)
    integer :: s, q, k, last_one
    logical :: missing(size(jobs))
    missing = times == 0
    done = .true.
    do k = 1, size(jobs)
      do s = 1, merge(sources, 0, times > 0)
        if (jobs(k)%found%of(s, c)%there) then
          write (error_unit, '(a)') '  '//jobs(k)%found%files(c)%text//', '//source_name(source(s))//': skipped, '// &
            json_file//' has it'
        else
          missing(k) = .true.
        end if
      end do
    end do
    if (.not. any(missing)) return
    last_one = findloc(missing, .true., 1, back=.true.)
    if (jobs(1)%found%configurations > 1) write (error_unit, '(a)') '  '//jobs(1)%found%files(c)%text
    call read_links(c, links)
    do k = 1, last_one
      if (.not. done .or. .not. missing(k)) cycle
      if (size(jobs) > 1) write (error_unit, '(a)') '  kappa '//general(jobs(k)%kappa(1), 10)
      call make_operators(jobs(k), k == last_one, links, smeared, dirac)
      call run(dirac, smeared, jobs(k), c, multigrid, done)
      do q = 1, quarks
        call ok(plaq_dirac_destroy(dirac(q)))
      end do
    end do
    do q = 1, quarks
      call ok(plaq_multigrid_destroy(multigrid(q)))
    end do
    call ok(plaq_gauge_destroy(links))
    call ok(plaq_gauge_destroy(smeared))
  end subroutine

  !> Takes over what the JSON of an earlier run has: of every job that it has, too.
  subroutine go_on()
    character(len=*), parameter :: before_job = '"job": "', before_lattice = '"lattice": ['
    character(len=:), allocatable :: text, key
    integer :: at, n, status, k, first
    logical :: any_there
    call read_text(json_file, text)
    if (.not. allocated(text)) return ! the first time
    call ok(plaq_file_report_init(file, c_sizeof(file)))
    status = 1
    at = index(text, before_lattice)
    if (at > 0) then
      at = at + len(before_lattice)
      n = max(index(text(at:), ']') - 1, 0)
      read (text(at:at + n - 1), *, iostat=status) file%extents
    end if
    first = index(text, before_job)
    if (first == 0 .or. status /= 0 .or. any(file%extents < 1)) then
      write (error_unit, '(a)') '--continue: '//json_file//': not the JSON of a run of propagator'
      call leave(1)
    end if
    call start_averages(file%extents)
    call known_format(text, file)
    any_there = .false.
    do k = 1, size(jobs)
      key = before_job//described(jobs(k))//'"'
      at = index(text, key)
      if (at == 0) cycle
      any_there = .true.
      at = at + len(key)
      n = index(text(at:), before_job)
      n = merge(len(text), at + n - 2, n == 0)
      call take_samples(text(at:n), jobs(k)%found, source)
    end do
    if (any_there) return
    first = first + len(before_job)
    write (error_unit, '(a)') '--continue: '//json_file//': of another run', &
      '  there '//text(first:first + index(text(first:), '"') - 2), '  here  '//described(jobs(1))
    call leave(1)
  end subroutine

  !> The file of a configuration and, of what belongs to one, a kappa, where there are several, a source, counted from 1, and
  !> a quark, for C.
  function file_of(j, base, of_kappa, c, s, q) result(name)
    type(job), intent(in) :: j
    character(len=*), intent(in) :: base
    logical, intent(in) :: of_kappa
    integer, intent(in) :: c, s, q
    character(len=:), allocatable :: name
    name = base
    associate (gauge => j%found%files(c)%text)
      if (j%found%configurations > 1) name = name//'.'//gauge(index(gauge, '/', back=.true.) + 1:)
    end associate
    if (of_kappa .and. size(jobs) > 1) name = name//'.'//general(j%kappa(1), 10)
    if (s > 1) name = name//'.'//word(int(s - 1, c_int64_t))
    if (q == 2) name = name//trim(merge('.sequential', '.strange   ', shape_of%sequential))
    name = name//c_null_char
  end function

  !> A hierarchy: that of the kappa before, whose null vectors are kept unless they are bad, or set up, or from a file.
  subroutine make_multigrid(dirac, j, c, q, multigrid)
    type(plaq_dirac), intent(in) :: dirac
    type(job), intent(in) :: j
    integer, intent(in) :: c, q
    type(plaq_multigrid), intent(inout) :: multigrid
    type(plaq_multigrid_params) :: build
    if (multigrid%id /= 0) then
      call ok(plaq_multigrid_update(multigrid, dirac, PLAQ_REFRESH_KEEP, 1))
      return
    end if
    call ok(plaq_multigrid_params_init(build, c_sizeof(build)))
    call apply_cycle(levels, build)
    if (len(load_multigrid) > 0) then
      call ok(plaq_multigrid_load(dirac, build, file_of(j, load_multigrid, .false., c, 1, q), multigrid))
    else
      call ok(plaq_multigrid_create(dirac, build, multigrid))
    end if
    if (len(save_multigrid) > 0) call ok(plaq_multigrid_save(multigrid, file_of(j, save_multigrid, .false., c, 1, q)))
  end subroutine

  subroutine make_solver(dirac, algorithm, tol, solver, multigrid)
    type(plaq_dirac), intent(in) :: dirac
    integer(c_int32_t), intent(in) :: algorithm
    real(c_double), intent(in) :: tol
    type(plaq_solver), intent(inout) :: solver
    type(plaq_multigrid), intent(in) :: multigrid
    type(plaq_solver_params) :: params
    call ok(plaq_solver_params_init(params, c_sizeof(params)))
    params%algorithm = algorithm
    if (algorithm == multigrid_solver) then
      params%algorithm = PLAQ_ALGORITHM_GCR
      params%nkrylov = 4
    end if
    params%sloppy_precision = precision
    params%tol = tol
    if (krylov > 0) params%nkrylov = int(krylov, c_int32_t)
    params%max_iterations = int(max_iterations, c_int32_t)
    params%columns = int(rhs, c_int32_t)
    call ok(plaq_solver_create(dirac, params, solver))
    if (algorithm == multigrid_solver) call ok(plaq_solver_set_multigrid(solver, multigrid))
  end subroutine

  !> The twelve columns of one source, which has been smeared, for one quark.
  subroutine solve(j, solver, s, from, propagator, one)
    type(job), intent(inout) :: j
    type(plaq_solver), intent(in) :: solver
    integer, intent(in) :: s
    type(plaq_spinor), intent(in) :: from
    type(plaq_spinor), intent(inout) :: propagator
    type(sample), intent(inout) :: one
    type(plaq_solve_report) :: report
    real(c_double) :: r(columns)
    call ok(plaq_solve_report_init(report, c_sizeof(report)))
    shown_at = 0
    ! Sources that nobody else needs are made inside, which saves their memory.
    if (from%id /= 0) then
      call ok(plaq_solver_columns(solver, from, c_funloc(progress), c_null_ptr, propagator, report, r))
    else
      call ok(plaq_solver_propagator(solver, source(s), c_funloc(progress), c_null_ptr, propagator, report, r))
    end if
    call progress_line(.true., '  '//word(report%iterations)//' iterations, residual '//small(report%residual, 2)//', '// &
                       decimals(report%seconds, 2)//' s')
    one%converged = one%converged .and. report%converged == 1
    one%iterations = max(one%iterations, report%iterations)
    one%residual = max(one%residual, report%residual)
    j%solves = j%solves + 1
    if (j%solves == 1) then
      j%solved = report
      j%residuals = r
      return
    end if
    if (report%converged == 0 .and. (j%solved%converged == 1 .or. report%stopped_by > j%solved%stopped_by)) &
      j%solved%stopped_by = report%stopped_by
    j%solved%converged = min(j%solved%converged, report%converged)
    j%solved%stopped = max(j%solved%stopped, report%stopped)
    j%solved%standstill = max(j%solved%standstill, report%standstill)
    j%solved%iterations = max(j%solved%iterations, report%iterations)
    j%solved%residual = max(j%solved%residual, report%residual)
    j%solved%residual_hq = max(j%solved%residual_hq, report%residual_hq)
    j%solved%memory_peak = max(j%solved%memory_peak, report%memory_peak)
    j%solved%reliable_updates = j%solved%reliable_updates + report%reliable_updates
    j%solved%restarts = j%solved%restarts + report%restarts
    j%solved%seconds = j%solved%seconds + report%seconds
    j%solved%flops = j%solved%flops + report%flops
    j%solved%bytes = j%solved%bytes + report%bytes
    j%residuals = max(j%residuals, r)
  end subroutine

  subroutine describe_multigrid(j, multigrid)
    type(job), intent(inout) :: j
    type(plaq_multigrid), intent(in) :: multigrid
    integer :: l
    call ok(plaq_multigrid_report_init(j%hierarchy, c_sizeof(j%hierarchy)))
    call ok(plaq_multigrid_describe(multigrid, j%hierarchy))
    do l = 1, j%hierarchy%levels
      call ok(plaq_multigrid_level_init(j%level(l), c_sizeof(j%level(l))))
      call ok(plaq_multigrid_describe_level(multigrid, int(l - 1, c_int32_t), j%level(l)))
    end do
  end subroutine

  !> How far a propagator is from one that is solved for again, to a smaller residual: after Clark et al.,
  !> arXiv:1612.07873, section 7.
  subroutine measure_error(j, dirac, multigrid, from, propagator)
    type(job), intent(inout) :: j
    type(plaq_dirac), intent(in) :: dirac
    type(plaq_multigrid), intent(in) :: multigrid
    type(plaq_spinor), intent(in) :: from, propagator
    type(plaq_solver) :: solver
    type(plaq_spinor) :: better
    type(plaq_solve_report) :: report
    real(c_double) :: r(columns)
    call make_solver(dirac, multigrid_solver, tol_error, solver, multigrid)
    call ok(plaq_solve_report_init(report, c_sizeof(report)))
    shown_at = 0
    if (from%id /= 0) then
      call ok(plaq_solver_columns(solver, from, c_funloc(progress), c_null_ptr, better, report, r))
    else
      call ok(plaq_solver_propagator(solver, source(1), c_funloc(progress), c_null_ptr, better, report, r))
    end if
    if (report%converged /= 1) &
      write (error_unit, '(a)') 'propagator: --error: residual '//shown(report%residual, '(es9.2)')//' only'
    call subtract(better, propagator, j%errors)
    call ok(plaq_spinor_destroy(better))
    call ok(plaq_solver_destroy(solver))
  end subroutine

  !> Takes columns from those of a field; the norm of what is left over that of what was there.
  subroutine subtract(field, other, left)
    type(plaq_spinor), intent(in) :: field, other
    real(c_double), intent(out) :: left(columns)
    real(c_double) :: ones(2, columns), norm(columns), apart(columns)
    integer(c_int64_t) :: n
    n = columns
    ones(1, :) = 1
    ones(2, :) = 0
    call ok(plaq_spinor_norm2(field, norm, n))
    call ok(plaq_spinor_axpby(-ones, other, ones, field, n))
    call ok(plaq_spinor_norm2(field, apart, n))
    left = sqrt(apart / norm)
  end subroutine

  subroutine new_columns(field)
    type(plaq_spinor), intent(inout) :: field
    type(plaq_spinor_params) :: p
    call ok(plaq_spinor_params_init(p, c_sizeof(p)))
    p%extents = int(part, c_int32_t)
    p%nrhs = columns
    call ok(plaq_spinor_create(context, p, field))
  end subroutine

  !> A propagator of a file: of this source, configuration and quark, else correlators would be wrong in silence.
  subroutine read_propagator(j, c, s, q, dirac, from, propagator)
    type(job), intent(in) :: j
    integer, intent(in) :: c, s, q
    type(plaq_dirac), intent(in) :: dirac
    type(plaq_spinor), intent(in) :: from
    type(plaq_spinor), intent(inout) :: propagator
    type(plaq_propagator_read_params) :: p
    type(plaq_spinor_report) :: form
    type(plaq_spinor) :: image
    real(c_double) :: off(columns)
    character(len=:), allocatable :: name
    call ok(plaq_propagator_read_params_init(p, c_sizeof(p)))
    p%extents = file%extents
    p%precision = PLAQ_PRECISION_DOUBLE
    call ok(plaq_propagator_read_file(context, file_of(j, load_file, .true., c, s, q), p, propagator))
    call ok(plaq_spinor_report_init(form, c_sizeof(form)))
    call ok(plaq_spinor_describe(propagator, form))
    if (form%nrhs /= columns) call usage_error('--load', 'expected twelve columns')
    call new_columns(image)
    call ok(plaq_dirac_apply(dirac, PLAQ_SYSTEM_FULL, PLAQ_FORM_M, image, propagator))
    call subtract(image, from, off)
    call ok(plaq_spinor_destroy(image))
    if (all(off < 1e-3)) return
    name = file_of(j, load_file, .true., c, s, q)
    write (error_unit, '(a)') '--load: '//name(:index(name, c_null_char) - 1)//': expected |b - M x| / |b| below 0.001 for '// &
      'this configuration, source and quark, found '//general(maxval(off), 2)
    call leave(1)
  end subroutine

  subroutine write_propagator(j, c, s, q, propagator, from)
    type(job), intent(in) :: j
    integer, intent(in) :: c, s, q
    type(plaq_spinor), intent(in) :: propagator, from
    type(plaq_propagator_write_params) :: p
    character(len=200), target :: info
    call ok(plaq_propagator_write_params_init(p, c_sizeof(p)))
    info = 'plaq '//plaq_text(plaq_version())//', kappa '//general(j%kappa(merge(1, q, shape_of%sequential)), 17)// &
      ', csw '//general(csw, 17)//', '//name_of(normalisation, normalisation_names, normalisation_values)// &
      ' normalisation'//c_null_char
    p%info = c_loc(info)
    call ok(plaq_propagator_write_file(propagator, from, file_of(j, save_file, .true., c, s, q), p))
  end subroutine

  !> The propagators of a configuration, source after source, and their correlators. done is false if it was
  !> interrupted.
  subroutine run(dirac, smeared, j, c, multigrid, done)
    type(plaq_dirac), intent(in) :: dirac(2)
    type(plaq_gauge), intent(in) :: smeared
    type(job), intent(inout) :: j
    integer, intent(in) :: c
    type(plaq_multigrid), intent(inout) :: multigrid(2)
    logical, intent(out) :: done
    type(plaq_solver) :: solver(2)
    type(plaq_spinor) :: quark(2), from, begin, none
    logical :: follows
    real(c_double) :: start, before, paused
    integer :: s, q
    start = now()
    before = j%seconds_propagator
    done = .true.
    if (len(load_file) == 0) then
      do q = 1, quarks
        if (algorithm == multigrid_solver) then
          call make_multigrid(dirac(q), j, c, q, multigrid(q))
          if (q == 1) call describe_multigrid(j, multigrid(1)) ! for what is written meanwhile
        end if
        call make_solver(dirac(q), algorithm, tol, solver(q), multigrid(q))
      end do
    end if
    do s = 1, sources
      associate (one => j%found%of(s, c))
        if (one%there) cycle
        one%converged = .true.
        one%plaquette = [average%total, average%spatial, average%temporal]
        from = none
        if (at_source%steps > 0 .or. len(save_file) > 0 .or. len(load_file) > 0) then
          call new_columns(from)
          call ok(plaq_spinor_source(from, source(s)))
          call smear(from, smeared, at_source)
        end if
        do q = 1, shape_of%quarks
          begin = from
          follows = q == 2 .and. shape_of%sequential
          if (follows) begin = sequential_source(context, part, shape_of, quark(1), source(s))
          if (len(load_file) > 0) then
            call read_propagator(j, c, s, q, dirac(merge(1, q, follows)), begin, quark(q))
          else
            call solve(j, solver(merge(1, q, follows)), s, begin, quark(q), one)
          end if
          if (tol_error > 0) then
            paused = now()
            if (algorithm /= multigrid_solver) call make_multigrid(dirac(1), j, c, 1, multigrid(1))
            call describe_multigrid(j, multigrid(1)) ! what is measured next is not in it
            j%seen = .true.
            call measure_error(j, dirac(1), multigrid(1), from, quark(1))
            start = start + now() - paused
          end if
          if (len(save_file) > 0) call write_propagator(j, c, s, q, quark(q), begin)
          call smear(quark(q), smeared, at_sink)
          if (follows) call ok(plaq_spinor_destroy(begin))
        end do
        j%seconds_propagator = before + now() - start
        done = j%solved%stopped == 0
        ! Half a propagator is shown only where there is nothing else.
        if (done .or. (c == 1 .and. s == 1)) then
          one%there = .true.
          call contract_hadrons(shape_of, quark, source(s), real(boundary, c_double), j%found%numbers(:, s, c))
        end if
      end associate
      do q = 1, shape_of%quarks
        call ok(plaq_spinor_destroy(quark(q)))
      end do
      call ok(plaq_spinor_destroy(from))
      if (.not. done) exit
      ! A run that is killed loses little; files that grow take a twentieth of the time.
      if (len(json_file) > 0 .and. now() - written > 20 * writing + 1) then
        if (first_rank(context)) call write_json()
      end if
    end do
    do q = 1, quarks
      call ok(plaq_solver_destroy(solver(q)))
    end do
    if (algorithm == multigrid_solver .and. multigrid(1)%id /= 0 .and. .not. j%seen) call describe_multigrid(j, multigrid(1))
  end subroutine

end program
