// The table of the argument structs of kernels that work on gauge, spinor and momentum fields. Those of multigrid's
// coarse levels are in args_coarse_table.rs, those of sources and contractions in args_hadrons_table.rs.

kernel_args! {
    table FIELD_ARGS;

    /// Geometry of a rank's local lattice. Its sites are divided over the lanes of vector registers; `x`, `y`, `z`, `t`
    /// are the extents, in sites, of the box that one lane holds (with one lane, of the whole local lattice).
    struct Geom {
        spec x: i32,
        spec y: i32,
        spec z: i32,
        spec t: i32,
        /// Bit of the lane number that flips when a step in this direction crosses from one lane's box to the next; 0
        /// if the direction is not divided into lanes.
        spec lane_x: i32,
        spec lane_y: i32,
        spec lane_z: i32,
        spec lane_t: i32,
        /// Bit mu is set if direction mu is divided over ranks.
        spec halos: i32,
        /// Coordinates (x, y, z, t) of this rank's first site in the global lattice, whose extents are `global`.
        arg origin: [i32; 4],
        arg global: [i32; 4],
    }

    /// The kind of boundary that the lattice has in time, and the links that it fixes (bounds.h).
    struct Bounds {
        /// 0 for a periodic lattice, else a sum of BOUND_* bits.
        spec kind: i32,
        /// Real parts of the fixed spatial links on the time slice behind the last stored one. These links are
        /// diagonal: three elements for each of x, y and z. Imaginary parts are in `edge_im`.
        arg edge_re: [f64; 9],
        arg edge_im: [f64; 9],
    }

    /// A field as kernels see it: consecutive planes, each of which holds the sites of one parity of one right-hand
    /// side. `data` is the address of the numbers, `norm` that of the units of 16-bit storage (one per site; 0 if there
    /// are none); a plane has `plane_bytes` and `norm_bytes` bytes of them.
    struct FieldView {
        arg data: Ptr,
        arg norm: Ptr,
        arg plane_bytes: i64,
        arg norm_bytes: i64,
        /// Number of outer sites of a plane; an outer site consists of one site from every lane.
        spec volume: i32,
    }

    /// Addresses of messages with projected spinors of the faces, two for each direction mu. In a send buffer entry 2
    /// mu is for the lower face and 2 mu + 1 for the upper one; in a receive buffer entry 2 mu came from the backward
    /// neighbour and 2 mu + 1 from the forward one.
    struct HaloView {
        arg data: [Ptr; 8],
        arg norm: [Ptr; 8],
        /// Distance in bytes from one right-hand side to the next in a message of each direction mu; `norm_bytes` for
        /// the units of 16-bit storage.
        arg plane_bytes: [i64; 4],
        arg norm_bytes: [i64; 4],
    }

    /// Flags by which GPUs signal to each other that messages have been written; the flags are numbered like the
    /// messages of HaloView (signal.h).
    struct SignalArgs {
        arg flag: [Ptr; 8],
        /// Number of the exchange, modulo 2^32: a message has arrived when its flag has reached this number. A kernel
        /// waits for it `nanoseconds` at most.
        arg number: i64,
        arg nanoseconds: i64,
        /// Address of a 32-bit integer in which a kernel stores 1 + the number of a message that did not arrive in
        /// time. While the integer is not zero, kernels do not wait for messages.
        arg failed: Ptr,
        /// Address of the number of thread blocks that have written their part of the messages; the last of them
        /// signals. 0: this kernel does not signal.
        arg counter: Ptr,
    }

    /// Memory for a reduction on GPUs: partial sums of thread blocks, totals of a batch, and what is needed to add up
    /// the totals of several ranks. A batch has N totals (sums.h).
    struct SumArgs {
        arg partial: Ptr,
        /// Address of a 32-bit integer for each batch: the number of blocks that have written their partial sums.
        arg counters: Ptr,
        /// Address in host memory to which the totals of each batch and the sum of `flag` are written; each number
        /// comes with `tag`, by which the host recognises that it has arrived.
        arg out: Ptr,
        arg tag: i64,
        /// Address in GPU memory to which the totals are written for later kernels, N doubles for each batch.
        arg totals: Ptr,
        /// Number of ranks (at most 8) whose GPUs add up their totals in this kernel; 1: the totals are of this rank
        /// alone. Every rank writes its totals to the `inbox` of each rank. An inbox has two halves, used in turn, with
        /// place for `inbox_numbers` numbers of every rank in each.
        arg ranks: i32,
        arg rank: i32,
        arg inbox: [Ptr; 8],
        arg inbox_tag: i64,
        arg inbox_numbers: i64,
        /// A number of this rank that is summed over the ranks along with the totals, e.g. a request to stop a solver.
        arg flag: f64,
        /// Nanoseconds to wait for the numbers of other ranks. If those of rank r do not come, 16 + r is stored at the
        /// address `failed`.
        arg nanoseconds: i64,
        arg failed: Ptr,
    }

    /// Arguments of a Wilson hop on the sites of one parity: out = coef_y S_y(y) + S_hop(sum_mu coef[mu] hop_mu(in)) +
    /// coef_z z + coef_own out, with site operators S_y and S_hop given by SITE_* codes (wilson.h).
    struct HopArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        /// `out` and `y` are planes of the output parity, `inp` of the opposite one.
        sub out: FieldView,
        sub inp: FieldView,
        sub y: FieldView,
        /// The vector z of the term coef_z z, planes of the output parity.
        sub z: FieldView,
        sub gauge: FieldView,
        /// Blocks of the clover term (direct) or of its inverse on the output parity, used by the site operators S_y or
        /// S_hop.
        sub clover: FieldView,
        /// Messages with projected spinors of `inp` for neighbouring ranks. A kernel that packs them on a GPU signals
        /// with the flags of `sent_flags` that they have been written.
        sub sent: HaloView,
        sub sent_flags: SignalArgs,
        /// Messages received from neighbouring ranks, which sites at faces need. A launch with region REGION_ALL waits
        /// for them by the flags of `received_flags`.
        sub received: HaloView,
        sub received_flags: SignalArgs,
        spec region: i32,
        spec parity: i32,
        spec dagger: i32,
        /// 1 if there is a term coef_y S_y(y), else 0; `site_y` and `site_hop` are the SITE_* codes of S_y and S_hop.
        spec with_y: i32,
        spec site_y: i32,
        spec site_hop: i32,
        /// 1 if there is a term coef_z z, else 0; `with_own`: whether there is a term coef_own out.
        spec with_z: i32,
        spec with_own: i32,
        /// Bit mu is set if hops across the boundary of the global lattice in direction mu have a phase other than 1;
        /// in `complex_phase`, if that phase is neither 1 nor -1. All ranks have the same bits, so that they compile
        /// the same kernels.
        spec phase_mask: i32,
        spec complex_phase: i32,
        spec nrhs: i32,
        /// Distance in planes from one right-hand side to the next in `out`; `step_in`, `step_y`, `step_z` for the
        /// fields `inp`, `y` and `z`.
        spec step_out: i32,
        spec step_in: i32,
        spec step_y: i32,
        spec step_z: i32,
        /// Number of ranks on this machine. If the links and spinors of all of them exceed the last-level cache, a CPU
        /// stores results past the caches.
        arg sharers: i32,
        arg coef: [f64; 4],
        /// Real parts of the phases of hops across this rank's boundary: entries 0 to 3 forward in directions x to t, 4
        /// to 7 backward. A phase is 1 where this boundary is not one of the global lattice.
        arg phase_re: [f64; 8],
        arg phase_im: [f64; 8],
        arg coef_y: f64,
        arg coef_z: f64,
        arg coef_own: f64,
        /// The site operator SITE_TWIST is twist_scale (1 + i twist gamma5); `twist` contains the minus sign of an
        /// adjoint.
        arg twist: f64,
        arg twist_scale: f64,
    }

    /// Arguments of kernels that copy links at the faces of a field into messages, or from received messages into the
    /// border of the field, one site beyond each face (border.h).
    struct BorderArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        /// Direction 0 to 3 of the neighbouring ranks with which links are exchanged. The borders in lower directions
        /// have been filled before and are part of the messages.
        spec mu: i32,
        /// Direction of the only links that are exchanged, 0 to 3; -1: all matrices of a site.
        arg direction: i32,
        /// Number of matrices per site of the field.
        spec links: i32,
        /// Addresses of the messages from this rank's lower and upper face, or of those received for its lower and
        /// upper border.
        arg message: [Ptr; 2],
        /// For links in the border that are returned to the rank whose links they are: 0 to write the message, 1 to
        /// copy the received message into the field.
        arg arrived: i32,
    }

    /// Arguments of kernels that copy the matrices of one parity at all faces of a field with one matrix per site, such
    /// as a gauge transformation, into messages or from messages (border.h).
    struct FaceArgs {
        sub geom: Geom,
        sub g: FieldView,
        arg parity: i32,
        /// Addresses of the messages, sent or received: entry 2 mu is for the lower face in direction mu, 2 mu + 1 for
        /// the upper one.
        arg message: [Ptr; 8],
    }

    /// Messages that a kernel on a GPU exchanges with neighbouring ranks by itself: it waits for those `received`, with
    /// matrices of one parity at faces, updates the sites of the opposite parity, and signals those `sent`. Messages
    /// are numbered as in FaceArgs (border.h).
    struct FaceExchangeArgs {
        arg sent: [Ptr; 8],
        arg received: [Ptr; 8],
        sub sent_flags: SignalArgs,
        sub received_flags: SignalArgs,
    }

    /// Arguments of the gauge-covariant Laplacian's hop on the sites of one parity: out = coef_y y + coef_out out +
    /// coef times the sum of `inp` at neighbouring sites, transported by links (laplace.h).
    struct LaplaceArgs {
        sub geom: Geom,
        /// `out` and `y` are planes of the output parity, `inp` of the opposite one.
        sub out: FieldView,
        sub inp: FieldView,
        sub y: FieldView,
        sub gauge: FieldView,
        sub sent: HaloView,
        sub received: HaloView,
        spec region: i32,
        spec parity: i32,
        /// Bit 2 mu is set if the sum has the neighbour x - mu, bit 2 mu + 1 if it has x + mu.
        spec hops: i32,
        spec spins: i32,
        spec step_out: i32,
        spec step_in: i32,
        spec step_y: i32,
        /// Bit mu is set if hops across the boundary of the global lattice in direction mu have a phase other than 1.
        spec phase_mask: i32,
        /// Number of right-hand sides.
        arg columns: i32,
        arg coef: f64,
        arg coef_y: f64,
        arg coef_out: f64,
        arg phase_re: [f64; 8],
        arg phase_im: [f64; 8],
    }

    /// Arguments of the kernel that multiplies the links of each direction mu by the phase re[mu] + i im[mu] (smear.h).
    struct LinkPhasesArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        arg re: [f64; 4],
        arg im: [f64; 4],
    }

    /// Arguments of APE and HYP smearing: matrix `to` of `out` becomes the projection to the group of (1 - alpha) U_mu
    /// + weight times the sum of staples in the planes of `mu` and each of `directions` (smear.h).
    struct SmearArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        sub inp: FieldView,
        sub out: FieldView,
        /// Direction of the links that are smeared. Bit nu of `directions` is set if there are staples in the plane mu,
        /// nu.
        spec mu: i32,
        spec directions: i32,
        /// Number of matrices per site of `inp` and of `out`.
        spec matrices: i32,
        spec matrices_out: i32,
        /// For staples in the plane mu, nu: number of the matrix of `inp` that is the link in direction nu; `top[nu]`
        /// that of the link in direction mu.
        arg side: [i32; 4],
        arg top: [i32; 4],
        arg to: i32,
        arg alpha: f64,
        arg weight: f64,
    }

    /// Arguments of a site operator without a hop, on the sites of one parity: out = coef S(inp), where `site` is the
    /// SITE_* code of S. A batch is a right-hand side.
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

    /// Arguments of the site term of a flavour doublet, on the sites of one parity: out = coef S inp + coef_y y, where
    /// S is A + i m gamma5 tau3 + e tau1 or its inverse with clover term A (doublet.h).
    struct DoubletSiteArgs {
        sub geom: Geom,
        /// Planes of this parity. The fields' flavours and right-hand sides are slices, `step_out`, `step_in` and
        /// `step_y` planes apart.
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
        /// The number m in A + i m gamma5 tau3 + e tau1, negated for the adjoint; `split` is e.
        arg twist: f64,
        arg split: f64,
        /// Factor of the result if there are no clover blocks, where A = 1.
        arg scale: f64,
    }

    /// Arguments of element-wise operations on the vectors x, y, z, w, v with complex coefficients a, b, c for each
    /// right-hand side (blas.h); `op` is a BLAS_* code.
    struct BlasArgs {
        spec op: i32,
        /// Number of planes of a right-hand side, 1 or 2; batch / parities is the number of the right-hand side.
        spec parities: i32,
        /// Number of reals per site.
        spec reals: i32,
        /// 1 if the numbers of all right-hand sides of a component are neighbours in memory, else 0.
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
        /// TIMES_* code of a factor of the coefficients a that is computed from sums on the device, at the address
        /// `sums`; `times_bc` and `sums_bc` for the coefficients b and c.
        spec times: i32,
        spec times_bc: i32,
        arg sums: Ptr,
        arg sums_bc: Ptr,
        /// Address of the sums |u|^2, for factors that are a quotient of two sums; `above_bc` for those of b and c.
        arg above: Ptr,
        arg above_bc: Ptr,
    }

    /// Arguments of a plain copy from `src` to `dst` on the device, 16 bytes for each element of the launch. Its
    /// bandwidth is what the bandwidths of other kernels are compared with.
    struct StreamArgs {
        arg src: Ptr,
        arg dst: Ptr,
    }

    /// Arguments of the conversion of links, gauge transformations or clover blocks `from` to another precision `to`;
    /// links and transformations also to another storage, one of the constants R18, R12, R8, R8A and SU2.
    struct ConvertArgs {
        sub from: FieldView,
        sub to: FieldView,
        spec storage_from: i32,
        spec storage_to: i32,
        spec links: i32,
    }

    /// Arguments of kernels that copy a block of sites from a host program's array into a field, or from the field into
    /// the array (layout.h).
    struct LayoutArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub field: FieldView,
        /// Addresses of the array's parts: of links one for each direction, of clover blocks one for the off-diagonal
        /// and one for the diagonal elements.
        arg base: [Ptr; 4],
        /// Distance in reals from the start of a site in the array, for each component in the order of the field.
        arg component: [i64; 72],
        arg stride_site: i64,
        /// Distance in reals from the forward to the backward link of a direction, for arrays with `star` = 1, which
        /// have both at a site.
        arg back: i64,
        /// The launch copies sites first to first + count - 1 of the block.
        arg first: i64,
        arg count: i64,
        /// Parity of the sites of the block, if it holds one parity only (`split`).
        arg parity: i32,
        arg slice: i32,
        /// Address for the results of checks, one float for each link, or for each site of other fields: the deviation
        /// from the group, or -1 if a number is not finite. The launch's first site has number `report_first`. 0: the
        /// results are not stored.
        arg report: Ptr,
        arg report_first: i64,
        /// Real factor and complex phase that the array's links of each direction contain, compared with the field's.
        arg scale: [f64; 4],
        arg phase_re: [f64; 4],
        arg phase_im: [f64; 4],
        arg rotation: [f64; 16],
        /// Order of the array's axes: the direction of the fastest one in bits 0 and 1, of the next in bits 2 and 3,
        /// ...
        arg axes: i32,
        arg halo: i32,
        /// 1 if the block holds the sites of one parity, 0 if it holds both.
        arg split: i32,
        arg sliced: i32,
        arg field_parities: i32,
        arg field_parity: i32,
        arg star: i32,
        /// Bit mu is set if the array's links across the boundary in direction mu contain a phase, bit 4 + 4 mu + nu if
        /// those in direction mu contain a factor -1 where coordinate x[nu] is odd (staggered phases).
        arg phases: i32,
        arg reproject: i32,
        arg rotate: i32,
        /// 1: the array's numbers are checked and not stored.
        arg dry: i32,
        /// Whether the array has single precision (1) or double (0). Only few members are `spec`: each set of their
        /// values is compiled anew, and faster kernels would not help, as the bus limits transfers.
        spec single: i32,
        spec out: i32,
        spec storage: i32,
        /// Number of reals of a vector's site.
        spec reals: i32,
    }

    /// Arguments of the kernel that counts the entries of a report that LayoutArgs describes: those below 0 (a number
    /// is not finite), and those above `tolerance`. The report has `count` entries.
    struct ReportArgs {
        arg report: Ptr,
        arg count: i64,
        arg tolerance: f64,
    }

    /// Arguments of kernels that make the clover term from links, exponentiate, invert or convert it (clover.h,
    /// clover_exponential.h).
    struct CloverArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub gauge: FieldView,
        sub inp: FieldView,
        sub out: FieldView,
        spec twisted: i32,
        /// 1: the result is stored in `out`; 0: only sums over the sites are needed.
        spec write: i32,
        /// Coefficient of the field strengths of spatial planes; `coef_t` of those with time.
        arg coef_s: f64,
        arg coef_t: f64,
        /// Number added to the diagonal elements 1 on the time slice next to the lower boundary where quarks vanish;
        /// `upper` is the one next to the upper boundary.
        arg lower: f64,
        arg upper: f64,
        /// The number s in A^2 + s, which is inverted for a twisted mass.
        arg square: f64,
        /// Number of times that an exponent is halved, so that its norm is at most 1.
        arg halvings: i32,
    }

    /// Arguments of gauge observables such as plaquettes and Polyakov loops (observables.h).
    struct ObservableArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub gauge: FieldView,
        /// Direction of the lines of links that are multiplied (Polyakov loops).
        arg direction: i32,
        /// Address for results of each site, for kernels that have such.
        arg out: Ptr,
    }

    /// Arguments of kernels that fill a field with random numbers or matrices (random.h).
    struct RandomArgs {
        sub geom: Geom,
        sub field: FieldView,
        spec purpose: i32,
        spec links: i32,
        spec parities: i32,
        spec parity: i32,
        /// Number of reals of a site of a vector field.
        spec reals: i32,
        spec fastest: i32,
        arg rhs: i32,
        arg seed: u64,
        arg step: i64,
        arg width: f64,
    }

    /// Arguments of heat bath or overrelaxation of the links of one direction on the sites of one parity (heatbath.h).
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
        /// Weight cG of the plaquettes at the lower boundary in time; `upper` at the upper boundary.
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
        /// Bit mu is set if the links of direction mu are part of the functional.
        spec directions: i32,
        /// Direction whose coordinate numbers the slices.
        spec time: i32,
        /// Bit mu is set if links in direction mu are unit matrices, except those from lane to lane (axial.h).
        spec axial: i32,
        /// 0: the launch changes the sites of one parity. Else it changes those of both, slice by slice, and the odd
        /// sites are this number of slices behind the even ones.
        spec lag: i32,
        /// A REGION_* code: sites at the faces between ranks, all others, or both in one launch.
        spec region: i32,
        /// For REGION_FACES_FIRST: the messages between ranks, and in `face_threads` the number of threads for the
        /// sites at faces, a multiple of the block size.
        sub faces: FaceExchangeArgs,
        arg face_threads: i32,
        arg parity: i32,
        /// Number of even sites of a slice changed by all sweeps up to the end of this one. `done` is the address of a
        /// counter for each slice (i32) of those changed so far.
        arg target: i32,
        arg done: Ptr,
        /// Parameter of the step, by `method` (GAUGE_*): power of overrelaxation, probability, or inverse temperature.
        arg omega: f64,
        arg seed: u64,
        arg sweep: i64,
        /// Address of one i32 for each slice of this rank: 1 if its sites are changed, else 0.
        arg active: Ptr,
        /// Address of the host program's array of transformations, complex doubles in the order of that program.
        arg array: Ptr,
    }

    /// Arguments of the kernel that makes one slice of the transformation g(x) to axial gauge, in which links in
    /// `direction` are unit matrices, from the slice before (axial.h).
    struct AxialArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        sub g: FieldView,
        spec direction: i32,
        arg slice: i32,
    }

    /// Arguments of the product of two gauge transformations, g = g h, or g = g h^dagger if `adjoint` is 1
    /// (gaugefix.h).
    struct TransformProductArgs {
        sub geom: Geom,
        sub g: FieldView,
        sub h: FieldView,
        spec adjoint: i32,
    }

    /// Arguments of Fourier-accelerated gauge fixing (fourier.h). An array holds an element of the Lie algebra for each
    /// site: its real coefficients are taken in pairs, and each pair of all sites is one array of complex numbers.
    struct FourierArgs {
        sub fix: GaugeFixArgs,
        /// 1: the gradient is stored at `gradient`; 0: only sums of it are needed.
        spec write: i32,
        arg gradient: Ptr,
        /// Address of an array: that with which scalar products of the gradient are computed, or the direction in which
        /// the transformation moves.
        arg vector: Ptr,
        arg direction: Ptr,
        /// Address of doubles: one or two for each slice of this rank, or 4 sin^2(p/2) for all momenta p of the first
        /// axis, then of the next, ...
        arg table: Ptr,
        arg norm: f64,
    }

    /// Arguments of the kernel that reorders complex numbers: to[i][j][k] = from[i s0 + j s1 + k s2], where s are the
    /// `strides` (fourier.h).
    struct TransposeArgs {
        arg from: Ptr,
        arg to: Ptr,
        /// Numbers of values of i, j and k.
        arg extents: [i32; 4],
        arg strides: [i32; 4],
    }

    /// Arguments of kernels that fill momenta of links with random numbers, combine and sum them, or copy them from or
    /// to arrays of a host program (momenta.h).
    struct MomentaArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub momenta: FieldView,
        /// A second field, of momenta or of general matrices.
        sub other: FieldView,
        /// A MOMENTA_* code: how the host program's array stores the momentum of a link.
        arg form: i32,
        /// Order of sites in the array: 1: all even sites, then all odd ones; 0: lexicographic.
        arg split: i32,
        /// 1: the array is copied into the field; 0: the field is copied into the array.
        arg load: i32,
        arg array: Ptr,
        /// The array's numbers are `factor` times those of the field; in momenta = scale momenta + factor other it
        /// multiplies `other`.
        arg factor: f64,
        arg scale: f64,
        arg seed: u64,
        arg step: i64,
    }

    /// Arguments of kernels that evolve links with their momenta p, U <- exp(i step p) U, or project them to the group
    /// (evolve.h).
    struct EvolveArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub gauge: FieldView,
        sub momenta: FieldView,
        arg step: f64,
    }

    /// Arguments of the force of the Wilson hopping term from pairs X, Y of spinor fields on all sites, one pair for
    /// each right-hand side (fermion_force.h).
    struct HopForceArgs {
        sub geom: Geom,
        sub x: FieldView,
        sub y: FieldView,
        sub gauge: FieldView,
        sub momenta: FieldView,
        /// Messages with projected spinors received from the forward neighbours: of X for even sites, of X for odd
        /// sites, then of Y for even and for odd sites.
        sub received: HaloView,
        /// Bit mu is set if hops across the boundary of the global lattice in direction mu have a phase other than 1.
        spec phase_mask: i32,
        spec nrhs: i32,
        /// Coefficient of each right-hand side in the force.
        arg coef: [f64; 32],
        /// -2 kappa times the anisotropy coefficient of each direction.
        arg hop: [f64; 4],
        /// Real parts of the phases of forward hops across this rank's upper boundary in each direction; 1 where that
        /// is not a boundary of the global lattice.
        arg phase_re: [f64; 4],
        arg phase_im: [f64; 4],
        arg step: f64,
    }

    /// Arguments of the kernel that computes the matrices which the force of the clover term inserts at the corners of
    /// plaquettes, from spinor fields X, Y and from clover blocks (clover_force.h).
    struct CloverInsertionArgs {
        sub geom: Geom,
        sub x: FieldView,
        sub y: FieldView,
        /// Blocks of A^-1 on even sites and, in `odd`, on odd sites; with a twisted mass the first set of the inverse's
        /// blocks.
        sub even: FieldView,
        sub odd: FieldView,
        sub out: FieldView,
        spec nrhs: i32,
        /// Bit p is set if the blocks on sites of parity p contribute.
        spec with_blocks: i32,
        /// 1: the result is added to the field; 0: it replaces its contents.
        spec add: i32,
        arg coef: [f64; 32],
        arg coef_blocks: [f64; 2],
        /// Coefficient of the matrices of spatial planes; `coef_t` of planes with time.
        arg coef_s: f64,
        arg coef_t: f64,
        /// For an exponential clover term the blocks whose exponential is A, without the counterterms at boundaries in
        /// time (clover_exponential.h).
        sub exponent: FieldView,
        sub bounds: Bounds,
        /// The exponential's factor on the time slice next to the lower boundary, minus 1; `upper` next to the upper
        /// one.
        arg lower: f64,
        arg upper: f64,
        /// Number of times that the exponent is halved, so that its norm is at most 1.
        arg halvings: i32,
    }

    /// Arguments of the kernel that adds to momenta the clover term's force on links, from the matrices of `insertion`
    /// that the kernel of CloverInsertionArgs computed (clover_force.h).
    struct CloverForceArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub gauge: FieldView,
        sub insertion: FieldView,
        sub momenta: FieldView,
        arg step: f64,
    }

    /// Arguments of actions and forces of plaquettes and rectangles, and of gradient flow (gauge_force.h).
    struct ForceArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub gauge: FieldView,
        /// Twelve 3 x 3 matrices per site: for each of the four links the sums of the staples in its three planes.
        sub staples: FieldView,
        sub elements: FieldView,
        sub momenta: FieldView,
        /// Gauge field to which the links are written after a stage of the gradient flow.
        sub flowed: FieldView,
        /// Coefficients of the plaquettes in planes 01, 02, 12, 03, 13, 23; `first` of the rectangles with two links in
        /// the plane's first direction, `second` of those with two in its second.
        arg plaquette: [f64; 6],
        arg first: [f64; 6],
        arg second: [f64; 6],
        /// Weight cG of the plaquettes at the lower boundary in time; `upper` at the upper boundary. `twice` multiplies
        /// the force of spatial links at open boundaries.
        arg lower: f64,
        arg upper: f64,
        arg twice: f64,
        /// Momenta become scale momenta - step F, with force F.
        arg scale: f64,
        arg step: f64,
        /// Time by which links are moved with the new momenta: U <- exp(i time momenta) U.
        arg time: f64,
        /// Number of links, consecutive in z, that a thread of a GPU works on; a power of two.
        spec column: i32,
        /// Address of the paths that close a loop with a link of each direction; `weights` is that of their
        /// coefficients.
        arg paths: Ptr,
        arg weights: Ptr,
    }

    /// Arguments of scalar products of all pairs of two sets of vectors, `rows` of v and `columns` of w, or of linear
    /// combinations of them; the vectors are right-hand sides of a field (basis.h).
    struct BasisArgs {
        sub v: FieldView,
        sub w: FieldView,
        arg first_v: i32,
        arg rows: i32,
        arg first_w: i32,
        arg columns: i32,
        arg parities: i32,
        arg alpha: f64,
        /// Address of the coefficients of linear combinations, a matrix of rows x columns complex doubles.
        arg coef: Ptr,
    }

    /// Arguments of out = a x + b y + c z + d w, of which the first `terms` fields are used, with separate real
    /// coefficients for the two chiralities: coef[2 i] for gamma5 = 1, coef[2 i + 1] for gamma5 = -1 of field i
    /// (chiral.h).
    struct ChiralArgs {
        sub out: FieldView,
        sub x: FieldView,
        sub y: FieldView,
        sub z: FieldView,
        sub w: FieldView,
        spec terms: i32,
        arg coef: [f64; 8],
    }

    /// Arguments of stout smearing of links, U' = exp(i Q) U, and of the kernels that turn a force on U' into one on U
    /// (stout.h).
    struct StoutArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub gauge: FieldView,
        /// The hermitian exponent Q of each link, an element of the Lie algebra.
        sub exponent: FieldView,
        sub force: FieldView,
        sub lambda: FieldView,
        /// Weight rho_munu of the staples of links in direction mu in the plane mu, nu, at index 4 mu + nu.
        arg rho: [f64; 16],
    }

    /// Arguments of one step along up to 8 paths of links: the products of links, or elements of the Lie algebra, in
    /// `to` are made from those in `from`. `step` is the direction 0 to 3 of a path's step, or 7 - direction for a step
    /// backward; a path with a step below 0 is not continued. `last` marks the paths that end with this step (paths.h).
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
    /// Arguments of an update of all vectors of multi-shift CG: x_k += a_k p_k, then p_k = c_k p_k + d_k r for each
    /// shift k. The coefficients a, c, d of right-hand side i are at coef[3 (k count + i)] (shifts.h).
    struct ShiftArgs {
        /// The residual r; the search directions p_k, at the addresses `p` and `norm`, have its shape.
        sub r: FieldView,
        /// Solution x of the first shift; those of all shifts, at the addresses `out`, have its shape.
        sub x: FieldView,
        spec parities: i32,
        spec reals: i32,
        /// 1 if the terms of all shifts are added to one x, else 0.
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
