!> plaq: embeddable lattice QCD, for Fortran 2008 with iso_c_binding. Generated from interface/src/capi; do
!> not edit. The rules are those of include/plaq.h. Strings that go in end with c_null_char; strings
!> that come back as c_ptr are read with plaq_text. Absent optional arguments are NULL.
module plaq
  use, intrinsic :: iso_c_binding
  implicit none
  public

  ! Statuses
  integer(c_int32_t), parameter :: PLAQ_SUCCESS = 0
  integer(c_int32_t), parameter :: PLAQ_INVALID_ARGUMENT = 1
  integer(c_int32_t), parameter :: PLAQ_NULL_POINTER = 2
  integer(c_int32_t), parameter :: PLAQ_INVALID_HANDLE = 3
  integer(c_int32_t), parameter :: PLAQ_STRUCT_SIZE = 4
  integer(c_int32_t), parameter :: PLAQ_UNSUPPORTED = 5
  integer(c_int32_t), parameter :: PLAQ_WRONG_CONTEXT = 6
  integer(c_int32_t), parameter :: PLAQ_BUSY = 8
  integer(c_int32_t), parameter :: PLAQ_NOT_INITIALISED = 9
  integer(c_int32_t), parameter :: PLAQ_INTERNAL = -1
  integer(c_int32_t), parameter :: PLAQ_NO_DEVICE = 100
  integer(c_int32_t), parameter :: PLAQ_DRIVER_MISSING = 101
  integer(c_int32_t), parameter :: PLAQ_DRIVER_TOO_OLD = 102
  integer(c_int32_t), parameter :: PLAQ_NVRTC_MISSING = 103
  integer(c_int32_t), parameter :: PLAQ_COMPILE_FAILED = 104
  integer(c_int32_t), parameter :: PLAQ_OUT_OF_MEMORY = 105
  integer(c_int32_t), parameter :: PLAQ_CUFFT_MISSING = 106
  integer(c_int32_t), parameter :: PLAQ_NCCL_MISSING = 107
  integer(c_int32_t), parameter :: PLAQ_DEVICE_LOST = -100
  integer(c_int32_t), parameter :: PLAQ_PROCESS_GRID = 200
  integer(c_int32_t), parameter :: PLAQ_MPI_MISSING = 201
  integer(c_int32_t), parameter :: PLAQ_MPI_STATE = 202
  integer(c_int32_t), parameter :: PLAQ_MPI_THREAD = 203
  integer(c_int32_t), parameter :: PLAQ_COMM_FAILED = -200
  integer(c_int32_t), parameter :: PLAQ_BAD_EXTENTS = 300
  integer(c_int32_t), parameter :: PLAQ_NOT_UNITARY = 301
  integer(c_int32_t), parameter :: PLAQ_NOT_FINITE = 302
  integer(c_int32_t), parameter :: PLAQ_BAD_LAYOUT = 303
  integer(c_int32_t), parameter :: PLAQ_FIELD_MISMATCH = 304
  integer(c_int32_t), parameter :: PLAQ_FILE_OPEN = 400
  integer(c_int32_t), parameter :: PLAQ_FILE_FORMAT = 401
  integer(c_int32_t), parameter :: PLAQ_FILE_TRUNCATED = 402
  integer(c_int32_t), parameter :: PLAQ_FILE_CHECKSUM = 403
  integer(c_int32_t), parameter :: PLAQ_FILE_PLAQUETTE = 404
  integer(c_int32_t), parameter :: PLAQ_FILE_EXTENTS = 405
  integer(c_int32_t), parameter :: PLAQ_FILE_WRITE = 406
  integer(c_int32_t), parameter :: PLAQ_SINGULAR_CLOVER = 500
  integer(c_int32_t), parameter :: PLAQ_BAD_PARAMETER = 501
  integer(c_int32_t), parameter :: PLAQ_SOLVER_BREAKDOWN = 502
  integer(c_int32_t), parameter :: PLAQ_NOT_CONVERGED = 520
  integer(c_int32_t), parameter :: PLAQ_SPECTRAL_BOUNDS = 521
  integer(c_int32_t), parameter :: PLAQ_STALE_MULTIGRID = 522
  integer(c_int32_t), parameter :: PLAQ_KERNEL_SPECTRUM = 530

  ! Library: version, messages, log
  !> Levels of the log; a callback is told everything up to the level that it asked for.
  !> Nothing (the default).
  integer(c_int32_t), parameter :: PLAQ_LOG_OFF = 0
  !> Defects of plaq and lost devices.
  integer(c_int32_t), parameter :: PLAQ_LOG_ERROR = 1
  !> Refused calls.
  integer(c_int32_t), parameter :: PLAQ_LOG_WARN = 2
  !> What takes long: compilation, tuning, solves.
  integer(c_int32_t), parameter :: PLAQ_LOG_INFO = 3
  !> Choices that the library makes on the way.
  integer(c_int32_t), parameter :: PLAQ_LOG_DEBUG = 4
  !> Every call and its time.
  integer(c_int32_t), parameter :: PLAQ_LOG_TRACE = 5
  !> plaq_log_callback: a bind(c) procedure; pass c_funloc of it.
  !> Gets one line of the log; may be called from any thread. Calls of plaq that it makes are
  !> refused with PLAQ_BUSY.
  !> Arguments: level, message, user.

  ! Context: a device and everything on it
  !> A device with its memory and threads. Fields and operators belong to a context and
  !> die with it; several contexts live side by side.
  type, bind(c) :: plaq_context
    integer(c_int64_t) :: id = 0
  end type
  !> Kind of device that a context computes on.
  !> CUDA if there is a usable GPU, else the CPU.
  integer(c_int32_t), parameter :: PLAQ_DEVICE_AUTO = 0
  !> The CPU.
  integer(c_int32_t), parameter :: PLAQ_DEVICE_CPU = 1
  !> An NVIDIA GPU, by CUDA.
  integer(c_int32_t), parameter :: PLAQ_DEVICE_CUDA = 2
  !> Ways in which a host passes the ranks that share a lattice (docs/mpi.md).
  !> One rank, without MPI.
  integer(c_int32_t), parameter :: PLAQ_COMMUNICATOR_NONE = 0
  !> The address of an MPI_Comm, in `communicator`.
  integer(c_int32_t), parameter :: PLAQ_COMMUNICATOR_C = 1
  !> The integer that Fortran has for it, in `communicator_fortran`.
  integer(c_int32_t), parameter :: PLAQ_COMMUNICATOR_FORTRAN = 2
  !> MPI_COMM_WORLD.
  integer(c_int32_t), parameter :: PLAQ_COMMUNICATOR_WORLD = 3
  !> plaq_rank_callback: a bind(c) procedure; pass c_funloc of it.
  !> The rank at four coordinates of the process grid.
  !> Arguments: coords, user.
  !> Parameters of a context.
  type, bind(c) :: plaq_context_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Device that the context computes on.
    integer(c_int32_t) :: device
    !> Number of the GPU, counted from 0; -1: the rank's number on its node, modulo the visible ones.
    integer(c_int32_t) :: ordinal
    !> Threads of the CPU back end; 0: as many as this process may use, shared with the ranks
    !> that may use the same cores.
    integer(c_int32_t) :: threads
    !> How the ranks are passed.
    integer(c_int32_t) :: communicator_kind
    !> Address of the host's MPI_Comm, which is duplicated.
    type(c_ptr) :: communicator
    !> Communicator as Fortran has it, an integer.
    integer(c_int32_t) :: communicator_fortran
    !> Sums over ranks have the same bits in every run with the same process grid.
    integer(c_int32_t) :: reproducible
    !> Ranks in x, y, z, t; zeros: all in t.
    integer(c_int32_t) :: grid(4)
    !> Rank of every place of the grid, x fastest; NULL: place n is rank n, unless
    !> `rank_callback` says otherwise.
    type(c_ptr) :: rank_table
    !> Function that says the rank at every place of the grid; NULL: `rank_table` says it.
    type(c_funptr) :: rank_callback
    !> Address that `rank_callback` gets.
    type(c_ptr) :: rank_user
    !> Seconds that a rank waits for another; 0: PLAQ_COMM_TIMEOUT, or 300.
    real(c_double) :: timeout
    !> Most bytes that the fields of this context may hold on the device; 0: no limit but
    !> the device's memory. What would exceed it is OUT_OF_MEMORY.
    integer(c_int64_t) :: memory_limit
    !> The CUstream (cudaStream_t) on which the host works on device arrays that it passes:
    !> calls come after what is on it. NULL: the legacy default stream. Frameworks with streams
    !> of their own (CuPy, PyTorch, JAX) have to name theirs, here or in plaq_layout_params.
    type(c_ptr) :: stream
  end type
  !> Description of a context. Sizes are in bytes.
  type, bind(c) :: plaq_context_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> PLAQ_DEVICE_CPU or PLAQ_DEVICE_CUDA.
    integer(c_int32_t) :: device
    !> Most virtual nodes (SIMD lanes) that a lattice is divided over.
    integer(c_int32_t) :: lanes
    !> Memory of the device in bytes.
    integer(c_int64_t) :: memory_total
    !> Bytes of that memory that no program holds.
    integer(c_int64_t) :: memory_free
    !> Bytes that the fields of this context hold now.
    integer(c_int64_t) :: memory_used
    !> Most bytes that the fields of this context held so far.
    integer(c_int64_t) :: memory_peak
    !> Number of ranks.
    integer(c_int32_t) :: ranks
    !> Number of this rank, counted from 0.
    integer(c_int32_t) :: rank
    !> Number of ranks in x, y, z, t.
    integer(c_int32_t) :: grid(4)
    !> Coordinates of this rank in that grid.
    integer(c_int32_t) :: coords(4)
  end type

  ! Fields: what they share
  !> Sites that a field has: parity is (x + y + z + t) mod 2.
  !> All sites.
  integer(c_int32_t), parameter :: PLAQ_SUBSET_FULL = 0
  !> Sites of parity 0.
  integer(c_int32_t), parameter :: PLAQ_SUBSET_EVEN = 1
  !> Sites of parity 1.
  integer(c_int32_t), parameter :: PLAQ_SUBSET_ODD = 2
  !> Storage precision; the number is the bytes of a real. Arithmetic is in double for double fields, in single
  !> otherwise; sums are in double.
  !> 64-bit floating point.
  integer(c_int32_t), parameter :: PLAQ_PRECISION_DOUBLE = 8
  !> 32-bit floating point.
  integer(c_int32_t), parameter :: PLAQ_PRECISION_SINGLE = 4
  !> 16-bit fixed point, for spinors with one norm per site.
  integer(c_int32_t), parameter :: PLAQ_PRECISION_HALF = 2
  !> 8-bit fixed point: of multigrid's coarse links alone, `link_precision` of plaq_multigrid_params.
  integer(c_int32_t), parameter :: PLAQ_PRECISION_QUARTER = 1

  ! Layouts: arrays of the host program
  !> Memory that the pointers point to.
  !> Memory of the host.
  integer(c_int32_t), parameter :: PLAQ_LOCATION_HOST = 0
  !> Memory of the context's device.
  integer(c_int32_t), parameter :: PLAQ_LOCATION_DEVICE = 1
  !> Gamma matrices that spinors of an array refer to (docs/layouts.md).
  !> DeGrand-Rossi basis, of MILC, Chroma and QUDA.
  integer(c_int32_t), parameter :: PLAQ_BASIS_DEGRAND_ROSSI = 0
  !> UKQCD basis, non-relativistic: gamma_t is diagonal.
  integer(c_int32_t), parameter :: PLAQ_BASIS_UKQCD = 1
  !> Chiral basis of openQCD.
  integer(c_int32_t), parameter :: PLAQ_BASIS_CHIRAL = 2
  !> Dirac-Pauli basis: gamma_t is diagonal.
  integer(c_int32_t), parameter :: PLAQ_BASIS_DIRAC_PAULI = 3
  !> Order of an array's indices; docs/layouts.md has the formulas. Complex numbers are
  !> (re, im), colour matrices row-major unless it says otherwise.
  !> Site (x fastest), then direction, row, column, or spin, colour.
  integer(c_int32_t), parameter :: PLAQ_ORDER_LEXICOGRAPHIC = 0
  !> Links: four arrays, even sites, then odd. Spinors: spin inside colour.
  integer(c_int32_t), parameter :: PLAQ_ORDER_QDP = 1
  !> Sites fastest; links in four arrays, clover blocks in two.
  integer(c_int32_t), parameter :: PLAQ_ORDER_QDPJIT = 2
  !> Even sites, then odd; four links on a site, or spin, colour (QUDA_DIRAC_ORDER), or
  !> packed clover blocks (QUDA_PACKED_CLOVER_ORDER).
  integer(c_int32_t), parameter :: PLAQ_ORDER_MILC = 3
  !> Links inside an array of structs: site_bytes, site_offset.
  integer(c_int32_t), parameter :: PLAQ_ORDER_MILC_SITE = 4
  !> Links with columns outside rows; spinors with odd sites first.
  integer(c_int32_t), parameter :: PLAQ_ORDER_CPS = 5
  !> Links of BQCD.
  integer(c_int32_t), parameter :: PLAQ_ORDER_BQCD = 6
  !> Links of the TIFR code.
  integer(c_int32_t), parameter :: PLAQ_ORDER_TIFR = 7
  !> TIFR's order with two slices of halo on both sides of z.
  integer(c_int32_t), parameter :: PLAQ_ORDER_TIFR_PADDED = 8
  !> openQCD; its spinors are in PLAQ_BASIS_CHIRAL.
  integer(c_int32_t), parameter :: PLAQ_ORDER_OPENQCD = 9
  !> Links in cuLGT's StandardPattern.
  integer(c_int32_t), parameter :: PLAQ_ORDER_CULGT_STANDARD = 10
  !> Links in cuLGT's GpuPattern.
  integer(c_int32_t), parameter :: PLAQ_ORDER_CULGT_GPU = 11
  !> Links in cuLGT's GpuPatternTimeslice.
  integer(c_int32_t), parameter :: PLAQ_ORDER_CULGT_TIMESLICE = 12
  !> Links in cuLGT's GpuPatternParityPriority.
  integer(c_int32_t), parameter :: PLAQ_ORDER_CULGT_PARITY = 13
  !> Links in cuLGT's GpuPatternTimesliceParityPriority.
  integer(c_int32_t), parameter :: PLAQ_ORDER_CULGT_TIMESLICE_PARITY = 14
  !> An array of the host.
  type, bind(c) :: plaq_layout_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Order of the array's indices.
    integer(c_int32_t) :: order
    !> Precision of its numbers, double or single.
    integer(c_int32_t) :: precision
    !> Memory that the array is in.
    integer(c_int32_t) :: location
    !> Gamma basis of spinors.
    integer(c_int32_t) :: basis
    !> 0: `data` is the array, several arrays (QDP links, right-hand sides) one after the
    !> other in it. n: `data` is the address of n pointers to arrays.
    integer(c_int32_t) :: arrays
    !> Links are put on the group after the check.
    integer(c_int32_t) :: project
    !> Largest violation of unitarity that loading accepts; 0: 1e-10 in double, 1e-5 in
    !> single. Negative: nothing is checked, also not for NaN.
    real(c_double) :: tolerance
    !> The array holds scale[mu] times the links, e.g. an anisotropy.
    real(c_double) :: scale(4)
    !> The array's links that cross the boundary carry exp(i pi boundary[mu]).
    real(c_double) :: boundary(4)
    !> Bytes of a site's struct, with PLAQ_ORDER_MILC_SITE.
    integer(c_int64_t) :: site_bytes
    !> Bytes that precede the links in that struct.
    integer(c_int64_t) :: site_offset
    !> Device arrays: the CUstream (cudaStream_t) on which the host works on them; the call
    !> comes after what is on it. NULL: that of plaq_context_params; 1: the legacy default
    !> stream; 2: the calling thread's. The call itself returns when its work is done.
    type(c_ptr) :: stream
  end type

  ! Gauge fields
  !> Links U_mu(x) from x to x + mu, mu = x, y, z, t; periodic: boundary phases belong to
  !> operators. Operators keep the links that they were made with.
  type, bind(c) :: plaq_gauge
    integer(c_int64_t) :: id = 0
  end type
  !> Real numbers of a link that are stored; this also fixes the gauge group.
  !> SU(3), whole matrices.
  integer(c_int32_t), parameter :: PLAQ_STORAGE_SU3_18 = 18
  !> SU(3), two rows.
  integer(c_int32_t), parameter :: PLAQ_STORAGE_SU3_12 = 12
  !> SU(3), eight numbers: two unit vectors by stereographic projection.
  integer(c_int32_t), parameter :: PLAQ_STORAGE_SU3_8 = 8
  !> SU(3), eight angles: slower.
  integer(c_int32_t), parameter :: PLAQ_STORAGE_SU3_8_ANGLES = 9
  !> SU(2), a0 + i a.sigma.
  integer(c_int32_t), parameter :: PLAQ_STORAGE_SU2 = 4
  !> Kinds of link smearing.
  !> Projection of (1 - alpha) U + alpha / (2 (d - 1)) (sum of staples); alpha[0].
  integer(c_int32_t), parameter :: PLAQ_SMEARING_APE = 0
  !> exp(i Q) U, i Q the algebra part of rho (sum of staples) U^dagger; rho = alpha[0].
  integer(c_int32_t), parameter :: PLAQ_SMEARING_STOUT = 1
  !> Three levels inside of hypercubes; alpha[0..2], directions 15. In three directions two levels inside of
  !> cubes; alpha[1] and alpha[2].
  integer(c_int32_t), parameter :: PLAQ_SMEARING_HYP = 2
  !> Stout, of (5 - 2 epsilon) / 3 times the staples less (1 - epsilon) / 12 times those of 1 x 2 and 2 x 1
  !> rectangles; rho = alpha[0], epsilon = alpha[1], -10 to 10.
  integer(c_int32_t), parameter :: PLAQ_SMEARING_OVERIMPROVED = 3
  !> Boundaries of the lattice in time, with N_t stored slices x0 = 0 .. N_t - 1.
  !> No links beyond the slices 0 and N_t - 1, on which quarks vanish: open boundaries (Luescher, Schaefer, JHEP
  !> 07 (2011) 036). Temporal links of the last slice do not exist and are zero.
  integer(c_int32_t), parameter :: PLAQ_BOUNDARY_TIME_OPEN = 1
  !> Spatial links of the slices 0 and N_t stand still, and quarks vanish on these: the Schroedinger functional
  !> (Luescher, Narayanan, Weisz, Wolff, Nucl. Phys. B 384 (1992) 168). Slice N_t is not stored.
  integer(c_int32_t), parameter :: PLAQ_BOUNDARY_TIME_SF = 2
  !> Open at slice 0, and at N_t as the Schroedinger functional (Luescher, JHEP 06 (2014) 105).
  integer(c_int32_t), parameter :: PLAQ_BOUNDARY_TIME_OPEN_SF = 3
  !> Periodic.
  integer(c_int32_t), parameter :: PLAQ_BOUNDARY_TIME_PERIODIC = 4
  !> Link smearing.
  type, bind(c) :: plaq_gauge_smear_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Kind of smearing.
    integer(c_int32_t) :: kind
    !> Steps of smearing.
    integer(c_int32_t) :: steps
    !> Links of these directions (bit mu) change, staples lie in planes of these; 7: space, 15: all.
    integer(c_int32_t) :: directions
    !> Parameters of the kind, 0 to 1 where it says nothing else. The first must be set.
    real(c_double) :: alpha(3)
  end type
  !> Shape of a gauge field.
  type, bind(c) :: plaq_gauge_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Sites of this rank in x, y, z, t; even numbers, the same on all ranks. Must be
    !> set.
    integer(c_int32_t) :: extents(4)
    !> Precision of the links.
    integer(c_int32_t) :: precision
    !> Storage of the links, which fixes the gauge group.
    integer(c_int32_t) :: storage
    !> Boundaries of the links in time; 0: periodic.
    integer(c_int32_t) :: boundary_time
    !> Angles of the spatial links exp(i diag(phi) / L_k) of slice 0, of PLAQ_BOUNDARY_TIME_SF: three with the
    !> sum 0. Default: not set (NaN).
    real(c_double) :: phi(3)
    !> Angles of those of slice N_t, of PLAQ_BOUNDARY_TIME_SF and PLAQ_BOUNDARY_TIME_OPEN_SF. Default: not
    !> set (NaN).
    real(c_double) :: phi_prime(3)
  end type
  !> Shape of a gauge field that exists.
  type, bind(c) :: plaq_gauge_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Sites of this rank.
    integer(c_int32_t) :: extents(4)
    !> Precision of the links.
    integer(c_int32_t) :: precision
    !> Storage of the links.
    integer(c_int32_t) :: storage
    !> Device memory of the links.
    integer(c_int64_t) :: bytes
    !> Boundaries of the links in time.
    integer(c_int32_t) :: boundary_time
    !> Angles of the spatial links of slice 0 that stand still; NaN where none do.
    real(c_double) :: phi(3)
    !> Angles of those of slice N_t.
    real(c_double) :: phi_prime(3)
  end type

  ! Gauge configurations in files
  !> Faults of a file that could be read.
  !> ILDG: the record ildg-format is no XML; SciDAC's records gave lattice and precision.
  integer(c_int32_t), parameter :: PLAQ_FILE_WARNING_FORMAT = 1
  !> The checksum is not that of the links (plaq_gauge_read_params.wrong_checksum).
  integer(c_int32_t), parameter :: PLAQ_FILE_WARNING_CHECKSUM = 2
  !> The file has no checksum: damage that keeps links unitary goes unnoticed.
  integer(c_int32_t), parameter :: PLAQ_FILE_WARNING_NO_CHECKSUM = 4
  !> LIME: a message has no end mark, but everything that belongs to it is there.
  integer(c_int32_t), parameter :: PLAQ_FILE_WARNING_MESSAGE_END = 8
  !> LIME: the last record is not filled up to a multiple of 8 bytes.
  integer(c_int32_t), parameter :: PLAQ_FILE_WARNING_PADDING = 16
  !> LIME: bytes follow the last record.
  integer(c_int32_t), parameter :: PLAQ_FILE_WARNING_TRAILING = 32
  !> Links in double precision that are unitary only to single precision.
  integer(c_int32_t), parameter :: PLAQ_FILE_WARNING_SINGLE_PRECISION = 64
  !> Orders of the bytes of a number in a file.
  !> Least significant byte first.
  integer(c_int32_t), parameter :: PLAQ_BYTE_ORDER_LITTLE = 1
  !> Most significant byte first.
  integer(c_int32_t), parameter :: PLAQ_BYTE_ORDER_BIG = 2
  !> Formats of files of gauge configurations.
  !> NERSC archive with two rows of each link.
  integer(c_int32_t), parameter :: PLAQ_FILE_FORMAT_NERSC = 1
  !> NERSC archive with three rows of each link.
  integer(c_int32_t), parameter :: PLAQ_FILE_FORMAT_NERSC_3X3 = 2
  !> ILDG with SciDAC records in LIME.
  integer(c_int32_t), parameter :: PLAQ_FILE_FORMAT_ILDG = 3
  !> MILC version 5, single precision; older versions are read, too.
  integer(c_int32_t), parameter :: PLAQ_FILE_FORMAT_MILC = 4
  !> openQCD, double precision.
  integer(c_int32_t), parameter :: PLAQ_FILE_FORMAT_OPENQCD = 5
  !> DDalphaAMG, double precision.
  integer(c_int32_t), parameter :: PLAQ_FILE_FORMAT_DDALPHAAMG = 6
  !> Texts in headers of NERSC and ILDG files, those of plaq_gauge_write_params.
  !> Identifier of the ensemble.
  integer(c_int32_t), parameter :: PLAQ_FILE_TEXT_ENSEMBLE_ID = 1
  !> Label of the ensemble.
  integer(c_int32_t), parameter :: PLAQ_FILE_TEXT_ENSEMBLE_LABEL = 2
  !> Creator of the file.
  integer(c_int32_t), parameter :: PLAQ_FILE_TEXT_CREATOR = 3
  !> Date of its creation.
  integer(c_int32_t), parameter :: PLAQ_FILE_TEXT_DATE = 4
  !> Logical file name of ILDG.
  integer(c_int32_t), parameter :: PLAQ_FILE_TEXT_LFN = 5
  !> ILDG: the whole record scidac-record-xml.
  integer(c_int32_t), parameter :: PLAQ_FILE_TEXT_RECORD = 6
  !> Parameters of reading a configuration, whose format and size come from the file.
  type, bind(c) :: plaq_gauge_read_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> The whole lattice that the file must have; all 0: any.
    integer(c_int32_t) :: extents(4)
    !> Precision of the links on the device.
    integer(c_int32_t) :: precision
    !> Storage of the links on the device.
    integer(c_int32_t) :: storage
    !> Largest violation of unitarity accepted; 0: 1e-10 for files in double, 1e-5 in single
    !> precision, and, with a warning, in files in double most of whose links are coarser.
    real(c_double) :: unitarity
    !> Largest difference accepted between plaquette and link trace of header and links;
    !> 0: half a unit of the header's last decimal plus 1e-9 (links in double) or 1e-6 (single).
    real(c_double) :: header
    !> 1: links are put back into SU(3) after the check.
    integer(c_int32_t) :: project
    !> 1: links are read although the file's checksum is not theirs; the report's `warnings` say
    !> so. For files that were changed after they were written, and are known to be good.
    integer(c_int32_t) :: wrong_checksum
    !> Boundaries of the links in time; 0: open for files of openQCD whose last slice has temporal links that
    !> are all exactly zero, else periodic.
    integer(c_int32_t) :: boundary_time
    !> Angles of the spatial links exp(i diag(phi) / L_k) of slice 0, of PLAQ_BOUNDARY_TIME_SF: three with the
    !> sum 0. Default: not set (NaN).
    real(c_double) :: phi(3)
    !> Angles of those of slice N_t, of PLAQ_BOUNDARY_TIME_SF and PLAQ_BOUNDARY_TIME_OPEN_SF. Default: not
    !> set (NaN).
    real(c_double) :: phi_prime(3)
  end type
  !> Contents of a written file besides the links. Texts are NULL or NUL-terminated UTF-8.
  type, bind(c) :: plaq_gauge_write_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Format of the file.
    integer(c_int32_t) :: format
    !> 0: the format's own; only some formats have a choice.
    integer(c_int32_t) :: byte_order
    !> PLAQ_PRECISION_DOUBLE, PLAQ_PRECISION_SINGLE, or 0: double where the format has it.
    integer(c_int32_t) :: precision
    !> Number of the configuration in its ensemble; negative: not stated.
    integer(c_int64_t) :: sequence_number
    !> Identifier of the ensemble; NULL: not stated.
    type(c_ptr) :: ensemble_id
    !> Label of the ensemble; NULL: not stated.
    type(c_ptr) :: ensemble_label
    !> Creator of the file; NULL: not stated.
    type(c_ptr) :: creator
    !> Date of creation; NULL: now, in UTC.
    type(c_ptr) :: date
    !> Logical file name of ILDG; NULL: none.
    type(c_ptr) :: lfn
  end type
  !> Contents of the header of a file.
  type, bind(c) :: plaq_file_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Extents of the whole lattice.
    integer(c_int32_t) :: extents(4)
    !> Format of the file.
    integer(c_int32_t) :: format
    !> Precision of the numbers in the file.
    integer(c_int32_t) :: precision
    !> Byte order of the numbers in the file.
    integer(c_int32_t) :: byte_order
    !> A sum of PLAQ_FILE_WARNING_..: faults of the file that did not keep it from being read.
    integer(c_int32_t) :: warnings
    !> Number of the configuration; -1: not stated.
    integer(c_int64_t) :: sequence_number
    !> Plaquette of the header, 1 for unit links; NaN: not stated.
    real(c_double) :: plaquette
    !> Link trace of the header, 1 for unit links; NaN: not stated.
    real(c_double) :: link_trace
  end type

  ! Spinor fields
  !> Wilson spinors, 4 spins x 3 colours per site, of one or two flavours, or colour vectors, 3 colours per
  !> site, for one or more right-hand sides.
  type, bind(c) :: plaq_spinor
    integer(c_int64_t) :: id = 0
  end type
  !> Gaussian (Wuppertal) smearing: psi <- [(1 + alpha H) / (1 + 2 d alpha)]^steps psi, H the sum
  !> over the neighbours in d directions, carried by the links.
  type, bind(c) :: plaq_spinor_smear_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Weight of the neighbours, not -1 / (2 d). It must be set.
    real(c_double) :: alpha
    !> Steps of smearing.
    integer(c_int32_t) :: steps
    !> Directions of the neighbours, bit mu; 7: x, y, z.
    integer(c_int32_t) :: directions
    !> Momentum smearing: the links are U_j(x) exp(2 pi i momentum(j) / L_j), any real numbers. A quark of a hadron with
    !> sink phase exp(-i p x) is at its best with momentum(j) = -zeta n_j, zeta about 1/2 for mesons, p_j = 2 pi n_j / L_j; an
    !> antiquark, given as a quark, with +zeta n_j. Fields in single or double precision.
    real(c_double) :: momentum(3)
  end type
  !> Shape of a spinor field.
  type, bind(c) :: plaq_spinor_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Sites of this rank in x, y, z, t; even numbers, the same on all ranks. Must be
    !> set, here or by `gauge`.
    integer(c_int32_t) :: extents(4)
    !> Precision of the spinors.
    integer(c_int32_t) :: precision
    !> Sites that the field has.
    integer(c_int32_t) :: subset
    !> Number of right-hand sides.
    integer(c_int32_t) :: nrhs
    !> Spins of a site: 4 for spinors, 1 for colour vectors.
    integer(c_int32_t) :: spins
    !> A gauge field whose extents count where `extents` are zeros; other ones must be equal to them.
    !> Default: none.
    type(plaq_gauge) :: gauge
    !> Slices of a right-hand side: 1, or 2 for the spinors of a doublet of flavours. In arrays of the host
    !> slices are slower than sites and faster than right-hand sides.
    integer(c_int64_t) :: slices
  end type
  !> Shape of a spinor field that exists.
  type, bind(c) :: plaq_spinor_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Sites of this rank.
    integer(c_int32_t) :: extents(4)
    !> Precision of the spinors.
    integer(c_int32_t) :: precision
    !> Sites that the field has.
    integer(c_int32_t) :: subset
    !> Number of right-hand sides.
    integer(c_int32_t) :: nrhs
    !> Spins of a site: 4 for spinors, 1 for colour vectors.
    integer(c_int32_t) :: spins
    !> Device memory of the spinors.
    integer(c_int64_t) :: bytes
    !> Slices of a right-hand side: 2 for a doublet of flavours, else 1.
    integer(c_int64_t) :: slices
  end type

  ! Gauge observables, random fields, quenched updates
  !> Components of a random spinor, independent, with average |c|^2 = 1.
  !> 1 or -1.
  integer(c_int32_t), parameter :: PLAQ_NOISE_Z2 = 1
  !> 1, i, -1 or -i.
  integer(c_int32_t), parameter :: PLAQ_NOISE_Z4 = 2
  !> Complex normal.
  integer(c_int32_t), parameter :: PLAQ_NOISE_NORMAL = 3
  !> plaq_sweep_callback: a bind(c) procedure; pass c_funloc of it.
  !> Called after every sweep with the number of those done, that of all, and the time since
  !> the start; a result other than 0 ends the update, and the report says so. One rank of
  !> many may ask for that, or have a callback at all: all ranks stop after the same sweep.
  !> Arguments: done, all, seconds, user.
  !> A quenched update with weight exp(-beta sum (1 - Re tr U_munu / N)).
  type, bind(c) :: plaq_heatbath_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Coupling beta of the Wilson action. It must be set.
    real(c_double) :: beta
    !> Seed of the random numbers.
    integer(c_int64_t) :: seed
    !> Heat bath sweeps.
    integer(c_int64_t) :: sweeps
    !> Overrelaxation sweeps after each heat bath sweep.
    integer(c_int64_t) :: overrelax
    !> Heat bath sweeps already done with this seed: to continue a run, next_sweep of its last report.
    integer(c_int64_t) :: first_sweep
    !> Weight cG at slice 0 of links with boundaries in time: of plaquettes in an open boundary slice, which count one half
    !> besides, or of those between a slice whose links stand still and the next one.
    real(c_double) :: cg
    !> Weight cG' at the other boundary; NaN: as cg.
    real(c_double) :: cg_prime
  end type
  !> Report of heat bath sweeps.
  type, bind(c) :: plaq_heatbath_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Number of the next heat bath sweep in the stream of random numbers.
    integer(c_int64_t) :: next_sweep
    !> 1: the callback asked to stop.
    integer(c_int32_t) :: stopped
    !> Seconds that the sweeps took.
    real(c_double) :: seconds
  end type
  !> Average plaquettes Re tr U_munu / N: 1 for unit links.
  type, bind(c) :: plaq_plaquette
    !> All six planes.
    real(c_double) :: total
    !> Planes xy, xz, yz.
    real(c_double) :: spatial
    !> Planes xt, yt, zt.
    real(c_double) :: temporal
    !> Average Re tr U / N of the links themselves.
    real(c_double) :: link_trace
  end type
  !> A complex number.
  type, bind(c) :: plaq_complex
    !> Real part.
    real(c_double) :: re
    !> Imaginary part.
    real(c_double) :: im
  end type
  !> The largest violation of unitarity over all links.
  type, bind(c) :: plaq_unitarity
    !> Largest modulus of an entry of U U^dagger - 1.
    real(c_double) :: unitary
    !> Largest |det U - 1|.
    real(c_double) :: det
    !> Coordinates x, y, z, t of the link with the largest violation.
    integer(c_int32_t) :: site(4)
    !> Direction of that link, 0 to 3.
    integer(c_int32_t) :: direction
  end type
  !> Averages of the clover-leaf field strength.
  type, bind(c) :: plaq_topology
    !> Topological charge, near an integer on smooth fields.
    real(c_double) :: charge
    !> Average per site of 1/2 sum tr F F over the planes xy, xz and yz.
    real(c_double) :: energy_spatial
    !> Average per site of 1/2 sum tr F F over the planes xt, yt and zt.
    real(c_double) :: energy_temporal
  end type

  ! Clover terms
  !> Blocks A of a clover term, or their inverses: per site and chirality one hermitian
  !> 6 x 6 matrix, row = 3 spin + colour, kappa-normalised: A = 1 + 2 kappa csw (i/4) sum sigma F.
  type, bind(c) :: plaq_clover
    integer(c_int64_t) :: id = 0
  end type
  !> Shape of a clover term.
  type, bind(c) :: plaq_clover_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Sites of this rank in x, y, z, t; even numbers, the same on all ranks. Must be
    !> set, here or by `gauge`.
    integer(c_int32_t) :: extents(4)
    !> Precision of the blocks.
    integer(c_int32_t) :: precision
    !> A gauge field whose extents count where `extents` are zeros; other ones must be equal to them.
    !> Default: none.
    type(plaq_gauge) :: gauge
  end type

  ! Dirac operators: Wilson, clover, twisted mass
  !> An operator with its own hold on links and clover term: changing the gauge field
  !> afterwards does not change it.
  type, bind(c) :: plaq_dirac
    integer(c_int64_t) :: id = 0
  end type
  !> Forms of the clover term.
  !> 4 + m + csw (i/4) sum sigma F (Sheikholeslami, Wohlert, Nucl. Phys. B 259 (1985) 572).
  integer(c_int32_t), parameter :: PLAQ_CLOVER_TRADITIONAL = 0
  !> (4 + m) exp(csw / (4 + m) (i/4) sum sigma F), whose determinant is a constant (Francis, Fritzsch, Luscher,
  !> Rago, Comput. Phys. Commun. 255 (2020) 107355).
  integer(c_int32_t), parameter :: PLAQ_CLOVER_EXPONENTIAL = 1
  !> Links that a clover term is made of.
  !> The links of the hop.
  integer(c_int32_t), parameter :: PLAQ_CLOVER_LINKS_HOP = 0
  !> The thin links that those of the hop are smeared from (QCDSF: Cundy et al., Phys. Rev. D 79 (2009) 094507);
  !> in chains whose quarks have smearing.
  integer(c_int32_t), parameter :: PLAQ_CLOVER_LINKS_THIN = 1
  !> Normalisation of an operator. The symmetric P is the same in both.
  !> M = A - kappa H, 1 - kappa H without clover term (2 kappa D).
  integer(c_int32_t), parameter :: PLAQ_NORMALISATION_KAPPA = 0
  !> D = m + 4 - H/2 + ...
  integer(c_int32_t), parameter :: PLAQ_NORMALISATION_MASS = 1
  !> The whole lattice or a Schur complement on one parity p, q the other. Symmetric:
  !> 1 - kappa^2 A_p^-1 H_pq A_q^-1 H_qp, which no normalisation scales; asymmetric:
  !> A_p - kappa^2 H_pq A_q^-1 H_qp.
  !> The whole lattice.
  integer(c_int32_t), parameter :: PLAQ_SYSTEM_FULL = 0
  !> The symmetric complement on even sites.
  integer(c_int32_t), parameter :: PLAQ_SYSTEM_EVEN_SYMMETRIC = 1
  !> The symmetric complement on odd sites.
  integer(c_int32_t), parameter :: PLAQ_SYSTEM_ODD_SYMMETRIC = 2
  !> The asymmetric complement on even sites.
  integer(c_int32_t), parameter :: PLAQ_SYSTEM_EVEN_ASYMMETRIC = 3
  !> The asymmetric complement on odd sites.
  integer(c_int32_t), parameter :: PLAQ_SYSTEM_ODD_ASYMMETRIC = 4
  !> An operator M or what is made of it.
  !> M.
  integer(c_int32_t), parameter :: PLAQ_FORM_M = 0
  !> M^dagger.
  integer(c_int32_t), parameter :: PLAQ_FORM_MDAG = 1
  !> M^dagger M.
  integer(c_int32_t), parameter :: PLAQ_FORM_MDAGM = 2
  !> M M^dagger.
  integer(c_int32_t), parameter :: PLAQ_FORM_MMDAG = 3
  !> A quark of Wilson type: D = m + sum_mu h_mu (1 - ...) Wilson's term, + csw (i/4) sum sigma F, + i mu gamma5.
  type, bind(c) :: plaq_dirac_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> What the operator is: mass: D as above, kappa: 2 kappa D, 1 - kappa H without clover term. Solutions, shifts,
    !> eigenvalues and propagators follow it.
    integer(c_int32_t) :: normalisation
    !> Hopping parameter 1 / (2 m + 2 sum_mu hop[mu]); 0: `mass` counts. One of the two must be set.
    real(c_double) :: kappa
    !> Bare mass m; ignored where kappa is not 0. Default: not set (NaN).
    real(c_double) :: mass
    !> Sheikholeslami-Wohlert coefficient; 0: no clover term.
    real(c_double) :: csw
    !> Its value in the planes with t; NaN: as csw.
    real(c_double) :: csw_t
    !> Coefficients cF of the boundary counterterm at slice 0, and cF' of that at the upper boundary, of links with
    !> boundaries in time: cF - 1 is added to the mass on the slice next to that where quarks vanish.
    real(c_double) :: cf
    !> cF'; NaN: as cf.
    real(c_double) :: cf_prime
    !> Twisted mass mu.
    real(c_double) :: mu
    !> Coefficient of the hop in each direction, e.g. (nu/xi, nu/xi, nu/xi, 1).
    real(c_double) :: hop(4)
    !> Boundary phases in units of pi: psi(x + L_mu) = exp(i pi boundary[mu]) psi(x); 1: antiperiodic. Outside of C
    !> also a word: `periodic` (0, 0, 0, 0) or `antiperiodic` (0, 0, 0, 1).
    real(c_double) :: boundary(4)
    !> Precision of the operator; 0: that of the gauge field.
    integer(c_int32_t) :: precision
    !> Storage of its links; 0: two rows. The clover term is made of the gauge field's.
    integer(c_int32_t) :: storage
    !> Form of the clover term: traditional, or exponential: 4 + m + csw (i/4) sum sigma F becomes (4 + m) exp(csw /
    !> (4 + m) (i/4) sum sigma F), where 4 + m stands for 1 / (2 kappa).
    integer(c_int32_t) :: clover
    !> Links that the clover term is made of: those of the hop, or the thin ones under a chain's smearing.
    integer(c_int32_t) :: clover_links
  end type
  !> An operator that exists.
  type, bind(c) :: plaq_dirac_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Hopping parameter.
    real(c_double) :: kappa
    !> Bare mass.
    real(c_double) :: mass
    !> Floating-point operations of one application to one right-hand side.
    real(c_double) :: flops
    !> Compulsory bytes of one application to one right-hand side.
    real(c_double) :: bytes
    !> Precision of the operator.
    integer(c_int32_t) :: precision
    !> Storage of its links.
    integer(c_int32_t) :: storage
  end type

  ! Laplacians
  !> -D^2 + m^2, D^2 the gauge-covariant second difference, on periodic fields:
  !> (2 d + m^2) x(n) minus the sum over d directions of U_mu(n) x(n + mu) and
  !> U_mu(n - mu)^dagger x(n - mu).
  type, bind(c) :: plaq_laplace_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> m^2 in units of the lattice spacing.
    real(c_double) :: mass2
    !> Directions, bit mu; 7: x, y, z, so that time slices are apart; 15: all four.
    integer(c_int32_t) :: directions
    !> Spins of a site: 1 for colour vectors, 4 for spinors, whose spins it does not mix.
    integer(c_int32_t) :: spins
    !> Precision of the operator; 0: that of the gauge field.
    integer(c_int32_t) :: precision
    !> Storage of its links, 18 or 12 numbers; 0: 12.
    integer(c_int32_t) :: storage
  end type

  ! Sources of fields
  !> Source and operator that the columns of a field come from, for plaq_contract_params and files.
  type, bind(c) :: plaq_origin_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Coordinates x, y, z, t of the source, from which times and momenta's phases count; -1: not known.
    integer(c_int32_t) :: position(4)
    !> Normalisation of the operator whose inverse a propagator is; -1: not known.
    integer(c_int32_t) :: normalisation
    !> Boundary phase of the fermions in time in units of pi, 1: antiperiodic. NaN: not known.
    real(c_double) :: boundary
    !> Boundary phases in x, y and z in units of pi. NaN: not known.
    real(c_double) :: boundary_space(3)
    !> Bare mass of the operator. NaN: not known.
    real(c_double) :: mass
    !> Twisted mass of the operator. NaN: not known.
    real(c_double) :: mu
    !> What the operator's links are known by: their average plaquettes in planes of space and with t, and Re tr U / 3.
    !> NaN: not known.
    real(c_double) :: links(3)
  end type
  !> Source and operator that the columns of a field come from, as far as they are known; members are as in
  !> plaq_origin_params.
  type, bind(c) :: plaq_origin_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Coordinates x, y, z, t of the source; -1: not known.
    integer(c_int32_t) :: position(4)
    !> Normalisation of the operator whose inverse a propagator is; -1: not known.
    integer(c_int32_t) :: normalisation
    !> Boundary phase of the fermions in time in units of pi; NaN: not known.
    real(c_double) :: boundary
    !> Boundary phases in x, y and z in units of pi; NaN: not known.
    real(c_double) :: boundary_space(3)
    !> Bare mass of the operator; NaN: not known.
    real(c_double) :: mass
    !> Twisted mass of the operator; NaN: not known.
    real(c_double) :: mu
    !> What the operator's links are known by; NaN: not known.
    real(c_double) :: links(3)
  end type

  ! Progress of long work
  !> plaq_progress_callback: a bind(c) procedure; pass c_funloc of it.
  !> Called after every iteration of a solve, step of a set-up or restart of a search, with the largest relative
  !> residual of the recurrence and the time since the start; a result other than 0 ends the work, and the report
  !> says so.
  !> One rank of many may ask for that, or have a callback at all: all ranks stop after the
  !> next iteration, and the callback that asked is not called again.
  !> Arguments: iteration, residual, seconds, user.

  ! Multigrid
  !> Null vectors and coarse operators of a Dirac operator: a preconditioner that solvers share.
  type, bind(c) :: plaq_multigrid
    integer(c_int64_t) :: id = 0
  end type
  !> Cycles of multigrid: the ways in which a level solves with the next coarser one.
  !> One correction.
  integer(c_int32_t), parameter :: PLAQ_CYCLE_V = 0
  !> Two corrections, by GCR.
  integer(c_int32_t), parameter :: PLAQ_CYCLE_W = 1
  !> GCR to a tolerance, preconditioned by the cycle of the level below.
  integer(c_int32_t), parameter :: PLAQ_CYCLE_K = 2
  !> Smoothers of a level of multigrid.
  !> Minimal residual, on the finest level with relaxation `omega`.
  integer(c_int32_t), parameter :: PLAQ_SMOOTHER_MR = 0
  !> Generalised conjugate residual (GCR), with sums in every step.
  integer(c_int32_t), parameter :: PLAQ_SMOOTHER_GCR = 1
  !> The minimum of GCR over the same Krylov space, with one sum in up to twelve steps.
  integer(c_int32_t), parameter :: PLAQ_SMOOTHER_CA_GCR = 2
  !> x += omega r, without sums.
  integer(c_int32_t), parameter :: PLAQ_SMOOTHER_RICHARDSON = 3
  !> Additive Schwarz: corrections of all domains at once, each by steps of minimal residual with sums of
  !> its own; the residual is then minimised along their sum, so that it never grows.
  integer(c_int32_t), parameter :: PLAQ_SMOOTHER_SCHWARZ_ADDITIVE = 4
  !> Multiplicative Schwarz: the domains of one colour of a chequerboard, then those of the other one.
  integer(c_int32_t), parameter :: PLAQ_SMOOTHER_SCHWARZ_MULTIPLICATIVE = 5
  !> Solvers of the coarsest level of multigrid.
  !> GCR, restarted after 16 directions.
  integer(c_int32_t), parameter :: PLAQ_COARSEST_GCR = 0
  !> GCR with one sum in up to twelve steps.
  integer(c_int32_t), parameter :: PLAQ_COARSEST_CA_GCR = 1
  !> Stabilised biconjugate gradient.
  integer(c_int32_t), parameter :: PLAQ_COARSEST_BICGSTAB = 2
  !> The inverse of the level's whole operator, a dense matrix of which every rank has its rows: to 1024
  !> unknowns, 2 x vectors of every site that is solved for.
  integer(c_int32_t), parameter :: PLAQ_COARSEST_DIRECT = 3
  !> Solvers that make null vectors of random ones.
  !> Stabilised biconjugate gradient.
  integer(c_int32_t), parameter :: PLAQ_SETUP_BICGSTAB = 0
  !> CG on the normal equations.
  integer(c_int32_t), parameter :: PLAQ_SETUP_CG = 1
  !> GCR with ten directions.
  integer(c_int32_t), parameter :: PLAQ_SETUP_GCR = 2
  !> Treatments of the null vectors in an update of multigrid.
  !> Keeps them: only coarse operators are built.
  integer(c_int32_t), parameter :: PLAQ_REFRESH_KEEP = 0
  !> Applies the cycle to them.
  integer(c_int32_t), parameter :: PLAQ_REFRESH_REFINE = 1
  !> Starts from random ones.
  integer(c_int32_t), parameter :: PLAQ_REFRESH_ANEW = 2
  !> There was none since the set-up: of reports only.
  integer(c_int32_t), parameter :: PLAQ_REFRESH_NONE = 3
  !> Memory in which the vectors of an eigensolver, and the null vectors that a set-up of multigrid makes, are
  !> kept.
  !> On the device; where its memory is short an eigensolver keeps fewer vectors in the search than `max_vectors` of 0 means, and
  !> where that is not enough, or for a set-up of multigrid, the host has those that do not fit.
  integer(c_int32_t), parameter :: PLAQ_VECTORS_AUTO = 0
  !> On the device, by an eigensolver with fewer vectors where memory is short.
  integer(c_int32_t), parameter :: PLAQ_VECTORS_DEVICE = 1
  !> On the host, but for one of an eigensolver, every step of which brings them all to the device eight times; a
  !> set-up of multigrid brings each of them there once for each refinement.
  integer(c_int32_t), parameter :: PLAQ_VECTORS_HOST = 2
  !> A level of multigrid and its step to the next coarser one.
  type, bind(c) :: plaq_multigrid_level_params
    !> Extents x, y, z, t of aggregates; 0: as the lattice suggests. Those of the finest level divide the part of
    !> a rank, the others the whole level, or where levels are not gathered a rank's part of it.
    integer(c_int32_t) :: block(4)
    !> Null vectors of each chirality.
    integer(c_int32_t) :: vectors
    !> Steps of the smoother before the correction of the next level.
    integer(c_int32_t) :: pre
    !> Steps of the smoother after the correction.
    integer(c_int32_t) :: post
  end type
  !> Parameters of a hierarchy of multigrid. The defaults need no tuning.
  type, bind(c) :: plaq_multigrid_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Number of levels, the finest and the coarsest included; automatic (0): as the lattice suggests, and at least those whose
    !> blocks are given.
    integer(c_int32_t) :: levels
    !> Cycle of the second level.
    integer(c_int32_t) :: cycle
    !> The levels but the coarsest, from the finest on.
    type(plaq_multigrid_level_params) :: level(4)
    !> Smoother of the finest level.
    integer(c_int32_t) :: smoother
    !> Precision of the finest level's smoother, half with MR, CA-GCR and Richardson only; automatic (0): half on
    !> GPUs with CA-GCR where the coarse levels are in single precision, else single.
    integer(c_int32_t) :: smoother_precision
    !> Precision of coarse operators and null vectors: double or single.
    integer(c_int32_t) :: coarse_precision
    !> Largest number of iterations of GCR on coarse levels but the coarsest.
    integer(c_int32_t) :: iterations
    !> Largest number of iterations on the coarsest level.
    integer(c_int32_t) :: coarsest_iterations
    !> Iterations of the set-up's solver that make null vectors of random ones.
    integer(c_int32_t) :: setup_iterations
    !> Times that the cycle is then applied to the null vectors, and the hierarchy built anew.
    integer(c_int32_t) :: refinements
    !> Coarse levels are gathered on fewer ranks where aggregates do not divide a rank's part, or where it would have
    !> fewer sites than this in a direction; 0: all levels stay on all ranks.
    integer(c_int32_t) :: gather
    !> Relaxation of the smoothers MR and Richardson.
    real(c_double) :: omega
    !> Relative residual at which GCR stops on coarse levels but the coarsest.
    real(c_double) :: tol
    !> Relative residual at which the coarsest level's solver stops.
    real(c_double) :: coarsest_tol
    !> Seed of the random start vectors.
    integer(c_int64_t) :: seed
    !> Smoother of the levels between the finest and the coarsest.
    integer(c_int32_t) :: coarse_smoother
    !> What solves the coarsest level.
    integer(c_int32_t) :: coarsest
    !> Low modes of the coarsest level, found at a set-up, that are solved for exactly before the others; 0 where
    !> it is solved directly; automatic (-1): as the lattice suggests, 96 on large ones, none on small ones.
    integer(c_int32_t) :: coarsest_modes
    !> Cycle of levels from the third on; -1: that of the second.
    integer(c_int32_t) :: deep_cycle
    !> Extents x, y, z, t of the finest level's Schwarz domains, which divide the part of a rank; 0: up to 4. Domains
    !> of coarse levels have up to 2 sites in a direction.
    integer(c_int32_t) :: domain(4)
    !> Steps of minimal residual in a Schwarz domain.
    integer(c_int32_t) :: domain_steps
    !> Precision of the links of coarse operators: that of the operator or, where that is single, half or quarter,
    !> with a scale for each matrix; automatic (0), where the operator is in single precision: half, on GPUs quarter
    !> where rounding leaves the eigenvalues of low modes as they are.
    integer(c_int32_t) :: link_precision
    !> Null vectors that are iterated at a time, at a set-up and in refinements. Automatic (0): 8 where the device's
    !> memory allows it, else 4, 2 or 1.
    integer(c_int32_t) :: setup_columns
    !> What makes null vectors of random ones.
    integer(c_int32_t) :: setup_solver
    !> Where null vectors wait that cycles of the old ones have made, and where they are while they are shortened to 16
    !> bits; automatic: on the device, or on the host where the device has too little memory for one at a time.
    integer(c_int32_t) :: setup_vectors
    !> Factors of the twisted mass on the coarse levels, from the second level on: a larger mass makes the coarsest
    !> level easier to solve (Alexandrou et al., arXiv:1610.02370).
    real(c_double) :: twist_factors(4)
  end type
  !> A hierarchy.
  type, bind(c) :: plaq_multigrid_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Number of levels.
    integer(c_int32_t) :: levels
    !> What the last update did in the end; PLAQ_REFRESH_NONE: there was none since the set-up.
    integer(c_int32_t) :: refresh
    !> Seconds of the last set-up or update.
    real(c_double) :: setup_seconds
    !> Factor by which an iteration of GCR with the cycle reduces the residual of a random
    !> vector, measured at the last set-up or update.
    real(c_double) :: reduction
    !> Bytes that null vectors and coarse operators hold on this rank.
    integer(c_int64_t) :: bytes
  end type
  !> A level of a hierarchy.
  type, bind(c) :: plaq_multigrid_level_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Extents of the whole lattice of the level.
    integer(c_int32_t) :: extents(4)
    !> Extents of the aggregates that become sites of the next level; 1 on the coarsest.
    integer(c_int32_t) :: block(4)
    !> Null vectors of a chirality; 0 on the coarsest.
    integer(c_int32_t) :: vectors
    !> Ranks that have a part of the level.
    integer(c_int32_t) :: ranks
    !> Bytes of null vectors and the level's coarse operator on this rank.
    integer(c_int64_t) :: bytes
    !> Iterations of all solves since the last set-up or update, each cycle with all of its right-hand sides
    !> counted once: on the finest level steps of the smoother; on levels between steps of the smoother and
    !> iterations of the GCR that a W or K cycle has there; on the coarsest iterations of its solver, a
    !> direct solution being one. 0 on a rank without a part of the level.
    integer(c_int64_t) :: iterations
    !> Seconds that cycles of these solves took in the level and those below it: the finest level's are all of
    !> the preconditioner. On a GPU the time that the host took to launch them and to wait for sums, which
    !> is less than the device's; on a rank without a part of the level that of waiting for it.
    real(c_double) :: seconds
    !> Seconds that the set-up or update took for the level: its null vectors, transfer and the coarse operator
    !> below it, in all passes; on the coarsest level what its solver finds out before. As the host saw them.
    real(c_double) :: setup_seconds
    !> Factor by which an iteration reduces the residual of the level's solve: on the finest as the
    !> report's; on levels between with W or K cycles the mean in solves since the last set-up or update
    !> of the iterations that norms are known of; 0 where none are.
    real(c_double) :: reduction
  end type

  ! Solvers
  !> A Dirac operator prepared for solves.
  type, bind(c) :: plaq_solver
    integer(c_int64_t) :: id = 0
  end type
  !> Causes of the end of a solve: the goals that all right-hand sides met, else the first limit. Of several
  !> solves in one call the greatest.
  !> The goals were met, `tol` last.
  integer(c_int32_t), parameter :: PLAQ_STOPPED_BY_RESIDUAL = 0
  !> The goals were met, `tol_hq` last.
  integer(c_int32_t), parameter :: PLAQ_STOPPED_BY_HEAVY_QUARK = 1
  !> Recomputed residuals no longer fell.
  integer(c_int32_t), parameter :: PLAQ_STOPPED_BY_STANDSTILL = 2
  !> `max_iterations`.
  integer(c_int32_t), parameter :: PLAQ_STOPPED_BY_ITERATIONS = 3
  !> `max_seconds`.
  integer(c_int32_t), parameter :: PLAQ_STOPPED_BY_TIME = 4
  !> The callback.
  integer(c_int32_t), parameter :: PLAQ_STOPPED_BY_CALLBACK = 5
  !> Algorithms.
  !> Conjugate gradient, for PLAQ_SOLUTION_MDAGM and PLAQ_SOLUTION_PDAGP or one of the normal equations.
  integer(c_int32_t), parameter :: PLAQ_SOLVER_CG = 0
  !> CG on M M^dagger y = b, x = M^dagger y.
  integer(c_int32_t), parameter :: PLAQ_SOLVER_CGNE = 1
  !> CG on M^dagger M x = M^dagger b.
  integer(c_int32_t), parameter :: PLAQ_SOLVER_CGNR = 2
  !> Stabilised biconjugate gradient.
  integer(c_int32_t), parameter :: PLAQ_SOLVER_BICGSTAB = 3
  !> Restarted GCR, with MR inside every iteration if asked for.
  integer(c_int32_t), parameter :: PLAQ_SOLVER_GCR = 4
  !> Minimal residual with relaxation.
  integer(c_int32_t), parameter :: PLAQ_SOLVER_MR = 5
  !> Chosen by the library: CG for hermitian operators, else BiCGStab, with 16 bits inside on a GPU, and
  !> multigrid as soon as its set-up pays (docs/propagator.md).
  integer(c_int32_t), parameter :: PLAQ_SOLVER_AUTO = 6
  !> GCR in which the right-hand sides that are solved for at a time share one space: each takes its step along
  !> the directions of all, of which `nkrylov` are kept for each. With many right-hand sides that takes fewer
  !> iterations than PLAQ_SOLVER_GCR, each of which costs more. Sources may depend on each other.
  integer(c_int32_t), parameter :: PLAQ_SOLVER_BLOCK_GCR = 7
  !> The equation that is solved; M is the operator, P its even-odd preconditioned one on its parity.
  !> M x = b.
  integer(c_int32_t), parameter :: PLAQ_SOLUTION_M = 0
  !> M^dagger x = b.
  integer(c_int32_t), parameter :: PLAQ_SOLUTION_MDAG = 1
  !> M^dagger M x = b.
  integer(c_int32_t), parameter :: PLAQ_SOLUTION_MDAGM = 2
  !> P x = b.
  integer(c_int32_t), parameter :: PLAQ_SOLUTION_P = 3
  !> P^dagger x = b.
  integer(c_int32_t), parameter :: PLAQ_SOLUTION_PDAG = 4
  !> P^dagger P x = b.
  integer(c_int32_t), parameter :: PLAQ_SOLUTION_PDAGP = 5
  !> M M^dagger x = b, by a solve with M and one with M^dagger.
  integer(c_int32_t), parameter :: PLAQ_SOLUTION_MMDAG = 6
  !> P P^dagger x = b, likewise.
  integer(c_int32_t), parameter :: PLAQ_SOLUTION_PPDAG = 7
  !> Equations that the Krylov space is built from.
  !> M itself. Plain CG then needs M^dagger M on the left; CGNE and CGNR bring their own normal equations.
  integer(c_int32_t), parameter :: PLAQ_EQUATIONS_DIRECT = 0
  !> M^dagger M x = M^dagger b.
  integer(c_int32_t), parameter :: PLAQ_EQUATIONS_NORMAL_RESIDUAL = 1
  !> M M^dagger y = b, x = M^dagger y.
  integer(c_int32_t), parameter :: PLAQ_EQUATIONS_NORMAL_ERROR = 2
  !> Choices of PLAQ_SOLVER_AUTO.
  !> Nothing: the solver was asked for.
  integer(c_int32_t), parameter :: PLAQ_CHOSEN_NONE = 0
  !> No multigrid: its set-up would not have paid.
  integer(c_int32_t), parameter :: PLAQ_CHOSEN_KRYLOV = 1
  !> Multigrid.
  integer(c_int32_t), parameter :: PLAQ_CHOSEN_MULTIGRID = 2
  !> No multigrid: there is none for this operator, equation or lattice, or its memory or set-up failed, as the
  !> log says.
  integer(c_int32_t), parameter :: PLAQ_CHOSEN_ONLY_KRYLOV = 3
  !> Parameters of a solver. By default the solver is chosen while it solves, on the even-odd preconditioned
  !> system.
  type, bind(c) :: plaq_solver_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Solver of the iteration.
    integer(c_int32_t) :: solver
    !> Equation that is solved.
    integer(c_int32_t) :: solution
    !> What the Krylov space is built from, for solvers that can do with or without: BiCGStab, GCR, block GCR, MR; CG needs
    !> one of the normal equations, CGNE and CGNR have theirs.
    integer(c_int32_t) :: equations
    !> System that is solved through; on the whole lattice there is no even-odd preconditioning.
    integer(c_int32_t) :: system
    !> Precision of the iteration; every solver recomputes residuals in the operator's, to which the tolerance
    !> applies. Automatic (0): single where the operator is in double, 16 bits for BiCGStab of
    !> PLAQ_SOLVER_AUTO on a GPU, else the operator's;
    !> plaq_solver_multishift then takes the operator's precision and storage, since shifts share a Krylov space
    !> that goes no deeper than its precision. The report says which.
    integer(c_int32_t) :: sloppy_precision
    !> Storage of the iteration's links; automatic (0): the operator's.
    integer(c_int32_t) :: sloppy_storage
    !> Largest number of iterations.
    integer(c_int32_t) :: max_iterations
    !> Directions that GCR keeps before a restart, block GCR for each right-hand side.
    integer(c_int32_t) :: nkrylov
    !> Steps of minimal residual before every application of the operator, as preconditioner of BiCGStab, GCR,
    !> block GCR and MR; 0: none.
    integer(c_int32_t) :: precondition_steps
    !> The solve starts from the x that is passed in; else from zero.
    integer(c_int32_t) :: initial_guess
    !> Largest |b - M x| / |b|; 0: not asked for. Both criteria asked for must be met.
    real(c_double) :: tol
    !> Largest heavy-quark residual; 0: not asked for.
    real(c_double) :: tol_hq
    !> Factor by which the residual of the iteration falls until it is recomputed in the operator's precision.
    !> Automatic (0): 0.1 of an iteration in 16 bits, else 0.01.
    real(c_double) :: delta
    !> Relaxation of MR; 1: none.
    real(c_double) :: omega
    !> Columns of a propagator solved at a time. Fewer take less memory, and on a GPU more time. Automatic (0): as
    !> many of 12, 6, 4, 3, 2 and 1 as fit in the device's memory, which the report says.
    integer(c_int32_t) :: columns
    !> PLAQ_SOLVER_AUTO: right-hand sides that are going to be solved for with these links, from which follows
    !> whether a set-up of multigrid pays. Automatic (0): as many as were solved for before.
    integer(c_int32_t) :: expected_columns
    !> Time slice of the source, for distance_alpha.
    integer(c_int32_t) :: distance_t0
    !> Most seconds that a call may take; 0: as many as it needs. They are asked for after every iteration; all ranks
    !> stop after the same one.
    real(c_double) :: max_seconds
    !> Exponent alpha per time slice of distance preconditioning (de Divitiis, Petronzio, Tantalo, arXiv:1006.4028,
    !> Eq. 9): with W = cosh(alpha (T/2 - d)) at the distance d in time from distance_t0 the solver iterates
    !> W^-1 M W y = W^-1 b, x = W y, and residuals are those of y. Of a heavy quark's propagator time slices far from
    !> the source, which |b - M x| does not see, then are as precise as others. Best is an alpha near the energy of
    !> the quark, half of its pion's mass. M^dagger is weighted alike, and M^dagger M is solved by one after the other.
    !> Without multigrid and several shifts; at most 160 / T. 0: none.
    real(c_double) :: distance_alpha
    !> Largest |b - M x| of a site over the largest |b| of one, OpenLat's criterion (Francis, Fritzsch, Luscher, Rago,
    !> arXiv:1911.04533, Section 4); 0: not asked for. It is met besides the others; alone it stands for tol, too.
    !> Eigenvectors do not take it.
    real(c_double) :: tol_site
  end type
  !> Report of a solve. Residuals are recomputed from x in the operator's precision.
  type, bind(c) :: plaq_solve_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> 1: every right-hand side meets every criterion.
    integer(c_int32_t) :: converged
    !> 1: the callback asked to stop or `max_seconds` were over; x holds what was reached.
    integer(c_int32_t) :: stopped
    !> Right-hand sides solved at a time: of a propagator its columns.
    integer(c_int32_t) :: columns
    !> Iterations of the slowest right-hand side.
    integer(c_int64_t) :: iterations
    !> Largest |b - M x| / |b| over the right-hand sides.
    real(c_double) :: residual
    !> Largest heavy-quark residual.
    real(c_double) :: residual_hq
    !> Seconds that the solve took.
    real(c_double) :: seconds
    !> Floating-point operations of operators and vectors.
    real(c_double) :: flops
    !> Bytes that operators and vectors read and write at least.
    real(c_double) :: bytes
    !> Most device memory held during the solve.
    integer(c_int64_t) :: memory_peak
    !> Residuals recomputed in the operator's precision.
    integer(c_int64_t) :: reliable_updates
    !> Breakdowns after which search directions were thrown away.
    integer(c_int64_t) :: restarts
    !> The solver that finished; another one than asked for after a standstill.
    integer(c_int32_t) :: solver
    !> 1: given up because the recomputed residuals no longer fell. 0 and not converged:
    !> `stopped_by` says what ended the solve.
    integer(c_int32_t) :: standstill
    !> Precision of the iteration.
    integer(c_int32_t) :: sloppy_precision
    !> Storage of the iteration's links.
    integer(c_int32_t) :: sloppy_storage
    !> Criterion that ended the solve.
    integer(c_int32_t) :: stopped_by
    !> What PLAQ_SOLVER_AUTO chose.
    integer(c_int32_t) :: chosen
    !> Largest |b - M x| of a site over the largest |b| of one; 0 where tol_site is.
    real(c_double) :: residual_site
  end type
  !> Memory and kernels that a solve takes, known before anything runs.
  type, bind(c) :: plaq_plan_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Device memory in bytes, as plaq_solver_memory.
    integer(c_int64_t) :: memory
    !> Kernels: instantiations with their constants.
    integer(c_int64_t) :: kernels
    !> Kernels that a GPU's compiler makes first, neither used before nor in the cache; 0 on a CPU.
    integer(c_int64_t) :: to_compile
    !> Seconds that compiling takes on this machine's cores, a rough estimate.
    real(c_double) :: seconds
    !> Bytes of the memory that stay allocated afterwards: links and modes of an overlap operator that was made,
    !> and the multigrid that it keeps; of other solves 0.
    integer(c_int64_t) :: kept
  end type

  ! Sources, propagators and hadron correlators
  !> Products of gamma matrices: gamma_x^a gamma_y^b gamma_z^c gamma_t^d is number a + 2 b + 4 c + 8 d, 0 to 15; these
  !> have a name.
  !> The unit matrix.
  integer(c_int32_t), parameter :: PLAQ_GAMMA_ONE = 0
  !> gamma_x.
  integer(c_int32_t), parameter :: PLAQ_GAMMA_X = 1
  !> gamma_y.
  integer(c_int32_t), parameter :: PLAQ_GAMMA_Y = 2
  !> gamma_z.
  integer(c_int32_t), parameter :: PLAQ_GAMMA_Z = 4
  !> gamma_t.
  integer(c_int32_t), parameter :: PLAQ_GAMMA_T = 8
  !> gamma_x gamma_y gamma_z gamma_t.
  integer(c_int32_t), parameter :: PLAQ_GAMMA_5 = 15
  !> Functions of time that a correlator falls as.
  !> cosh(m (t - T/2)), mesons: arcosh[(C(t-1) + C(t+1)) / (2 C(t))].
  integer(c_int32_t), parameter :: PLAQ_MASS_FORM_COSH = 0
  !> exp(-m t): ln[C(t) / C(t+1)].
  integer(c_int32_t), parameter :: PLAQ_MASS_FORM_LOG = 1
  !> Sites of a source.
  !> One site.
  integer(c_int32_t), parameter :: PLAQ_SOURCE_POINT = 0
  !> All sites of a time slice: with momentum 0 and without noise for links in a fixed gauge.
  integer(c_int32_t), parameter :: PLAQ_SOURCE_WALL = 1
  !> All sites.
  integer(c_int32_t), parameter :: PLAQ_SOURCE_VOLUME = 2
  !> Indices that columns of noise are diluted in: bits.
  !> A vector of noise for each spin.
  integer(c_int32_t), parameter :: PLAQ_DILUTE_SPIN = 1
  !> A vector of noise for each colour.
  integer(c_int32_t), parameter :: PLAQ_DILUTE_COLOUR = 2
  !> A vector of noise for even and one for odd sites.
  integer(c_int32_t), parameter :: PLAQ_DILUTE_PARITY = 4
  !> A vector of noise for the time slices t = k mod time_parts; for PLAQ_SOURCE_VOLUME.
  integer(c_int32_t), parameter :: PLAQ_DILUTE_TIME = 8
  !> Source of a propagator: columns exp(i p (x - position)) eta(x), eta being 1 or noise. Without noise a column
  !> has one spin and colour, number 3 spin + colour. Noise diluted in spin (colour) has one spin (colour) in a
  !> column, and columns of a vector share their numbers. Columns count with colour fastest, then spin, parity
  !> (even, odd), part of the time slices and the noise vector. Smearing: plaq_spinor_smear of the columns.
  type, bind(c) :: plaq_source_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Sites of the source.
    integer(c_int32_t) :: kind
    !> Noise at these sites; 0: all numbers are 1.
    integer(c_int32_t) :: noise
    !> Coordinates x, y, z, t. Of a wall t is its place, x, y, z where the momentum's phase is 1.
    integer(c_int32_t) :: position(4)
    !> Momentum n: p_mu = 2 pi n_mu / L_mu.
    integer(c_int32_t) :: momentum(4)
    !> Noise vectors; number k is that of plaq_spinor_noise with first = k.
    integer(c_int32_t) :: vectors
    !> Indices that noise is diluted in, a sum of PLAQ_DILUTE_ bits.
    integer(c_int32_t) :: dilute
    !> The only spin that is not zero; -1: all.
    integer(c_int32_t) :: spin
    !> The only colour that is not zero; -1: all.
    integer(c_int32_t) :: colour
    !> The column that comes first.
    integer(c_int32_t) :: first
    !> Number of columns from there on, at most; 0: all that there are.
    integer(c_int32_t) :: count
    !> Parts of the time slices with PLAQ_DILUTE_TIME, else 0. The lattice's T: each has one slice; a
    !> divisor of it: every time_parts-th.
    integer(c_int32_t) :: time_parts
    !> Seed of the noise, which is the same on any number of ranks.
    integer(c_int64_t) :: seed
  end type
  !> Sequential sources: delta(t, time) exp(i p (x - origin)) Gamma psi(x).
  type, bind(c) :: plaq_sequential_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> The sink's time slice; -1: all.
    integer(c_int32_t) :: time
    !> Number of Gamma as plaq_gamma counts it.
    integer(c_int32_t) :: gamma
    !> Momentum n: p_i = 2 pi n_i / L_i.
    integer(c_int32_t) :: momentum(3)
    !> Coordinates at which the phase is 1.
    integer(c_int32_t) :: origin(3)
  end type

  ! Contractions
  !> Projections of the free spins of a baryon, with P = (1 + parity gamma_t) / 2.
  !> tr P C; of the decuplet the average over i = x, y, z.
  integer(c_int32_t), parameter :: PLAQ_PROJECTION_TRACE = 0
  !> The decuplet's spin 3/2 at rest: the sum over i, j of
  !> tr P (delta_ij - gamma_i gamma_j / 3) C_ji, over 3.
  integer(c_int32_t), parameter :: PLAQ_PROJECTION_THREE_HALVES = 1
  !> Baryons of light quarks u = d and strange ones s; epsilon over colours is understood.
  !> (u C gamma5 d) u.
  integer(c_int32_t), parameter :: PLAQ_BARYON_NUCLEON = 0
  !> (u C gamma5 s) u.
  integer(c_int32_t), parameter :: PLAQ_BARYON_SIGMA = 1
  !> (s C gamma5 u) s.
  integer(c_int32_t), parameter :: PLAQ_BARYON_XI = 2
  !> (2 (u C gamma5 d) s + (u C gamma5 s) d - (d C gamma5 s) u) / sqrt(6).
  integer(c_int32_t), parameter :: PLAQ_BARYON_LAMBDA = 3
  !> (u C gamma_i u) u.
  integer(c_int32_t), parameter :: PLAQ_BARYON_DELTA = 4
  !> (2 (u C gamma_i s) u + (u C gamma_i u) s) / sqrt(3).
  integer(c_int32_t), parameter :: PLAQ_BARYON_SIGMA_STAR = 5
  !> (2 (s C gamma_i u) s + (s C gamma_i s) u) / sqrt(3).
  integer(c_int32_t), parameter :: PLAQ_BARYON_XI_STAR = 6
  !> (s C gamma_i s) s.
  integer(c_int32_t), parameter :: PLAQ_BARYON_OMEGA = 7
  !> Parameters of contractions of propagators.
  type, bind(c) :: plaq_contract_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Position of the source, x, y, z, t: times count from its t, phases of momenta are 1 at its x, y, z. -1: that
    !> of the propagators (plaq_spinor_origin); where they do not know it, contractions that need it are refused.
    integer(c_int32_t) :: position(4)
    !> Boundary phase in time in units of pi, 1: antiperiodic, of propagators that do not know theirs. Every line
    !> of a quark that reaches times before the source's carries its phase, which is taken out.
    real(c_double) :: boundary
    !> Parity of baryons forward in time, 1 or -1.
    integer(c_int32_t) :: parity
    !> Projection of the spins of baryons.
    integer(c_int32_t) :: projection
    !> Boundary phases in x, y, z in units of pi of propagators that do not know theirs: operators that move quarks
    !> across the lattice's end take them along.
    real(c_double) :: boundary_space(3)
  end type

  ! Hadron structure

  ! Quark loops
  !> Contractions of noise eta into loops; S = M^-1.
  !> eta^dagger Gamma S eta: the loops of S.
  integer(c_int32_t), parameter :: PLAQ_LOOPS_PLAIN = 0
  !> (S eta)^dagger gamma5 Gamma S eta: the loops of S(mu) gamma5 S(-mu) with twisted mass mu (Boucaud et al., Comput. Phys. Commun.
  !> 179, 695), so with the factor -2 i mu those of S(mu) - S(-mu).
  integer(c_int32_t), parameter :: PLAQ_LOOPS_ONE_END = 1
  !> (S' gamma5 eta)^dagger gamma5 Gamma S eta: the loops of S S' with another operator, so with the factor m' - m those of S - S' of two
  !> masses (Giusti et al., Eur. Phys. J. C 79, 586). S' is gamma5-hermitian.
  integer(c_int32_t), parameter :: PLAQ_LOOPS_DIFFERENCE = 2
  !> Noise of loops.
  type, bind(c) :: plaq_loops_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Contraction of noise into loops.
    integer(c_int32_t) :: kind
    !> Noise at all sites.
    integer(c_int32_t) :: noise
    !> Seed of the noise, which is the same on any number of ranks.
    integer(c_int64_t) :: seed
    !> Number of the first noise vector: estimates go on from there.
    integer(c_int32_t) :: first
    !> Noise vectors.
    integer(c_int32_t) :: vectors
    !> Indices that noise is diluted in, a sum of PLAQ_DILUTE_ bits; parts of a dilution are added.
    integer(c_int32_t) :: dilute
    !> Parts of the time slices with PLAQ_DILUTE_TIME, else 0.
    integer(c_int32_t) :: time_parts
    !> Hierarchical probing: plane waves with which a noise vector is multiplied, 1 (none) to the number of sites; the mean
    !> over them counts. Complete levels are best, e.g. 2, 16, 32, 256 of extents that 4 divides.
    integer(c_int32_t) :: probes
    !> Complex factor (re, im) of all loops: -2 i mu for PLAQ_LOOPS_ONE_END, m' - m for PLAQ_LOOPS_DIFFERENCE.
    real(c_double) :: factor(2)
  end type

  ! Reweighting factors
  !> Reweighting factors, with X = M^dagger M.
  !> det X / (X + mu^2): openQCD's RWTM1, and RWTM1_EO of an asymmetric system.
  integer(c_int32_t), parameter :: PLAQ_REWEIGHTING_TWISTED_MASS_1 = 0
  !> det X (X + 2 mu^2) / (X + mu^2)^2: openQCD's RWTM2, and RWTM2_EO of an asymmetric system.
  integer(c_int32_t), parameter :: PLAQ_REWEIGHTING_TWISTED_MASS_2 = 1
  !> det X^(1/2) r(X)^n of a rational function r about x^(-1/2 n): openQCD's RWRAT.
  integer(c_int32_t), parameter :: PLAQ_REWEIGHTING_RATIONAL = 2
  !> Factors of reweighting and their noise.
  type, bind(c) :: plaq_reweighting_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Factor.
    integer(c_int32_t) :: kind
    !> System whose operator is M. Twisted masses: PLAQ_SYSTEM_FULL, or an asymmetric system, whose twisted mass is on its
    !> own parity alone. Rational functions: that of the chain, by default of plaq's PLAQ_SYSTEM_EVEN_SYMMETRIC, of
    !> openQCD's PLAQ_SYSTEM_EVEN_ASYMMETRIC.
    integer(c_int32_t) :: system
    !> Noise vectors of each factor.
    integer(c_int32_t) :: vectors
    !> Number of the first noise vector: others make independent estimates.
    integer(c_int32_t) :: first
    !> Seed of the noise.
    integer(c_int64_t) :: seed
    !> Interval of the rational function's approximation: the chain's for M^dagger M in the solver's
    !> normalisation. openQCD's are those of |D|: their squares. 0: not given.
    real(c_double) :: low
    !> Its upper end.
    real(c_double) :: high
    !> Poles of the rational function; 0: as few as have `error`.
    integer(c_int32_t) :: poles
    !> Pseudofermion fields n of the chain, each with the n-th root.
    integer(c_int32_t) :: fields
    !> Relative error of the rational function where `poles` is 0, the chain's error_hamiltonian.
    real(c_double) :: error
  end type
  !> The product of the averages of factors over noise vectors.
  type, bind(c) :: plaq_reweighting_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Its logarithm.
    real(c_double) :: ln
    !> Its relative error by the scatter of the vectors; infinite of one vector.
    real(c_double) :: error
    !> Iterations of all solves.
    integer(c_int64_t) :: iterations
    !> Seconds.
    real(c_double) :: seconds
  end type

  ! Schroedinger functional
  !> Boundaries of the Schroedinger functional.
  !> Slice 0.
  integer(c_int32_t), parameter :: PLAQ_BOUNDARY_END_LOWER = 0
  !> Slice T, behind the last stored one.
  integer(c_int32_t), parameter :: PLAQ_BOUNDARY_END_UPPER = 1

  ! Propagators in files
  !> SciDAC files in LIME, with checksums, as QIO writes them.
  !> USQCD_DiracFermion_ScalarSource_TwelveSink: one complex field, the source of all spins and
  !> colours, and twelve spinors (MILC).
  integer(c_int32_t), parameter :: PLAQ_PROPAGATOR_SCALAR_SOURCE = 1
  !> USQCD_DiracFermion_Source_Sink_Pairs: a source and a solution for every column.
  integer(c_int32_t), parameter :: PLAQ_PROPAGATOR_PAIRS = 2
  !> One field of matrices of spin and colour, QDP++'s LatticePropagator (Chroma).
  integer(c_int32_t), parameter :: PLAQ_PROPAGATOR_MATRIX = 3
  !> Contents of the file of a propagator.
  type, bind(c) :: plaq_spinor_write_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> 0: with sources PLAQ_PROPAGATOR_SCALAR_SOURCE where they are of that form, else
    !> PLAQ_PROPAGATOR_PAIRS; without sources PLAQ_PROPAGATOR_MATRIX.
    integer(c_int32_t) :: kind
    !> PLAQ_PRECISION_DOUBLE, PLAQ_PRECISION_SINGLE, or 0: double for fields in double, else single.
    integer(c_int32_t) :: precision
    !> For the reader, in every record: NULL or NUL-terminated UTF-8.
    type(c_ptr) :: info
  end type
  !> Parameters of reading a propagator.
  type, bind(c) :: plaq_spinor_read_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> The whole lattice that the file must have; all 0: any.
    integer(c_int32_t) :: extents(4)
    !> Precision of the field; 0: that of the file.
    integer(c_int32_t) :: precision
    !> 1: columns are read although a checksum of the file is not theirs. For files that were changed after
    !> they were written, and are known to be good.
    integer(c_int32_t) :: wrong_checksum
  end type

  ! Eigenvectors of A: of M where it is hermitian, a Laplacian, else of M^dagger M
  !> Eigenvectors that were found, with their eigenvalues.
  type, bind(c) :: plaq_eigen
    integer(c_int64_t) :: id = 0
  end type
  !> An end of the spectrum.
  !> The smallest eigenvalues.
  integer(c_int32_t), parameter :: PLAQ_EIGEN_SMALLEST = 0
  !> The largest eigenvalues.
  integer(c_int32_t), parameter :: PLAQ_EIGEN_LARGEST = 1
  !> Methods of finding eigenvectors.
  !> Block Lanczos with thick restarts and Chebyshev polynomials.
  integer(c_int32_t), parameter :: PLAQ_EIGEN_LANCZOS = 0
  !> Minimising the Ritz functional with locally optimal conjugate gradients.
  integer(c_int32_t), parameter :: PLAQ_EIGEN_RITZ = 1
  !> Parameters of a search for eigenvectors of A, which is M where it is hermitian, a Laplacian, and else
  !> M^dagger M.
  type, bind(c) :: plaq_eigen_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> How eigenvectors are found.
    integer(c_int32_t) :: method
    !> End of the spectrum that they are of.
    integer(c_int32_t) :: end
    !> What stands for M: the operator, or a Schur complement.
    integer(c_int32_t) :: system
    !> Eigenvectors wanted, to the number of unknowns. A small operator, of which much is wanted, is
    !> diagonalised as a whole.
    integer(c_int32_t) :: count
    !> Vectors kept at most, `count` + 2 `block` at least; 0: about twice as many as wanted.
    integer(c_int32_t) :: max_vectors
    !> Vectors multiplied at a time.
    integer(c_int32_t) :: block
    !> Times that the basis is built up anew, or cycles of the Ritz functional.
    integer(c_int32_t) :: max_restarts
    !> A search, with random vectors orthogonal to those found, looks for what was missed, until it finds nothing;
    !> else `converged` says nothing about missing eigenvalues. With it a `tol` above 1e-3 counts as 1e-3.
    integer(c_int32_t) :: verify
    !> Largest |A v - lambda v| over the largest eigenvalue, from 1e-16, in single precision 1e-8;
    !> 0: 1e-10, in single precision 1e-6.
    real(c_double) :: tol
    !> Degree of the Chebyshev polynomial; 0: found from the spectrum; 1: no polynomial.
    integer(c_int32_t) :: degree
    !> The `count` smallest of every time slice are found by themselves, of an operator without hops in t, e.g. the
    !> Laplacian of colour vectors in x, y and z: vector k holds number k of every slice, of unit length there, and
    !> values are [t][k]. Of the other parameters `tol`, `max_restarts`, `verify`, `seed` and `max_seconds` count.
    integer(c_int32_t) :: time_slices
    !> Lower end of the polynomial's interval, which should hold what is not wanted, in the operator's
    !> normalisation; it is replaced where wanted eigenvalues turn out to lie in it.
    real(c_double) :: from
    !> Upper end of the interval.
    real(c_double) :: to
    !> Seed of random start vectors.
    integer(c_int64_t) :: seed
    !> Most seconds that a search may take; 0: as many as it needs. They are asked for after every block, by
    !> the Ritz functional after every step of the minimisation; all ranks stop after the same one.
    real(c_double) :: max_seconds
    !> Where vectors are kept while they are sought by Lanczos, and afterwards.
    integer(c_int32_t) :: vectors
    !> Vectors that are kept at least, before some of them are kept on the host; 0: a quarter more than are
    !> wanted, 16 or 4 `block` at least.
    integer(c_int32_t) :: min_vectors
  end type
  !> Report of a search for eigenvectors.
  type, bind(c) :: plaq_eigen_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> 1: every vector meets the tolerance, and no eigenvalue is missing if `verify` was asked for.
    integer(c_int32_t) :: converged
    !> 1: the callback asked to stop or `max_seconds` were over; what was known by then comes out.
    integer(c_int32_t) :: stopped
    !> Vectors that there are.
    integer(c_int32_t) :: count
    !> Degree of the last polynomial.
    integer(c_int32_t) :: degree
    !> Lower end of the polynomial's last interval.
    real(c_double) :: from
    !> Upper end of that interval.
    real(c_double) :: to
    !> Estimate of the smallest eigenvalue.
    real(c_double) :: least
    !> Estimate of the largest eigenvalue.
    real(c_double) :: largest
    !> Restarts of the search.
    integer(c_int64_t) :: restarts
    !> Multiplications of a vector with A.
    integer(c_int64_t) :: applications
    !> Seconds that the search took.
    real(c_double) :: seconds
    !> What ended the search; PLAQ_STOPPED_BY_ITERATIONS: `max_restarts`.
    integer(c_int32_t) :: stopped_by
    !> 1: no eigenvalue is missing, as a search from a random vector orthogonal to those found has shown, or
    !> because all of the operator was diagonalised. 0: not asked for, or ended by a limit.
    integer(c_int32_t) :: verified
    !> Vectors that the search kept at most; 0 where Lanczos did not run.
    integer(c_int32_t) :: max_vectors
    !> Vectors of the search that the device held; the others waited on the host.
    integer(c_int32_t) :: on_device
  end type

  ! Low modes, and loops part by part
  !> Spaces of low modes of a solver's operator, each with an approximate inverse L = P D_c^-1 R, D_c = R M P: levels of
  !> multigrid or vectors. Level 0 is the lattice, larger numbers are coarser.
  type, bind(c) :: plaq_space
    integer(c_int64_t) :: id = 0
  end type
  !> Quark loops as sums of parts, each with its variance and cost.
  type, bind(c) :: plaq_loops
    integer(c_int64_t) :: id = 0
  end type
  !> Ways to take the traces of low modes.
  !> Noise on each level, but the last level's trace exactly where that costs less for the goals, as four noise vectors tell.
  integer(c_int32_t), parameter :: PLAQ_LOOPS_TRACES_AUTO = 0
  !> The last level's trace exactly, by its coordinate vectors; noise on levels between.
  integer(c_int32_t), parameter :: PLAQ_LOOPS_TRACES_LAST = 1
  !> Noise on each level.
  integer(c_int32_t), parameter :: PLAQ_LOOPS_TRACES_NOISE = 2
  !> Traces of all coarse levels exactly.
  integer(c_int32_t), parameter :: PLAQ_LOOPS_TRACES_EVERY = 3
  !> Terms that loops are the sum of.
  !> The difference of a level and the next one, or the last level, by noise on the level.
  integer(c_int32_t), parameter :: PLAQ_LOOPS_TERM_NOISE = 0
  !> The same, exactly by all coordinate vectors of the level.
  integer(c_int32_t), parameter :: PLAQ_LOOPS_TERM_EXACT = 1
  !> The first terms of the hopping expansion, exactly.
  integer(c_int32_t), parameter :: PLAQ_LOOPS_TERM_HOPPING = 2
  !> Parts of loops that are summed up.
  type, bind(c) :: plaq_loop_sums_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Estimator of the traces of low modes, by noise or exactly.
    integer(c_int32_t) :: traces
    !> Terms of the hopping expansion, (A^-1 H)^k A^-1 for k below this with M = A - H, that are taken exactly; 0: none.
    integer(c_int32_t) :: hopping
  end type
  !> When a call that adds to loops ends. At least one of `error`, `seconds` and `vectors` is asked for; of several the first one counts.
  type, bind(c) :: plaq_loop_goals
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Error at which it ends: that of the loop of the first line, Gamma number `gamma` and first momentum at a time slice,
    !> root of the mean square over time slices, real and imaginary part together; 0: not asked for.
    real(c_double) :: error
    !> Seconds after which it ends; 0: not asked for.
    real(c_double) :: seconds
    !> Number of this Gamma.
    integer(c_int32_t) :: gamma
    !> Noise vectors of each part at most, those of earlier calls included; 0: no limit.
    integer(c_int32_t) :: vectors
  end type
  !> A level of spaces.
  type, bind(c) :: plaq_space_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Levels of the spaces, without the lattice.
    integer(c_int32_t) :: levels
    !> Extents of the level on all ranks; of vectors 1.
    integer(c_int32_t) :: extents(4)
    !> Dimension of the level's space on all ranks.
    integer(c_int64_t) :: unknowns
  end type
  !> Loops so far.
  type, bind(c) :: plaq_loops_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Number of parts.
    integer(c_int32_t) :: parts
    !> 1: the call reached the wanted error or, where none is wanted, the number of vectors.
    integer(c_int32_t) :: reached
    !> 1: the callback ended the call.
    integer(c_int32_t) :: stopped
    !> The error that plaq_loop_goals has, in descriptions that of Gamma number 0; infinite before all parts are known.
    real(c_double) :: error
    !> Seconds of the call.
    real(c_double) :: seconds
    !> Solves of all parts that did not converge.
    integer(c_int64_t) :: failed
  end type
  !> A part of loops.
  type, bind(c) :: plaq_loops_part_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> The term.
    integer(c_int32_t) :: term
    !> The level whose vectors it takes.
    integer(c_int32_t) :: level
    !> Noise vectors, or columns of what is exact, that are summed.
    integer(c_int64_t) :: done
    !> Columns of what is exact; 0 of noise.
    integer(c_int64_t) :: total
    !> Columns solved for on the level.
    integer(c_int64_t) :: solves
    !> Solves that did not converge.
    integer(c_int64_t) :: failed
    !> Seconds.
    real(c_double) :: seconds
  end type

  ! Distillation
  !> Modes of -D^2 on every time slice, D^2 the covariant second difference in x, y and z: mode k has number k of
  !> every slice, of unit length there. The component of colour 0 at the site 0, 0, 0 of a slice is real
  !> and positive; where it is next to nothing that of colour 1 is, or 2; where all three are, the phase is unspecified.
  type, bind(c) :: plaq_modes
    integer(c_int64_t) :: id = 0
  end type
  !> Divisions of an index of N values into the parts of a dilution.
  !> Not divided: one part.
  integer(c_int32_t), parameter :: PLAQ_MODES_DILUTION_NONE = 0
  !> A part for each value.
  integer(c_int32_t), parameter :: PLAQ_MODES_DILUTION_FULL = 1
  !> `parts` parts; value i is in part i mod `parts`.
  integer(c_int32_t), parameter :: PLAQ_MODES_DILUTION_INTERLACE = 2
  !> `parts` parts of neighbours; value i is in part i `parts` / N, rounded down.
  integer(c_int32_t), parameter :: PLAQ_MODES_DILUTION_BLOCK = 3
  !> Operators that act on a mode v of an elemental, with the links of the Laplacian.
  !> D_x v(n) = [U_x(n) v(n + x) - U_x(n - x)^dagger v(n - x)] / 2.
  integer(c_int32_t), parameter :: PLAQ_MODES_DERIVATIVE_X = 0
  !> The same in y.
  integer(c_int32_t), parameter :: PLAQ_MODES_DERIVATIVE_Y = 1
  !> The same in z.
  integer(c_int32_t), parameter :: PLAQ_MODES_DERIVATIVE_Z = 2
  !> U_x(n) v(n + x).
  integer(c_int32_t), parameter :: PLAQ_MODES_FORWARD_X = 3
  !> U_y(n) v(n + y).
  integer(c_int32_t), parameter :: PLAQ_MODES_FORWARD_Y = 4
  !> U_z(n) v(n + z).
  integer(c_int32_t), parameter :: PLAQ_MODES_FORWARD_Z = 5
  !> U_x(n - x)^dagger v(n - x).
  integer(c_int32_t), parameter :: PLAQ_MODES_BACK_X = 6
  !> U_y(n - y)^dagger v(n - y).
  integer(c_int32_t), parameter :: PLAQ_MODES_BACK_Y = 7
  !> U_z(n - z)^dagger v(n - z).
  integer(c_int32_t), parameter :: PLAQ_MODES_BACK_Z = 8
  !> Treatment of a file that is there already.
  !> It is refused.
  integer(c_int32_t), parameter :: PLAQ_IF_EXISTS_REFUSE = 0
  !> It is replaced.
  integer(c_int32_t), parameter :: PLAQ_IF_EXISTS_OVERWRITE = 1
  !> It is added to; names that it has are refused.
  integer(c_int32_t), parameter :: PLAQ_IF_EXISTS_APPEND = 2
  !> Modes of -D^2 on every time slice, D^2 the covariant second difference in x, y and z.
  type, bind(c) :: plaq_modes_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Modes of a time slice, at most three times its sites.
    integer(c_int32_t) :: count
    !> Steps of stout smearing in space, of the links that the modes are made from.
    integer(c_int32_t) :: steps
    !> Weight of the staples in that smearing.
    real(c_double) :: rho
    !> Largest |D^2 v + lambda v| over the largest eigenvalue, from 1e-16, in single precision 1e-8;
    !> 0: 1e-10, in single precision 1e-6.
    real(c_double) :: tol
    !> Times that the vectors are multiplied by a polynomial.
    integer(c_int32_t) :: max_restarts
    !> A search from random vectors orthogonal to those found looks for what was missed, until it finds nothing.
    integer(c_int32_t) :: verify
    !> Seed of random start vectors.
    integer(c_int64_t) :: seed
    !> Most seconds that the search may take; 0: as many as it needs.
    real(c_double) :: max_seconds
    !> Where modes are kept: on the device, or where its memory is short some time slices are searched after the others
    !> and the host has the modes that do not fit; `host`: all but the first one, so that solves have the
    !> device; `device`: refused where memory is short.
    integer(c_int32_t) :: vectors
    !> Links in double precision: vectors are iterated in single precision to a residual of 1e-5 of the largest
    !> eigenvalue, and from there in double.
    integer(c_int32_t) :: mixed
    !> Moving frames: the links of the Laplacian, once they are smeared, times exp(2 pi i momentum(j) / L_j) in x, y
    !> and z, any real numbers, as of plaq_spinor_smear.
    real(c_double) :: momentum(3)
  end type
  !> Noise in the space of modes: b(x) = sum over the modes k, spins s and times t of a part of eta(t, s, k) v_k(x), eta
  !> independent roots of unity.
  !> Columns are numbered with parts of modes fastest, then of spins, of times, and noise vectors.
  type, bind(c) :: plaq_modes_noise_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Noise eta: PLAQ_NOISE_Z2 or PLAQ_NOISE_Z4.
    integer(c_int32_t) :: noise
    !> Noise vectors.
    integer(c_int32_t) :: vectors
    !> Seed of the noise.
    integer(c_int64_t) :: seed
    !> Dilution of times.
    integer(c_int32_t) :: time
    !> Number of parts of times, of dilutions that need it.
    integer(c_int32_t) :: time_parts
    !> Dilution of spins.
    integer(c_int32_t) :: spin
    !> Number of parts of spins.
    integer(c_int32_t) :: spin_parts
    !> Dilution of modes.
    integer(c_int32_t) :: mode
    !> Number of parts of modes.
    integer(c_int32_t) :: mode_parts
    !> The first column.
    integer(c_int32_t) :: first
    !> Number of columns from there on at most; 0: all.
    integer(c_int32_t) :: count
  end type
  !> Description of modes and report of the search for them.
  type, bind(c) :: plaq_modes_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> 1: every mode meets the tolerance, and none is missing if `verify` was asked for.
    integer(c_int32_t) :: converged
    !> 1: none is missing, as a search from random vectors orthogonal to those found has shown, or because slices
    !> were diagonalised as a whole.
    integer(c_int32_t) :: verified
    !> 1: the callback asked to stop or `max_seconds` were over.
    integer(c_int32_t) :: stopped
    !> What ended the search; PLAQ_STOPPED_BY_ITERATIONS: `max_restarts`.
    integer(c_int32_t) :: stopped_by
    !> Modes of a slice.
    integer(c_int32_t) :: count
    !> Time slices of the whole lattice.
    integer(c_int32_t) :: times
    !> Steps of stout smearing in space.
    integer(c_int32_t) :: steps
    !> Restarts of the search.
    integer(c_int32_t) :: restarts
    !> Weight of the staples in that smearing.
    real(c_double) :: rho
    !> Multiplications of a vector of the lattice with -D^2.
    integer(c_int64_t) :: applications
    !> The largest eigenvalue, to some per cent: what residuals are compared with.
    real(c_double) :: largest
    !> Seconds that the search took.
    real(c_double) :: seconds
    !> Average plaquette in planes of space of the links before smearing. Other links are refused with
    !> these modes.
    real(c_double) :: plaquette_spatial
    !> Average plaquette in planes with t of these links.
    real(c_double) :: plaquette_temporal
    !> Average Re tr U / 3 of these links.
    real(c_double) :: link_trace
    !> Device memory of the modes.
    integer(c_int64_t) :: bytes
    !> Memory of the host that the modes take which are not on the device.
    integer(c_int64_t) :: host_bytes
    !> Phases of a moving frame on the links, as of plaq_modes_params.
    real(c_double) :: momentum(3)
  end type

  ! Overlap operator
  !> The overlap operator D_N(m) on links of its own, with the low modes of its kernel.
  type, bind(c) :: plaq_overlap
    integer(c_int64_t) :: id = 0
  end type
  !> Approximations of sign(Q) on the spectrum that is not projected.
  !> The minimax polynomial, by Clenshaw's recurrence.
  integer(c_int32_t), parameter :: PLAQ_OVERLAP_POLYNOMIAL = 0
  !> Zolotarev's rational function, by multi-shift CG; in 16 bits, where CG does not get far enough, the
  !> polynomial takes its place.
  integer(c_int32_t), parameter :: PLAQ_OVERLAP_ZOLOTAREV = 1
  !> Whichever takes less time here, in double precision.
  integer(c_int32_t), parameter :: PLAQ_OVERLAP_AUTO = 2
  !> Solvers of D x = b.
  !> x = D^dagger (D^dagger D)^-1 b by CG, on either chirality that b has.
  integer(c_int32_t), parameter :: PLAQ_OVERLAP_SOLVER_CG = 0
  !> Shifted unitary minimal residual.
  integer(c_int32_t), parameter :: PLAQ_OVERLAP_SOLVER_SUMR = 1
  !> Flexible GCR, which takes a preconditioner.
  integer(c_int32_t), parameter :: PLAQ_OVERLAP_SOLVER_GCR = 2
  !> Whichever is expected to take the least time: GCR with the Wilson operator's inverse where the Krylov space
  !> of D^dagger D would be longer, else CG or SUMR, by the chiralities that b has.
  integer(c_int32_t), parameter :: PLAQ_OVERLAP_SOLVER_AUTO = 3
  !> The operator D or what is made of it.
  !> D.
  integer(c_int32_t), parameter :: PLAQ_OVERLAP_D = 0
  !> D^dagger.
  integer(c_int32_t), parameter :: PLAQ_OVERLAP_DDAG = 1
  !> D^dagger D.
  integer(c_int32_t), parameter :: PLAQ_OVERLAP_DDAGD = 2
  !> sign(Q).
  integer(c_int32_t), parameter :: PLAQ_OVERLAP_SIGN = 3
  !> Q = gamma5 (D_W - (1 + s)).
  integer(c_int32_t), parameter :: PLAQ_OVERLAP_Q = 4
  !> D^dagger D (1 + gamma5) / 2, in one application of the sign function, half as many as
  !> PLAQ_OVERLAP_DDAGD.
  integer(c_int32_t), parameter :: PLAQ_OVERLAP_DDAGD_PLUS = 5
  !> D^dagger D (1 - gamma5) / 2, in one application likewise.
  integer(c_int32_t), parameter :: PLAQ_OVERLAP_DDAGD_MINUS = 6
  !> D_N(m) = (1 - m / (2 rho)) rho (1 + gamma5 sign(Q)) + m with rho = 1 + s.
  type, bind(c) :: plaq_overlap_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Shift s of the kernel gamma5 (D_W - (1 + s)).
    real(c_double) :: s
    !> Quark mass m, 0 to below 2 rho.
    real(c_double) :: mass
    !> Largest error of the sign function on the spectrum that is not projected. Less than 3e-7 in single
    !> precision and 1e-3 in 16 bit is taken as that; the report has the delta in use.
    real(c_double) :: delta
    !> Approximation of the sign function. In 16 bit it is always the polynomial, as the report says.
    integer(c_int32_t) :: sign
    !> Low modes of the kernel to project, at least; automatic (-1): found from the spectrum.
    integer(c_int32_t) :: modes
    !> Largest number of modes that are found from the spectrum.
    integer(c_int32_t) :: most_modes
    !> How modes of the kernel are found.
    integer(c_int32_t) :: method
    !> Residual of the modes of Q^2 over its largest eigenvalue, from 1e-16; 0: 1e-13. Modes are found in
    !> double precision, whatever that of the operator.
    real(c_double) :: modes_tol
    !> Highest degree of a polynomial.
    integer(c_int32_t) :: max_degree
    !> Zolotarev's function runs the Krylov space twice and takes no memory for poles.
    integer(c_int32_t) :: two_passes
    !> Least modulus of eigenvalues of Q that are not projected; 0, with `high`: as found.
    real(c_double) :: low
    !> Largest modulus of eigenvalues of Q; 0, with `low`: as found.
    real(c_double) :: high
    !> Sheikholeslami-Wohlert coefficient of the kernel.
    real(c_double) :: csw
    !> Boundary phases in units of pi, or a word: `periodic` (0, 0, 0, 0) or `antiperiodic` (0, 0, 0, 1).
    real(c_double) :: boundary(4)
    !> Precision of the operator and, single at least, of the modes that it keeps; automatic (0): that of the gauge
    !> field.
    integer(c_int32_t) :: precision
    !> Storage of its links; automatic (0): two rows.
    integer(c_int32_t) :: storage
    !> Seed of random start vectors.
    integer(c_int64_t) :: seed
    !> Steps of smearing of the links that the kernel takes; the links of `gauge` stay as they are.
    integer(c_int32_t) :: smearing_steps
    !> Kind of that smearing.
    integer(c_int32_t) :: smearing
    !> Parameters of the kind, as of plaq_gauge_smear; the first must be set where there are steps.
    real(c_double) :: smearing_alpha(3)
    !> Most seconds that a search for modes may take, here and in each plaq_overlap_index; 0: as many
    !> as it needs. Then it fails with KERNEL_SPECTRUM, on all ranks.
    real(c_double) :: max_seconds
    !> Modes at the upper end of the kernel's spectrum that plaq_overlap_high_values reports.
    integer(c_int32_t) :: high_modes
    !> Restarts of a search for low modes of the kernel, or of Ritz' diagonalisations.
    integer(c_int32_t) :: max_restarts
    !> Where Lanczos keeps vectors of the kernel, and where its modes are kept.
    integer(c_int32_t) :: vectors
    !> Vectors of the kernel that Lanczos multiplies at a time.
    integer(c_int32_t) :: block
  end type
  !> An overlap operator that exists.
  type, bind(c) :: plaq_overlap_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Shift of the kernel.
    real(c_double) :: s
    !> Quark mass.
    real(c_double) :: mass
    !> Polynomial or Zolotarev.
    integer(c_int32_t) :: sign
    !> Degree of the polynomial in Q^2, or poles.
    integer(c_int32_t) :: degree
    !> Modes that are projected.
    integer(c_int32_t) :: modes
    !> Vectors that plaq_overlap_vectors gives out.
    integer(c_int32_t) :: vectors
    !> Error of the sign function on the spectrum that is not projected.
    real(c_double) :: delta
    !> Kappa of the projector on positive chirality (Walk, section 2.8).
    real(c_double) :: kappa_plus
    !> Kappa of the projector on negative chirality.
    real(c_double) :: kappa_minus
    !> Largest error of an application, |D~ - D| <= (1 + s - m / 2) (2 (kappa_+ + kappa_-) + delta), without
    !> rounding: below 1e-12 in double precision, 3e-5 in single and 2e-2 in 16 bit on small lattices.
    real(c_double) :: error_bound
    !> Smallest modulus of eigenvalues of Q that the approximation holds for.
    real(c_double) :: low
    !> Largest modulus of eigenvalues of Q that the approximation holds for.
    real(c_double) :: high
    !> Largest modulus of an eigenvalue of Q.
    real(c_double) :: largest
    !> Error of that modulus.
    real(c_double) :: largest_error
    !> Smallest modulus of an eigenvalue of Q that is not projected.
    real(c_double) :: next
    !> Multiplications of a vector with Q so far.
    integer(c_int64_t) :: multiplications
    !> Precision of the operator.
    integer(c_int32_t) :: precision
    !> Storage of its links.
    integer(c_int32_t) :: storage
    !> Seconds that the search for modes took.
    real(c_double) :: seconds_modes
    !> Seconds that making the approximation took.
    real(c_double) :: seconds_sign
    !> The solver of the last solve, PLAQ_OVERLAP_SOLVER_AUTO before any.
    integer(c_int32_t) :: solver
    !> Its preconditioner: 0 none, 1 the Wilson operator's inverse by BiCGStab, 2 by multigrid.
    integer(c_int32_t) :: preconditioner
    !> Modes that plaq_overlap_high_values reports.
    integer(c_int32_t) :: high_modes
    !> Low modes of D^dagger D of either chirality that are known.
    integer(c_int32_t) :: low_modes
    !> Vectors of `vectors` that the device holds; the others wait on the host.
    integer(c_int32_t) :: vectors_on_device
    !> Vectors that the search for modes kept at most; 0: they are of a file, or not found by Lanczos.
    integer(c_int32_t) :: max_vectors
  end type

  ! Inverse of the overlap operator
  !> Parameters of solves of D x = b.
  type, bind(c) :: plaq_overlap_solve_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Algorithm.
    integer(c_int32_t) :: solver
    !> Largest number of iterations.
    integer(c_int32_t) :: max_iterations
    !> Largest |b - D x| / |b|, not far below the operator's error bound.
    real(c_double) :: tol
    !> Precision of the iteration; automatic (0): that of the operator.
    integer(c_int32_t) :: sloppy_precision
    !> Storage of the iteration's links; automatic (0): that of the operator.
    integer(c_int32_t) :: sloppy_storage
    !> The sign function is coarser while the residual is large.
    integer(c_int32_t) :: relax
    !> Low modes that plaq_overlap_index found are taken out of the start.
    integer(c_int32_t) :: deflate
    !> Directions that GCR keeps.
    integer(c_int32_t) :: nkrylov
    !> Iterations of the Wilson operator's inverse as preconditioner of GCR; 0: none, or 100 where the library
    !> chooses GCR.
    integer(c_int32_t) :: wilson_iterations
    !> Mass of that Wilson operator, which must be above the critical one; automatic (NaN): found once for the links,
    !> the low edge of its spectrum at twice the (least) quark mass.
    real(c_double) :: wilson_mass
    !> Tolerance of that inverse.
    real(c_double) :: wilson_tol
    !> plaq_overlap_propagators takes the contact term out.
    integer(c_int32_t) :: subtract
    !> The Wilson operator's inverse is by multigrid, of plaq_overlap_set_multigrid or else one with the defaults, which the operator
    !> keeps for other solves with the same wilson_mass; 0: by BiCGStab; automatic (-1): by what is expected to
    !> take less time, from the mass, the tolerance, the number of right-hand sides and masses, and whether there
    !> is a multigrid already.
    integer(c_int32_t) :: multigrid
    !> Most seconds that a call may take; 0: as many as it needs. They are asked for after every iteration; all ranks
    !> stop after the same one. What a call prepares, a multigrid or the mass of the Wilson operator, is not
    !> counted.
    real(c_double) :: max_seconds
  end type

  ! Gauge fixing
  !> A gauge transformation that fixes a gauge, and what is known of it.
  type, bind(c) :: plaq_gaugefix
    integer(c_int64_t) :: id = 0
  end type
  !> Gauges, for SU(3) and SU(2). F is the functional that is maximised, 1 on unit links,
  !> and theta its violation (Schroeck and Vogt, Comput. Phys. Commun. 184 (2013) 1907).
  !> F = sum Re tr U_mu / (4 N V), theta = sum tr Delta Delta^dagger / (N V).
  integer(c_int32_t), parameter :: PLAQ_GAUGEFIX_LANDAU = 0
  !> The same without the links along `time`, for every slice across it on its own.
  integer(c_int32_t), parameter :: PLAQ_GAUGEFIX_COULOMB = 1
  !> Maximally Abelian: F = sum |(U_mu)_ii|^2 / (4 N V).
  integer(c_int32_t), parameter :: PLAQ_GAUGEFIX_MAXIMALLY_ABELIAN = 2
  !> Algorithms.
  !> Overrelaxation; relaxation with omega = 1.
  integer(c_int32_t), parameter :: PLAQ_GAUGEFIX_OVERRELAXATION = 0
  !> Every SU(2) subgroup takes its best value, or its square with `probability`.
  integer(c_int32_t), parameter :: PLAQ_GAUGEFIX_STOCHASTIC = 1
  !> Simulated annealing, then overrelaxation.
  integer(c_int32_t), parameter :: PLAQ_GAUGEFIX_ANNEALING = 2
  !> Simulated annealing, `stochastic_sweeps` of stochastic relaxation, overrelaxation.
  integer(c_int32_t), parameter :: PLAQ_GAUGEFIX_COMBINED = 3
  !> Fourier-accelerated steepest descent with step `alpha` (Davies et al., Phys. Rev. D37
  !> (1988) 1581); Landau and Coulomb gauge.
  integer(c_int32_t), parameter :: PLAQ_GAUGEFIX_FOURIER_DESCENT = 4
  !> Fourier-accelerated conjugate gradients (Hudspith, Comput. Phys. Commun. 187 (2015)
  !> 115) with `alpha` as the first trial; Landau and Coulomb gauge.
  integer(c_int32_t), parameter :: PLAQ_GAUGEFIX_FOURIER_CG = 5
  !> Fourier-accelerated conjugate gradients where there are any: in Landau and Coulomb gauge, on a CPU or on
  !> one GPU with cuFFT. Else overrelaxation. The report says which.
  integer(c_int32_t), parameter :: PLAQ_GAUGEFIX_AUTO = 6
  !> Precision of the sweeps. Links are only read, so that rounding does not grow in them; functional, violation
  !> and result are in double for all, and the residual gauge is fixed in double.
  !> Single precision.
  integer(c_int32_t), parameter :: PLAQ_GAUGEFIX_SINGLE = 0
  !> Single precision as far as it goes, then double.
  integer(c_int32_t), parameter :: PLAQ_GAUGEFIX_MIXED = 1
  !> Double precision.
  integer(c_int32_t), parameter :: PLAQ_GAUGEFIX_DOUBLE = 2
  !> plaq_gaugefix_callback: a bind(c) procedure; pass c_funloc of it.
  !> Called at every check with the number of the copy, its sweeps so far, functional and
  !> violation in the precision of the sweeps, and the temperature while annealing (else 0).
  !> A result other than 0 on any rank ends the fixing at the next check.
  !> Arguments: copy, sweeps, functional, theta, temperature, user.
  !> Parameters of gauge fixing.
  type, bind(c) :: plaq_gaugefix_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Gauge that is fixed.
    integer(c_int32_t) :: condition
    !> Direction whose links Coulomb gauge leaves out (x, y, z, t).
    integer(c_int32_t) :: time
    !> Maximally Abelian gauge is followed by Landau gauge, by diagonal transformations.
    integer(c_int32_t) :: residual
    !> Algorithm that raises the functional.
    integer(c_int32_t) :: method
    !> Precision of the sweeps; the result is measured in double.
    integer(c_int32_t) :: precision
    !> Annealing temperatures have equal ratios; else equal differences.
    integer(c_int32_t) :: logarithmic
    !> Power of overrelaxation.
    real(c_double) :: omega
    !> Probability of stochastic relaxation.
    real(c_double) :: probability
    !> Sweeps of stochastic relaxation in the combined algorithm.
    integer(c_int64_t) :: stochastic_sweeps
    !> First temperature of annealing.
    real(c_double) :: hot
    !> Last temperature of annealing.
    real(c_double) :: cold
    !> Number of temperatures, each with a heat bath sweep.
    integer(c_int64_t) :: temperatures
    !> Microcanonical sweeps after each heat bath.
    integer(c_int64_t) :: microcanonical
    !> Largest violation theta; 0: not asked for; negative: 1e-12, in single precision 1e-11, which is what that
    !> comes to. All criteria asked for must be met.
    real(c_double) :: stop_theta
    !> Largest violation of a site, of which theta is the average; 0: not asked for.
    real(c_double) :: stop_theta_max
    !> Largest rise of the functional in one iteration; 0: not asked for.
    real(c_double) :: stop_change
    !> Sweeps after which a copy, or a slice, is given up; annealing is not counted.
    integer(c_int64_t) :: max_iterations
    !> Sweeps between two looks at the violation, and between two calls of the callback. Fourier-accelerated
    !> methods know the violation at every step and end at the first that is good enough.
    integer(c_int64_t) :: check_every
    !> Gauge copies, of which the one with the largest functional among those that converged is kept; in Coulomb
    !> gauge of every slice. The first starts from the field as it is.
    integer(c_int64_t) :: copies
    !> 1: the first copy starts from a random transformation, as the others do.
    integer(c_int64_t) :: random_start
    !> Seed of the random numbers.
    integer(c_int64_t) :: seed
    !> Step of the Fourier-accelerated methods along the gradient times p2max / p^2.
    real(c_double) :: alpha
  end type
  !> Report of a gauge fixing.
  type, bind(c) :: plaq_gaugefix_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Gauge functional of the field as it is now; in Coulomb gauge the average over the slices.
    real(c_double) :: functional
    !> Violation theta of the field; in Coulomb gauge the average over the slices.
    real(c_double) :: theta
    !> Violation theta of the worst site.
    real(c_double) :: theta_max
    !> Functional of the residual fixing; 0: there was none.
    real(c_double) :: residual_functional
    !> Violation of the residual fixing; 0: there was none.
    real(c_double) :: residual_theta
    !> Sweeps, without annealing; in Coulomb gauge of the slowest slice.
    integer(c_int64_t) :: iterations
    !> Sweeps of the residual fixing.
    integer(c_int64_t) :: residual_iterations
    !> Seconds that the fixing took.
    real(c_double) :: seconds
    !> 1: all criteria were met, in every slice, and by the residual fixing.
    integer(c_int32_t) :: converged
    !> 1: the callback asked to stop.
    integer(c_int32_t) :: stopped
    !> Method that was taken: as asked for, or as PLAQ_GAUGEFIX_AUTO chose.
    integer(c_int32_t) :: method
    !> Number of copies made.
    integer(c_int64_t) :: copies
    !> Number of the copy that is kept.
    integer(c_int64_t) :: best_copy
    !> Largest violation theta that was accepted.
    real(c_double) :: stop_theta
  end type
  !> One gauge copy, or one slice of it.
  type, bind(c) :: plaq_gaugefix_state
    !> Gauge functional.
    real(c_double) :: functional
    !> Violation theta.
    real(c_double) :: theta
    !> Violation theta of the worst site.
    real(c_double) :: theta_max
    !> Seconds that a copy took; 0 of a slice.
    real(c_double) :: seconds
    !> Sweeps, without annealing.
    integer(c_int64_t) :: iterations
    !> 1: all criteria were met.
    integer(c_int32_t) :: converged
  end type

  ! Momenta, gauge forces, link updates
  !> Momenta p = sum_a p_a T_a of SU(3) links, tr T_a T_b = delta_ab / 2, U' = i p U; the kinetic
  !> term is 1/2 sum p_a^2. Numbers of other codes are multiples of i p: MILC's and QUDA's
  !> anti-hermitian matrices are sqrt(2) i p, and their unit of time is sqrt(2) of this one; openQCD's are i p.
  type, bind(c) :: plaq_momentum
    integer(c_int64_t) :: id = 0
  end type
  !> Order of this rank's sites in an array of momenta.
  !> x fastest, t slowest.
  integer(c_int32_t), parameter :: PLAQ_SITE_ORDER_LEXICOGRAPHIC = 0
  !> Even sites, then odd ones.
  integer(c_int32_t), parameter :: PLAQ_SITE_ORDER_EVEN_ODD = 1
  !> The eight links of each odd site, as PLAQ_ORDER_OPENQCD has them.
  integer(c_int32_t), parameter :: PLAQ_SITE_ORDER_OPENQCD = 2
  !> Numbers that an array of momenta holds for each link; a site has four links.
  !> p_1 to p_8.
  integer(c_int32_t), parameter :: PLAQ_MOMENTUM_COEFFICIENTS = 0
  !> i p as 10 reals: entries 01, 02, 12 (re, im), imaginary parts of the diagonal, one that
  !> is free; MILC's anti_hermitmat.
  integer(c_int32_t), parameter :: PLAQ_MOMENTUM_TEN = 1
  !> i p as 3x3 complex numbers, row major.
  integer(c_int32_t), parameter :: PLAQ_MOMENTUM_MATRICES = 2
  !> i p as openQCD's su3_alg_dble: diagonal i (c1 + c2, c2 - 2 c1, c1 - 2 c2), entries 01, 02,
  !> 12 c3 + i c4, c5 + i c6, c7 + i c8.
  integer(c_int32_t), parameter :: PLAQ_MOMENTUM_OPENQCD = 3
  !> Gauge actions: sums over x and planes of plaquettes and of rectangles of two by one.
  !> Wilson's action of plaquettes (Wilson, Phys. Rev. D 10 (1974) 2445).
  integer(c_int32_t), parameter :: PLAQ_GAUGE_ACTION_WILSON = 0
  !> Tree-level improved Symanzik action (Luescher, Weisz, Commun. Math. Phys. 97 (1985) 59): c1 = -1/12.
  integer(c_int32_t), parameter :: PLAQ_GAUGE_ACTION_SYMANZIK = 1
  !> Tadpole-improved Luescher-Weisz action of plaquettes, which beta counts, and rectangles with the factor
  !> -1 / (20 u0^2), without the term of parallelograms, whose coefficient is of order alpha.
  integer(c_int32_t), parameter :: PLAQ_GAUGE_ACTION_LUESCHER_WEISZ = 2
  !> Iwasaki's action, c1 = -0.331.
  integer(c_int32_t), parameter :: PLAQ_GAUGE_ACTION_IWASAKI = 3
  !> The action DBW2, c1 = -1.4088.
  integer(c_int32_t), parameter :: PLAQ_GAUGE_ACTION_DBW2 = 4
  !> Plaquettes with the factor 1 - 8 c1 and rectangles with c1.
  integer(c_int32_t), parameter :: PLAQ_GAUGE_ACTION_RECTANGLE = 5
  !> One-loop improved Luescher-Weisz action with parallelograms (Phys. Lett. B 158 (1985) 250) and the part of
  !> HISQ quarks (Hart, von Hippel, Horgan, arXiv:0812.0503).
  integer(c_int32_t), parameter :: PLAQ_GAUGE_ACTION_ONE_LOOP_SYMANZIK = 6
  !> Couplings for each kind of plane: `plaquettes` and `rectangles`.
  integer(c_int32_t), parameter :: PLAQ_GAUGE_ACTION_GENERAL = 7
  !> A gauge action: sum over x and planes of beta c0 (1 - Re tr P / 3) and beta c1
  !> (1 - Re tr R / 3), P the plaquettes and R the rectangles of two by one.
  type, bind(c) :: plaq_gauge_action_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> The action; c0 and c1 follow from it.
    integer(c_int32_t) :: action
    !> Coupling beta, which every action but the general one needs.
    real(c_double) :: beta
    !> Bare anisotropy xi: planes of space have the coupling beta / xi, those with t beta xi.
    real(c_double) :: anisotropy
    !> Factor of rectangles, of the action `rectangle`.
    real(c_double) :: c1
    !> Tadpole factor of `luescher_weisz` and `one_loop_symanzik`; 0: 1.
    real(c_double) :: u0
    !> Number of HISQ quarks whose part `one_loop_symanzik` includes; NaN: none.
    real(c_double) :: flavours
    !> Coefficient cG of the boundary at slice 0 of links with boundaries in time: of plaquettes and rectangles in an
    !> open boundary slice, which count one half besides, and of plaquettes between a slice whose links stand still
    !> and the next one.
    real(c_double) :: cg
    !> The same of the upper boundary; NaN: as cg.
    real(c_double) :: cg_prime
    !> Couplings of plaquettes in planes of space and in those with t, of the action `general`.
    real(c_double) :: plaquettes(2)
    !> Couplings of rectangles in planes of space, with two steps in space and one in t, and with two steps in t,
    !> of the action `general`.
    real(c_double) :: rectangles(3)
  end type
  !> Report of the change of momenta by a force.
  type, bind(c) :: plaq_force_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Root of the average over links of |F|^2 = sum_a F_a^2; F_a is dS/d omega_a for U -> exp(i omega_a
    !> T_a) U, without the step.
    real(c_double) :: rms
    !> Largest |F| of a link.
    real(c_double) :: max
    !> Iterations of solvers.
    integer(c_int64_t) :: iterations
  end type

  ! Closed paths of links

  ! Fermion forces of given spinors

  ! Hybrid Monte Carlo
  !> A Markov chain of trajectories: action, integrator, momenta, place in the random streams.
  type, bind(c) :: plaq_hmc
    integer(c_int64_t) :: id = 0
  end type
  !> plaq_trajectory_callback: a bind(c) procedure; pass c_funloc of it.
  !> Called after every trajectory with its number, its Delta H, whether it was accepted (1), the
  !> average plaquette, the iterations of its solvers and its seconds; a result other than 0 on any
  !> rank ends the run.
  !> Arguments: trajectory, delta_h, accepted, plaquette, iterations, seconds, user.
  !> Report of a run of trajectories; numbers of one trajectory are those of the last.
  type, bind(c) :: plaq_hmc_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Number of trajectories done.
    integer(c_int64_t) :: trajectories
    !> Number of trajectories accepted.
    integer(c_int64_t) :: accepted
    !> Number of the next trajectory.
    integer(c_int64_t) :: next_trajectory
    !> 1: the last trajectory was accepted.
    integer(c_int32_t) :: last_accepted
    !> 1: the callback asked to stop.
    integer(c_int32_t) :: stopped
    !> Iterations of all solvers in the last trajectory.
    integer(c_int64_t) :: iterations
    !> Delta H of the last trajectory.
    real(c_double) :: delta_h
    !> Average over the run of exp(-Delta H): 1 within errors.
    real(c_double) :: exp_minus_delta_h
    !> Kinetic term at the start of the last trajectory.
    real(c_double) :: kinetic_start
    !> Kinetic term at its end.
    real(c_double) :: kinetic_end
    !> Average plaquette after the last trajectory.
    real(c_double) :: plaquette
    !> Largest change of an entry when links were put back into SU(3).
    real(c_double) :: correction
    !> Largest difference of an entry of a link after the way there and back; -1: not checked.
    real(c_double) :: reversibility_links
    !> Difference of H after the way there and back; -1: not checked.
    real(c_double) :: reversibility_h
    !> Seconds of the last trajectory.
    real(c_double) :: trajectory_seconds
    !> Seconds of all trajectories.
    real(c_double) :: seconds
  end type
  !> A monomial in the last trajectory.
  type, bind(c) :: plaq_monomial_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Action at the start of the trajectory.
    real(c_double) :: action_start
    !> Action at its end.
    real(c_double) :: action_end
    !> Number of evaluations of the force.
    integer(c_int64_t) :: kicks
    !> Average of the forces' rms.
    real(c_double) :: rms
    !> Largest force of a link.
    real(c_double) :: max
    !> Iterations of solvers in forces.
    integer(c_int64_t) :: force_iterations
    !> Iterations of solvers in heat bath and actions.
    integer(c_int64_t) :: action_iterations
    !> Seconds that the monomial took.
    real(c_double) :: seconds
    !> Seconds of them in solvers.
    real(c_double) :: solve_seconds
  end type

  ! Actions of chains in parts
  !> Terms of an action and levels of its integrator, of which a chain is made.
  type, bind(c) :: plaq_hmc_parts
    integer(c_int64_t) :: id = 0
  end type
  !> Schemes of integrators.
  !> Second order, a force a step.
  integer(c_int32_t), parameter :: PLAQ_INTEGRATOR_LEAPFROG = 0
  !> Omelyan's of second order, two forces.
  integer(c_int32_t), parameter :: PLAQ_INTEGRATOR_OMELYAN2 = 1
  !> Omelyan's of fourth order, five forces.
  integer(c_int32_t), parameter :: PLAQ_INTEGRATOR_OMELYAN4 = 2
  !> Fourth order, three forces and one at shifted links.
  integer(c_int32_t), parameter :: PLAQ_INTEGRATOR_FORCE_GRADIENT = 3
  !> Algorithms that make a Markov chain of molecular dynamics.
  !> Hybrid Monte Carlo: momenta and pseudofermions are drawn anew for every trajectory.
  integer(c_int32_t), parameter :: PLAQ_HMC_ALGORITHM_HMC = 0
  !> Stochastic molecular dynamics: they are rotated at the start of every trajectory, a short cycle.
  integer(c_int32_t), parameter :: PLAQ_HMC_ALGORITHM_SMD = 1
  !> Momenta that a rejected cycle leaves with their sign changed. Links go back to the start of the cycle,
  !> pseudofermions stay as they were rotated.
  !> Momenta from before the rotation, as openQCD has it.
  integer(c_int32_t), parameter :: PLAQ_SMD_REJECTION_BEFORE = 0
  !> Momenta after the rotation, with which the cycle keeps the distribution exactly (Horowitz, Phys. Lett. B 268
  !> (1991) 247).
  integer(c_int32_t), parameter :: PLAQ_SMD_REJECTION_AFTER = 1
  !> A chain but for its action and its integrator: keys of an input (docs/hmc.md).
  type, bind(c) :: plaq_hmc_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Length of a trajectory.
    real(c_double) :: length
    !> Seed of the random numbers.
    integer(c_int64_t) :: seed
    !> Number of the next trajectory.
    integer(c_int64_t) :: trajectory
    !> Trajectories with lower numbers are accepted whatever their Delta H; until then an interval of one flavour's
    !> spectrum that is measured follows the links.
    integer(c_int64_t) :: accept_until
    !> Every so many trajectories the way there and back is measured; 0: never.
    integer(c_int64_t) :: reversibility_every
    !> Step before molecular dynamics: new momenta and pseudofermions in hmc, a rotation of those that are
    !> there in smd.
    integer(c_int32_t) :: algorithm
    !> Momenta that a rejected cycle of smd leaves, reversed.
    integer(c_int32_t) :: rejection
    !> Friction gamma of smd: a cycle of length t keeps exp(-gamma t) of momenta and pseudofermions.
    real(c_double) :: friction
  end type
  !> Quarks of an action (docs/fermions.md).
  type, bind(c) :: plaq_quarks_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Number of flavours; 2: det(M^dagger M), or its ratio to that of a preconditioner; 1: |det M|.
    integer(c_int32_t) :: flavours
    !> Schur complement whose determinant is taken.
    integer(c_int32_t) :: system
    !> Largest number of iterations of a solve.
    integer(c_int32_t) :: max_iterations
    !> Precision of the iteration inside double; automatic (0): half on a GPU and single on a CPU for CG of two
    !> flavours, else double.
    integer(c_int32_t) :: sloppy_precision
    !> Solutions that guesses of force solves are made of; 0: solves start from zero.
    integer(c_int32_t) :: guesses
    !> Levels of stout smearing of the links that the operators see; 0: none.
    integer(c_int32_t) :: smearing_levels
    !> Solves are by GCR with multigrid.
    integer(c_int32_t) :: multigrid
    !> Solves of the preconditioner are by multigrid, too.
    integer(c_int32_t) :: multigrid_preconditioner
    !> Null vectors outlive a trajectory.
    integer(c_int32_t) :: persistent
    !> Directions that GCR keeps.
    integer(c_int32_t) :: nkrylov
    !> What follows a change of links: nothing but the new links, a refinement, or a new set-up.
    integer(c_int32_t) :: refresh
    !> Number of the least shifts of one flavour that multigrid solves.
    integer(c_int32_t) :: shifts
    !> Pseudofermion fields of one flavour, each with its root.
    integer(c_int32_t) :: fields
    !> Every how many trajectories the spectrum of one flavour is measured, of which an eigenvalue outside of the
    !> interval ends the trajectory; 0: only to find the interval.
    integer(c_int32_t) :: check_every
    !> Largest residual of solves in forces; trajectories are reversible to about as much.
    real(c_double) :: tolerance_force
    !> Largest residual of solves in the Hamiltonian and the heat bath.
    real(c_double) :: tolerance_hamiltonian
    !> Weight rho of stout smearing.
    real(c_double) :: smearing_rho
    !> Relative error of one flavour's rational approximation in forces.
    real(c_double) :: error_force
    !> Relative error of that approximation in the Hamiltonian and the heat bath.
    real(c_double) :: error_hamiltonian
    !> Ends of the interval of one flavour's spectrum; 0: it is measured, a third below and a fifth above what was found.
    real(c_double) :: interval(2)
    !> Splitting epsilon of a twisted doublet, whose weight is det M, with two flavours and the parameters of one
    !> flavour; 0: two flavours of equal mass.
    real(c_double) :: epsilon
    !> Solves also go on until the largest |b - P^dagger P x| of a site is at most this times their tolerance times the
    !> largest |b| of one (OpenLat: Francis, Fritzsch, Luscher, Rago, arXiv:1911.04533, Section 4); 0: not asked for.
    real(c_double) :: tol_site
  end type

  ! Gradient flow
  !> Action whose gradient flows.
  !> Wilson's plaquette action.
  integer(c_int32_t), parameter :: PLAQ_FLOW_WILSON = 0
  !> Tree-level improved Symanzik action.
  integer(c_int32_t), parameter :: PLAQ_FLOW_SYMANZIK = 1
  !> The same with 1 + D*D / 12 along each link, which removes all O(a^2) effects of the flow
  !> (Ramos, Sint, Eur. Phys. J. C 76 (2016) 15).
  integer(c_int32_t), parameter :: PLAQ_FLOW_ZEUTHEN = 2
  !> plaq_flow_callback: a bind(c) procedure; pass c_funloc of it.
  !> Called at every measurement with the flow time t / a^2, t^2 E from clover leaves, and the
  !> topological charge; a result other than 0 on any rank ends the flow.
  !> Arguments: time, t2e, charge, user.
  !> A gradient flow by Luescher's third-order Runge-Kutta scheme (JHEP 08 (2010) 071, appendix C).
  type, bind(c) :: plaq_flow_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Action whose gradient flows.
    integer(c_int32_t) :: kind
    !> Steps between measurements; one more is at the start, one at the end.
    integer(c_int32_t) :: every
    !> Step of the flow time; of adaptive steps the first. Beyond 0.2 the scheme is unstable.
    real(c_double) :: step
    !> Flow time t / a^2 to reach, in a million steps at most. It must be set.
    real(c_double) :: time
    !> Adaptive steps: largest difference of an entry to the embedded scheme of second order in one step (Fritzsch,
    !> Ramos, JHEP 10 (2013) 008, appendix D); 0: fixed steps. One that takes steps of less than a millionth of the
    !> time is refused.
    real(c_double) :: tolerance
  end type
  !> A gradient flow of quark fields by Luescher's third-order Runge-Kutta scheme (JHEP 04 (2013) 123, appendix D), or
  !> its adjoint.
  type, bind(c) :: plaq_spinor_flow_params
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Action whose gradient moves the links.
    integer(c_int32_t) :: kind
    !> States of the links that the adjoint flow keeps besides those it starts with; those between are computed again; -1:
    !> as many as half of the free memory holds, 1000 at most.
    integer(c_int32_t) :: checkpoints
    !> Step of the flow time; the last one ends at `time`. Beyond 0.157 the scheme is unstable.
    real(c_double) :: step
    !> Flow time t / a^2 from these links on. It must be set.
    real(c_double) :: time
    !> Boundary phases in units of pi of fields that do not know theirs: psi(x + L_mu) = exp(i pi boundary[mu]) psi(x).
    !> Outside of C also a word: `periodic` (0, 0, 0, 0) or `antiperiodic` (0, 0, 0, 1).
    real(c_double) :: boundary(4)
  end type
  !> Report of a flow of quark fields, or of its adjoint.
  type, bind(c) :: plaq_spinor_flow_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Flow time of the field afterwards: the end of a flow, 0 of an adjoint, unless they were stopped.
    real(c_double) :: time
    !> Steps of the quark fields.
    integer(c_int64_t) :: steps
    !> Whole steps of the links, those that were computed again included.
    integer(c_int64_t) :: link_steps
    !> States of the links that the adjoint kept besides those that it began with.
    integer(c_int64_t) :: checkpoints
    !> 1: the callback asked to stop.
    integer(c_int32_t) :: stopped
    !> Seconds that the flow took.
    real(c_double) :: seconds
  end type
  !> Report of a flow. Scales are in lattice units, negative where the flow ended before them.
  type, bind(c) :: plaq_flow_report
    !> sizeof of this struct, set by its init function.
    integer(c_int64_t) :: struct_size
    !> Flow time reached.
    real(c_double) :: time
    !> Scale t0 with t^2 E = 0.3, E from clover leaves.
    real(c_double) :: t0_clover
    !> Scale t0, E from plaquettes.
    real(c_double) :: t0_plaquette
    !> Scale w0 with t d/dt t^2 E = 0.3 at t = w0^2, E from clover leaves.
    real(c_double) :: w0_clover
    !> Scale w0, E from plaquettes.
    real(c_double) :: w0_plaquette
    !> Steps of the flow that count.
    integer(c_int64_t) :: steps
    !> Steps that were done again with a smaller step.
    integer(c_int64_t) :: repeated
    !> 1: the callback asked to stop.
    integer(c_int32_t) :: stopped
    !> Seconds that the flow took.
    real(c_double) :: seconds
  end type
  !> Observables at a flow time.
  type, bind(c) :: plaq_flow_point
    !> Flow time t / a^2.
    real(c_double) :: time
    !> Average plaquette of the planes xy, xz and yz, 1 for unit links.
    real(c_double) :: plaquette_spatial
    !> Average plaquette of the planes xt, yt and zt.
    real(c_double) :: plaquette_temporal
    !> Action density from clover leaves of the planes xy, xz and yz, as of plaq_gauge_topology.
    real(c_double) :: energy_spatial
    !> Action density from clover leaves of the planes xt, yt and zt.
    real(c_double) :: energy_temporal
    !> Topological charge.
    real(c_double) :: charge
  end type

  ! QUDA's interface: what becomes of errors
  !> Actions of a function of the headers in quda/ once its error has been told to the handler.
  !> Ends the program with exit code 1 (the default).
  integer(c_int32_t), parameter :: PLAQ_QUDA_ERRORS_END = 0
  !> Returns. No array, number or count of the host has been written then, and what is
  !> returned is NULL, 1 from functions that return an int, NaN from those that return a double.
  integer(c_int32_t), parameter :: PLAQ_QUDA_ERRORS_RETURN = 1
  !> plaq_quda_error_callback: a bind(c) procedure; pass c_funloc of it.
  !> Gets the name of the function that failed, its status and the message in lines: argument,
  !> expected, found, and what to do. On several ranks all get what the one that failed has.
  !> Arguments: function, status, message, user.

  interface
    !> Gives the version of the library, "major.minor.patch".
    type(c_ptr) function plaq_version() bind(c)
      import :: c_ptr, c_int32_t
    end function
    !> Gives the message of this thread's last failed call: function, argument, expected, found.
    !> The address stays the same for a thread, the text until it asks again; never NULL.
    type(c_ptr) function plaq_last_error() bind(c)
      import :: c_ptr, c_int32_t
    end function
    !> Gives it with the words of values and parameters that files and languages other than C use: `full`
    !> for PLAQ_SYSTEM_FULL, `tol` for params.tol.
    type(c_ptr) function plaq_last_error_in_words() bind(c)
      import :: c_ptr, c_int32_t
    end function
    !> Gives the name of a status, e.g. "PLAQ_NULL_POINTER"; "unknown status" for other numbers.
    type(c_ptr) function plaq_status_name(status) bind(c)
      import
      integer(c_int32_t), value :: status
    end function
    !> Says what a status means, in a sentence.
    type(c_ptr) function plaq_status_help(status) bind(c)
      import
      integer(c_int32_t), value :: status
    end function
    !> Sends the log up to `level` to the host; NULL or PLAQ_LOG_OFF makes plaq quiet again.
    !> One callback per process.
    integer(c_int32_t) function plaq_log_set(callback, user, level) bind(c)
      import
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      integer(c_int32_t), value :: level
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_context_params_init(params, struct_size) bind(c)
      import
      type(plaq_context_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_context_report_init(report, struct_size) bind(c)
      import
      type(plaq_context_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Makes a context; all ranks of its communicator do so together. Errors: NO_DEVICE,
    !> DRIVER_MISSING, DRIVER_TOO_OLD, NVRTC_MISSING, PROCESS_GRID, MPI_MISSING, MPI_STATE,
    !> MPI_THREAD, COMM_FAILED.
    integer(c_int32_t) function plaq_context_create(params, context) bind(c)
      import
      type(plaq_context_params), intent(in), optional :: params
      type(plaq_context), intent(inout) :: context
    end function
    !> Destroys a context and all its objects. The zero handle is accepted.
    integer(c_int32_t) function plaq_context_destroy(context) bind(c)
      import
      type(plaq_context), value :: context
    end function
    !> Writes the name of the device, e.g. "NVIDIA H200", into a buffer of `capacity` bytes.
    integer(c_int32_t) function plaq_context_name(context, name, capacity) bind(c)
      import
      type(plaq_context), value :: context
      character(kind=c_char), intent(inout) :: name(*)
      integer(c_int64_t), value :: capacity
    end function
    !> Describes the device, its memory and the ranks of a context.
    integer(c_int32_t) function plaq_context_describe(context, report) bind(c)
      import
      type(plaq_context), value :: context
      type(plaq_context_report), intent(inout), optional :: report
    end function
    !> Lets memory_peak start again from memory_used.
    integer(c_int32_t) function plaq_context_reset_peak(context) bind(c)
      import
      type(plaq_context), value :: context
    end function
    !> Waits until everything asked of the device is done.
    integer(c_int32_t) function plaq_context_synchronize(context) bind(c)
      import
      type(plaq_context), value :: context
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_layout_params_init(params, struct_size) bind(c)
      import
      type(plaq_layout_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_gauge_smear_params_init(params, struct_size) bind(c)
      import
      type(plaq_gauge_smear_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_gauge_params_init(params, struct_size) bind(c)
      import
      type(plaq_gauge_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_gauge_report_init(report, struct_size) bind(c)
      import
      type(plaq_gauge_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Makes a gauge field of unspecified links.
    !> Errors: BAD_EXTENTS, OUT_OF_MEMORY, INVALID_ARGUMENT.
    integer(c_int32_t) function plaq_gauge_create(context, params, gauge) bind(c)
      import
      type(plaq_context), value :: context
      type(plaq_gauge_params), intent(in), optional :: params
      type(plaq_gauge), intent(inout) :: gauge
    end function
    !> Destroys a gauge field; operators made with it go on. The zero handle is accepted.
    integer(c_int32_t) function plaq_gauge_destroy(gauge) bind(c)
      import
      type(plaq_gauge), value :: gauge
    end function
    !> Describes the shape and size of a gauge field.
    integer(c_int32_t) function plaq_gauge_describe(gauge, report) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_gauge_report), intent(inout), optional :: report
    end function
    !> Smears the links of an SU(3) field; those projected to SU(3) are the unitary factor of the
    !> polar decomposition with determinant 1. On failure the old ones stay.
    !> Errors: BAD_PARAMETER, UNSUPPORTED, OUT_OF_MEMORY.
    integer(c_int32_t) function plaq_gauge_smear(gauge, params) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_gauge_smear_params), intent(in), optional :: params
    end function
    !> Copies the links of `from` with their boundaries in time into `to`, whose own boundaries are given up; precision and
    !> storage may differ. Errors: FIELD_MISMATCH for another lattice or group.
    integer(c_int32_t) function plaq_gauge_copy(from, to) bind(c)
      import
      type(plaq_gauge), value :: from
      type(plaq_gauge), value :: to
    end function
    !> Loads links from the host's array; on failure the old ones stay. Errors: NOT_UNITARY, NOT_FINITE (naming
    !> the link), BAD_LAYOUT.
    integer(c_int32_t) function plaq_gauge_load(gauge, layout, data) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_layout_params), intent(in), optional :: layout
      type(c_ptr), value :: data
    end function
    !> Saves the links into the host's array.
    integer(c_int32_t) function plaq_gauge_save(gauge, layout, data) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_layout_params), intent(in), optional :: layout
      type(c_ptr), value :: data
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_gauge_read_params_init(params, struct_size) bind(c)
      import
      type(plaq_gauge_read_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_gauge_write_params_init(params, struct_size) bind(c)
      import
      type(plaq_gauge_write_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_file_report_init(report, struct_size) bind(c)
      import
      type(plaq_file_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Makes a gauge field of the links of a file in any known format, which is checked: checksums, unitarity,
    !> plaquette of the header; nothing is made if a check fails. Errors: FILE_OPEN, FILE_FORMAT, FILE_EXTENTS,
    !> FILE_TRUNCATED, FILE_CHECKSUM, FILE_PLAQUETTE, NOT_UNITARY, NOT_FINITE, BAD_EXTENTS, OUT_OF_MEMORY.
    integer(c_int32_t) function plaq_gauge_read(context, file, params, gauge, report) bind(c)
      import
      type(plaq_context), value :: context
      character(kind=c_char), intent(in) :: file(*)
      type(plaq_gauge_read_params), intent(in), optional :: params
      type(plaq_gauge), intent(inout) :: gauge
      type(plaq_file_report), intent(inout), optional :: report
    end function
    !> Writes the links to a file, which appears complete or not at all. Errors: FILE_WRITE, UNSUPPORTED.
    integer(c_int32_t) function plaq_gauge_write(gauge, file, params) bind(c)
      import
      type(plaq_gauge), value :: gauge
      character(kind=c_char), intent(in) :: file(*)
      type(plaq_gauge_write_params), intent(in), optional :: params
    end function
    !> Reads a text of a configuration's file, without its links, for the rank that asks; `found`: 0 if the
    !> file has none, and `value` is then empty. Errors: INVALID_ARGUMENT (`capacity` too small too),
    !> FILE_OPEN, FILE_FORMAT, FILE_TRUNCATED.
    integer(c_int32_t) function plaq_gauge_read_text(file, text, value, capacity, found) bind(c)
      import
      character(kind=c_char), intent(in) :: file(*)
      integer(c_int32_t), value :: text
      character(kind=c_char), intent(inout) :: value(*)
      integer(c_int64_t), value :: capacity
      integer(c_int32_t), intent(inout) :: found
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_spinor_smear_params_init(params, struct_size) bind(c)
      import
      type(plaq_spinor_smear_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_spinor_params_init(params, struct_size) bind(c)
      import
      type(plaq_spinor_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_spinor_report_init(report, struct_size) bind(c)
      import
      type(plaq_spinor_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Makes a spinor field that is zero. Errors: BAD_EXTENTS, OUT_OF_MEMORY, INVALID_ARGUMENT.
    integer(c_int32_t) function plaq_spinor_create(context, params, spinor) bind(c)
      import
      type(plaq_context), value :: context
      type(plaq_spinor_params), intent(in), optional :: params
      type(plaq_spinor), intent(inout) :: spinor
    end function
    !> Destroys a spinor field. The zero handle is accepted.
    integer(c_int32_t) function plaq_spinor_destroy(spinor) bind(c)
      import
      type(plaq_spinor), value :: spinor
    end function
    !> Describes the shape and size of a spinor field.
    integer(c_int32_t) function plaq_spinor_describe(spinor, report) bind(c)
      import
      type(plaq_spinor), value :: spinor
      type(plaq_spinor_report), intent(inout), optional :: report
    end function
    !> Loads spinors from the host's array; on failure the field is as before. A field of one parity takes its
    !> sites. Errors: NOT_FINITE, BAD_LAYOUT.
    integer(c_int32_t) function plaq_spinor_load(spinor, layout, data) bind(c)
      import
      type(plaq_spinor), value :: spinor
      type(plaq_layout_params), intent(in), optional :: layout
      type(c_ptr), value :: data
    end function
    !> Saves the spinors into the host's array, in which sites that the field lacks stay as they are.
    integer(c_int32_t) function plaq_spinor_save(spinor, layout, data) bind(c)
      import
      type(plaq_spinor), value :: spinor
      type(plaq_layout_params), intent(in), optional :: layout
      type(c_ptr), value :: data
    end function
    !> Sets every number to zero.
    integer(c_int32_t) function plaq_spinor_zero(spinor) bind(c)
      import
      type(plaq_spinor), value :: spinor
    end function
    !> Sets `to` to `from`; precisions may differ.
    integer(c_int32_t) function plaq_spinor_copy(from, to) bind(c)
      import
      type(plaq_spinor), value :: from
      type(plaq_spinor), value :: to
    end function
    !> Sets y to a x + b y, with one complex (re, im) a and b per right-hand side: `count` = nrhs.
    !> Arrays: a[2 * count], b[2 * count].
    integer(c_int32_t) function plaq_spinor_axpby(a, x, b, y, count) bind(c)
      import
      type(plaq_spinor), value :: x
      type(plaq_spinor), value :: y
      integer(c_int64_t), value :: count
      real(c_double), intent(in) :: a(2 * count)
      real(c_double), intent(in) :: b(2 * count)
    end function
    !> Smears every right-hand side of a field on both parities, in any precision, with
    !> the links of `gauge` (SU(3)); on failure the field is as before.
    !> Errors: BAD_PARAMETER, UNSUPPORTED, FIELD_MISMATCH, OUT_OF_MEMORY.
    integer(c_int32_t) function plaq_spinor_smear(spinor, gauge, params) bind(c)
      import
      type(plaq_spinor), value :: spinor
      type(plaq_gauge), value :: gauge
      type(plaq_spinor_smear_params), intent(in), optional :: params
    end function
    !> Sets y to the covariant shift of x along a path of `length` steps, 0 to 3 forward in x, y, z, t and 7 to
    !> 4 back: y(n) is x at the end of the path that starts at n, carried back to n by the links of `gauge`
    !> (SU(3)); one step forward is U_mu(n) x(n + mu). Fields are periodic, on both parities; y and x are
    !> different fields. Errors: BAD_PARAMETER, FIELD_MISMATCH, OUT_OF_MEMORY.
    integer(c_int32_t) function plaq_spinor_shift(y, gauge, steps, length, x) bind(c)
      import
      type(plaq_spinor), value :: y
      type(plaq_gauge), value :: gauge
      integer(c_int64_t), value :: length
      type(plaq_spinor), value :: x
      integer(c_int32_t), intent(in) :: steps(*)
    end function
    !> Sums |x|^2 over sites, spin and colour for each right-hand side: `count` = nrhs.
    !> Arrays: norms[count].
    integer(c_int32_t) function plaq_spinor_norm2(x, norms, count) bind(c)
      import
      type(plaq_spinor), value :: x
      integer(c_int64_t), value :: count
      real(c_double), intent(inout) :: norms(count)
    end function
    !> Sums conj(x) y over sites, spin and colour, as (re, im) for each right-hand side: `count` = nrhs.
    !> Arrays: products[2 * count].
    integer(c_int32_t) function plaq_spinor_dot(x, y, products, count) bind(c)
      import
      type(plaq_spinor), value :: x
      type(plaq_spinor), value :: y
      integer(c_int64_t), value :: count
      real(c_double), intent(inout) :: products(2 * count)
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_heatbath_params_init(params, struct_size) bind(c)
      import
      type(plaq_heatbath_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_heatbath_report_init(report, struct_size) bind(c)
      import
      type(plaq_heatbath_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Measures the average plaquettes.
    integer(c_int32_t) function plaq_gauge_plaquette(gauge, plaquette) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_plaquette), intent(inout) :: plaquette
    end function
    !> Measures the average over the lattice of tr prod U_mu / N along the lines in `direction` (3: time).
    integer(c_int32_t) function plaq_gauge_polyakov_loop(gauge, direction, polyakov) bind(c)
      import
      type(plaq_gauge), value :: gauge
      integer(c_int32_t), value :: direction
      type(plaq_complex), intent(inout) :: polyakov
    end function
    !> Measures topological charge and action density by a field strength F without its trace.
    integer(c_int32_t) function plaq_gauge_topology(gauge, topology) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_topology), intent(inout) :: topology
    end function
    !> Measures them by an F that keeps the trace of the clover leaves, as QUDA's charge does; on rough links
    !> charge and density differ by some per cent.
    integer(c_int32_t) function plaq_gauge_topology_with_trace(gauge, topology) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_topology), intent(inout) :: topology
    end function
    !> Measures the topological charge of each of this rank's `sites` sites, lexicographic with x fastest,
    !> whose sum over all ranks is the charge: of an F without its trace, or with `trace` 1 with it.
    !> Arrays: density[sites].
    integer(c_int32_t) function plaq_gauge_charge_density(gauge, trace, density, sites) bind(c)
      import
      type(plaq_gauge), value :: gauge
      integer(c_int32_t), value :: trace
      integer(c_int64_t), value :: sites
      real(c_double), intent(inout) :: density(sites)
    end function
    !> Measures energy and charge of every time slice of the whole lattice, summed over space: `plaquette`, E = 2 sum
    !> of Re tr (1 - P), half of the plaquettes with t on either side, spatial ones of boundary slices with weight
    !> 1/2; `clover`, E = 1/2 sum of tr F F from clover leaves; and the topological charge. All ranks get all slices.
    !> Arrays: plaquette[slices], clover[slices], charge[slices].
    integer(c_int32_t) function plaq_gauge_time_slices(gauge, &
        plaquette, &
        clover, &
        charge, &
        slices) bind(c)
      import
      type(plaq_gauge), value :: gauge
      integer(c_int64_t), value :: slices
      real(c_double), intent(inout) :: plaquette(slices)
      real(c_double), intent(inout) :: clover(slices)
      real(c_double), intent(inout) :: charge(slices)
    end function
    !> Measures how far the links are from the group.
    integer(c_int32_t) function plaq_gauge_unitarity(gauge, unitarity) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_unitarity), intent(inout) :: unitarity
    end function
    !> Sets all links to the unit matrix.
    integer(c_int32_t) function plaq_gauge_unit(gauge) bind(c)
      import
      type(plaq_gauge), value :: gauge
    end function
    !> Draws independent links from the Haar measure; they are the same on every device and decomposition.
    integer(c_int32_t) function plaq_gauge_hot(gauge, seed) bind(c)
      import
      type(plaq_gauge), value :: gauge
      integer(c_int64_t), value :: seed
    end function
    !> Draws links exp(i width sum_a p_a T_a) with normal p_a; 0 <= width <= 1.
    integer(c_int32_t) function plaq_gauge_warm(gauge, seed, width) bind(c)
      import
      type(plaq_gauge), value :: gauge
      integer(c_int64_t), value :: seed
      real(c_double), value :: width
    end function
    !> Updates the links by heat bath and overrelaxation, SU(3) stored as 18 numbers or SU(2), double or
    !> single.
    integer(c_int32_t) function plaq_gauge_heatbath(gauge, params, callback, user, report) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_heatbath_params), intent(in), optional :: params
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_heatbath_report), intent(inout), optional :: report
    end function
    !> Sets right-hand side b to noise vector number `first` + b of `seed`.
    integer(c_int32_t) function plaq_spinor_noise(spinor, noise, seed, first) bind(c)
      import
      type(plaq_spinor), value :: spinor
      integer(c_int32_t), value :: noise
      integer(c_int64_t), value :: seed
      integer(c_int32_t), value :: first
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_clover_params_init(params, struct_size) bind(c)
      import
      type(plaq_clover_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Makes a clover term of unspecified blocks, to be loaded.
    integer(c_int32_t) function plaq_clover_create(context, params, clover) bind(c)
      import
      type(plaq_context), value :: context
      type(plaq_clover_params), intent(in), optional :: params
      type(plaq_clover), intent(inout) :: clover
    end function
    !> Destroys a clover term; operators made with it go on. The zero handle is accepted.
    integer(c_int32_t) function plaq_clover_destroy(clover) bind(c)
      import
      type(plaq_clover), value :: clover
    end function
    !> Loads blocks from the host's array: PLAQ_ORDER_MILC (packed) or PLAQ_ORDER_QDPJIT. On failure the old
    !> ones stay. Errors: NOT_FINITE, BAD_LAYOUT.
    integer(c_int32_t) function plaq_clover_load(clover, layout, data) bind(c)
      import
      type(plaq_clover), value :: clover
      type(plaq_layout_params), intent(in), optional :: layout
      type(c_ptr), value :: data
    end function
    !> Saves the blocks into the host's array.
    integer(c_int32_t) function plaq_clover_save(clover, layout, data) bind(c)
      import
      type(plaq_clover), value :: clover
      type(plaq_layout_params), intent(in), optional :: layout
      type(c_ptr), value :: data
    end function
    !> Measures ln |det A| on the even and on the odd sites of the whole lattice, 2 numbers; for `twist` not 0
    !> ln det(A^2 + twist^2) = ln |det(A + i twist gamma5)|^2, where an operator with twisted mass mu has twist
    !> = 2 kappa mu. A in single or double precision. Errors: SINGULAR_CLOVER, BAD_PARAMETER, UNSUPPORTED.
    !> Arrays: log_det[2].
    integer(c_int32_t) function plaq_clover_log_det(clover, twist, log_det) bind(c)
      import
      type(plaq_clover), value :: clover
      real(c_double), value :: twist
      real(c_double), intent(inout) :: log_det(2)
    end function
    !> Measures the signs, 1 or -1, of these two determinants: -1 where an odd number of eigenvalues of A is
    !> negative. Errors: as before.
    !> Arrays: sign[2].
    integer(c_int32_t) function plaq_clover_det_sign(clover, twist, sign) bind(c)
      import
      type(plaq_clover), value :: clover
      real(c_double), value :: twist
      integer(c_int32_t), intent(inout) :: sign(2)
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_dirac_params_init(params, struct_size) bind(c)
      import
      type(plaq_dirac_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_dirac_report_init(report, struct_size) bind(c)
      import
      type(plaq_dirac_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Makes an operator on the links of `gauge` (SU(3), in single or double precision if
    !> there is a clover term). Where the clover term has no inverse on a site, what takes that is
    !> SINGULAR_CLOVER: even-odd systems and solves by them, forces. Errors: BAD_PARAMETER, OUT_OF_MEMORY.
    integer(c_int32_t) function plaq_dirac_create(context, gauge, params, dirac) bind(c)
      import
      type(plaq_context), value :: context
      type(plaq_gauge), value :: gauge
      type(plaq_dirac_params), intent(in), optional :: params
      type(plaq_dirac), intent(inout) :: dirac
    end function
    !> Makes an operator whose hops have the links of `gauge`, smeared ones, and whose clover term is made of `thin`,
    !> the links that they are smeared from, on the same lattice and in the same precision; clover_links is then
    !> PLAQ_CLOVER_LINKS_THIN, whatever `params` say. Errors: as of plaq_dirac_create; FIELD_MISMATCH.
    integer(c_int32_t) function plaq_dirac_create_thin(context, gauge, thin, params, dirac) bind(c)
      import
      type(plaq_context), value :: context
      type(plaq_gauge), value :: gauge
      type(plaq_gauge), value :: thin
      type(plaq_dirac_params), intent(in), optional :: params
      type(plaq_dirac), intent(inout) :: dirac
    end function
    !> Makes an operator with a clover term A of the host in place of the one made of the links, in the
    !> precision of the gauge field; csw is not used. `inverse` is A^-1, for mu other than 0 or the zero handle
    !> it is computed.
    integer(c_int32_t) function plaq_dirac_create_with_clover(context, &
        gauge, &
        params, &
        clover, &
        inverse, &
        dirac) bind(c)
      import
      type(plaq_context), value :: context
      type(plaq_gauge), value :: gauge
      type(plaq_dirac_params), intent(in), optional :: params
      type(plaq_clover), value :: clover
      type(plaq_clover), value :: inverse
      type(plaq_dirac), intent(inout) :: dirac
    end function
    !> Makes the operator of two twisted flavours whose masses differ, M + i mu gamma5 tau3 - epsilon tau1 with
    !> the M of `params` without its mu. Vectors have 2 slices. Errors: as of plaq_dirac_create.
    integer(c_int32_t) function plaq_dirac_create_doublet(context, &
        gauge, &
        params, &
        epsilon, &
        dirac) bind(c)
      import
      type(plaq_context), value :: context
      type(plaq_gauge), value :: gauge
      type(plaq_dirac_params), intent(in), optional :: params
      real(c_double), value :: epsilon
      type(plaq_dirac), intent(inout) :: dirac
    end function
    !> Puts the links of `gauge` into the operator, its clover term and its solvers, in the memory
    !> that they have: nothing is allocated, compiled or tuned again where `gauge` is in the
    !> operator's precision and stored as 18 or 12 numbers. `gauge` has the lattice of the
    !> operator. Errors: FIELD_MISMATCH; UNSUPPORTED for a clover term of the host or of thin links.
    integer(c_int32_t) function plaq_dirac_update(dirac, gauge) bind(c)
      import
      type(plaq_dirac), value :: dirac
      type(plaq_gauge), value :: gauge
    end function
    !> Destroys an operator. The zero handle is accepted.
    integer(c_int32_t) function plaq_dirac_destroy(dirac) bind(c)
      import
      type(plaq_dirac), value :: dirac
    end function
    !> Describes parameters and cost of an operator.
    integer(c_int32_t) function plaq_dirac_describe(dirac, report) bind(c)
      import
      type(plaq_dirac), value :: dirac
      type(plaq_dirac_report), intent(inout), optional :: report
    end function
    !> Gives a new handle to the clover term A of an operator that has one. Errors: UNSUPPORTED if it has none;
    !> SINGULAR_CLOVER.
    integer(c_int32_t) function plaq_dirac_clover(dirac, clover) bind(c)
      import
      type(plaq_dirac), value :: dirac
      type(plaq_clover), intent(inout) :: clover
    end function
    !> Gives a new handle to A^-1 of an operator that has a clover term A and no twist. Errors: UNSUPPORTED if
    !> it has none; SINGULAR_CLOVER.
    integer(c_int32_t) function plaq_dirac_clover_inverse(dirac, inverse) bind(c)
      import
      type(plaq_dirac), value :: dirac
      type(plaq_clover), intent(inout) :: inverse
    end function
    !> Sets y to M x, or another plaq_form of it, for a plaq_system. Fields have the operator's precision and
    !> the system's subset; y and x are different fields.
    integer(c_int32_t) function plaq_dirac_apply(dirac, system, form, y, x) bind(c)
      import
      type(plaq_dirac), value :: dirac
      integer(c_int32_t), value :: system
      integer(c_int32_t), value :: form
      type(plaq_spinor), value :: y
      type(plaq_spinor), value :: x
    end function
    !> Sets y to H_pq x, the hopping term from parity 1 - p to p = `parity`; dagger: 0 or 1. Fields hold their
    !> parity or the whole lattice; of `y` only parity p is written.
    integer(c_int32_t) function plaq_dirac_hop(dirac, parity, dagger, y, x) bind(c)
      import
      type(plaq_dirac), value :: dirac
      integer(c_int32_t), value :: parity
      integer(c_int32_t), value :: dagger
      type(plaq_spinor), value :: y
      type(plaq_spinor), value :: x
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_laplace_params_init(params, struct_size) bind(c)
      import
      type(plaq_laplace_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Makes a Laplacian on the links of `gauge` (SU(3)). Solvers, multi-shift solvers and
    !> eigensolvers take it like any operator; it is hermitian, and every Schur complement and
    !> normalisation is that of M = -D^2 + m^2. Errors: BAD_PARAMETER, UNSUPPORTED, OUT_OF_MEMORY.
    integer(c_int32_t) function plaq_dirac_create_laplace(context, gauge, params, dirac) bind(c)
      import
      type(plaq_context), value :: context
      type(plaq_gauge), value :: gauge
      type(plaq_laplace_params), intent(in), optional :: params
      type(plaq_dirac), intent(inout) :: dirac
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_origin_params_init(params, struct_size) bind(c)
      import
      type(plaq_origin_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_origin_report_init(report, struct_size) bind(c)
      import
      type(plaq_origin_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Tells what is known of the source and the operator of a field: propagators, solutions and sources have
    !> it from the calls that made them or from their file, copies, smeared, shifted and sequential fields from
    !> the field that they are made of. After plaq_spinor_load nothing is known.
    integer(c_int32_t) function plaq_spinor_origin(spinor, origin) bind(c)
      import
      type(plaq_spinor), value :: spinor
      type(plaq_origin_report), intent(inout), optional :: origin
    end function
    !> Sets source and operator of a field that comes from another code. Errors: INVALID_ARGUMENT.
    integer(c_int32_t) function plaq_spinor_set_origin(spinor, origin) bind(c)
      import
      type(plaq_spinor), value :: spinor
      type(plaq_origin_params), intent(in), optional :: origin
    end function
    !> Finds the only coordinates x, y, z, t of the whole lattice at which columns of spinors on both parities
    !> have numbers other than 0: the site of a point, the time of a wall; -1 where there are several, or none
    !> at all. Columns are looked at on the host.
    !> Arrays: position[4].
    integer(c_int32_t) function plaq_spinor_support(spinor, position) bind(c)
      import
      type(plaq_spinor), value :: spinor
      integer(c_int32_t), intent(inout) :: position(4)
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_multigrid_params_init(params, struct_size) bind(c)
      import
      type(plaq_multigrid_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_multigrid_report_init(report, struct_size) bind(c)
      import
      type(plaq_multigrid_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_multigrid_level_report_init(report, struct_size) bind(c)
      import
      type(plaq_multigrid_level_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Finds null vectors of an operator and builds the levels. Errors: BAD_PARAMETER, BAD_EXTENTS,
    !> UNSUPPORTED (precisions or solvers that do not go together), OUT_OF_MEMORY (nothing was allocated),
    !> NOT_FINITE (links, or null vectors), SOLVER_BREAKDOWN (a solve that makes null vectors met what is
    !> not finite), NOT_CONVERGED (the callback ended it). The callback hears of every iteration of solves for null
    !> vectors, with its largest residual, and of every other step of the set-up, with 1.
    integer(c_int32_t) function plaq_multigrid_create(dirac, &
        params, &
        callback, &
        user, &
        multigrid) bind(c)
      import
      type(plaq_dirac), value :: dirac
      type(plaq_multigrid_params), intent(in), optional :: params
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_multigrid), intent(inout) :: multigrid
    end function
    !> Builds the levels with the right-hand sides of a full field as null vectors of the finest level, such as
    !> plaq_multigrid_vectors gave.
    integer(c_int32_t) function plaq_multigrid_create_from(dirac, &
        params, &
        vectors, &
        callback, &
        user, &
        multigrid) bind(c)
      import
      type(plaq_dirac), value :: dirac
      type(plaq_multigrid_params), intent(in), optional :: params
      type(plaq_spinor), value :: vectors
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_multigrid), intent(inout) :: multigrid
    end function
    !> Destroys a hierarchy; solvers that it was given keep it. The zero handle is accepted.
    integer(c_int32_t) function plaq_multigrid_destroy(multigrid) bind(c)
      import
      type(plaq_multigrid), value :: multigrid
    end function
    !> Tells the device memory in bytes that a set-up takes at most.
    integer(c_int32_t) function plaq_multigrid_memory(dirac, params, bytes) bind(c)
      import
      type(plaq_dirac), value :: dirac
      type(plaq_multigrid_params), intent(in), optional :: params
      integer(c_int64_t), intent(inout) :: bytes
    end function
    !> Takes the operator's links as they are now. What came of it is measured: where the cycle has
    !> become bad, the next stronger means follow, and the report says which. `passes`: of
    !> PLAQ_REFRESH_REFINE, 1 to 10000. Without an update after a change of the links (plaq_dirac_update)
    !> solves with that operator are refused: STALE_MULTIGRID. After an error the hierarchy is as before, and
    !> solves go on with it. Errors: those of plaq_multigrid_create, FIELD_MISMATCH (another lattice),
    !> OUT_OF_MEMORY (old and new together, before anything is taken), NOT_CONVERGED (the cycle is bad from
    !> new random vectors too, or the callback ended the update).
    integer(c_int32_t) function plaq_multigrid_update(multigrid, &
        dirac, &
        refresh, &
        passes, &
        callback, &
        user) bind(c)
      import
      type(plaq_multigrid), value :: multigrid
      type(plaq_dirac), value :: dirac
      integer(c_int32_t), value :: refresh
      integer(c_int32_t), value :: passes
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
    end function
    !> Tells the device memory in bytes that such an update takes at most, whatever means it needs in the end,
    !> beside the hierarchy: that stays until the new one is there.
    integer(c_int32_t) function plaq_multigrid_update_memory(multigrid, &
        dirac, &
        refresh, &
        passes, &
        bytes) bind(c)
      import
      type(plaq_multigrid), value :: multigrid
      type(plaq_dirac), value :: dirac
      integer(c_int32_t), value :: refresh
      integer(c_int32_t), value :: passes
      integer(c_int64_t), intent(inout) :: bytes
    end function
    !> Describes a hierarchy.
    integer(c_int32_t) function plaq_multigrid_describe(multigrid, report) bind(c)
      import
      type(plaq_multigrid), value :: multigrid
      type(plaq_multigrid_report), intent(inout), optional :: report
    end function
    !> Describes a level of a hierarchy; level 0 is the finest.
    integer(c_int32_t) function plaq_multigrid_describe_level(multigrid, level, report) bind(c)
      import
      type(plaq_multigrid), value :: multigrid
      integer(c_int32_t), value :: level
      type(plaq_multigrid_level_report), intent(inout), optional :: report
    end function
    !> Gives the null vectors of the finest level, normalised but not orthonormal on aggregates, as right-hand
    !> sides of a new full field: all levels can be built from them again.
    integer(c_int32_t) function plaq_multigrid_vectors(multigrid, precision, vectors) bind(c)
      import
      type(plaq_multigrid), value :: multigrid
      integer(c_int32_t), value :: precision
      type(plaq_spinor), intent(inout) :: vectors
    end function
    !> Writes these vectors to a file: SciDAC records in LIME with checksums. It appears complete or not
    !> at all. All ranks call it. Errors: FILE_WRITE, OUT_OF_MEMORY.
    integer(c_int32_t) function plaq_multigrid_write(multigrid, file) bind(c)
      import
      type(plaq_multigrid), value :: multigrid
      character(kind=c_char), intent(in) :: file(*)
    end function
    !> Builds the levels with the vectors of such a file, as plaq_multigrid_create_from does. Errors:
    !> FIELD_MISMATCH (another number of vectors than the parameters name), FILE_EXTENTS (another lattice),
    !> FILE_FORMAT (other vectors, or no such file), FILE_CHECKSUM, FILE_TRUNCATED, FILE_OPEN, those of
    !> plaq_multigrid_create.
    integer(c_int32_t) function plaq_multigrid_read(dirac, &
        params, &
        file, &
        callback, &
        user, &
        multigrid) bind(c)
      import
      type(plaq_dirac), value :: dirac
      type(plaq_multigrid_params), intent(in), optional :: params
      character(kind=c_char), intent(in) :: file(*)
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_multigrid), intent(inout) :: multigrid
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_solver_params_init(params, struct_size) bind(c)
      import
      type(plaq_solver_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_solve_report_init(report, struct_size) bind(c)
      import
      type(plaq_solve_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_plan_report_init(report, struct_size) bind(c)
      import
      type(plaq_plan_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Prepares solves with an operator, in its normalisation. Errors: BAD_PARAMETER,
    !> UNSUPPORTED (a combination that does not exist), OUT_OF_MEMORY.
    integer(c_int32_t) function plaq_solver_create(dirac, params, solver) bind(c)
      import
      type(plaq_dirac), value :: dirac
      type(plaq_solver_params), intent(in), optional :: params
      type(plaq_solver), intent(inout) :: solver
    end function
    !> Preconditions every iteration with multigrid, which solvers share; the zero handle: with nothing
    !> any more. Errors: UNSUPPORTED (the solver is neither automatic nor GCR on one parity directly),
    !> FIELD_MISMATCH (set up for another lattice).
    integer(c_int32_t) function plaq_solver_set_multigrid(solver, multigrid) bind(c)
      import
      type(plaq_solver), value :: solver
      type(plaq_multigrid), value :: multigrid
    end function
    !> Destroys a solver. The zero handle is accepted.
    integer(c_int32_t) function plaq_solver_destroy(solver) bind(c)
      import
      type(plaq_solver), value :: solver
    end function
    !> Tells the device memory in bytes that a solve for `nrhs` right-hand sides at once needs, without x and
    !> b. Where there is less, fewer are solved for at a time. Where there is more, a solve with 16 bits
    !> inside, or with single precision inside GCR, also holds the inverse of the clover term in double. A
    !> propagator takes a field of 12 columns besides, and one of `columns`; where there is no room for that,
    !> it keeps solved columns on the host until all are solved. PLAQ_SOLVER_AUTO sets multigrid up only where
    !> there is room for it besides.
    integer(c_int32_t) function plaq_solver_memory(solver, nrhs, bytes) bind(c)
      import
      type(plaq_solver), value :: solver
      integer(c_int32_t), value :: nrhs
      integer(c_int64_t), intent(inout) :: bytes
    end function
    !> Tells memory and kernels of a solve for `nrhs` right-hand sides with the multigrid that the solver has
    !> now. Nothing is run, compiled or allocated. `names`: a line with the links of the solver's chain, as "12
    !> columns at a time > scaled > to 1e-10 > Schur even > BiCGStab", then one for each kernel, less than 8
    !> KiB for most solves; a name comes again where constants differ. Errors: INVALID_ARGUMENT.
    integer(c_int32_t) function plaq_solver_plan(solver, nrhs, report, names, capacity) bind(c)
      import
      type(plaq_solver), value :: solver
      integer(c_int32_t), value :: nrhs
      type(plaq_plan_report), intent(inout), optional :: report
      character(kind=c_char), intent(inout) :: names(*)
      integer(c_int64_t), value :: capacity
    end function
    !> Solves for all right-hand sides of b, at once or as many at a time as fit in the device's memory, which the
    !> report says. x and b have the operator's precision and the subset of the equation. `residuals`: NULL or room for |b - M x| / |b| of each.
    !> Errors: FIELD_MISMATCH, NOT_FINITE, OUT_OF_MEMORY (not one right-hand side fits), SOLVER_BREAKDOWN.
    !> Arrays: residuals[right-hand sides of b].
    integer(c_int32_t) function plaq_solver_solve(solver, &
        x, &
        b, &
        callback, &
        user, &
        report, &
        residuals) bind(c)
      import
      type(plaq_solver), value :: solver
      type(plaq_spinor), value :: x
      type(plaq_spinor), value :: b
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_solve_report), intent(inout), optional :: report
      real(c_double), intent(inout), optional :: residuals(*)
    end function
    !> Gives the largest |r| / |b| over the right-hand sides after every iteration of the solver's last solve,
    !> propagator or multishift: by the recurrence and for the system that is iterated; at recomputed residuals
    !> it may jump. `count`: how many there are. The first `capacity` of them are written; `history` may be
    !> NULL.
    !> Arrays: history[capacity].
    integer(c_int32_t) function plaq_solver_history(solver, history, capacity, count) bind(c)
      import
      type(plaq_solver), value :: solver
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: count
      real(c_double), intent(inout), optional :: history(capacity)
    end function
    !> Solves (A + sigma[k]) x[k] = b for all `count` shifts at once, A = M^dagger M or P^dagger P as
    !> PLAQ_SOLUTION_MDAGM or PLAQ_SOLUTION_PDAGP say, each to its tol[k]; sigma[k] >= 0. x: `count` different
    !> fields. `residuals`: NULL or room for `count`, the largest over the right-hand sides. solver, tol and
    !> initial_guess of the parameters are not used; automatic `sloppy_precision` and then `sloppy_storage`,
    !> too, are the operator's. max_seconds are those of the call.
    !> Arrays: x[count], sigma[count], tol[count], residuals[count].
    integer(c_int32_t) function plaq_solver_multishift(solver, &
        x, &
        sigma, &
        tol, &
        count, &
        b, &
        callback, &
        user, &
        report, &
        residuals) bind(c)
      import
      type(plaq_solver), value :: solver
      integer(c_int64_t), value :: count
      type(plaq_spinor), value :: b
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_solve_report), intent(inout), optional :: report
      type(plaq_spinor), intent(in) :: x(count)
      real(c_double), intent(in) :: sigma(count)
      real(c_double), intent(in) :: tol(count)
      real(c_double), intent(inout), optional :: residuals(count)
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_source_params_init(params, struct_size) bind(c)
      import
      type(plaq_source_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_sequential_params_init(params, struct_size) bind(c)
      import
      type(plaq_sequential_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Sets right-hand side k of a field on the full lattice, in any precision, to column first + k of a
    !> source, as many as the field has. Errors: INVALID_ARGUMENT, FIELD_MISMATCH for more than
    !> plaq_source_columns.
    integer(c_int32_t) function plaq_spinor_source(spinor, source) bind(c)
      import
      type(plaq_spinor), value :: spinor
      type(plaq_source_params), intent(in), optional :: source
    end function
    !> Counts the columns of a source from `first` on, at most `count`: 12 without noise for all spins and
    !> colours.
    integer(c_int32_t) function plaq_source_columns(source, columns) bind(c)
      import
      type(plaq_source_params), intent(in), optional :: source
      integer(c_int64_t), intent(inout) :: columns
    end function
    !> Sets `to` to delta(t, time) exp(i p (x - origin)) Gamma from, for every right-hand side: from a solution
    !> the source of a second solve (plaq_solver_propagator_from). Fields in single or double precision.
    !> Errors: INVALID_ARGUMENT, FIELD_MISMATCH, UNSUPPORTED.
    integer(c_int32_t) function plaq_spinor_sequential(from, to, params) bind(c)
      import
      type(plaq_spinor), value :: from
      type(plaq_spinor), value :: to
      type(plaq_sequential_params), intent(in), optional :: params
    end function
    !> Makes a field of as many right-hand sides as the source has columns, S(x, source), from a solver for
    !> PLAQ_SOLUTION_M, `columns` of its parameters at a time. The report is that of all these solves: the
    !> iterations of the slowest; time, work, updates and restarts added up. The callback's iterations begin
    !> anew with each solve, its seconds do not; once it has asked to stop, every solve that is left ends after
    !> one iteration. `residuals`: NULL or room for as many as the source has columns.
    !> Arrays: residuals[columns of the source].
    integer(c_int32_t) function plaq_solver_propagator(solver, &
        source, &
        callback, &
        user, &
        propagator, &
        report, &
        residuals) bind(c)
      import
      type(plaq_solver), value :: solver
      type(plaq_source_params), intent(in), optional :: source
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_spinor), intent(inout) :: propagator
      type(plaq_solve_report), intent(inout), optional :: report
      real(c_double), intent(inout), optional :: residuals(*)
    end function
    !> Makes a propagator for the sources that a field of the operator's precision holds, on the full lattice:
    !> smeared, sequential, of another code. Where the field does not know the position of its source
    !> (plaq_spinor_origin), it is looked for as plaq_spinor_support does. `residuals`: NULL or room for as
    !> many as it has right-hand sides.
    !> Arrays: residuals[right-hand sides of sources].
    integer(c_int32_t) function plaq_solver_propagator_from(solver, &
        sources, &
        callback, &
        user, &
        propagator, &
        report, &
        residuals) bind(c)
      import
      type(plaq_solver), value :: solver
      type(plaq_spinor), value :: sources
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_spinor), intent(inout) :: propagator
      type(plaq_solve_report), intent(inout), optional :: report
      real(c_double), intent(inout), optional :: residuals(*)
    end function
    !> Contracts zero-momentum correlators of a propagator over t, the time from `source_time`, in `times`
    !> steps, the extent of the lattice. boundary: the fermions' phase in time in units of pi, 1: antiperiodic.
    !> Each array is NULL or has room: pion times, rho 3 times (x, then y, then z), nucleon 2 times (re, im).
    !> Arrays: pion[times], rho[3 * times], nucleon[2 * times].
    integer(c_int32_t) function plaq_spinor_correlators(propagator, &
        source_time, &
        boundary, &
        times, &
        pion, &
        rho, &
        nucleon) bind(c)
      import
      type(plaq_spinor), value :: propagator
      integer(c_int32_t), value :: source_time
      real(c_double), value :: boundary
      integer(c_int64_t), value :: times
      real(c_double), intent(inout), optional :: pion(times)
      real(c_double), intent(inout), optional :: rho(3 * times)
      real(c_double), intent(inout), optional :: nucleon(2 * times)
    end function
    !> Computes effective masses of a correlator of `times` numbers; NaN where there is none.
    !> Arrays: correlator[times], masses[times].
    integer(c_int32_t) function plaq_correlator_effective_mass(correlator, &
        times, &
        form, &
        masses) bind(c)
      import
      integer(c_int64_t), value :: times
      integer(c_int32_t), value :: form
      real(c_double), intent(in) :: correlator(times)
      real(c_double), intent(inout) :: masses(times)
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_contract_params_init(params, struct_size) bind(c)
      import
      type(plaq_contract_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Contracts connected correlators of mesons: the sum over x of exp(-i p (x - x0)) times the correlator of
    !> qbar' Gamma_A q at (x, t0 + t) with the adjoint of qbar' Gamma_B q at the source, with signs such that
    !> for A = B, with antiperiodic fermions, it is positive on average. `quark` and `antiquark` (zero handle:
    !> the same) are propagators, each with its mass: twelve columns 3 spin + colour, or four of noise diluted
    !> in spin. `gammas`: `pairs` pairs (A at the sink, B at the source) of plaq_gamma. `momenta`: three
    !> numbers each, p_i = 2 pi n_i / L_i. `correlators`: (re, im) for every t of `times`, the extent of the
    !> lattice, of every pair of every momentum, t fastest. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
    !> Arrays: gammas[2 * pairs], momenta[3 * nmomenta], correlators[2 * times * pairs * nmomenta].
    integer(c_int32_t) function plaq_spinor_contract_mesons(quark, &
        antiquark, &
        params, &
        gammas, &
        pairs, &
        momenta, &
        nmomenta, &
        times, &
        correlators) bind(c)
      import
      type(plaq_spinor), value :: quark
      type(plaq_spinor), value :: antiquark
      type(plaq_contract_params), intent(in), optional :: params
      integer(c_int64_t), value :: pairs
      integer(c_int64_t), value :: nmomenta
      integer(c_int64_t), value :: times
      integer(c_int32_t), intent(in) :: gammas(2 * pairs)
      integer(c_int32_t), intent(in) :: momenta(3 * nmomenta)
      real(c_double), intent(inout) :: correlators(2 * times * pairs * nmomenta)
    end function
    !> Contracts correlators of `count` baryons of plaq_baryon. `strange` may be the zero handle for those
    !> without strange quarks. Both have twelve columns. `momenta` and `correlators` as for mesons. Errors:
    !> INVALID_ARGUMENT, FIELD_MISMATCH.
    !> Arrays: baryons[count], momenta[3 * nmomenta], correlators[2 * times * count * nmomenta].
    integer(c_int32_t) function plaq_spinor_contract_baryons(light, &
        strange, &
        params, &
        baryons, &
        count, &
        momenta, &
        nmomenta, &
        times, &
        correlators) bind(c)
      import
      type(plaq_spinor), value :: light
      type(plaq_spinor), value :: strange
      type(plaq_contract_params), intent(in), optional :: params
      integer(c_int64_t), value :: count
      integer(c_int64_t), value :: nmomenta
      integer(c_int64_t), value :: times
      integer(c_int32_t), intent(in) :: baryons(count)
      integer(c_int32_t), intent(in) :: momenta(3 * nmomenta)
      real(c_double), intent(inout) :: correlators(2 * times * count * nmomenta)
    end function
    !> Operators between two quark lines: the sum over z of exp(i q (z - x0)) sum over columns of X(z)^dagger gamma5 Gamma [line]
    !> S(z). `forward` is S(z, x0), `back` the solution X of a sequential source (plaq_spinor_sequential_meson, -_baryon): X^dagger
    !> gamma5 is the line from z to the sink, with a gamma5-hermitian operator. A line is a product of `lengths[i]` factors, 0 for a
    !> local operator; `steps` has those of all lines one after the other: 0 to 3 carry q along a link forward in x, y, z, t,
    !> U_mu(z) q(z + mu), 7 - mu back, U_mu(z - mu)^dagger q(z - mu), 8 + mu is the derivative (D - D')_mu / 2, D q = [U_mu(z) q(z +
    !> mu) - U_mu(z - mu)^dagger q(z - mu)] / 2 and qbar D' the same of qbar. The last factor acts first on q, the first on qbar. What
    !> crosses the lattice's end takes the quark's boundary phase along. Zero handle for `gauge`: without links. A derivative
    !> across an end where the two quarks have different phases is refused. `momenta`: three numbers each, q_i = 2 pi n_i / L_i. `correlators`: (re, im) of [line][Gamma, all
    !> 16][momentum][t], t the time from the source, `times` the extent of the lattice. Errors: INVALID_ARGUMENT, FIELD_MISMATCH,
    !> OUT_OF_MEMORY.
    !> Arrays: lengths[lines], steps[nsteps], momenta[3 * nmomenta], correlators[32 * lines * nmomenta * times].
    integer(c_int32_t) function plaq_spinor_contract_insertions(back, &
        forward, &
        gauge, &
        params, &
        lengths, &
        lines, &
        steps, &
        nsteps, &
        momenta, &
        nmomenta, &
        times, &
        correlators) bind(c)
      import
      type(plaq_spinor), value :: back
      type(plaq_spinor), value :: forward
      type(plaq_gauge), value :: gauge
      type(plaq_contract_params), intent(in), optional :: params
      integer(c_int64_t), value :: lines
      integer(c_int64_t), value :: nsteps
      integer(c_int64_t), value :: nmomenta
      integer(c_int64_t), value :: times
      integer(c_int32_t), intent(in) :: lengths(lines)
      integer(c_int32_t), intent(in) :: steps(nsteps)
      integer(c_int32_t), intent(in) :: momenta(3 * nmomenta)
      real(c_double), intent(inout) :: correlators(32 * lines * nmomenta * times)
    end function
    !> The same for the conserved vector current V_mu(z) = [qbar(z + mu) (1 + gamma_mu) U_mu(z)^dagger q(z) - qbar(z) (1 - gamma_mu)
    !> U_mu(z) q(z + mu)] / 2 of Wilson's operators, exp(i q (z - x0)) at z: [mu][momentum][t]. Of anisotropic operators it is
    !> without the weight of the hops.
    !> Arrays: momenta[3 * nmomenta], correlators[8 * nmomenta * times].
    integer(c_int32_t) function plaq_spinor_contract_current(back, &
        forward, &
        gauge, &
        params, &
        momenta, &
        nmomenta, &
        times, &
        correlators) bind(c)
      import
      type(plaq_spinor), value :: back
      type(plaq_spinor), value :: forward
      type(plaq_gauge), value :: gauge
      type(plaq_contract_params), intent(in), optional :: params
      integer(c_int64_t), value :: nmomenta
      integer(c_int64_t), value :: times
      integer(c_int32_t), intent(in) :: momenta(3 * nmomenta)
      real(c_double), intent(inout) :: correlators(8 * nmomenta * times)
    end function
    !> Baryons eps_abc (q1_a^T Gamma q2_b) q3_c of three propagators with twelve columns, which may differ in mass, smearing or
    !> displacement (zero handle: the first one), with open spins: C_ss'(t) = sum_x exp(-i p (x - x0)) <O_s(x, t0 + t) Obar_s'(x0, t0)>,
    !> Obar = O^dagger gamma_t, Gamma `sink` and `source` matrices of 16 (re, im), row by row. `correlators`: (re, im) of
    !> [pairing][momentum][t][s][s']. Pairings name the slots of the source to which the quarks of slots 1, 2, 3 of the sink go: 123,
    !> 213, 132, 321, 231, 312; quarks belong to the sink's slots. All have the sign +, as colours are antisymmetric. Add those
    !> which flavours allow; boundary phases beyond the lattice's end are taken out. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
    !> Arrays: sink[32], source[32], momenta[3 * nmomenta], correlators[192 * nmomenta * times].
    integer(c_int32_t) function plaq_spinor_contract_quarks(first, &
        second, &
        third, &
        params, &
        sink, &
        source, &
        momenta, &
        nmomenta, &
        times, &
        correlators) bind(c)
      import
      type(plaq_spinor), value :: first
      type(plaq_spinor), value :: second
      type(plaq_spinor), value :: third
      type(plaq_contract_params), intent(in), optional :: params
      integer(c_int64_t), value :: nmomenta
      integer(c_int64_t), value :: times
      real(c_double), intent(in) :: sink(32)
      real(c_double), intent(in) :: source(32)
      integer(c_int32_t), intent(in) :: momenta(3 * nmomenta)
      real(c_double), intent(inout) :: correlators(192 * nmomenta * times)
    end function
    !> to = exp(i q (z - x0)) Gamma [path] from, on the time slice `time`, counted from the source, or on all of them with -1: the source
    !> of the line that goes on from an operator. `matrix`: Gamma as 16 (re, im); `steps` 0 to 7 as of plaq_spinor_contract_insertions. Any
    !> number of columns, in single or double precision. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
    !> Arrays: matrix[32], steps[nsteps], momentum[3].
    integer(c_int32_t) function plaq_spinor_sequential_operator(from, &
        to, &
        gauge, &
        params, &
        matrix, &
        steps, &
        nsteps, &
        momentum, &
        time) bind(c)
      import
      type(plaq_spinor), value :: from
      type(plaq_spinor), value :: to
      type(plaq_gauge), value :: gauge
      type(plaq_contract_params), intent(in), optional :: params
      integer(c_int64_t), value :: nsteps
      integer(c_int32_t), value :: time
      real(c_double), intent(in) :: matrix(32)
      integer(c_int32_t), intent(in) :: steps(nsteps)
      integer(c_int32_t), intent(in) :: momentum(3)
    end function
    !> The sequential source through the sink of a meson qbar' Gamma_A q with the adjoint of qbar' Gamma_B q at the source, `time` of
    !> the sink counted from the source and its momentum p: from the propagator of the antiquark (given as that of a quark, smeared
    !> where the sink is) to = -gamma5 Gamma_A^dagger gamma5 S' gamma5 gamma_t Gamma_B gamma_t exp(i p (x - x0)). Smear it where the sink is
    !> smeared; with its solution X plaq_spinor_contract_insertions gives <O_A(x) J O_B(x0)^dagger>, J on q, with exp(-i p (x - x0)), in
    !> the sign of plaq_contract_mesons. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
    !> Arrays: sink[32], source[32], momentum[3].
    integer(c_int32_t) function plaq_spinor_sequential_meson(from, &
        to, &
        params, &
        sink, &
        source, &
        momentum, &
        time) bind(c)
      import
      type(plaq_spinor), value :: from
      type(plaq_spinor), value :: to
      type(plaq_contract_params), intent(in), optional :: params
      integer(c_int32_t), value :: time
      real(c_double), intent(in) :: sink(32)
      real(c_double), intent(in) :: source(32)
      integer(c_int32_t), intent(in) :: momentum(3)
    end function
    !> The sequential source through the sink of a baryon: as of plaq_spinor_contract_quarks, of the sum of `terms` contractions, each with a
    !> `pairings` number 0 to 5 in the order given there, the slot 0, 1 or 2 of the sink (`slots`) whose quark the operator acts on, and
    !> a weight. `projector` P closes the spins, tr[P C]. With the solution X of the result, smeared before where the sink is,
    !> plaq_spinor_contract_insertions gives sum_x exp(-i p (x - x0)) tr[P <O(x, t0 + time) J Obar(x0, t0)>]. For the nucleon, quarks u d u:
    !> an operator on u is pairings 0 and 3 with slots 0 and 2 each, one on d the same with slot 1. Errors: INVALID_ARGUMENT,
    !> FIELD_MISMATCH.
    !> Arrays: sink[32], source[32], projector[32], pairings[terms], slots[terms], weights[terms], momentum[3].
    integer(c_int32_t) function plaq_spinor_sequential_baryon(first, &
        second, &
        third, &
        to, &
        params, &
        sink, &
        source, &
        projector, &
        pairings, &
        slots, &
        weights, &
        terms, &
        momentum, &
        time) bind(c)
      import
      type(plaq_spinor), value :: first
      type(plaq_spinor), value :: second
      type(plaq_spinor), value :: third
      type(plaq_spinor), value :: to
      type(plaq_contract_params), intent(in), optional :: params
      integer(c_int64_t), value :: terms
      integer(c_int32_t), value :: time
      real(c_double), intent(in) :: sink(32)
      real(c_double), intent(in) :: source(32)
      real(c_double), intent(in) :: projector(32)
      integer(c_int32_t), intent(in) :: pairings(terms)
      integer(c_int32_t), intent(in) :: slots(terms)
      real(c_double), intent(in) :: weights(terms)
      integer(c_int32_t), intent(in) :: momentum(3)
    end function
    !> Pairs of field strengths joined by adjoint lines, gluon operators: the sum over x of exp(-i p x) tr[F_a(x) W F_b(x + d)
    !> W^dagger], where W is the product of links along the first n of `nsteps` steps (0 to 3 forward in x, y, z, t, 7 - mu back) from x
    !> to x + d, and F = (Q - Q^dagger) / 8 the sum of the four clover leaves without its trace. `correlators`: (re, im) of [n][plane a]
    !> [plane b][momentum][t] for n = 0 to `nsteps`, which are `places` = nsteps + 1, planes xy, xz, yz, xt, yt, zt, t and x of the first
    !> one from the lattice's origin. Links are those of `gauge`, which may have flowed. Errors: INVALID_ARGUMENT, UNSUPPORTED,
    !> OUT_OF_MEMORY.
    !> Arrays: steps[nsteps], momenta[3 * nmomenta], correlators[72 * places * nmomenta * times].
    integer(c_int32_t) function plaq_gauge_gluon_pairs(gauge, &
        steps, &
        nsteps, &
        momenta, &
        nmomenta, &
        places, &
        times, &
        correlators) bind(c)
      import
      type(plaq_gauge), value :: gauge
      integer(c_int64_t), value :: nsteps
      integer(c_int64_t), value :: nmomenta
      integer(c_int64_t), value :: places
      integer(c_int64_t), value :: times
      integer(c_int32_t), intent(in) :: steps(nsteps)
      integer(c_int32_t), intent(in) :: momenta(3 * nmomenta)
      real(c_double), intent(inout) :: correlators(72 * places * nmomenta * times)
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_loops_params_init(params, struct_size) bind(c)
      import
      type(plaq_loops_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Quark loops by noise: of each noise vector the estimates of sum_x exp(-i p x) tr[Gamma line M^-1(end, x)], without the minus
    !> sign of the fermion loop, by time of the lattice, x from its origin. Lines, momenta and `gauge` as of plaq_spinor_contract_insertions;
    !> M and its boundary phase are those of `solver`, for PLAQ_SOLUTION_M; `other`: the solver of the other quark of
    !> PLAQ_LOOPS_DIFFERENCE. `estimates`: (re, im) of [vector][line][Gamma, all 16][momentum][t]; `currents`, NULL or room: of the conserved
    !> current of plaq_spinor_contract_current, [vector][mu][momentum][t]. Columns are contracted as they are solved. The callback is that of
    !> solves; where it ends the work `finished` vectors are complete, and the others 0. Errors: INVALID_ARGUMENT, UNSUPPORTED,
    !> those of plaq_solver_solve.
    !> Arrays: lengths[lines], steps[nsteps], momenta[3 * nmomenta], estimates[32 * vectors * lines * nmomenta * times], currents[8 * vectors * nmomenta * times].
    integer(c_int32_t) function plaq_solver_loops(solver, &
        other, &
        gauge, &
        params, &
        lengths, &
        lines, &
        steps, &
        nsteps, &
        momenta, &
        nmomenta, &
        vectors, &
        times, &
        callback, &
        user, &
        estimates, &
        currents, &
        finished, &
        report) bind(c)
      import
      type(plaq_solver), value :: solver
      type(plaq_solver), value :: other
      type(plaq_gauge), value :: gauge
      type(plaq_loops_params), intent(in), optional :: params
      integer(c_int64_t), value :: lines
      integer(c_int64_t), value :: nsteps
      integer(c_int64_t), value :: nmomenta
      integer(c_int64_t), value :: vectors
      integer(c_int64_t), value :: times
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      integer(c_int64_t), intent(inout) :: finished
      type(plaq_solve_report), intent(inout), optional :: report
      integer(c_int32_t), intent(in) :: lengths(lines)
      integer(c_int32_t), intent(in) :: steps(nsteps)
      integer(c_int32_t), intent(in) :: momenta(3 * nmomenta)
      real(c_double), intent(inout) :: estimates(32 * vectors * lines * nmomenta * times)
      real(c_double), intent(inout), optional :: currents(8 * vectors * nmomenta * times)
    end function
    !> Wave number `number` of hierarchical probing on a lattice of these extents, which must be even: exp(2 pi i sum_mu n_mu x_mu / L_mu). Errors:
    !> INVALID_ARGUMENT.
    !> Arrays: extents[4], wave[4].
    integer(c_int32_t) function plaq_source_probe(extents, number, wave) bind(c)
      import
      integer(c_int64_t), value :: number
      integer(c_int32_t), intent(in) :: extents(4)
      integer(c_int32_t), intent(inout) :: wave(4)
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_reweighting_params_init(params, struct_size) bind(c)
      import
      type(plaq_reweighting_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_reweighting_report_init(report, struct_size) bind(c)
      import
      type(plaq_reweighting_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Estimates reweighting factors by normal noise: for each twisted mass mu_k, 0 < mu_1 < mu_2 < ..., the factor from mu_k-1 to
    !> mu_k (mu_0 = 0), whose product is that of the last one; for a rational function, without mu (`nmu` = 0), one factor. `minus_ln`: -ln of the
    !> estimate, [factor][vector]; a factor is the average of exp(-minus_ln) over vectors. `norms`: square norms of the noise,
    !> alike, or NULL. `numbers`: factors times params.vectors. Solves are those of the settings of `solver`, with twisted masses by its algorithm, for
    !> poles by CG; the callback is that of solves, and where it ends one the call is NOT_CONVERGED. Errors: INVALID_ARGUMENT, BAD_PARAMETER,
    !> UNSUPPORTED, NOT_CONVERGED, SPECTRAL_BOUNDS (eigenvalues that the rational function does not cover), those of plaq_solver_solve.
    !> Arrays: mu[nmu], minus_ln[numbers], norms[numbers].
    integer(c_int32_t) function plaq_solver_reweighting(solver, &
        params, &
        mu, &
        nmu, &
        callback, &
        user, &
        minus_ln, &
        norms, &
        numbers, &
        report) bind(c)
      import
      type(plaq_solver), value :: solver
      type(plaq_reweighting_params), intent(in), optional :: params
      integer(c_int64_t), value :: nmu
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      integer(c_int64_t), value :: numbers
      type(plaq_reweighting_report), intent(inout), optional :: report
      real(c_double), intent(in) :: mu(nmu)
      real(c_double), intent(inout) :: minus_ln(numbers)
      real(c_double), intent(inout), optional :: norms(numbers)
    end function
    !> Makes the boundary-to-bulk propagator of a boundary whose links stand still, H(x) = cF sum_y D^-1(x, y) U(y - t, t)^dagger P with y
    !> on slice 1 of the lower end, P = (1 + gamma_t) / 2, or H(x) = cF' sum_y D^-1(x, y) U(y, t) P with y on slice T - 1 of the upper one,
    !> P = (1 - gamma_t) / 2: twelve right-hand sides, 3 spin + colour of the boundary field, of which six are solved for. D is that of mass
    !> normalisation whatever the solver's is; boundary fields have momentum zero, with the phases of quarks in space exp(i theta x / L). The
    !> solver is one for PLAQ_SOLUTION_M. Errors: UNSUPPORTED (other boundaries or operators), those of plaq_solver_propagator.
    integer(c_int32_t) function plaq_solver_boundary_propagator(solver, &
        end, &
        callback, &
        user, &
        propagator, &
        report) bind(c)
      import
      type(plaq_solver), value :: solver
      integer(c_int32_t), value :: end
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_spinor), intent(inout) :: propagator
      type(plaq_solve_report), intent(inout), optional :: report
    end function
    !> Makes the correlators of boundary fields by slice x0 = 0 to `times` - 1, averaged over space, with the H of
    !> plaq_solver_boundary_propagator: f_A = -1/2 tr H^dagger gamma_t H and f_P = 1/2 tr H^dagger H of the lower end, g_A = 1/2 tr H^dagger gamma_t H and
    !> g_P of the upper one, and `f1` = 1/2 tr K^dagger K, K = cF' sum_x P U(x, t)^dagger H(x) / L^3 on the last slice. Each may be NULL. On
    !> PLAQ_BOUNDARY_TIME_OPEN_SF what is of the lower end is NaN. `times`: the extent of t. The report is that of all solves.
    !> Errors: as of plaq_solver_boundary_propagator.
    !> Arrays: f_a[times], f_p[times], g_a[times], g_p[times], f1[1].
    integer(c_int32_t) function plaq_solver_boundary_correlators(solver, &
        callback, &
        user, &
        times, &
        f_a, &
        f_p, &
        g_a, &
        g_p, &
        f1, &
        report) bind(c)
      import
      type(plaq_solver), value :: solver
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      integer(c_int64_t), value :: times
      type(plaq_solve_report), intent(inout), optional :: report
      real(c_double), intent(inout), optional :: f_a(times)
      real(c_double), intent(inout), optional :: f_p(times)
      real(c_double), intent(inout), optional :: g_a(times)
      real(c_double), intent(inout), optional :: g_p(times)
      real(c_double), intent(inout), optional :: f1(1)
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_spinor_write_params_init(params, struct_size) bind(c)
      import
      type(plaq_spinor_write_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_spinor_read_params_init(params, struct_size) bind(c)
      import
      type(plaq_spinor_read_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Writes a propagator, every rank its part, complete or not at all. `sources`: what it was solved
    !> for, as many columns, or the zero handle. What plaq_spinor_origin says of the propagator is kept in the
    !> records; coordinates that are not known are looked for in `sources`. Errors: FILE_WRITE, INVALID_ARGUMENT, FIELD_MISMATCH.
    integer(c_int32_t) function plaq_spinor_write(propagator, sources, file, params) bind(c)
      import
      type(plaq_spinor), value :: propagator
      type(plaq_spinor), value :: sources
      character(kind=c_char), intent(in) :: file(*)
      type(plaq_spinor_write_params), intent(in), optional :: params
    end function
    !> Makes a field from a file of any of these kinds, written on any number of ranks: twelve columns 3 spin +
    !> colour where the file says which they are, else in its order. Checksums are compared; what the records
    !> say of source and operator (also those of Chroma), or the sources in the file tell, is what
    !> plaq_spinor_origin then says. Errors: FILE_OPEN, FILE_FORMAT, FILE_EXTENTS, FILE_TRUNCATED,
    !> FILE_CHECKSUM, NOT_FINITE, BAD_EXTENTS, OUT_OF_MEMORY.
    integer(c_int32_t) function plaq_spinor_read(context, file, params, propagator) bind(c)
      import
      type(plaq_context), value :: context
      character(kind=c_char), intent(in) :: file(*)
      type(plaq_spinor_read_params), intent(in), optional :: params
      type(plaq_spinor), intent(inout) :: propagator
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_eigen_params_init(params, struct_size) bind(c)
      import
      type(plaq_eigen_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_eigen_report_init(report, struct_size) bind(c)
      import
      type(plaq_eigen_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Finds eigenvectors. `guess`: vectors near those wanted, e.g. saved ones, or the zero handle.
    !> The callback hears of every restart, and of every block on the way, and of the largest residual
    !> that is known. Not converged is not an error. Errors: BAD_PARAMETER, UNSUPPORTED (16-bit vectors),
    !> FIELD_MISMATCH, NOT_FINITE, OUT_OF_MEMORY.
    integer(c_int32_t) function plaq_eigen_create(dirac, &
        params, &
        guess, &
        callback, &
        user, &
        eigen, &
        report) bind(c)
      import
      type(plaq_dirac), value :: dirac
      type(plaq_eigen_params), intent(in), optional :: params
      type(plaq_spinor), value :: guess
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_eigen), intent(inout) :: eigen
      type(plaq_eigen_report), intent(inout), optional :: report
    end function
    !> Writes eigenvectors to a file: SciDAC records in LIME with checksums, values, residuals and
    !> bounds beside them. It appears complete or not at all. Errors: UNSUPPORTED: vectors on one
    !> parity; FILE_WRITE.
    integer(c_int32_t) function plaq_eigen_write(eigen, file) bind(c)
      import
      type(plaq_eigen), value :: eigen
      character(kind=c_char), intent(in) :: file(*)
    end function
    !> Reads eigenvectors of such a file as those of this operator: values and residuals are measured with it.
    !> Errors: FIELD_MISMATCH: they belong to other links or another operator; FILE_*.
    integer(c_int32_t) function plaq_eigen_read(dirac, file, eigen, report) bind(c)
      import
      type(plaq_dirac), value :: dirac
      character(kind=c_char), intent(in) :: file(*)
      type(plaq_eigen), intent(inout) :: eigen
      type(plaq_eigen_report), intent(inout), optional :: report
    end function
    !> Destroys eigenvectors. The zero handle is accepted.
    integer(c_int32_t) function plaq_eigen_destroy(eigen) bind(c)
      import
      type(plaq_eigen), value :: eigen
    end function
    !> Gives eigenvalues of A in the operator's normalisation, from the end of the spectrum inwards, |A v -
    !> lambda v| and bounds on the error of the values; `count`: as in the report, with `time_slices` times the
    !> extent of t, [t][k]: the values of a slice beside each other. `residuals` and `bounds` may be NULL.
    !> Arrays: values[count], residuals[count], bounds[count].
    integer(c_int32_t) function plaq_eigen_values(eigen, values, residuals, bounds, count) bind(c)
      import
      type(plaq_eigen), value :: eigen
      integer(c_int64_t), value :: count
      real(c_double), intent(inout) :: values(count)
      real(c_double), intent(inout), optional :: residuals(count)
      real(c_double), intent(inout), optional :: bounds(count)
    end function
    !> Makes a field with all eigenvectors, orthonormal, one for each right-hand side.
    integer(c_int32_t) function plaq_eigen_vectors(eigen, vectors) bind(c)
      import
      type(plaq_eigen), value :: eigen
      type(plaq_spinor), intent(inout) :: vectors
    end function
    !> Makes a field with `count` eigenvectors from number `first` on, for eigenvectors that are not all on the
    !> device.
    integer(c_int32_t) function plaq_eigen_some_vectors(eigen, first, count, vectors) bind(c)
      import
      type(plaq_eigen), value :: eigen
      integer(c_int64_t), value :: first
      integer(c_int64_t), value :: count
      type(plaq_spinor), intent(inout) :: vectors
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_loop_sums_params_init(params, struct_size) bind(c)
      import
      type(plaq_loop_sums_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_loop_goals_init(params, struct_size) bind(c)
      import
      type(plaq_loop_goals), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_space_report_init(report, struct_size) bind(c)
      import
      type(plaq_space_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_loops_report_init(report, struct_size) bind(c)
      import
      type(plaq_loops_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_loops_part_report_init(report, struct_size) bind(c)
      import
      type(plaq_loops_part_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Makes spaces of the first `levels` coarse levels of a hierarchy, 0: of all that live on all ranks. Coarse operators are made again
    !> in the precision of the solver's operator and solved to the relative residual `tol`, which has to be well below the noise. Errors:
    !> INVALID_ARGUMENT (more levels, `tol`), UNSUPPORTED (two flavours, half precision), FIELD_MISMATCH, STALE_MULTIGRID,
    !> OUT_OF_MEMORY.
    integer(c_int32_t) function plaq_space_create_multigrid(solver, &
        multigrid, &
        levels, &
        tol, &
        space) bind(c)
      import
      type(plaq_solver), value :: solver
      type(plaq_multigrid), value :: multigrid
      integer(c_int32_t), value :: levels
      real(c_double), value :: tol
      type(plaq_space), intent(inout) :: space
    end function
    !> Tells the device memory in bytes that making these spaces takes at most, and after that L of twelve columns. Errors: those of
    !> plaq_space_create_multigrid.
    integer(c_int32_t) function plaq_space_memory(solver, multigrid, levels, bytes) bind(c)
      import
      type(plaq_solver), value :: solver
      type(plaq_multigrid), value :: multigrid
      integer(c_int32_t), value :: levels
      integer(c_int64_t), intent(inout) :: bytes
    end function
    !> Makes the space of eigenvectors V of the whole operator, with R = V^dagger gamma5. Errors: FIELD_MISMATCH (vectors of another lattice,
    !> precision or of one parity), INVALID_ARGUMENT, UNSUPPORTED, OUT_OF_MEMORY.
    integer(c_int32_t) function plaq_space_create_eigen(solver, eigen, space) bind(c)
      import
      type(plaq_solver), value :: solver
      type(plaq_eigen), value :: eigen
      type(plaq_space), intent(inout) :: space
    end function
    !> Destroys spaces; loops keep theirs. The zero handle is accepted.
    integer(c_int32_t) function plaq_space_destroy(space) bind(c)
      import
      type(plaq_space), value :: space
    end function
    !> Describes a level, 1 or more.
    integer(c_int32_t) function plaq_space_describe(space, level, report) bind(c)
      import
      type(plaq_space), value :: space
      integer(c_int32_t), value :: level
      type(plaq_space_report), intent(inout), optional :: report
    end function
    !> x = L b with the approximate inverse of a level; x and b are different full fields as the solver takes them. Errors: FIELD_MISMATCH,
    !> INVALID_ARGUMENT, NOT_CONVERGED, SOLVER_BREAKDOWN.
    integer(c_int32_t) function plaq_space_apply(space, level, x, b) bind(c)
      import
      type(plaq_space), value :: space
      integer(c_int32_t), value :: level
      type(plaq_spinor), value :: x
      type(plaq_spinor), value :: b
    end function
    !> Makes the propagator L(x, source) of a level in place of M^-1, as many right-hand sides as the source has columns. Errors: those of
    !> plaq_space_apply.
    integer(c_int32_t) function plaq_space_propagator(space, level, source, propagator) bind(c)
      import
      type(plaq_space), value :: space
      integer(c_int32_t), value :: level
      type(plaq_source_params), intent(in), optional :: source
      type(plaq_spinor), intent(inout) :: propagator
    end function
    !> Contracts mesons of L in place of propagators, as plaq_spinor_contract_mesons does, exactly averaged over all sites of the lattice as
    !> sources. With S of some sources, C[S, S] - C[L, L] of these and this average are less noisy than C[S, S] (low-mode averaging). The
    !> callback hears of each site of the level and of the share that is left, and may end the call: NOT_CONVERGED. M is gamma5-hermitian.
    !> Errors: INVALID_ARGUMENT, NOT_CONVERGED, those of plaq_space_apply.
    !> Arrays: gammas[2 * pairs], momenta[3 * nmomenta], correlators[2 * times * pairs * nmomenta].
    integer(c_int32_t) function plaq_space_mesons(space, &
        level, &
        gammas, &
        pairs, &
        momenta, &
        nmomenta, &
        times, &
        callback, &
        user, &
        correlators) bind(c)
      import
      type(plaq_space), value :: space
      integer(c_int32_t), value :: level
      integer(c_int64_t), value :: pairs
      integer(c_int64_t), value :: nmomenta
      integer(c_int64_t), value :: times
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      integer(c_int32_t), intent(in) :: gammas(2 * pairs)
      integer(c_int32_t), intent(in) :: momenta(3 * nmomenta)
      real(c_double), intent(inout) :: correlators(2 * times * pairs * nmomenta)
    end function
    !> Makes loops as of plaq_solver_loops, of which nothing is summed yet: Tr O M^-1 is Tr O (M^-1 - L_1) by noise, plus
    !> Tr O (L_1 - L_2) by noise of level 1, and so on, plus Tr O L of the last level; with `sums.hopping` = n every right side is
    !> multiplied by (A^-1 H)^n, M = A - H, and the terms of the hopping expansion before that are added exactly. That is an identity: solves
    !> have to be better than the noise. `vectors` of `params` has no meaning here. The zero handle of `space`: none. Errors:
    !> INVALID_ARGUMENT, UNSUPPORTED (hopping with other contractions than PLAQ_LOOPS_PLAIN), FIELD_MISMATCH. Of
    !> PLAQ_LOOPS_ONE_END and PLAQ_LOOPS_DIFFERENCE low modes are those of products of inverses, with noise between them, too.
    !> Arrays: lengths[lines], steps[nsteps], momenta[3 * nmomenta].
    integer(c_int32_t) function plaq_loops_create(solver, &
        other, &
        space, &
        gauge, &
        params, &
        sums, &
        lengths, &
        lines, &
        steps, &
        nsteps, &
        momenta, &
        nmomenta, &
        loops) bind(c)
      import
      type(plaq_solver), value :: solver
      type(plaq_solver), value :: other
      type(plaq_space), value :: space
      type(plaq_gauge), value :: gauge
      type(plaq_loops_params), intent(in), optional :: params
      type(plaq_loop_sums_params), intent(in), optional :: sums
      integer(c_int64_t), value :: lines
      integer(c_int64_t), value :: nsteps
      integer(c_int64_t), value :: nmomenta
      type(plaq_loops), intent(inout) :: loops
      integer(c_int32_t), intent(in) :: lengths(lines)
      integer(c_int32_t), intent(in) :: steps(nsteps)
      integer(c_int32_t), intent(in) :: momenta(3 * nmomenta)
    end function
    !> Destroys loops. The zero handle is accepted.
    integer(c_int32_t) function plaq_loops_destroy(loops) bind(c)
      import
      type(plaq_loops), value :: loops
    end function
    !> Adds to loops until a goal is reached: to the part where it lowers the error most for its cost. Each part has four noise
    !> vectors first. The callback is that of solves; where it ends the call, what is complete stays, and a next call goes on. Errors: those of
    !> plaq_solver_solve, FIELD_MISMATCH (links that have changed), INVALID_ARGUMENT (no goal).
    integer(c_int32_t) function plaq_loops_add(loops, goals, callback, user, report) bind(c)
      import
      type(plaq_loops), value :: loops
      type(plaq_loop_goals), intent(in), optional :: goals
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_loops_report), intent(inout), optional :: report
    end function
    !> Describes loops; what belongs to a call is 0.
    integer(c_int32_t) function plaq_loops_describe(loops, report) bind(c)
      import
      type(plaq_loops), value :: loops
      type(plaq_loops_report), intent(inout), optional :: report
    end function
    !> Describes a part.
    integer(c_int32_t) function plaq_loops_describe_part(loops, part, report) bind(c)
      import
      type(plaq_loops), value :: loops
      integer(c_int32_t), value :: part
      type(plaq_loops_part_report), intent(inout), optional :: report
    end function
    !> Gives (re, im) of means, [line][Gamma, all 16][momentum][t], and of variances of one noise vector, of real and of imaginary parts:
    !> infinite with less than two, 0 of what is exact. Part -1: of the sum of all parts, with its errors squared. `currents`, the
    !> same of the conserved current, [mu][momentum][t], `variances` and `current_variances` may be NULL. `numbers`: complex numbers of
    !> `means`; `ncurrents`: of `currents`.
    !> Arrays: means[2 * numbers], variances[2 * numbers], currents[2 * ncurrents], current_variances[2 * ncurrents].
    integer(c_int32_t) function plaq_loops_values(loops, &
        part, &
        means, &
        variances, &
        numbers, &
        currents, &
        current_variances, &
        ncurrents) bind(c)
      import
      type(plaq_loops), value :: loops
      integer(c_int32_t), value :: part
      integer(c_int64_t), value :: numbers
      integer(c_int64_t), value :: ncurrents
      real(c_double), intent(inout) :: means(2 * numbers)
      real(c_double), intent(inout), optional :: variances(2 * numbers)
      real(c_double), intent(inout), optional :: currents(2 * ncurrents)
      real(c_double), intent(inout), optional :: current_variances(2 * ncurrents)
    end function
    !> Writes sums and what they are of to a file, from which plaq_loops_read goes on. It appears complete or not at all. Errors: FILE_WRITE.
    integer(c_int32_t) function plaq_loops_write(loops, file) bind(c)
      import
      type(plaq_loops), value :: loops
      character(kind=c_char), intent(in) :: file(*)
    end function
    !> Takes the sums of such a file in place of those that there are. Errors: FIELD_MISMATCH (of other links, operators, spaces,
    !> noise, lines or momenta: the first difference is named), FILE_*. After an error nothing has changed.
    integer(c_int32_t) function plaq_loops_read(loops, file) bind(c)
      import
      type(plaq_loops), value :: loops
      character(kind=c_char), intent(in) :: file(*)
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_modes_params_init(params, struct_size) bind(c)
      import
      type(plaq_modes_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_modes_noise_params_init(params, struct_size) bind(c)
      import
      type(plaq_modes_noise_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_modes_report_init(report, struct_size) bind(c)
      import
      type(plaq_modes_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Finds modes of the links of `gauge` (SU(3)), which `params` smears, or of `smeared` ones that belong to it; the
    !> zero handle: none. The callback hears of every restart and the largest residual. Not converged is not an error.
    !> Errors: BAD_PARAMETER (more modes than a slice has), UNSUPPORTED, FIELD_MISMATCH, OUT_OF_MEMORY.
    integer(c_int32_t) function plaq_modes_create(gauge, &
        smeared, &
        params, &
        callback, &
        user, &
        modes, &
        report) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_gauge), value :: smeared
      type(plaq_modes_params), intent(in), optional :: params
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_modes), intent(inout) :: modes
      type(plaq_modes_report), intent(inout), optional :: report
    end function
    !> Gives the memory of a rank that plaq_modes_create takes with these parameters: device memory of the search at its
    !> peak, besides these links, that of the modes afterwards, that of the host for the others, and the time
    !> slices of a rank that are searched together. Errors: BAD_PARAMETER, OUT_OF_MEMORY: it will not fit.
    integer(c_int32_t) function plaq_modes_memory(gauge, &
        params, &
        search, &
        device, &
        host, &
        slices) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_modes_params), intent(in), optional :: params
      integer(c_int64_t), intent(inout) :: search
      integer(c_int64_t), intent(inout) :: device
      integer(c_int64_t), intent(inout) :: host
      integer(c_int64_t), intent(inout) :: slices
    end function
    !> Writes modes to a file: SciDAC records in LIME with checksums, values, smearing and what the links are known by
    !> beside them, or where its name ends with .h5 or .hdf5 the same by libhdf5, modes as datasets "modes/0", "modes/1", ...
    !> [t][z][y][x][colour]. It appears complete or not at all. Errors: FILE_WRITE; UNSUPPORTED: no libhdf5.
    integer(c_int32_t) function plaq_modes_write(modes, file) bind(c)
      import
      type(plaq_modes), value :: modes
      character(kind=c_char), intent(in) :: file(*)
    end function
    !> Reads modes of such a file, as those of these links; `smeared` as above, without it they are smeared as
    !> they were. Errors: FIELD_MISMATCH: they belong to other links; FILE_*.
    integer(c_int32_t) function plaq_modes_read(gauge, smeared, file, modes, report) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_gauge), value :: smeared
      character(kind=c_char), intent(in) :: file(*)
      type(plaq_modes), intent(inout) :: modes
      type(plaq_modes_report), intent(inout), optional :: report
    end function
    !> Destroys modes. The zero handle is accepted.
    integer(c_int32_t) function plaq_modes_destroy(modes) bind(c)
      import
      type(plaq_modes), value :: modes
    end function
    !> Describes modes and their links; what belongs to the search is 0.
    integer(c_int32_t) function plaq_modes_describe(modes, report) bind(c)
      import
      type(plaq_modes), value :: modes
      type(plaq_modes_report), intent(inout), optional :: report
    end function
    !> Gives eigenvalues, ascending on each slice, times slowest, and |D^2 v + lambda v|; `count`: modes times
    !> slices of the whole lattice. `next`: the value after the last one of each slice as far as it is known,
    !> infinite where there is none: a level that ends there is whole. `residuals` and `next` may be NULL.
    !> Arrays: values[count], residuals[count], next[times].
    integer(c_int32_t) function plaq_modes_values(modes, &
        values, &
        residuals, &
        count, &
        next, &
        times) bind(c)
      import
      type(plaq_modes), value :: modes
      integer(c_int64_t), value :: count
      integer(c_int64_t), value :: times
      real(c_double), intent(inout) :: values(count)
      real(c_double), intent(inout), optional :: residuals(count)
      real(c_double), intent(inout), optional :: next(times)
    end function
    !> Makes a field of colour vectors with `count` modes from number `first` on.
    integer(c_int32_t) function plaq_modes_vectors(modes, first, count, vectors) bind(c)
      import
      type(plaq_modes), value :: modes
      integer(c_int64_t), value :: first
      integer(c_int64_t), value :: count
      type(plaq_spinor), intent(inout) :: vectors
    end function
    !> Computes perambulators tau(t', t) = V(t')^dagger M^-1 V(t) for source times `times`, M in the
    !> normalisation of the solver: complex numbers [time][t'][spin'][spin][mode'][mode], t' all times of the
    !> whole lattice, spins in the DeGrand-Rossi basis; `count`: as many. No propagator is stored. `finished`:
    !> source times that are complete, all unless the callback or the solver's `max_seconds` end the work; the
    !> others are 0. Errors: FIELD_MISMATCH (modes of other links), INVALID_ARGUMENT, UNSUPPORTED, those of
    !> plaq_solver_solve.
    !> Arrays: times[ntimes], perambulators[2 * count].
    integer(c_int32_t) function plaq_modes_perambulators(modes, &
        solver, &
        times, &
        ntimes, &
        callback, &
        user, &
        perambulators, &
        count, &
        finished, &
        report) bind(c)
      import
      type(plaq_modes), value :: modes
      type(plaq_solver), value :: solver
      integer(c_int64_t), value :: ntimes
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(inout) :: finished
      type(plaq_solve_report), intent(inout), optional :: report
      integer(c_int32_t), intent(in) :: times(ntimes)
      real(c_double), intent(inout) :: perambulators(2 * count)
    end function
    !> Says what perambulators of these modes and this solver are known by in files, or without a solver what the modes are:
    !> a JSON object of the attributes that datasets have.
    integer(c_int32_t) function plaq_modes_about(modes, solver, about, capacity) bind(c)
      import
      type(plaq_modes), value :: modes
      type(plaq_solver), value :: solver
      character(kind=c_char), intent(inout) :: about(*)
      integer(c_int64_t), value :: capacity
    end function
    !> Solves for the perambulators of those source times `times` that a group of an HDF5 file lacks, and adds each as
    !> soon as it is complete: datasets "GROUP/t0", "GROUP/t4", ... of complex numbers
    !> [t'][spin'][spin][mode'][mode] with the attributes of plaq_modes_about, `tol` and `source_time`; the file is made where there
    !> is none. What has not converged is not written and ends the work. `finished`: source times that the file then has.
    !> libhdf5 is opened at run time (PLAQ_HDF5, its full path). Errors: FIELD_MISMATCH: those of the file are of other
    !> modes, links or quarks, or were solved to a larger tolerance; UNSUPPORTED: no libhdf5; FILE_*, those of
    !> plaq_modes_perambulators.
    !> Arrays: times[ntimes].
    integer(c_int32_t) function plaq_modes_write_perambulators(modes, &
        solver, &
        times, &
        ntimes, &
        file, &
        group, &
        callback, &
        user, &
        finished, &
        report) bind(c)
      import
      type(plaq_modes), value :: modes
      type(plaq_solver), value :: solver
      integer(c_int64_t), value :: ntimes
      character(kind=c_char), intent(in) :: file(*)
      character(kind=c_char), intent(in) :: group(*)
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      integer(c_int64_t), intent(inout) :: finished
      type(plaq_solve_report), intent(inout), optional :: report
      integer(c_int32_t), intent(in) :: times(ntimes)
    end function
    !> Computes generalised perambulators V(t1)^dagger M^-1 O(t) M^-1 V(t0), O(t) = sum_x exp(i q x) Gamma
    !> [shift along a path], for source time t0, sink times t1 and all times t: complex numbers
    !> [sink time][insertion][t][spin'][spin][mode'][mode]; `count`: as many. The source's columns are solved for once. `gammas`, `momenta` (n_x, n_y, n_z, q_i = 2
    !> pi n_i / L_i) and `lengths` of paths: an entry an insertion; `steps` of all paths one after the other,
    !> as of plaq_spinor_shift, in space. M must be gamma5-hermitian. `finished`: 1, or 0 where the work was
    !> ended. Errors: those of plaq_modes_perambulators.
    !> Arrays: sink_times[nsinks], gammas[insertions], momenta[3 * insertions], lengths[insertions], steps[nsteps], perambulators[2 * count].
    integer(c_int32_t) function plaq_modes_generalised_perambulators(modes, &
        solver, &
        source_time, &
        sink_times, &
        nsinks, &
        gammas, &
        momenta, &
        lengths, &
        insertions, &
        steps, &
        nsteps, &
        callback, &
        user, &
        perambulators, &
        count, &
        finished, &
        report) bind(c)
      import
      type(plaq_modes), value :: modes
      type(plaq_solver), value :: solver
      integer(c_int32_t), value :: source_time
      integer(c_int64_t), value :: nsinks
      integer(c_int64_t), value :: insertions
      integer(c_int64_t), value :: nsteps
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(inout) :: finished
      type(plaq_solve_report), intent(inout), optional :: report
      integer(c_int32_t), intent(in) :: sink_times(nsinks)
      integer(c_int32_t), intent(in) :: gammas(insertions)
      integer(c_int32_t), intent(in) :: momenta(3 * insertions)
      integer(c_int32_t), intent(in) :: lengths(insertions)
      integer(c_int32_t), intent(in) :: steps(nsteps)
      real(c_double), intent(inout) :: perambulators(2 * count)
    end function
    !> Counts the columns of noise in modes.
    integer(c_int32_t) function plaq_modes_noise_columns(modes, params, columns) bind(c)
      import
      type(plaq_modes), value :: modes
      type(plaq_modes_noise_params), intent(in), optional :: params
      integer(c_int64_t), intent(inout) :: columns
    end function
    !> Gives noise in modes as complex numbers [column][t][spin][mode]; `count`: as many.
    !> Arrays: numbers[2 * count].
    integer(c_int32_t) function plaq_modes_noise(modes, params, numbers, count) bind(c)
      import
      type(plaq_modes), value :: modes
      type(plaq_modes_noise_params), intent(in), optional :: params
      integer(c_int64_t), value :: count
      real(c_double), intent(inout) :: numbers(2 * count)
    end function
    !> Computes V(t')^dagger M^-1 b for these sources b: complex numbers [column][t'][spin'][mode']; `count`:
    !> as many. `finished`: 1, or 0 where the work was ended. Errors: those of plaq_modes_perambulators.
    !> Arrays: numbers[2 * count].
    integer(c_int32_t) function plaq_modes_solve_noise(modes, &
        solver, &
        params, &
        callback, &
        user, &
        numbers, &
        count, &
        finished, &
        report) bind(c)
      import
      type(plaq_modes), value :: modes
      type(plaq_solver), value :: solver
      type(plaq_modes_noise_params), intent(in), optional :: params
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(inout) :: finished
      type(plaq_solve_report), intent(inout), optional :: report
      real(c_double), intent(inout) :: numbers(2 * count)
    end function
    !> Computes elementals of mesons Phi_ab(p) = sum_x exp(-i p x) u_a(x)^dagger [O v_b](x) with the links of
    !> the Laplacian of v: u is of the modes `left`, such as those of the antiquark's moving frame, or the same where it is
    !> the zero handle. Complex numbers [momentum][operator][t][a][b]; `count`: as many. An operator has
    !> `lengths[i]` steps, plaq_modes_step, of which the last acts first; `steps` has all of them one after the
    !> other.
    !> Arrays: lengths[operators], steps[nsteps], momenta[3 * nmomenta], elementals[2 * count].
    integer(c_int32_t) function plaq_modes_meson_elementals(modes, &
        left, &
        lengths, &
        operators, &
        steps, &
        nsteps, &
        momenta, &
        nmomenta, &
        elementals, &
        count) bind(c)
      import
      type(plaq_modes), value :: modes
      type(plaq_modes), value :: left
      integer(c_int64_t), value :: operators
      integer(c_int64_t), value :: nsteps
      integer(c_int64_t), value :: nmomenta
      integer(c_int64_t), value :: count
      integer(c_int32_t), intent(in) :: lengths(operators)
      integer(c_int32_t), intent(in) :: steps(nsteps)
      integer(c_int32_t), intent(in) :: momenta(3 * nmomenta)
      real(c_double), intent(inout) :: elementals(2 * count)
    end function
    !> Computes elementals of baryons B_abc(p) = sum_x exp(-i p x) eps_ijk [O_1 v_a]^i [O_2 v_b]^j [O_3 v_c]^k:
    !> complex numbers [momentum][t][a][b][c], or without steps those with a < b < c, c fastest, of which the
    !> others differ by a sign; `count`: as many. `lengths` and `steps` of the three operators as of mesons.
    !> Arrays: lengths[3], steps[nsteps], momenta[3 * nmomenta], elementals[2 * count].
    integer(c_int32_t) function plaq_modes_baryon_elementals(modes, &
        lengths, &
        steps, &
        nsteps, &
        momenta, &
        nmomenta, &
        elementals, &
        count) bind(c)
      import
      type(plaq_modes), value :: modes
      integer(c_int64_t), value :: nsteps
      integer(c_int64_t), value :: nmomenta
      integer(c_int64_t), value :: count
      integer(c_int32_t), intent(in) :: lengths(3)
      integer(c_int32_t), intent(in) :: steps(nsteps)
      integer(c_int32_t), intent(in) :: momenta(3 * nmomenta)
      real(c_double), intent(inout) :: elementals(2 * count)
    end function
    !> Writes eigenvalues, residuals and elementals to an HDF5 file: `values` and `residuals` [t][mode], `mesons`
    !> [momentum][operator][t][a][b] as of plaq_modes_meson_elementals, and with
    !> `baryons` not 0 `baryons` [momentum][t][a < b < c], with what modes are known by as attributes. Errors: FILE_WRITE: also
    !> a file that exists and is refused; UNSUPPORTED: no libhdf5.
    !> Arrays: lengths[operators], steps[nsteps], momenta[3 * nmomenta].
    integer(c_int32_t) function plaq_modes_write_elementals(modes, &
        left, &
        lengths, &
        operators, &
        steps, &
        nsteps, &
        momenta, &
        nmomenta, &
        baryons, &
        file, &
        if_exists) bind(c)
      import
      type(plaq_modes), value :: modes
      type(plaq_modes), value :: left
      integer(c_int64_t), value :: operators
      integer(c_int64_t), value :: nsteps
      integer(c_int64_t), value :: nmomenta
      integer(c_int32_t), value :: baryons
      character(kind=c_char), intent(in) :: file(*)
      integer(c_int32_t), value :: if_exists
      integer(c_int32_t), intent(in) :: lengths(operators)
      integer(c_int32_t), intent(in) :: steps(nsteps)
      integer(c_int32_t), intent(in) :: momenta(3 * nmomenta)
    end function
    !> Contracts two-point functions of mesons by the time from the source, times complex numbers for each of
    !> the pairs of Gammas at sink and source, connected, from perambulators of one source time,
    !> [t'][spin'][spin][mode'][mode] (that of the antiquark last), and elementals [t][a][b] at the sink and
    !> [a][b] at the source: C(t) = -tr[(Gamma_A x Phi_A(t')) tau(t', t0) (gamma_t Gamma_B^dagger gamma_t x
    !> Phi_B(t0)^dagger) gamma5 tau'(t', t0)^dagger gamma5], t' = t0 + t.
    !> Arrays: quark[32 * modes * modes * times], antiquark[32 * modes * modes * times], sink[2 * modes * modes * times], source[2 * modes * modes], gammas[2 * pairs], correlators[2 * times * pairs].
    integer(c_int32_t) function plaq_modes_mesons(quark, &
        antiquark, &
        modes, &
        times, &
        source_time, &
        sink, &
        source, &
        gammas, &
        pairs, &
        correlators) bind(c)
      import
      integer(c_int64_t), value :: modes
      integer(c_int64_t), value :: times
      integer(c_int64_t), value :: source_time
      integer(c_int64_t), value :: pairs
      real(c_double), intent(in) :: quark(32 * modes * modes * times)
      real(c_double), intent(in) :: antiquark(32 * modes * modes * times)
      real(c_double), intent(in) :: sink(2 * modes * modes * times)
      real(c_double), intent(in) :: source(2 * modes * modes)
      integer(c_int32_t), intent(in) :: gammas(2 * pairs)
      real(c_double), intent(inout) :: correlators(2 * times * pairs)
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_overlap_params_init(params, struct_size) bind(c)
      import
      type(plaq_overlap_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_overlap_report_init(report, struct_size) bind(c)
      import
      type(plaq_overlap_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Makes an operator on the links of `gauge` (SU(3), maybe smeared). `modes`: vectors of
    !> plaq_overlap_vectors of an earlier search, or the zero handle. Errors: BAD_PARAMETER (|s| >= 1),
    !> KERNEL_SPECTRUM (a kernel mode at zero, an interval that does not hold the spectrum, too few or
    !> too inexact modes: the message says what to change), OUT_OF_MEMORY.
    integer(c_int32_t) function plaq_overlap_create(context, &
        gauge, &
        params, &
        modes, &
        callback, &
        user, &
        overlap) bind(c)
      import
      type(plaq_context), value :: context
      type(plaq_gauge), value :: gauge
      type(plaq_overlap_params), intent(in), optional :: params
      type(plaq_spinor), value :: modes
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_overlap), intent(inout) :: overlap
    end function
    !> Makes an operator with the modes of a file of plaq_overlap_write, which are not sought again: their
    !> residuals with these links are measured. Low modes of D in the file start solves, and answer
    !> plaq_overlap_index. Errors: those of plaq_overlap_create; FIELD_MISMATCH: the modes belong to other
    !> links or parameters; FILE_*.
    integer(c_int32_t) function plaq_overlap_read(context, gauge, params, file, overlap) bind(c)
      import
      type(plaq_context), value :: context
      type(plaq_gauge), value :: gauge
      type(plaq_overlap_params), intent(in), optional :: params
      character(kind=c_char), intent(in) :: file(*)
      type(plaq_overlap), intent(inout) :: overlap
    end function
    !> Writes the modes of the kernel, and those that plaq_overlap_index found, to a file: SciDAC
    !> records in LIME with checksums, eigenvalues beside them. It appears complete or not at all.
    integer(c_int32_t) function plaq_overlap_write(overlap, file) bind(c)
      import
      type(plaq_overlap), value :: overlap
      character(kind=c_char), intent(in) :: file(*)
    end function
    !> Makes the same operator with another mass; both share the modes.
    integer(c_int32_t) function plaq_overlap_create_with_mass(overlap, mass, other) bind(c)
      import
      type(plaq_overlap), value :: overlap
      real(c_double), value :: mass
      type(plaq_overlap), intent(inout) :: other
    end function
    !> Destroys an operator. The zero handle is accepted.
    integer(c_int32_t) function plaq_overlap_destroy(overlap) bind(c)
      import
      type(plaq_overlap), value :: overlap
    end function
    !> Describes parameters, bounds and cost of an operator.
    integer(c_int32_t) function plaq_overlap_describe(overlap, report) bind(c)
      import
      type(plaq_overlap), value :: overlap
      type(plaq_overlap_report), intent(inout), optional :: report
    end function
    !> Gives the projected modes of Q, `count` = modes of the report, by modulus: eigenvalues, residues |(Q -
    !> lambda) w| and distances to the rest of the spectrum; the last two may be NULL.
    !> Arrays: values[count], residuals[count], distances[count].
    integer(c_int32_t) function plaq_overlap_kernel_values(overlap, &
        values, &
        residuals, &
        distances, &
        count) bind(c)
      import
      type(plaq_overlap), value :: overlap
      integer(c_int64_t), value :: count
      real(c_double), intent(inout) :: values(count)
      real(c_double), intent(inout), optional :: residuals(count)
      real(c_double), intent(inout), optional :: distances(count)
    end function
    !> Gives the modes at the upper end of the kernel's spectrum, `count` = high_modes of the report, from the
    !> largest on: moduli of eigenvalues of Q, their errors, and distances to the largest modulus below all of
    !> them; the last two may be NULL.
    !> Arrays: values[count], residuals[count], gaps[count].
    integer(c_int32_t) function plaq_overlap_high_values(overlap, &
        values, &
        residuals, &
        gaps, &
        count) bind(c)
      import
      type(plaq_overlap), value :: overlap
      integer(c_int64_t), value :: count
      real(c_double), intent(inout) :: values(count)
      real(c_double), intent(inout), optional :: residuals(count)
      real(c_double), intent(inout), optional :: gaps(count)
    end function
    !> Makes a field with all vectors of the search, the projected ones first.
    integer(c_int32_t) function plaq_overlap_vectors(overlap, vectors) bind(c)
      import
      type(plaq_overlap), value :: overlap
      type(plaq_spinor), intent(inout) :: vectors
    end function
    !> Sets y to D x or another plaq_overlap_form. Fields are on the full lattice in the operator's precision;
    !> y and x are different fields.
    integer(c_int32_t) function plaq_overlap_apply(overlap, form, y, x) bind(c)
      import
      type(plaq_overlap), value :: overlap
      integer(c_int32_t), value :: form
      type(plaq_spinor), value :: y
      type(plaq_spinor), value :: x
    end function
    !> Measures |gamma5 D + D gamma5 - D gamma5 D / rho| x over |x| of the massless operator for a random x.
    integer(c_int32_t) function plaq_overlap_ginsparg_wilson(overlap, seed, violation) bind(c)
      import
      type(plaq_overlap), value :: overlap
      integer(c_int64_t), value :: seed
      real(c_double), intent(inout) :: violation
    end function
    !> Finds `count` low modes of D^dagger D of the massless operator on either chirality, to
    !> residuals of `tol` (2 rho)^2; solves may start from them. What was found or loaded before and
    !> is good enough is not sought again. plus, minus: room for `count`
    !> eigenvalues |lambda|^2 of chirality 1 and -1, ascending. zeros: room for the numbers of zero
    !> modes n_+ and n_-; n_- - n_+ is the topological charge of a smooth field. While all that were found
    !> are zero modes twice as many are sought, so that zeros may be above `count`; KERNEL_SPECTRUM where
    !> not even an eighth of all vectors would do. UNSUPPORTED in 16 bit.
    !> Arrays: plus[count], minus[count], zeros[2].
    integer(c_int32_t) function plaq_overlap_index(overlap, &
        count, &
        tol, &
        callback, &
        user, &
        plus, &
        minus, &
        zeros) bind(c)
      import
      type(plaq_overlap), value :: overlap
      integer(c_int32_t), value :: count
      real(c_double), value :: tol
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      real(c_double), intent(inout) :: plus(count)
      real(c_double), intent(inout) :: minus(count)
      integer(c_int32_t), intent(inout) :: zeros(2)
    end function
    !> Gives the low modes of D^dagger D of one chirality, 1 or -1, that plaq_overlap_index found or a file
    !> held: eigenvalues |lambda|^2, ascending, and residuals |(D^dagger D - |lambda|^2) v|, which may be NULL.
    !> `count`: at most low_modes of the report.
    !> Arrays: values[count], residuals[count].
    integer(c_int32_t) function plaq_overlap_low_values(overlap, &
        chirality, &
        values, &
        residuals, &
        count) bind(c)
      import
      type(plaq_overlap), value :: overlap
      integer(c_int32_t), value :: chirality
      integer(c_int64_t), value :: count
      real(c_double), intent(inout) :: values(count)
      real(c_double), intent(inout), optional :: residuals(count)
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_overlap_solve_params_init(params, struct_size) bind(c)
      import
      type(plaq_overlap_solve_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Sets the multigrid of solves with params.multigrid = 1, set up for a Wilson operator of about
    !> params.wilson_mass on the kernel's links; the zero handle: one of their own again.
    integer(c_int32_t) function plaq_overlap_set_multigrid(overlap, multigrid) bind(c)
      import
      type(plaq_overlap), value :: overlap
      type(plaq_multigrid), value :: multigrid
    end function
    !> Tells memory and kernels of plaq_overlap_solve for `nrhs` right-hand sides, multigrid that it would set
    !> up included. Nothing is run, compiled or allocated. What the Wilson operator's spectrum decides, before
    !> a solve has measured it, goes by the quark mass. `names`: a line for each kernel; a name comes again
    !> where constants differ. Errors: INVALID_ARGUMENT, and those of plaq_overlap_solve.
    integer(c_int32_t) function plaq_overlap_plan(overlap, &
        params, &
        nrhs, &
        report, &
        names, &
        capacity) bind(c)
      import
      type(plaq_overlap), value :: overlap
      type(plaq_overlap_solve_params), intent(in), optional :: params
      integer(c_int32_t), value :: nrhs
      type(plaq_plan_report), intent(inout), optional :: report
      character(kind=c_char), intent(inout) :: names(*)
      integer(c_int64_t), value :: capacity
    end function
    !> Tells memory and kernels of making an operator on links like those of `gauge`, the search for modes of
    !> its kernel included, as many as that may find, and of a solve after it for `nrhs` right-hand sides with
    !> these and x; 0: of making it alone.
    integer(c_int32_t) function plaq_overlap_create_plan(gauge, &
        params, &
        solve, &
        nrhs, &
        report, &
        names, &
        capacity) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_overlap_params), intent(in), optional :: params
      type(plaq_overlap_solve_params), intent(in), optional :: solve
      integer(c_int32_t), value :: nrhs
      type(plaq_plan_report), intent(inout), optional :: report
      character(kind=c_char), intent(inout) :: names(*)
      integer(c_int64_t), value :: capacity
    end function
    !> Solves D x = b for all right-hand sides. `residuals`: NULL or room for |b - D x| / |b| of
    !> each. Errors: BAD_PARAMETER, FIELD_MISMATCH, NOT_FINITE, OUT_OF_MEMORY, SOLVER_BREAKDOWN.
    !> Arrays: residuals[right-hand sides of b].
    integer(c_int32_t) function plaq_overlap_solve(overlap, &
        params, &
        x, &
        b, &
        callback, &
        user, &
        report, &
        residuals) bind(c)
      import
      type(plaq_overlap), value :: overlap
      type(plaq_overlap_solve_params), intent(in), optional :: params
      type(plaq_spinor), value :: x
      type(plaq_spinor), value :: b
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_solve_report), intent(inout), optional :: report
      real(c_double), intent(inout), optional :: residuals(*)
    end function
    !> Makes fields of twelve columns, (D(m)^-1 - 1 / (2 rho)) / (1 - m / (2 rho)) source for each of `count`
    !> masses, or without the contact term taken out as params.subtract says. CG solves for several masses from
    !> one Krylov space, SUMR and GCR, which the library may choose, for one after the other. propagators: room
    !> for `count` handles.
    !> Arrays: masses[count], propagators[count].
    integer(c_int32_t) function plaq_overlap_propagators(overlap, &
        params, &
        masses, &
        count, &
        source, &
        callback, &
        user, &
        propagators, &
        report) bind(c)
      import
      type(plaq_overlap), value :: overlap
      type(plaq_overlap_solve_params), intent(in), optional :: params
      integer(c_int64_t), value :: count
      type(plaq_source_params), intent(in), optional :: source
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_solve_report), intent(inout), optional :: report
      real(c_double), intent(in) :: masses(count)
      type(plaq_spinor), intent(inout) :: propagators(count)
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_gaugefix_params_init(params, struct_size) bind(c)
      import
      type(plaq_gaugefix_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_gaugefix_report_init(report, struct_size) bind(c)
      import
      type(plaq_gaugefix_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Fixes the gauge of the links, which are replaced by the fixed ones; whether they meet
    !> the criteria says the report. `result` has the transformation and the copies; NULL if
    !> they are not wanted.
    !> Errors: BAD_PARAMETER, NOT_FINITE, NOT_UNITARY (naming the link), OUT_OF_MEMORY,
    !> UNSUPPORTED (half precision; Fourier acceleration in maximally Abelian gauge),
    !> CUFFT_MISSING: the links stay as they were.
    integer(c_int32_t) function plaq_gauge_fix(gauge, &
        params, &
        callback, &
        user, &
        report, &
        result) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_gaugefix_params), intent(in), optional :: params
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_gaugefix_report), intent(inout), optional :: report
      type(plaq_gaugefix), intent(inout), optional :: result
    end function
    !> Destroys a result. The zero handle is accepted.
    integer(c_int32_t) function plaq_gaugefix_destroy(result) bind(c)
      import
      type(plaq_gaugefix), value :: result
    end function
    !> Gives all copies in turn. `count`: how many there are; the first `capacity` of them are written;
    !> `copies` may be NULL.
    !> Arrays: copies[capacity].
    integer(c_int32_t) function plaq_gaugefix_copies(result, copies, capacity, count) bind(c)
      import
      type(plaq_gaugefix), value :: result
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: count
      type(plaq_gaugefix_state), intent(inout), optional :: copies(capacity)
    end function
    !> Gives the slices of a copy in Coulomb gauge by their coordinate, of copy number `copy` or with -1 of the
    !> field that is kept; in other gauges there are none.
    !> Arrays: slices[capacity].
    integer(c_int32_t) function plaq_gaugefix_slices(result, copy, slices, capacity, count) bind(c)
      import
      type(plaq_gaugefix), value :: result
      integer(c_int64_t), value :: copy
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: count
      type(plaq_gaugefix_state), intent(inout), optional :: slices(capacity)
    end function
    !> Gives the transformation g(x) of this rank's sites: N x N complex numbers per site, row major, sites
    !> with x fastest. U_mu(x) became g(x) U_mu(x) g(x+mu)^dagger; quarks become g psi.
    !> Arrays: transformation[2 * N * N * sites of the rank].
    integer(c_int32_t) function plaq_gaugefix_transformation(result, transformation) bind(c)
      import
      type(plaq_gaugefix), value :: result
      real(c_double), intent(inout) :: transformation(*)
    end function
    !> Applies the transformation to the links of another field of the lattice.
    integer(c_int32_t) function plaq_gaugefix_apply(result, gauge) bind(c)
      import
      type(plaq_gaugefix), value :: result
      type(plaq_gauge), value :: gauge
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_gauge_action_params_init(params, struct_size) bind(c)
      import
      type(plaq_gauge_action_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_force_report_init(report, struct_size) bind(c)
      import
      type(plaq_force_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Makes momenta that are zero for links on the lattice and in the precision (double or single) of `gauge`.
    integer(c_int32_t) function plaq_momentum_create(gauge, momentum) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_momentum), intent(inout) :: momentum
    end function
    !> Destroys momenta. The zero handle is accepted.
    integer(c_int32_t) function plaq_momentum_destroy(momentum) bind(c)
      import
      type(plaq_momentum), value :: momentum
    end function
    !> Draws normal p_a with unit variance, field number `number` of `seed`; the same on every device and
    !> decomposition.
    integer(c_int32_t) function plaq_momentum_gaussian(momentum, seed, number) bind(c)
      import
      type(plaq_momentum), value :: momentum
      integer(c_int64_t), value :: seed
      integer(c_int32_t), value :: number
    end function
    !> Sums 1/2 p_a^2 over all links of all ranks.
    integer(c_int32_t) function plaq_momentum_kinetic(momentum, kinetic) bind(c)
      import
      type(plaq_momentum), value :: momentum
      real(c_double), intent(inout) :: kinetic
    end function
    !> Sets `momentum` to scale momentum + factor other.
    integer(c_int32_t) function plaq_momentum_add(momentum, scale, other, factor) bind(c)
      import
      type(plaq_momentum), value :: momentum
      real(c_double), value :: scale
      type(plaq_momentum), value :: other
      real(c_double), value :: factor
    end function
    !> Loads momenta from the host's array of this rank's sites, whose numbers are `factor` times those of p.
    !> Errors: NOT_FINITE, INVALID_ARGUMENT: the momenta stay as they were.
    !> Arrays: data[reals of the form * 4 * sites of the rank].
    integer(c_int32_t) function plaq_momentum_load(momentum, form, order, factor, data) bind(c)
      import
      type(plaq_momentum), value :: momentum
      integer(c_int32_t), value :: form
      integer(c_int32_t), value :: order
      real(c_double), value :: factor
      real(c_double), intent(in) :: data(*)
    end function
    !> Saves `factor` times the momenta into the host's array.
    !> Arrays: data[reals of the form * 4 * sites of the rank].
    integer(c_int32_t) function plaq_momentum_save(momentum, form, order, factor, data) bind(c)
      import
      type(plaq_momentum), value :: momentum
      integer(c_int32_t), value :: form
      integer(c_int32_t), value :: order
      real(c_double), value :: factor
      real(c_double), intent(inout) :: data(*)
    end function
    !> Loads momenta, as plaq_momentum_load does, from an array of the host in `precision`, double or single.
    !> Errors: BAD_LAYOUT for memory of a device.
    integer(c_int32_t) function plaq_momentum_load_in(momentum, &
        form, &
        order, &
        precision, &
        factor, &
        data) bind(c)
      import
      type(plaq_momentum), value :: momentum
      integer(c_int32_t), value :: form
      integer(c_int32_t), value :: order
      integer(c_int32_t), value :: precision
      real(c_double), value :: factor
      type(c_ptr), value :: data
    end function
    !> Saves momenta, as plaq_momentum_save does, into an array of the host in `precision`, double or single.
    !> Errors as of it.
    integer(c_int32_t) function plaq_momentum_save_in(momentum, &
        form, &
        order, &
        precision, &
        factor, &
        data) bind(c)
      import
      type(plaq_momentum), value :: momentum
      integer(c_int32_t), value :: form
      integer(c_int32_t), value :: order
      integer(c_int32_t), value :: precision
      real(c_double), value :: factor
      type(c_ptr), value :: data
    end function
    !> Measures the gauge action of the links of all ranks.
    integer(c_int32_t) function plaq_gauge_action(gauge, params, action) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_gauge_action_params), intent(in), optional :: params
      real(c_double), intent(inout) :: action
    end function
    !> Sets `momentum` to momentum - step F, F being the force of a gauge action. Links are stored as 18
    !> numbers, in the momenta's precision. Errors: UNSUPPORTED, FIELD_MISMATCH, BAD_PARAMETER.
    integer(c_int32_t) function plaq_gauge_force(gauge, params, momentum, step, report) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_gauge_action_params), intent(in), optional :: params
      type(plaq_momentum), value :: momentum
      real(c_double), value :: step
      type(plaq_force_report), intent(inout), optional :: report
    end function
    !> Sets U to exp(i step p) U, the exponential being exact to rounding for |step p| up to 8.
    integer(c_int32_t) function plaq_gauge_evolve(gauge, momentum, step) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_momentum), value :: momentum
      real(c_double), value :: step
    end function
    !> Puts all links back into SU(3); `correction`: the largest change of an entry.
    integer(c_int32_t) function plaq_gauge_reunitarise(gauge, correction) bind(c)
      import
      type(plaq_gauge), value :: gauge
      real(c_double), intent(inout) :: correction
    end function
    !> Sums over x the trace of the ordered product of links from x along each of `count` closed paths, up to
    !> 4096, all ranks: `traces` takes real and imaginary part of each. `steps` holds the paths one after the
    !> other, `lengths` their steps, 1 to 64: 0 to 3 forward in x, y, z, t, 7 to 4 back. A path may wind around
    !> the lattice. The same on all ranks. Errors: BAD_PARAMETER, OUT_OF_MEMORY.
    !> Arrays: steps[sum of lengths], lengths[count], traces[2 * count].
    integer(c_int32_t) function plaq_gauge_path_traces(gauge, steps, lengths, count, traces) bind(c)
      import
      type(plaq_gauge), value :: gauge
      integer(c_int64_t), value :: count
      integer(c_int32_t), intent(in) :: steps(*)
      integer(c_int32_t), intent(in) :: lengths(count)
      real(c_double), intent(inout) :: traces(2 * count)
    end function
    !> Measures S = sum over x and paths of coefficient (1 - Re tr L(x) / 3), L(x) the product from x; paths as
    !> above. Links are stored as 18 numbers in double or single precision. Errors: as above, UNSUPPORTED.
    !> Arrays: steps[sum of lengths], lengths[count], coefficients[count].
    integer(c_int32_t) function plaq_gauge_path_action(gauge, &
        steps, &
        lengths, &
        coefficients, &
        count, &
        action) bind(c)
      import
      type(plaq_gauge), value :: gauge
      integer(c_int64_t), value :: count
      real(c_double), intent(inout) :: action
      integer(c_int32_t), intent(in) :: steps(*)
      integer(c_int32_t), intent(in) :: lengths(count)
      real(c_double), intent(in) :: coefficients(count)
    end function
    !> Sets `momentum` to momentum - step F, F_a = dS/d omega_a for U -> exp(i omega_a T_a) U. Errors: as
    !> above, FIELD_MISMATCH.
    !> Arrays: steps[sum of lengths], lengths[count], coefficients[count].
    integer(c_int32_t) function plaq_gauge_path_force(gauge, &
        steps, &
        lengths, &
        coefficients, &
        count, &
        momentum, &
        step, &
        report) bind(c)
      import
      type(plaq_gauge), value :: gauge
      integer(c_int64_t), value :: count
      type(plaq_momentum), value :: momentum
      real(c_double), value :: step
      type(plaq_force_report), intent(inout), optional :: report
      integer(c_int32_t), intent(in) :: steps(*)
      integer(c_int32_t), intent(in) :: lengths(count)
      real(c_double), intent(in) :: coefficients(count)
    end function
    !> Gives all forms that a closed path of `length` steps takes under turns and reflections of the lattice,
    !> each once whatever its start and sense (6 plaquettes, 12 rectangles of two by one): `images` takes them
    !> one after the other, `capacity` of them at most. Errors: BAD_PARAMETER; INVALID_ARGUMENT: `capacity` is
    !> too small.
    !> Arrays: steps[length], images[capacity * length].
    integer(c_int32_t) function plaq_path_images(steps, length, images, capacity, count) bind(c)
      import
      integer(c_int64_t), value :: length
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: count
      integer(c_int32_t), intent(in) :: steps(length)
      integer(c_int32_t), intent(inout) :: images(capacity * length)
    end function
    !> Sets `momentum` to momentum - step F with F the force of the hopping term in S = sum_k 2 coefficients[k]
    !> Re <y_k, M x_k>, boundary phases included: what two flavours with the action phi^dagger (M^dagger M)^-1
    !> phi have for coefficient -1, x = (M^dagger M)^-1 phi and y = M x. F_a = dS/d omega_a for U -> exp(i
    !> omega_a T_a) U. Spinors hold the whole lattice; `count` = nrhs. Operator, spinors and momenta have the
    !> same precision, double or single, and the operator's links 18 or 12 numbers. Errors: FIELD_MISMATCH,
    !> UNSUPPORTED.
    !> Arrays: coefficients[count].
    integer(c_int32_t) function plaq_dirac_hop_force(dirac, &
        momentum, &
        step, &
        x, &
        y, &
        coefficients, &
        count) bind(c)
      import
      type(plaq_dirac), value :: dirac
      type(plaq_momentum), value :: momentum
      real(c_double), value :: step
      type(plaq_spinor), value :: x
      type(plaq_spinor), value :: y
      integer(c_int64_t), value :: count
      real(c_double), intent(in) :: coefficients(count)
    end function
    !> Does this for the clover term, made of the operator's links; to S are added determinant_even ln |det
    !> A_even|^2 + determinant_odd ln |det A_odd|^2, A with its twist: two flavours have -1 for the parities
    !> that their Schur complement leaves out. Errors: as above; UNSUPPORTED without such a clover term.
    !> Arrays: coefficients[count].
    integer(c_int32_t) function plaq_dirac_clover_force(dirac, &
        momentum, &
        step, &
        x, &
        y, &
        coefficients, &
        count, &
        determinant_even, &
        determinant_odd) bind(c)
      import
      type(plaq_dirac), value :: dirac
      type(plaq_momentum), value :: momentum
      real(c_double), value :: step
      type(plaq_spinor), value :: x
      type(plaq_spinor), value :: y
      integer(c_int64_t), value :: count
      real(c_double), value :: determinant_even
      real(c_double), value :: determinant_odd
      real(c_double), intent(in) :: coefficients(count)
    end function
    !> Does this for the whole force, of hopping and clover terms, of S = sum_k 2 coefficients[k] Re <y_k, P
    !> x_k> + determinant ln |det A|^2, P a Schur complement (a plaq_system but the full one), spinors on its
    !> parity, A of the sites that it leaves out: all sites for a symmetric one. Errors: as above.
    !> Arrays: coefficients[count].
    integer(c_int32_t) function plaq_dirac_schur_force(dirac, &
        system, &
        momentum, &
        step, &
        x, &
        y, &
        coefficients, &
        count, &
        determinant) bind(c)
      import
      type(plaq_dirac), value :: dirac
      integer(c_int32_t), value :: system
      type(plaq_momentum), value :: momentum
      real(c_double), value :: step
      type(plaq_spinor), value :: x
      type(plaq_spinor), value :: y
      integer(c_int64_t), value :: count
      real(c_double), value :: determinant
      real(c_double), intent(in) :: coefficients(count)
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_hmc_report_init(report, struct_size) bind(c)
      import
      type(plaq_hmc_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_monomial_report_init(report, struct_size) bind(c)
      import
      type(plaq_monomial_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Makes a chain of what `input` says in TOML (docs/hmc.md lists the keys) for links on the lattice and in
    !> the precision of `gauge`, stored as 18 numbers. Errors: INVALID_ARGUMENT (naming the line),
    !> BAD_PARAMETER, OUT_OF_MEMORY.
    integer(c_int32_t) function plaq_hmc_create(gauge, input, hmc) bind(c)
      import
      type(plaq_gauge), value :: gauge
      character(kind=c_char), intent(in) :: input(*)
      type(plaq_hmc), intent(inout) :: hmc
    end function
    !> Destroys a chain. The zero handle is accepted.
    integer(c_int32_t) function plaq_hmc_destroy(hmc) bind(c)
      import
      type(plaq_hmc), value :: hmc
    end function
    !> Runs trajectories. After an error (NOT_FINITE, NOT_CONVERGED, SPECTRAL_BOUNDS, ...) the links are those
    !> before the trajectory that failed, whose number is then that of the next.
    integer(c_int32_t) function plaq_hmc_run(hmc, &
        gauge, &
        trajectories, &
        callback, &
        user, &
        report) bind(c)
      import
      type(plaq_hmc), value :: hmc
      type(plaq_gauge), value :: gauge
      integer(c_int64_t), value :: trajectories
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_hmc_report), intent(inout), optional :: report
    end function
    !> Tells the device memory in bytes that trajectories take at most, beside what the chain holds; a first
    !> trajectory for which there is not so much is refused (OUT_OF_MEMORY). Later ones take no more.
    integer(c_int32_t) function plaq_hmc_memory(hmc, gauge, bytes) bind(c)
      import
      type(plaq_hmc), value :: hmc
      type(plaq_gauge), value :: gauge
      integer(c_int64_t), intent(inout) :: bytes
    end function
    !> Counts the monomials.
    integer(c_int32_t) function plaq_hmc_monomials(hmc, count) bind(c)
      import
      type(plaq_hmc), value :: hmc
      integer(c_int64_t), intent(inout) :: count
    end function
    !> Describes monomial number `index` from 0 in the last trajectory, and its name.
    integer(c_int32_t) function plaq_hmc_monomial(hmc, index, name, capacity, report) bind(c)
      import
      type(plaq_hmc), value :: hmc
      integer(c_int64_t), value :: index
      character(kind=c_char), intent(inout) :: name(*)
      integer(c_int64_t), value :: capacity
      type(plaq_monomial_report), intent(inout), optional :: report
    end function
    !> Gives the seed and the number of the next trajectory.
    integer(c_int32_t) function plaq_hmc_place(hmc, seed, trajectory) bind(c)
      import
      type(plaq_hmc), value :: hmc
      integer(c_int64_t), intent(inout) :: seed
      integer(c_int64_t), intent(inout) :: trajectory
    end function
    !> Sets the seed and the number of the next trajectory.
    integer(c_int32_t) function plaq_hmc_set_place(hmc, seed, trajectory) bind(c)
      import
      type(plaq_hmc), value :: hmc
      integer(c_int64_t), value :: seed
      integer(c_int64_t), value :: trajectory
    end function
    !> Writes links, place and the intervals that monomials have measured to a file (ILDG, double
    !> precision) from which the chain goes on bit for bit; it appears complete or not at all.
    integer(c_int32_t) function plaq_hmc_write(hmc, gauge, file) bind(c)
      import
      type(plaq_hmc), value :: hmc
      type(plaq_gauge), value :: gauge
      character(kind=c_char), intent(in) :: file(*)
    end function
    !> Takes links, place and intervals from such a file; an interval of the input comes first. Errors:
    !> those of plaq_gauge_read; FILE_FORMAT: a configuration without a place. All is then as before.
    integer(c_int32_t) function plaq_hmc_read(hmc, gauge, file) bind(c)
      import
      type(plaq_hmc), value :: hmc
      type(plaq_gauge), value :: gauge
      character(kind=c_char), intent(in) :: file(*)
    end function
    !> Reads a number of an input in TOML by its path, e.g. "run.lattice.3"; `found`: 0 if there is none, and
    !> `value` is then `otherwise`. For the host's own keys, in the table `run`.
    integer(c_int32_t) function plaq_input_number(input, path, otherwise, value, found) bind(c)
      import
      character(kind=c_char), intent(in) :: input(*)
      character(kind=c_char), intent(in) :: path(*)
      real(c_double), value :: otherwise
      real(c_double), intent(inout) :: value
      integer(c_int32_t), intent(inout) :: found
    end function
    !> Reads a text of an input in the same way; it is empty if there is none.
    integer(c_int32_t) function plaq_input_text(input, path, value, capacity, found) bind(c)
      import
      character(kind=c_char), intent(in) :: input(*)
      character(kind=c_char), intent(in) :: path(*)
      character(kind=c_char), intent(inout) :: value(*)
      integer(c_int64_t), value :: capacity
      integer(c_int32_t), intent(inout) :: found
    end function
    !> Refuses a table of an input, e.g. "run", with a key that is none of `known`, words with blanks
    !> between them. A table that is absent has no keys. Errors: INVALID_ARGUMENT, naming the key.
    integer(c_int32_t) function plaq_input_check(input, path, known) bind(c)
      import
      character(kind=c_char), intent(in) :: input(*)
      character(kind=c_char), intent(in) :: path(*)
      character(kind=c_char), intent(in) :: known(*)
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_hmc_params_init(params, struct_size) bind(c)
      import
      type(plaq_hmc_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_quarks_params_init(params, struct_size) bind(c)
      import
      type(plaq_quarks_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Makes parts of a chain for links on the lattice and in the precision of `gauge`, stored as 18 numbers.
    !> Each level is added before its monomials, the outermost first. Errors: BAD_PARAMETER.
    integer(c_int32_t) function plaq_hmc_parts_create(gauge, params, parts) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_hmc_params), intent(in), optional :: params
      type(plaq_hmc_parts), intent(inout) :: parts
    end function
    !> Destroys parts. The zero handle is accepted.
    integer(c_int32_t) function plaq_hmc_parts_destroy(parts) bind(c)
      import
      type(plaq_hmc_parts), value :: parts
    end function
    !> Adds a level with so many steps of a plaq_integrator.
    integer(c_int32_t) function plaq_hmc_parts_add_level(parts, integrator, steps) bind(c)
      import
      type(plaq_hmc_parts), value :: parts
      integer(c_int32_t), value :: integrator
      integer(c_int64_t), value :: steps
    end function
    !> Adds a gauge action to the last level. Names of monomials are unique. Errors:
    !> BAD_PARAMETER, OUT_OF_MEMORY.
    integer(c_int32_t) function plaq_hmc_parts_add_gauge(parts, name, params) bind(c)
      import
      type(plaq_hmc_parts), value :: parts
      character(kind=c_char), intent(in) :: name(*)
      type(plaq_gauge_action_params), intent(in), optional :: params
    end function
    !> Adds closed paths as plaq_gauge_path_action takes them. Errors: BAD_PARAMETER, OUT_OF_MEMORY.
    !> Arrays: steps[sum of lengths], lengths[count], coefficients[count].
    integer(c_int32_t) function plaq_hmc_parts_add_paths(parts, &
        name, &
        steps, &
        lengths, &
        coefficients, &
        count) bind(c)
      import
      type(plaq_hmc_parts), value :: parts
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: count
      integer(c_int32_t), intent(in) :: steps(*)
      integer(c_int32_t), intent(in) :: lengths(count)
      real(c_double), intent(in) :: coefficients(count)
    end function
    !> Adds quarks. Of `dirac` and `preconditioner` (NULL, or neither kappa nor mass: no ratio) normalisation,
    !> precision and storage do not count; `multigrid` where `params` ask for it. Errors:
    !> BAD_PARAMETER, UNSUPPORTED.
    integer(c_int32_t) function plaq_hmc_parts_add_quarks(parts, &
        name, &
        params, &
        dirac, &
        preconditioner, &
        multigrid) bind(c)
      import
      type(plaq_hmc_parts), value :: parts
      character(kind=c_char), intent(in) :: name(*)
      type(plaq_quarks_params), intent(in), optional :: params
      type(plaq_dirac_params), intent(in), optional :: dirac
      type(plaq_dirac_params), intent(in), optional :: preconditioner
      type(plaq_multigrid_params), intent(in), optional :: multigrid
    end function
    !> Makes the chain of what was added, the same bit for bit as that of an input that says so; the parts are
    !> then empty. Errors: as of plaq_hmc_create.
    integer(c_int32_t) function plaq_hmc_create_from(parts, hmc) bind(c)
      import
      type(plaq_hmc_parts), value :: parts
      type(plaq_hmc), intent(inout) :: hmc
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_flow_params_init(params, struct_size) bind(c)
      import
      type(plaq_flow_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_spinor_flow_params_init(params, struct_size) bind(c)
      import
      type(plaq_spinor_flow_params), intent(inout) :: params
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_spinor_flow_report_init(report, struct_size) bind(c)
      import
      type(plaq_spinor_flow_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Fills in defaults; pass sizeof.
    integer(c_int32_t) function plaq_flow_report_init(report, struct_size) bind(c)
      import
      type(plaq_flow_report), intent(inout) :: report
      integer(c_int64_t), value :: struct_size
    end function
    !> Flows SU(3) links, stored as 18 numbers in double or single precision. `count`: measurements
    !> made, of which the first `capacity` are written; `points` may be NULL. Errors: BAD_PARAMETER,
    !> UNSUPPORTED, NOT_FINITE, OUT_OF_MEMORY.
    !> Arrays: points[capacity].
    integer(c_int32_t) function plaq_gauge_flow(gauge, &
        params, &
        callback, &
        user, &
        report, &
        points, &
        capacity, &
        count) bind(c)
      import
      type(plaq_gauge), value :: gauge
      type(plaq_flow_params), intent(in), optional :: params
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_flow_report), intent(inout), optional :: report
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: count
      type(plaq_flow_point), intent(inout), optional :: points(capacity)
    end function
    !> Flows every column of a field, spinors or colour vectors on both parities in double or single precision: d chi / dt =
    !> D^2 chi, where D^2 chi(x) = sum_mu [V_mu(x) chi(x + mu) + V_mu(x - mu)^dagger chi(x - mu) - 2 chi(x)] with the links V of the
    !> flow of `gauge` (SU(3)) at the same time (Luescher, JHEP 04 (2013) 123). Phases of the boundary are those that the
    !> field knows (plaq_spinor_origin), else those of `params`. `flowed`: links that the flowed ones are written to, which may be `gauge`
    !> itself; zero handle: they are not kept. Links flow in the precision of the field. The callback hears after every step how
    !> many are done of how many, and may end the flow there. Errors: BAD_PARAMETER, UNSUPPORTED, FIELD_MISMATCH, NOT_FINITE,
    !> OUT_OF_MEMORY.
    integer(c_int32_t) function plaq_spinor_flow(spinor, &
        gauge, &
        flowed, &
        params, &
        callback, &
        user, &
        report) bind(c)
      import
      type(plaq_spinor), value :: spinor
      type(plaq_gauge), value :: gauge
      type(plaq_gauge), value :: flowed
      type(plaq_spinor_flow_params), intent(in), optional :: params
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_spinor_flow_report), intent(inout), optional :: report
    end function
    !> Applies the adjoint K^dagger of plaq_spinor_flow K with the same `gauge`, links at time 0, and `params`: it takes a field at the
    !> flow time of `params` to time 0, and <phi, K chi> = <K^dagger phi, chi> holds to rounding. The links of the steps are computed
    !> again between `checkpoints` states that are kept. The callback hears after every step, of the links too, how many steps of the
    !> field are done; a field of an adjoint that it ends is that of the adjoint of the flow from the time of the report. Errors: as
    !> of plaq_spinor_flow.
    integer(c_int32_t) function plaq_spinor_flow_adjoint(spinor, &
        gauge, &
        params, &
        callback, &
        user, &
        report) bind(c)
      import
      type(plaq_spinor), value :: spinor
      type(plaq_gauge), value :: gauge
      type(plaq_spinor_flow_params), intent(in), optional :: params
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
      type(plaq_spinor_flow_report), intent(inout), optional :: report
    end function
    !> Sets the mode for all threads, from now on.
    integer(c_int32_t) function plaq_quda_set_error_mode(mode) bind(c)
      import
      integer(c_int32_t), value :: mode
    end function
    !> Takes the place of the handler that prints to stderr; NULL: that one again.
    integer(c_int32_t) function plaq_quda_set_error_handler(callback, user) bind(c)
      import
      type(c_funptr), value :: callback
      type(c_ptr), value :: user
    end function
    !> Gives the status of this thread's last call of a function of the headers in quda/; plaq_last_error has
    !> the message of one that failed.
    integer(c_int32_t) function plaq_quda_last_status(status) bind(c)
      import
      integer(c_int32_t), intent(inout) :: status
    end function
  end interface

contains

  !> A Fortran string from a C string.
  function plaq_text(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i, n
    text = ''
    if (.not. c_associated(pointer)) return
    call c_f_pointer(pointer, letters, [huge(0)])
    n = 0
    do while (letters(n + 1) /= c_null_char)
      n = n + 1
    end do
    text = repeat(' ', n)
    do i = 1, n
      text(i:i) = letters(i)
    end do
  end function
end module
