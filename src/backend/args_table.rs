// The table of argument structs, those of coarse levels aside.

kernel_args! {
    table FIELD_ARGS;

    /// Extents of the part of the local lattice in one lane; with a single lane of the whole local lattice.
    struct Geom {
        spec x: i32,
        spec y: i32,
        spec z: i32,
        spec t: i32,
        /// Lane bit that is flipped by a step across the boundary between lanes; 0 if the direction is not divided
        /// into lanes.
        spec lane_x: i32,
        spec lane_y: i32,
        spec lane_z: i32,
        spec lane_t: i32,
        /// Bit mu is set if direction mu is divided over ranks.
        spec halos: i32,
        /// Global coordinates of this rank's first site.
        arg origin: [i32; 4],
        arg global: [i32; 4],
    }

    /// Boundaries of links in time (bounds.h).
    struct Bounds {
        /// 0 or a BOUND_* code.
        spec kind: i32,
        /// Real parts of the diagonal elements of the fixed spatial links on the slice behind the last one: three for
        /// each direction.
        arg edge_re: [f64; 9],
        arg edge_im: [f64; 9],
    }

    /// Describes a field to kernels: consecutive planes, each one parity of one right-hand side.
    struct FieldView {
        arg data: Ptr,
        arg norm: Ptr,
        arg plane_bytes: i64,
        arg norm_bytes: i64,
        /// Number of outer sites of a plane.
        spec volume: i32,
    }

    /// Addresses of the faces of projected spinors: entry 2 mu + upper in a send buffer, 2 mu + forward in a receive
    /// buffer.
    struct HaloView {
        arg data: [Ptr; 8],
        arg norm: [Ptr; 8],
        /// Distance in bytes from one right-hand side to the next, for each direction.
        arg plane_bytes: [i64; 4],
        arg norm_bytes: [i64; 4],
    }

    /// Flags of messages, numbered as in HaloView (signal.h).
    struct SignalArgs {
        arg flag: [Ptr; 8],
        /// Number of the exchange, modulo 2^32.
        arg number: i64,
        arg nanoseconds: i64,
        /// Address where a kernel stores one plus the index of a message that did not arrive. If it is not zero no
        /// kernel waits.
        arg failed: Ptr,
        /// Number of blocks that have written their part of the messages; a null address: somebody else signals.
        arg counter: Ptr,
    }

    /// Memory in which the blocks of a reduction add up, and for the totals (sums.h).
    struct SumArgs {
        arg partial: Ptr,
        /// For each batch the number of blocks that have finished.
        arg counters: Ptr,
        /// Addresses of the totals with their `tag`, in memory of the host.
        arg out: Ptr,
        arg tag: i64,
        /// Addresses of the totals for kernels: N numbers of each batch.
        arg totals: Ptr,
        /// Number of ranks that add up here; with 1 this one alone. Each has a board that all write to, in two halves
        /// taken in turn, with `room` numbers for every rank.
        arg ranks: i32,
        arg rank: i32,
        arg board: [Ptr; 8],
        arg board_tag: i64,
        arg room: i64,
        /// A number that is summed in addition to those of each batch.
        arg flag: f64,
        /// Time limit as in SignalArgs; the code of rank r in `failed` is 16 + r.
        arg nanoseconds: i64,
        arg failed: Ptr,
    }

    /// Arguments of a hop on one parity: out = c_y S_y(y) + S_h(sum_mu hop(in)); see wilson.h.
    struct HopArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        /// Planes of the output parity.
        sub out: FieldView,
        sub inp: FieldView,
        sub y: FieldView,
        /// A further term z without site operator, on the output parity.
        sub z: FieldView,
        sub gauge: FieldView,
        /// Clover-like blocks of the output parity, applied to the hop (inverse) or to y (direct).
        sub clover: FieldView,
        /// Faces of `inp` for the neighbouring ranks, which are signalled if the kernel does that.
        sub sent: HaloView,
        sub departures: SignalArgs,
        /// Faces received from other ranks, for outer sites; a launch for all regions waits for them.
        sub received: HaloView,
        sub arrivals: SignalArgs,
        spec region: i32,
        spec parity: i32,
        spec dagger: i32,
        /// Whether there is a y term.
        spec with_y: i32,
        spec site_y: i32,
        spec site_hop: i32,
        /// Whether there is a term with z.
        spec with_z: i32,
        spec with_own: i32,
        /// Bit mu: steps over the boundary of the lattice in direction mu have a phase other than 1; in complex_phase
        /// other than 1 and -1. The bits are the same on all ranks, so that these compile the same kernels.
        spec phase_mask: i32,
        spec complex_phase: i32,
        spec nrhs: i32,
        /// Distance in planes from one right-hand side to the next, in the output.
        spec step_out: i32,
        spec step_in: i32,
        spec step_y: i32,
        spec step_z: i32,
        /// Number of ranks on this machine.
        arg sharers: i32,
        arg coef: [f64; 4],
        /// Phases of steps forward across this rank's boundary, then of those backward, real parts; 1 inside of the
        /// lattice.
        arg phase_re: [f64; 8],
        arg phase_im: [f64; 8],
        arg coef_y: f64,
        arg coef_z: f64,
        arg coef_own: f64,
        /// Twist of the site operator `twist_scale (1 + i twist gamma5)`, with the sign of the dagger.
        arg twist: f64,
        arg twist_scale: f64,
    }

    /// Copies faces of links from a field into messages, or from messages into the borders (border.h).
    struct BorderArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        /// Direction in which links are sent; the borders of lower directions are up to date already.
        spec mu: i32,
        /// The only direction of links that is sent; -1: all four.
        arg direction: i32,
        /// Number of matrices per site of the field.
        spec links: i32,
        /// Messages of this rank's lower and upper face, or those received for its lower and upper border.
        arg message: [Ptr; 2],
        /// For links that are returned: whether they have arrived.
        arg arrived: i32,
    }

    /// Copies the matrices of one parity at faces of a field with one matrix per site (border.h).
    struct FaceArgs {
        sub geom: Geom,
        sub g: FieldView,
        arg parity: i32,
        /// Messages of lower and upper faces in turn, to be sent or received.
        arg message: [Ptr; 8],
    }

    /// Faces of one parity that a kernel writes, and those of the other parity that it received before, both in
    /// messages as in FaceArgs; the kernel waits for messages and signals them itself (border.h).
    struct FaceExchangeArgs {
        arg sent: [Ptr; 8],
        arg received: [Ptr; 8],
        sub departures: SignalArgs,
        sub arrivals: SignalArgs,
    }

    /// Arguments of a Laplacian hop on one parity: out = coef_y y + coef_out out + coef (sum over neighbours of in)
    /// (laplace.h).
    struct LaplaceArgs {
        sub geom: Geom,
        /// Planes of the output parity.
        sub out: FieldView,
        sub inp: FieldView,
        sub y: FieldView,
        sub gauge: FieldView,
        sub sent: HaloView,
        sub received: HaloView,
        spec region: i32,
        spec parity: i32,
        /// Bits of the hops in the sum: 2 mu for the one from x - mu, 2 mu + 1 for the one from x + mu.
        spec hops: i32,
        spec spins: i32,
        spec step_out: i32,
        spec step_in: i32,
        spec step_y: i32,
        /// Bits mu of the directions with a boundary phase.
        spec phase_mask: i32,
        /// Number of right-hand sides.
        arg columns: i32,
        arg coef: f64,
        arg coef_y: f64,
        arg coef_out: f64,
        arg phase_re: [f64; 8],
        arg phase_im: [f64; 8],
    }

    /// Links times phases (smear.h).
    struct LinkTurnArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        arg re: [f64; 4],
        arg im: [f64; 4],
    }

    /// Averages links with staples (smear.h).
    struct SmearArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        sub inp: FieldView,
        sub out: FieldView,
        /// Direction of the links.
        spec mu: i32,
        spec directions: i32,
        /// Number of matrices per site of `inp` and of `out`.
        spec matrices: i32,
        spec matrices_out: i32,
        /// For staples in direction nu the number of the matrix of `inp`.
        arg side: [i32; 4],
        arg top: [i32; 4],
        arg to: i32,
        arg alpha: f64,
        arg weight: f64,
    }

    /// Arguments of a site operator alone on one parity: out = c S(in); batches are right-hand sides.
    struct SiteOpArgs {
        sub geom: Geom,
        sub out: FieldView,
        sub inp: FieldView,
        sub clover: FieldView,
        spec site: i32,
        spec parity: i32,
        spec step_out: i32,
        spec step_in: i32,
        arg coef: f64,
        arg twist: f64,
        arg twist_scale: f64,
    }

    /// Site terms of two flavours on one parity: out = coef S in + coef_y y (doublet.h).
    struct DoubletSiteArgs {
        sub geom: Geom,
        /// Planes of the parity; slices are step_* planes apart.
        sub out: FieldView,
        sub inp: FieldView,
        sub y: FieldView,
        sub clover: FieldView,
        spec site: i32,
        spec parity: i32,
        spec with_y: i32,
        spec step_out: i32,
        spec step_in: i32,
        spec step_y: i32,
        arg coef: f64,
        arg coef_y: f64,
        /// The number m of A + i m gamma5 tau3 + e tau1, with the sign for the adjoint.
        arg twist: f64,
        arg split: f64,
        /// Factor of a site term without clover blocks.
        arg scale: f64,
    }

    /// Arguments of element-wise vector operations (blas.h).
    struct BlasArgs {
        spec op: i32,
        /// Number of planes of a right-hand side: the index of its coefficient is batch / parities.
        spec parities: i32,
        /// Number of reals per site.
        spec reals: i32,
        /// Whether right-hand sides are fastest in memory.
        spec fastest: i32,
        arg rhs: i32,
        arg count: i32,
        sub x: FieldView,
        sub y: FieldView,
        sub z: FieldView,
        sub w: FieldView,
        sub v: FieldView,
        arg a: [f64; 64],
        arg b: [f64; 64],
        arg c: [f64; 64],
        /// TIMES_* code of the factor of a.
        spec times: i32,
        spec times_bc: i32,
        arg sums: Ptr,
        arg sums_bc: Ptr,
        /// Addresses of the numerators, for factors with two sums.
        arg above: Ptr,
        arg above_bc: Ptr,
    }

    /// Copies `n` elements on the device, to measure the bandwidth with which figures are compared.
    struct StreamArgs {
        arg src: Ptr,
        arg dst: Ptr,
    }

    /// Copies `inp` to `out` in another precision or link storage (R18 ... of the constants).
    struct ConvertArgs {
        sub from: FieldView,
        sub to: FieldView,
        spec storage_from: i32,
        spec storage_to: i32,
        spec links: i32,
    }

    /// Gathers a block of sites of a host array into a field, or scatters it (layout.h).
    struct LayoutArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub field: FieldView,
        /// The host's arrays: one per direction for links, off-diagonal and diagonal for clover blocks.
        arg base: [Ptr; 4],
        /// For each component in the field's order the distance in reals from the start of a site in its array.
        arg component: [i64; 72],
        arg stride_site: i64,
        /// Distance in reals from the forward to the backward link, where an array has both at a site.
        arg back: i64,
        /// The launch handles sites first .. first + count of the block.
        arg first: i64,
        arg count: i64,
        /// Parity of the block.
        arg parity: i32,
        arg slice: i32,
        /// One float per link or site for the result of checks, beginning with the launch's first site; null: none.
        arg report: Ptr,
        arg report_first: i64,
        /// Factors that the array's links contain.
        arg scale: [f64; 4],
        arg phase_re: [f64; 4],
        arg phase_im: [f64; 4],
        arg rotation: [f64; 16],
        /// The axes of the array, two bits each, fastest first.
        arg axes: i32,
        arg halo: i32,
        /// Whether the block holds one parity.
        arg split: i32,
        arg sliced: i32,
        arg field_parities: i32,
        arg field_parity: i32,
        arg star: i32,
        /// Bits of the phases in the array: bit mu: links in direction mu across the boundary have a phase; bit 4 + 4
        /// mu + nu: links in direction mu have a sign where x[nu] is odd.
        arg phases: i32,
        arg reproject: i32,
        arg rotate: i32,
        /// 1: numbers are only checked, nothing is stored.
        arg dry: i32,
        /// Few constants: transfers are bound by the bus, and each set of them is compiled anew.
        spec single: i32,
        spec out: i32,
        spec storage: i32,
        /// Number of reals of a vector's site.
        spec reals: i32,
    }

    /// Counts in a report of LayoutArgs: entries below 0, entries above the tolerance.
    struct ReportArgs {
        arg report: Ptr,
        arg count: i64,
        arg tolerance: f64,
    }

    /// Clover term: construction, exponential, inversion, conversion (clover.h, clover_exponential.h).
    struct CloverArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub gauge: FieldView,
        sub inp: FieldView,
        sub out: FieldView,
        spec twisted: i32,
        /// Whether there is a field to write to, or only sums are needed.
        spec write: i32,
        /// Coefficient of the spatial planes.
        arg coef_s: f64,
        arg coef_t: f64,
        /// Terms of the diagonal on the slices next to those where quarks vanish.
        arg lower: f64,
        arg upper: f64,
        /// The number s of A^2 + s.
        arg square: f64,
        /// Number of times that an exponent is halved, so that its norm is at most 1.
        arg halvings: i32,
    }

    /// Gauge observables (observables.h).
    struct ObservableArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub gauge: FieldView,
        /// Direction of lines.
        arg direction: i32,
        /// Address for results per site.
        arg out: Ptr,
    }

    /// Random fields (random.h).
    struct RandomArgs {
        sub geom: Geom,
        sub field: FieldView,
        spec purpose: i32,
        spec links: i32,
        spec parities: i32,
        spec parity: i32,
        /// Count of real numbers of a vector's site.
        spec reals: i32,
        spec fastest: i32,
        arg rhs: i32,
        arg seed: u64,
        arg step: i64,
        arg width: f64,
    }

    /// Heat bath and overrelaxation of one direction on one parity (heatbath.h).
    struct UpdateArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub gauge: FieldView,
        spec heat: i32,
        arg parity: i32,
        arg direction: i32,
        arg seed: u64,
        arg sweep: i64,
        arg beta: f64,
        /// Weight cG of plaquettes at the lower boundary in time.
        arg lower: f64,
        arg upper: f64,
    }

    /// Arguments of sweeps of gauge fixing (gaugefix.h).
    struct GaugeFixArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        /// The transformation g(x).
        sub g: FieldView,
        sub out: FieldView,
        spec condition: i32,
        spec method: i32,
        /// Bit mu is set if the functional has the links of direction mu.
        spec directions: i32,
        /// Direction whose coordinate numbers the slices.
        spec time: i32,
        /// Bit mu is set if links in direction mu are unit matrices, except those from lane to lane (axial.h).
        spec axial: i32,
        /// For a whole sweep in one launch the number of slices by which odd sites follow even ones; 0: a sweep of
        /// one parity.
        spec lag: i32,
        /// Region of a divided lattice: sites at its faces, the others, or both in one launch.
        spec region: i32,
        /// For both regions in one launch: the exchange of faces, and how many threads, in whole blocks, are for the
        /// sites at faces.
        sub faces: FaceExchangeArgs,
        arg face_threads: i32,
        arg parity: i32,
        /// Number of even sites of a slice that this sweep and all before will have changed; and the counters of
        /// those that are changed, one i32 per slice.
        arg target: i32,
        arg done: Ptr,
        /// Parameter of the step: power omega, probability, or inverse temperature.
        arg omega: f64,
        arg seed: u64,
        arg sweep: i64,
        /// Whether each slice of this rank is active, one i32 each.
        arg active: Ptr,
        /// The host's array, in its order, complex doubles.
        arg array: Ptr,
    }

    /// Builds the transformation to axial gauge, slice by slice (axial.h).
    struct AxialArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        sub g: FieldView,
        spec direction: i32,
        arg slice: i32,
    }

    /// Multiplies two transformations in place, g = g h or g h^dagger (gaugefix.h).
    struct TransformProductArgs {
        sub geom: Geom,
        sub g: FieldView,
        sub h: FieldView,
        spec adjoint: i32,
    }

    /// Arguments of Fourier-accelerated gauge fixing (fourier.h). Arrays hold the coefficients of an element of the
    /// Lie algebra for each site, two numbers of all sites as one complex array.
    struct FourierArgs {
        sub fix: GaugeFixArgs,
        /// Whether the gradient is stored, or only its sums are needed.
        spec write: i32,
        arg gradient: Ptr,
        /// The array with which scalar products of the gradient are computed, or the direction.
        arg vector: Ptr,
        arg direction: Ptr,
        /// One or two doubles for each slice of this rank, or 4 sin^2(p/2) of the axes one after another.
        arg table: Ptr,
        arg norm: f64,
    }

    /// Puts pairs of numbers into another order (fourier.h): to[i][j][k] = from[i s0 + j s1 + k s2].
    struct TransposeArgs {
        arg from: Ptr,
        arg to: Ptr,
        /// Numbers of values of i, j and k.
        arg extents: [i32; 4],
        arg strides: [i32; 4],
    }

    /// Arguments for momenta: random numbers, sums, arrays (momenta.h).
    struct MomentaArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub momenta: FieldView,
        /// A second field, of momenta or of general matrices.
        sub other: FieldView,
        /// A second field, of momenta or of general matrices.
        arg form: i32,
        /// 1: even sites come first; 0: lexicographic order.
        arg split: i32,
        /// 1: the array is copied into the field; 0: out of it.
        arg load: i32,
        arg array: Ptr,
        /// Factor of the numbers that are written; in sums the factor of `other`.
        arg factor: f64,
        arg scale: f64,
        arg seed: u64,
        arg step: i64,
    }

    /// Moves links, U <- exp(i step p) U, or puts them back into the group (evolve.h).
    struct EvolveArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub gauge: FieldView,
        sub momenta: FieldView,
        arg step: f64,
    }

    /// Force of the hopping term for several pairs of full spinor fields (fermion_force.h).
    struct HopForceArgs {
        sub geom: Geom,
        sub x: FieldView,
        sub y: FieldView,
        sub gauge: FieldView,
        sub momenta: FieldView,
        /// Projected spinors received from the ranks in the forward directions: of X for even sites, for odd ones,
        /// then of Y.
        sub received: HaloView,
        /// Directions with a boundary phase, as in HopArgs.
        spec phase_mask: i32,
        spec nrhs: i32,
        /// Coefficients of the right-hand sides.
        arg coef: [f64; 32],
        /// -2 kappa times the coefficient of each direction.
        arg hop: [f64; 4],
        /// Phases of steps forward over this rank's boundary.
        arg phase_re: [f64; 4],
        arg phase_im: [f64; 4],
        arg step: f64,
    }

    /// Matrices that the clover term's force has in the corners of plaquettes (clover_force.h).
    struct CloverInsertionArgs {
        sub geom: Geom,
        sub x: FieldView,
        sub y: FieldView,
        /// A^-1, or the first set of a twisted inverse, on even and on odd sites.
        sub even: FieldView,
        sub odd: FieldView,
        sub out: FieldView,
        spec nrhs: i32,
        /// Bit p is set if sites of parity p have blocks.
        spec with_blocks: i32,
        /// 1: the result is added to the field; 0: it replaces its contents.
        spec add: i32,
        arg coef: [f64; 32],
        arg coef_blocks: [f64; 2],
        /// Coefficient for spatial planes.
        arg coef_s: f64,
        arg coef_t: f64,
        /// The traditional blocks, without counterterms at boundaries, whose exponential is A (clover_exponential.h).
        sub exponent: FieldView,
        sub bounds: Bounds,
        /// Factors of that exponential next to boundaries, minus 1.
        arg lower: f64,
        arg upper: f64,
        /// Number of times that these are halved, so that the norm of the exponent is at most 1.
        arg halvings: i32,
    }

    /// Force of the matrices that CloverInsertionArgs made (clover_force.h).
    struct CloverForceArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub gauge: FieldView,
        sub insertion: FieldView,
        sub momenta: FieldView,
        arg step: f64,
    }

    /// Actions and forces of plaquettes and rectangles (gauge_force.h).
    struct ForceArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub gauge: FieldView,
        /// Twelve staples per site, one for each link and plane.
        sub staples: FieldView,
        sub elements: FieldView,
        sub momenta: FieldView,
        /// Links after a stage of the gradient flow.
        sub flowed: FieldView,
        /// Coefficients by plane 01, 02, 12, 03, 13, 23: of plaquettes, of rectangles with two steps in the plane's
        /// first direction, and of those with two in the second.
        arg plaquette: [f64; 6],
        arg first: [f64; 6],
        arg second: [f64; 6],
        /// Weight cG of plaquettes at the lower boundary in time.
        arg lower: f64,
        arg upper: f64,
        arg twice: f64,
        /// Factor in momenta = scale momenta - step F.
        arg scale: f64,
        arg step: f64,
        /// Time for links that move by exp(i time momenta).
        arg time: f64,
        /// Number of links above each other in z that a thread of a GPU takes, a power of two.
        spec column: i32,
        /// Paths that close loops through links of each direction, and their coefficients.
        arg paths: Ptr,
        arg weights: Ptr,
    }

    /// Products and linear combinations of many vectors (basis.h).
    struct BasisArgs {
        sub v: FieldView,
        sub w: FieldView,
        arg first_v: i32,
        arg rows: i32,
        arg first_w: i32,
        arg columns: i32,
        arg parities: i32,
        arg alpha: f64,
        /// Coefficients, rows x columns complex doubles.
        arg coef: Ptr,
    }

    /// out = a x + b y + c z + d w with coefficients for each chirality (chiral.h).
    struct ChiralArgs {
        sub out: FieldView,
        sub x: FieldView,
        sub y: FieldView,
        sub z: FieldView,
        sub w: FieldView,
        spec terms: i32,
        arg coef: [f64; 8],
    }

    /// Stout smearing and forces through it (stout.h).
    struct StoutArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub gauge: FieldView,
        /// The exponent Q of stout smearing.
        sub exponent: FieldView,
        sub force: FieldView,
        sub lambda: FieldView,
        /// Weights rho_munu at index 4 mu + nu.
        arg rho: [f64; 16],
    }

    /// Products of links along up to 8 paths (paths.h): matrices or elements of one step are made from those of the
    /// step before; paths with a step below 0 are not continued, and those in `last` end with this step.
    struct PathArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        sub from: FieldView,
        sub to: FieldView,
        sub force: FieldView,
        arg paths: i32,
        arg step: [i32; 8],
        arg last: [i32; 8],
        arg coef: [f64; 8],
    }
    /// Updates the vectors of all shifts (shifts.h), with 3 coefficients for each right-hand side of each shift.
    struct ShiftArgs {
        /// The residual r; every p has its shape.
        sub r: FieldView,
        /// A solution x; every other has its shape.
        sub x: FieldView,
        spec parities: i32,
        spec reals: i32,
        /// Whether all shifts share one x.
        spec one: i32,
        arg shifts: i32,
        /// Number of right-hand sides of this launch.
        arg count: i32,
        arg p: [Ptr; 24],
        arg norm: [Ptr; 24],
        arg out: [Ptr; 24],
        arg coef: [f64; 360],
    }
}
