// The table of argument structs, those of coarse levels aside.

kernel_args! {
    table FIELD_ARGS;

    /// Extents of one lane's piece of the local lattice (the whole local lattice where lanes = 1).
    struct Geom {
        spec x: i32,
        spec y: i32,
        spec z: i32,
        spec t: i32,
        /// Lane bit that a step over the seam flips, 0 where the direction is not split.
        spec lane_x: i32,
        spec lane_y: i32,
        spec lane_z: i32,
        spec lane_t: i32,
        /// Bit mu: the direction is divided over ranks.
        spec halos: i32,
        /// Global coordinates of the first site of this rank, and the global extents.
        arg origin: [i32; 4],
        arg global: [i32; 4],
    }

    /// A field: consecutive planes, each one parity of one right-hand side.
    struct FieldView {
        arg data: Ptr,
        arg norm: Ptr,
        arg plane_bytes: i64,
        arg norm_bytes: i64,
        /// Outer sites of a plane.
        spec volume: i32,
    }

    /// Faces of projected spinors: entry 2 mu + upper in a send buffer, 2 mu + forward in what came.
    struct HaloView {
        arg data: [Ptr; 8],
        arg norm: [Ptr; 8],
        /// Bytes from one right-hand side to the next, per direction.
        arg plane_bytes: [i64; 4],
        arg norm_bytes: [i64; 4],
    }

    /// Flags of messages, by their number as in HaloView (signal.h).
    struct SignalArgs {
        arg flag: [Ptr; 8],
        /// Number of the exchange, modulo 2^32.
        arg number: i64,
        arg nanoseconds: i64,
        /// Where the index of a message that did not come is left, plus one. Nobody waits any more
        /// once it is not zero.
        arg failed: Ptr,
        /// Blocks that wrote their part of the messages, 0: somebody else signals.
        arg counter: Ptr,
    }

    /// Where the blocks of a reduction add up, and where the totals go (sums.h).
    struct SumArgs {
        arg partial: Ptr,
        /// Blocks of each batch that are done.
        arg counters: Ptr,
        /// Numbers with `tag`, in memory of the host.
        arg out: Ptr,
        arg tag: i64,
        /// The same for kernels: N numbers of each batch.
        arg totals: Ptr,
        /// The ranks that add up here, with 1 none but this one; each has a board that all write to,
        /// in two halves taken in turn, with `room` numbers of every rank.
        arg ranks: i32,
        arg rank: i32,
        arg board: [Ptr; 8],
        arg board_tag: i64,
        arg room: i64,
        /// Added up beside the numbers of each batch.
        arg flag: f64,
        /// The limit of time as in SignalArgs; the code of rank r is 16 + r.
        arg nanoseconds: i64,
        arg failed: Ptr,
    }

    /// out = c_y S_y(y) + S_h(sum_mu hop(in)) on one parity; see wilson.h.
    struct HopArgs {
        sub geom: Geom,
        /// Planes of the output parity; `in` has the other one.
        sub out: FieldView,
        sub inp: FieldView,
        sub y: FieldView,
        /// A further term without site operator, of the output parity.
        sub z: FieldView,
        sub gauge: FieldView,
        /// Clover-like blocks of the output parity applied to the hop (inverse) or to y (direct).
        sub clover: FieldView,
        /// Faces of `in` for the ranks behind them, who are told where kernels do that.
        sub sent: HaloView,
        sub departures: SignalArgs,
        /// Theirs, for outer sites, which await them in a launch that takes all regions.
        sub received: HaloView,
        sub arrivals: SignalArgs,
        spec region: i32,
        spec parity: i32,
        spec dagger: i32,
        /// Is the y term there, and which site operator acts on y / on the hop.
        spec with_y: i32,
        spec site_y: i32,
        spec site_hop: i32,
        /// Are the terms z and out itself there.
        spec with_z: i32,
        spec with_own: i32,
        /// Bit mu: steps over the lattice's boundary take a phase that is not 1, of complex_phase: and not
        /// -1. The same on all ranks, which so compile the same kernels.
        spec phase_mask: i32,
        spec complex_phase: i32,
        spec nrhs: i32,
        /// Planes from one right-hand side to the next in each of the fields.
        spec step_out: i32,
        spec step_in: i32,
        spec step_y: i32,
        spec step_z: i32,
        /// Ranks on this machine.
        arg sharers: i32,
        arg coef: [f64; 4],
        /// Phases of steps forward over this rank's boundary, then backward: 1 inside the lattice.
        arg phase_re: [f64; 8],
        arg phase_im: [f64; 8],
        arg coef_y: f64,
        arg coef_z: f64,
        arg coef_own: f64,
        /// Twist: site operator is `twist_scale (1 + i twist gamma5)`, sign of dagger included.
        arg twist: f64,
        arg twist_scale: f64,
    }

    /// Faces of links between a field and messages, or from messages into the borders (border.h).
    struct BorderArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        /// Direction that is crossed; those below it have their borders.
        spec mu: i32,
        /// The one direction of links that travels, -1: all four.
        arg direction: i32,
        /// Matrices per site of the field.
        spec links: i32,
        /// Lower and upper face of this rank, or what came for its lower and upper border.
        arg message: [Ptr; 2],
        /// Links on their way back: have they arrived?
        arg arrived: i32,
    }

    /// Matrices of one parity at faces of a field of one matrix per site (border.h).
    struct FaceArgs {
        sub geom: Geom,
        sub g: FieldView,
        arg parity: i32,
        /// Messages of lower and upper faces in turn: what goes, or what came.
        arg message: [Ptr; 8],
    }

    /// Faces of one parity that a kernel writes and those of the other that came before, both in
    /// messages of FaceArgs, of which it is told and tells by itself (border.h).
    struct FaceExchangeArgs {
        arg sent: [Ptr; 8],
        arg received: [Ptr; 8],
        sub departures: SignalArgs,
        sub arrivals: SignalArgs,
    }

    /// out = coef_y y + coef (sum over neighbours of in) on one parity (laplace.h).
    struct LaplaceArgs {
        sub geom: Geom,
        /// Planes of the output parity; `in` has the other one.
        sub out: FieldView,
        sub inp: FieldView,
        sub y: FieldView,
        sub gauge: FieldView,
        sub sent: HaloView,
        sub received: HaloView,
        spec region: i32,
        spec parity: i32,
        /// Bit 2 mu: the hop from x - mu counts; bit 2 mu + 1: that from x + mu.
        spec hops: i32,
        spec spins: i32,
        spec step_out: i32,
        spec step_in: i32,
        spec step_y: i32,
        arg coef: f64,
        arg coef_y: f64,
    }

    /// Links averaged with staples (smear.h).
    struct SmearArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        sub inp: FieldView,
        sub out: FieldView,
        /// Direction of the links, and bit nu: staples in direction nu.
        spec mu: i32,
        spec directions: i32,
        /// Matrices per site of `inp` and of `out`.
        spec matrices: i32,
        spec matrices_out: i32,
        /// Matrices of `inp` for staples in direction nu, and that of `out`.
        arg side: [i32; 4],
        arg top: [i32; 4],
        arg to: i32,
        arg alpha: f64,
        arg weight: f64,
    }

    /// Site operator alone on one parity: out = c S(in), batches = right-hand sides.
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
        /// m and e of A + i m gamma5 tau3 + e tau1, the sign of dagger included.
        arg twist: f64,
        arg split: f64,
        /// Factor of a term without clover blocks.
        arg scale: f64,
    }

    /// Element-wise vector operations.
    struct BlasArgs {
        spec op: i32,
        /// Planes per right-hand side: coefficient index = batch / parities.
        spec parities: i32,
        /// Real numbers per site.
        spec reals: i32,
        /// Are right-hand sides fastest in memory; how many there are, and of these in this launch.
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
        /// TIMES_* of a, and of b and c; the sums.
        spec times: i32,
        spec times_bc: i32,
        arg sums: Ptr,
        arg sums_bc: Ptr,
        /// Where their numerators are, if there are two sums.
        arg above: Ptr,
        arg above_bc: Ptr,
    }

    /// Device copy of `n` doubles-worth elements, for the bandwidth that figures are quoted against.
    struct StreamArgs {
        arg src: Ptr,
        arg dst: Ptr,
    }

    /// to = from in another precision or link storage (R18 ... of the constants).
    struct ConvertArgs {
        sub from: FieldView,
        sub to: FieldView,
        spec storage_from: i32,
        spec storage_to: i32,
        spec links: i32,
    }

    /// A block of sites of a host array, gathered into or scattered from a field (layout.h).
    struct LayoutArgs {
        sub geom: Geom,
        sub field: FieldView,
        /// The arrays: one per direction for links, off-diagonal and diagonal for clover blocks.
        arg base: [Ptr; 4],
        /// Reals from the start of a site in its array, per component in the field's order.
        arg component: [i64; 72],
        arg stride_site: i64,
        /// Reals from the forward to the backward link where an array keeps stars.
        arg back: i64,
        /// Sites first .. first + count of the block.
        arg first: i64,
        arg count: i64,
        /// Parity and slice of the block.
        arg parity: i32,
        arg slice: i32,
        /// Floats per link or site about the data, 0: none; entry of the launch's first site.
        arg report: Ptr,
        arg report_first: i64,
        /// Factors of the links, and those of links over the boundary.
        arg scale: [f64; 4],
        arg phase_re: [f64; 4],
        arg phase_im: [f64; 4],
        arg rotation: [f64; 16],
        /// Two bits per axis, fastest first; four bits of halo per axis in that order.
        arg axes: i32,
        arg halo: i32,
        /// Does the block hold one parity; is the slowest axis outside the block.
        arg split: i32,
        arg sliced: i32,
        arg field_parities: i32,
        arg field_parity: i32,
        arg star: i32,
        /// Bit mu: links of mu over the boundary have a phase; bit 4 + 4 mu + nu: links of mu where x[nu] is odd a sign.
        arg phases: i32,
        arg reproject: i32,
        arg rotate: i32,
        /// Check only, nothing is stored.
        arg dry: i32,
        /// Few constants: transfers are bound by the bus, and each set of them is compiled anew.
        spec single: i32,
        spec out: i32,
        spec storage: i32,
        /// Real numbers of a vector's site.
        spec reals: i32,
    }

    /// Counts in a report of LayoutArgs: entries below 0, entries above the tolerance.
    struct ReportArgs {
        arg report: Ptr,
        arg count: i64,
        arg tolerance: f64,
    }

    /// Clover term: construction, inversion, conversion (clover.h).
    struct CloverArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        sub inp: FieldView,
        sub out: FieldView,
        spec twisted: i32,
        /// Is there a field to write to, or are sums enough.
        spec write: i32,
        /// Coefficients of the spatial planes and of those with t.
        arg coef_s: f64,
        arg coef_t: f64,
        /// s of A^2 + s.
        arg square: f64,
    }

    /// Gauge observables (observables.h).
    struct ObservableArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        /// Direction of lines.
        arg direction: i32,
        /// Where per-site results go.
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
        /// Real numbers of a vector's site, and are its right-hand sides fastest in memory.
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
        sub gauge: FieldView,
        spec heat: i32,
        arg parity: i32,
        arg direction: i32,
        arg seed: u64,
        arg sweep: i64,
        arg beta: f64,
    }

    /// Gauge fixing (gaugefix.h).
    struct GaugeFixArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        /// The transformation.
        sub g: FieldView,
        sub out: FieldView,
        spec condition: i32,
        spec method: i32,
        /// Bit mu: the functional has the links of direction mu.
        spec directions: i32,
        /// Slices are across this direction.
        spec time: i32,
        /// Bit mu: links of direction mu are unit matrices but for those from piece to piece (axial.h).
        spec axial: i32,
        /// Lag of a whole sweep in one launch: how many slices odd sites are behind; 0: a sweep of one parity.
        spec lag: i32,
        /// Region of a divided lattice: sites at its faces, or the others, or both at once.
        spec region: i32,
        /// The exchange of both at once, and how many threads, whole blocks, are for the sites at faces.
        sub faces: FaceExchangeArgs,
        arg face_threads: i32,
        arg parity: i32,
        /// Even sites of a slice that this sweep and all before have changed: how many there will be,
        /// and (one i32 per slice) as counted on the device.
        arg target: i32,
        arg done: Ptr,
        /// Relaxation of the power, the probability or the inverse temperature.
        arg omega: f64,
        arg seed: u64,
        arg sweep: i64,
        /// One i32 per slice of this rank.
        arg active: Ptr,
        /// The array in the host's order, complex doubles.
        arg array: Ptr,
    }

    /// The transformation to axial gauge, slice by slice (axial.h).
    struct AxialArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        sub g: FieldView,
        spec direction: i32,
        arg slice: i32,
    }

    /// Product of two transformations in place, g = g h or g h^dagger (gaugefix.h).
    struct TransformProductArgs {
        sub geom: Geom,
        sub g: FieldView,
        sub h: FieldView,
        spec adjoint: i32,
    }

    /// Fourier-accelerated gauge fixing (fourier.h). Arrays hold the numbers of an element of the
    /// Lie algebra per site, two numbers of all sites as one complex array.
    struct FourierArgs {
        sub fix: GaugeFixArgs,
        /// Is the gradient stored, or are its sums enough.
        spec write: i32,
        arg gradient: Ptr,
        /// What the gradient is multiplied with, or the direction.
        arg vector: Ptr,
        arg direction: Ptr,
        /// One or two doubles per slice of this rank, or 4 sin^2(p/2) of the axes one after another.
        arg table: Ptr,
        arg norm: f64,
    }

    /// Pairs of numbers in another order (fourier.h): to[i][j][k] = from[i s0 + j s1 + k s2].
    struct TransposeArgs {
        arg from: Ptr,
        arg to: Ptr,
        /// Extents of i, j and k.
        arg extents: [i32; 4],
        arg strides: [i32; 4],
    }

    /// Columns of a source (source.h).
    struct SourceArgs {
        sub geom: Geom,
        sub out: FieldView,
        /// Global coordinates, and which of them a site must have.
        arg position: [i32; 4],
        arg places: i32,
        /// Is there a momentum, 2 pi n / L.
        arg moving: i32,
        arg momentum: [i32; 4],
        /// A RANDOM_*, below 0: none.
        arg noise: i32,
        /// Bits DILUTE_*.
        arg dilute: i32,
        /// Parts of DILUTE_TIME.
        arg time_parts: i32,
        /// The only ones that are not zero; below 0: all.
        arg spin: i32,
        arg colour: i32,
        /// Column of the field's first right-hand side.
        arg first: i32,
        arg seed: u64,
    }

    /// A Gamma and a momentum on a time slice (source.h).
    struct SpinPhaseArgs {
        sub geom: Geom,
        sub out: FieldView,
        sub inp: FieldView,
        arg position: [i32; 4],
        arg places: i32,
        arg momentum: [i32; 4],
        arg column: [i32; 4],
        arg phase: [i32; 4],
    }

    /// Two quark lines (contract.h).
    struct MesonArgs {
        sub geom: Geom,
        sub quark: FieldView,
        sub other: FieldView,
        /// The launch's first time slice of the lanes' pieces.
        arg slice: i32,
        /// Columns of a spin.
        arg colours: i32,
        arg moving: i32,
        arg momentum: [i32; 4],
        arg position: [i32; 4],
    }

    /// Vectors of a time slice each (time_slices.h).
    struct TimeSliceArgs {
        sub geom: Geom,
        sub v: FieldView,
        sub w: FieldView,
        /// The launch's first time slice of the lanes' pieces.
        arg slice: i32,
        /// Vectors v and w.
        arg rows: i32,
        arg columns: i32,
        spec add: i32,
        spec diagonal: i32,
        arg coef: Ptr,
    }

    /// Three quark lines (contract.h).
    struct BaryonArgs {
        sub geom: Geom,
        sub quark: FieldView,
        sub other: FieldView,
        /// The slice as above.
        arg slice: i32,
        /// Bit k: quark k is the other one.
        arg flavours: i32,
        arg moving: i32,
        arg momentum: [i32; 4],
        arg position: [i32; 4],
        arg sink: [i32; 4],
        arg sink_phase: [i32; 4],
        arg source: [i32; 4],
        arg source_phase: [i32; 4],
        arg closing: [[i32; 4]; 2],
        arg closing_phase: [[i32; 4]; 2],
        arg terms: i32,
        arg term: [i32; 9],
        arg weight: [f64; 9],
    }

    /// Momenta: random numbers, sums, arrays (momenta.h).
    struct MomentaArgs {
        sub geom: Geom,
        sub momenta: FieldView,
        /// Another field of momenta, or of general matrices.
        sub other: FieldView,
        /// Form of `array`: MOMENTA_*.
        arg form: i32,
        /// Even sites first, or lexicographic.
        arg split: i32,
        /// Into the field, or out of it.
        arg load: i32,
        arg array: Ptr,
        /// Factor of what is written; of `other` in sums.
        arg factor: f64,
        arg scale: f64,
        arg seed: u64,
        arg step: i64,
    }

    /// U <- exp(i step p) U, and links put back into the group (evolve.h).
    struct EvolveArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        sub momenta: FieldView,
        arg step: f64,
    }

    /// Force of the hop, of several pairs of full spinor fields (fermion_force.h).
    struct HopForceArgs {
        sub geom: Geom,
        sub x: FieldView,
        sub y: FieldView,
        sub gauge: FieldView,
        sub momenta: FieldView,
        /// Projected spinors of the ranks in front: of X for even sites, for odd ones, then of Y.
        sub received: HaloView,
        /// The mask as in HopArgs.
        spec phase_mask: i32,
        spec nrhs: i32,
        /// Coefficients of right-hand sides.
        arg coef: [f64; 32],
        /// -2 kappa times the coefficient of each direction.
        arg hop: [f64; 4],
        /// Phases of steps forward over this rank's boundary.
        arg phase_re: [f64; 4],
        arg phase_im: [f64; 4],
        arg step: f64,
    }

    /// Matrices in the corners of plaquettes for the clover term's force (clover_force.h).
    struct CloverInsertionArgs {
        sub geom: Geom,
        sub x: FieldView,
        sub y: FieldView,
        /// A^-1, or of a twisted inverse its first set, of even and of odd sites.
        sub even: FieldView,
        sub odd: FieldView,
        sub out: FieldView,
        spec nrhs: i32,
        /// Bit p: sites of parity p take the blocks.
        spec with_blocks: i32,
        /// 1: the result is added to what is there; 0: it takes its place.
        spec add: i32,
        arg coef: [f64; 32],
        arg coef_blocks: [f64; 2],
        /// Coefficients of spatial planes and of those with t.
        arg coef_s: f64,
        arg coef_t: f64,
    }

    /// Force of these matrices (clover_force.h).
    struct CloverForceArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        sub insertion: FieldView,
        sub momenta: FieldView,
        arg step: f64,
    }

    /// Actions and forces of plaquettes and rectangles (gauge_force.h).
    struct ForceArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        /// Twelve staples per site, one for each link and plane.
        sub staples: FieldView,
        sub elements: FieldView,
        sub momenta: FieldView,
        /// Links after a stage of the flow.
        sub flowed: FieldView,
        /// Coefficients by plane 01, 02, 12, 03, 13, 23: of plaquettes, of rectangles with two steps in
        /// the first of its directions, and in the second.
        arg plaquette: [f64; 6],
        arg first: [f64; 6],
        arg second: [f64; 6],
        /// momenta = scale momenta - step F
        arg scale: f64,
        arg step: f64,
        /// Time of links that move by exp(i time momenta).
        arg time: f64,
        /// Links above each other in z that a thread of a GPU takes: a power of two.
        spec column: i32,
        /// Paths that close loops through links of each direction, and their coefficients.
        arg paths: Ptr,
        arg weights: Ptr,
    }

    /// Products and combinations of many vectors (basis.h).
    struct BasisArgs {
        sub v: FieldView,
        sub w: FieldView,
        arg first_v: i32,
        arg rows: i32,
        arg first_w: i32,
        arg columns: i32,
        arg parities: i32,
        arg alpha: f64,
        /// rows x columns complex doubles.
        arg coef: Ptr,
    }

    /// out = a x + b y + c z + d w, the coefficients by chirality (chiral.h).
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
        sub gauge: FieldView,
        /// Q.
        sub exponent: FieldView,
        sub force: FieldView,
        sub lambda: FieldView,
        /// rho_munu, 4 mu + nu.
        arg rho: [f64; 16],
    }

    /// Products along paths, up to 8 at a time (paths.h): matrices or elements `from` one step `to` the
    /// next; steps less than 0 rest, `last` ones end their path.
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
    /// The vectors of all shifts (shifts.h); 3 coefficients for each right-hand side of each shift.
    struct ShiftArgs {
        /// Like every p.
        sub r: FieldView,
        /// Like every x.
        sub x: FieldView,
        spec parities: i32,
        spec reals: i32,
        /// One x for all shifts.
        spec one: i32,
        arg shifts: i32,
        /// Right-hand sides of this launch.
        arg count: i32,
        arg p: [Ptr; 24],
        arg norm: [Ptr; 24],
        arg out: [Ptr; 24],
        arg coef: [f64; 360],
    }
}
