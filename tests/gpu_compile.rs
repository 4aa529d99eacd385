//! Every kernel must compile for the GPU and fit its registers. The test needs NVRTC, but no GPU.
//!
//! NVRTC is found as the library finds it (`PLAQ_NVRTC`: full path of libnvrtc). Without it the test says so and
//! passes, unless `PLAQ_REQUIRE_NVRTC` is set. `PLAQ_GPU_COMPILE_ONLY` (start of kernels' names) and
//! `PLAQ_GPU_COMPILE_VARIANT` (part of a variant's name) select a few kernels. By default sm_90 gets the first variant
//! of each kernel in the table below, and the other variants in each precision with the first values of the other
//! parameters. With `PLAQ_GPU_COMPILE_ALL`, or any variable named here, all variants are compiled; the first one in
//! each precision also for sm_80 or sm_100, in turns, in the launch shapes that the tuner tries, and as a kernel that
//! counts in 64 bits. Other architectures get a few kernels in each precision, or all of them if
//! `PLAQ_GPU_COMPILE_ARCHS` lists them.

mod hop;

use std::path::Path;
use std::sync::LazyLock;
use std::time::Instant;

use plaq::backend::args::*;
use plaq::backend::cuda::{
    candidates, default_shape, in_parallel, Cache, Compiled, Nvrtc, Source, Usage,
};
use plaq::backend::families::{combinations, symbol, Kernel, KERNELS};
use plaq::backend::{constants, specs_of, WIDE};
use plaq::error::{Result, Status};

/// Bytes per thread that may be spilled with the default launch shape, by the start of the kernel's symbol and of the
/// variant's name. The first row that matches counts; kernels without a row may not spill.
///
/// The hop in single precision spills four words, little beside the 576 bytes that it moves per site, to run a third
/// more warps; for several right-hand sides with clover blocks the tuner finds that fewer warps are better. On divided
/// lattices outer sites, about a tenth, also tell apart what comes in messages; in the maximally Abelian gauge they do
/// so beside three hermitian matrices. The clover term's 54 numbers in double take 108 registers beside the links of a
/// leaf; it is built once per gauge field, as field strengths are. The force through stout links in double takes all
/// 255 registers that a thread may have. The force of a hop keeps two projected spinors and a matrix beside the spinor
/// that it loads. Annealing to the maximally Abelian gauge keeps three hermitian matrices beside its random numbers.
/// The force of plaquettes in double needs a word more than there are registers if it takes one link at a time, or has
/// halos. The inverse of clover blocks that need not be positive keeps two hermitian 6 x 6 matrices in double (2 x 288
/// bytes) and their product; it runs only for fields that the faster inverse refuses. Boundaries of the Schroedinger
/// functional add constants in place of links, and plaquettes that are wound twice; their lattices are small.
const SPILLS_ALLOWED: &[(&str, &str, u32)] = &[
    ("hop_f32_", "halos, all, several, y, CLOVER", 20),
    ("hop_f32_", "", 16),
    ("gauge_sweep_f32_R12", "Abelian, heat", 8),
    ("gauge_sweep_f32_R8", "halos, faces first, Abelian", 8),
    ("clover_build_f64_", "links are fixed", 492),
    ("clover_build_f64_", "", 448),
    ("clover_invert_any_f32", "", 1588),
    ("hop_force_f64_", "", 40),
    ("hop_force_f32_", "", 20),
    ("clover_insertion_f32", "several", 12),
    ("stout_force_f64", "links are fixed", 316),
    ("stout_force_f64", "", 12),
    ("plaquette_force_f64", "", 4),
    ("rectangle_force_f64", "links are fixed", 776),
    ("rectangle_force_f32", "links are fixed", 216),
    ("clover_force_f32", "links are fixed", 48),
    ("field_strength_sum_f64_", "", 96),
];

/// Architectures besides sm_90 for kernels in each precision, in turns; a kernel that has no precision is compiled
/// for both.
const ARCHS: [i32; 2] = [80, 100];
/// More architectures, for kernels of each kind: Turing, Ampere and Ada of workstations, Blackwell Ultra, Blackwell
/// of workstations.
const OTHER_ARCHS: &[i32] = &[75, 86, 89, 103, 120];
const OF_EACH_KIND: &[&str] = &[
    "hop",
    "clover_build",
    "blas_sum",
    "coarse_apply",
    "tensor_hop",
    "gauge_sweep",
    "plaquette_force",
];

/// Kernels that depend on boundaries in time, and that have no other variants.
const BOUNDED: &[&str] = &[
    "plaquette_sum",
    "unitarity",
    "field_strength_sum",
    "clover_build",
    "random_momenta",
    "momenta_zero_fixed",
    "bound_links",
    "project_links",
    "plaquette_action",
    "rectangle_action",
    "clover_force",
    "stout_exponent",
    "stout_force",
];

/// Name of variants for launches with more elements than 32 bits can count.
const MANY: &str = ", many elements";

struct Variant {
    what: String,
    specs: Specs,
}

fn geom() -> Geom {
    Geom { x: 32, y: 32, z: 32, t: 64, global: [32, 32, 32, 64], ..Geom::default() }
}
fn view() -> FieldView {
    FieldView { volume: 32 * 32 * 32 * 64 / 2, ..FieldView::default() }
}
fn bounds(kind: i32) -> Bounds {
    Bounds { kind, ..Bounds::default() }
}
fn variant<A: KernelArgs>(what: &str, args: &A) -> Variant {
    Variant { what: what.to_string(), specs: specs_of(args) }
}

fn doublet_variants() -> Vec<Variant> {
    [
        (SITE_CLOVER_TWIST_INVERSE, "clover inverse"),
        (SITE_CLOVER_TWIST, "clover"),
        (SITE_TWIST, "twist"),
        (SITE_ONE, "one"),
    ]
    .into_iter()
    .map(|(site, what)| {
        let args = DoubletSiteArgs {
            geom: geom(),
            out: view(),
            inp: view(),
            y: view(),
            clover: view(),
            site,
            with_y: 1,
            step_out: 1,
            step_in: 1,
            step_y: 1,
            ..DoubletSiteArgs::default()
        };
        variant(what, &args)
    })
    .collect()
}

fn site_variants() -> Vec<Variant> {
    let base = SiteOpArgs {
        geom: geom(),
        out: view(),
        inp: view(),
        clover: view(),
        step_out: 1,
        step_in: 1,
        ..SiteOpArgs::default()
    };
    let names = ["ONE", "TWIST", "CLOVER", "CLOVER_TWIST", "CLOVER_TWIST_INVERSE", "GAMMA5"];
    let sites = [
        SITE_ONE,
        SITE_TWIST,
        SITE_CLOVER,
        SITE_CLOVER_TWIST,
        SITE_CLOVER_TWIST_INVERSE,
        SITE_GAMMA5,
    ];
    let pairs = names.iter().zip(sites);
    pairs.map(|(name, site)| variant(name, &SiteOpArgs { site, ..base })).collect()
}

fn blas_variants(ops: &[i32]) -> Vec<Variant> {
    let with = |op, times, times_bc| BlasArgs {
        op,
        parities: 2,
        reals: 24,
        x: view(),
        times,
        times_bc,
        ..BlasArgs::default()
    };
    // Coarse vectors, right-hand sides fastest.
    let coarse = |op| BlasArgs { reals: 96, fastest: 1, parities: 1, ..with(op, 0, 0) };
    // 16 bits by parts of a site.
    let parts = |op| BlasArgs { reals: 96, ..with(op, 0, 0) };
    // Those that take sums of an earlier launch.
    let later = [
        (BLAS_AXPBY, TIMES_OVER_DOT, TIMES_NOTHING),
        (BLAS_AXPY_NORM, TIMES_OVER_NORM, TIMES_NOTHING),
        (BLAS_BICGSTAB, TIMES_OVER_DOT, TIMES_DOT_OVER_NORM),
    ];
    let plain = ops.iter().map(|&op| (op, TIMES_NOTHING, TIMES_NOTHING));
    let later = later.into_iter().filter(|(op, ..)| ops.contains(op));
    plain
        .chain(later)
        .map(|(op, a, bc)| variant(&format!("op {op}, times {a} {bc}"), &with(op, a, bc)))
        .chain(ops.iter().map(|&op| variant(&format!("op {op}, coarse"), &coarse(op))))
        .chain(ops.iter().map(|&op| variant(&format!("op {op}, 96 numbers"), &parts(op))))
        .collect()
}

fn gaugefix_variants() -> Vec<Variant> {
    let landau = GaugeFixArgs {
        geom: geom(),
        gauge: view(),
        g: view(),
        directions: 15,
        axial: 8,
        time: 3,
        ..GaugeFixArgs::default()
    };
    let abelian = GaugeFixArgs { condition: GAUGE_ABELIAN, ..landau };
    let halos = GaugeFixArgs { geom: Geom { halos: 0b1101, ..geom() }, ..landau };
    let with = |method| GaugeFixArgs { method, ..landau };
    vec![
        variant("Landau, overrelaxation", &landau),
        variant("Landau, heat", &with(GAUGE_HEAT)),
        variant("Landau, microcanonical", &with(GAUGE_MICROCANONICAL)),
        variant("Landau, stochastic", &with(GAUGE_STOCHASTIC)),
        variant("Coulomb", &GaugeFixArgs { directions: 7, axial: 4, ..landau }),
        variant("Coulomb, x is time", &GaugeFixArgs { directions: 14, time: 0, ..landau }),
        variant("phases", &GaugeFixArgs { condition: GAUGE_PHASES, ..landau }),
        variant("Abelian, overrelaxation", &abelian),
        variant("Abelian, heat", &GaugeFixArgs { method: GAUGE_HEAT, ..abelian }),
        variant("halos", &halos),
        variant("halos, inner", &GaugeFixArgs { region: REGION_INNER, ..halos }),
        variant("halos, outer", &GaugeFixArgs { region: REGION_OUTER, ..halos }),
        variant("halos, faces first", &GaugeFixArgs { region: REGION_FACES_FIRST, ..halos }),
        variant(
            "halos, faces first, Abelian",
            &GaugeFixArgs { region: REGION_FACES_FIRST, geom: halos.geom, ..abelian },
        ),
        variant("Landau, overrelaxation, whole", &GaugeFixArgs { lag: 4, ..landau }),
        variant("Landau, stochastic, whole", &GaugeFixArgs { lag: 4, ..with(GAUGE_STOCHASTIC) }),
    ]
}

fn fourier_variants() -> Vec<Variant> {
    let fix = GaugeFixArgs {
        geom: geom(),
        gauge: view(),
        g: view(),
        directions: 15,
        axial: 8,
        time: 3,
        ..GaugeFixArgs::default()
    };
    let landau = FourierArgs { fix, write: 1, ..FourierArgs::default() };
    let coulomb = GaugeFixArgs { directions: 14, time: 0, ..fix };
    vec![
        variant("Landau", &landau),
        variant("Landau, sums only", &FourierArgs { write: 0, ..landau }),
        variant("Coulomb, x is time", &FourierArgs { fix: coulomb, ..landau }),
    ]
}

fn layout_variants() -> Vec<Variant> {
    let base = LayoutArgs {
        geom: geom(),
        field: view(),
        axes: 0b11100100,
        split: 1,
        field_parities: 2,
        storage: R12,
        ..LayoutArgs::default()
    };
    let others = LayoutArgs { storage: R8, rotate: 1, phases: 8, reproject: 1, ..base };
    vec![
        variant("in", &base),
        variant("out", &LayoutArgs { out: 1, ..base }),
        variant("check", &LayoutArgs { dry: 1, single: 1, ..base }),
        variant("in, everything", &others),
        variant("out, angles", &LayoutArgs { out: 1, storage: R8A, rotate: 1, ..base }),
        variant("in, SU(2)", &LayoutArgs { storage: SU2, ..base }),
    ]
}

fn convert_variants() -> Vec<Variant> {
    let base = ConvertArgs { from: view(), to: view(), ..ConvertArgs::default() };
    let pairs = [("R18 to R12", R18, R12), ("R12 to R8", R12, R8), ("R8 to R8A", R8, R8A)];
    let convert = |(what, storage_from, storage_to)| {
        variant(what, &ConvertArgs { storage_from, storage_to, ..base })
    };
    pairs.into_iter().map(convert).collect()
}

/// Arguments of a field of one right-hand side of one parity.
fn columns_of_spinors() -> AggregateFieldArgs {
    let (geom, field) = (geom(), view());
    AggregateFieldArgs { geom, field, columns: 1, count: 1, parities: 1, ..Default::default() }
}

/// Representative constants of a kernel: `KernelArgs` that the solvers and operators pass. A
/// kernel without a row reads all but the lattice from its struct.
fn variants(kernel: &Kernel, params: &[&str]) -> Vec<Variant> {
    let divided = Geom { halos: 0b1101, ..geom() };
    match kernel.name {
        "hop" => hop::variants(params),
        "hop_pack" => {
            let args =
                HopArgs { geom: divided, inp: view(), step_in: 1, nrhs: 1, ..HopArgs::default() };
            vec![variant("x, z, t", &args)]
        }
        "border_pack" | "border_unpack" | "border_return" => {
            let args = BorderArgs { geom: divided, gauge: view(), mu: 2, ..BorderArgs::default() };
            vec![variant("x, z, t", &args)]
        }
        "face_pack" | "face_unpack" => {
            let args = FaceArgs { geom: divided, g: view(), ..FaceArgs::default() };
            vec![variant("x, z, t", &args)]
        }
        "axial_step" | "axial_unit" => {
            let args = AxialArgs {
                geom: geom(),
                gauge: view(),
                g: view(),
                direction: 3,
                ..AxialArgs::default()
            };
            vec![variant("t", &args)]
        }
        "transform_product" => {
            let args = TransformProductArgs {
                geom: geom(),
                g: view(),
                h: view(),
                ..TransformProductArgs::default()
            };
            vec![variant("g h", &args)]
        }
        "site_op" => site_variants(),
        "doublet_site" => doublet_variants(),
        "blas" => blas_variants(&[BLAS_COPY, BLAS_AXPBY, BLAS_CG_UPDATE, BLAS_AXPBYPCZ]),
        "blas_mixed" => blas_variants(&[BLAS_AXPBY]),
        "shift_update" => [0, 1]
            .into_iter()
            .map(|one| {
                let (r, x) = (view(), view());
                let args = ShiftArgs { r, x, parities: 1, reals: 24, one, ..ShiftArgs::default() };
                variant(if one == 1 { "one x" } else { "an x each" }, &args)
            })
            .collect(),
        "blas_sum" => {
            blas_variants(&[BLAS_NORM, BLAS_DOT, BLAS_AXPY_NORM, BLAS_AXPY_DOT, BLAS_BICGSTAB])
        }
        "layout_gauge" | "layout_spinor" | "layout_clover" => layout_variants(),
        "convert_gauge" => convert_variants(),
        // Sweeps and descents on a GPU have links of eight numbers.
        "gauge_sweep" | "gauge_quality" | "gauge_sweep_seen" | "fourier_gradient"
            if params[1] == "R12" =>
        {
            vec![]
        }
        "gauge_sweep" => gaugefix_variants(),
        name if name.starts_with("fourier_") => fourier_variants(),
        // Sweeps of an annealing are measured on their own, and one parity.
        "gauge_quality" | "gauge_sweep_seen" => {
            let others: &[&str] = if kernel.name == "gauge_quality" {
                &["whole"]
            } else {
                &["heat", "micro", "whole"]
            };
            let mut all = gaugefix_variants();
            all.retain(|v| !others.iter().any(|what| v.what.contains(what)));
            all
        }
        "update_links" => {
            let args = UpdateArgs { geom: geom(), gauge: view(), ..UpdateArgs::default() };
            let heat = variant("heat bath", &UpdateArgs { heat: 1, ..args });
            let open = UpdateArgs { heat: 1, bounds: bounds(BOUND_OPEN), ..args };
            vec![
                heat,
                variant("overrelaxation", &args),
                variant("open in time", &open),
                variant(STANDING, &UpdateArgs { bounds: bounds(BOUND_SF), ..open }),
            ]
        }
        "coarse_apply" | "coarse_apply_short" | "coarse_apply_byte" => {
            let one = CoarseApplyArgs { rows: 48, nrhs: 1, with_y: 1, ..Default::default() };
            vec![
                variant("one", &one),
                variant("several", &CoarseApplyArgs { nrhs: 12, ..one }),
                variant("odd", &CoarseApplyArgs { rows: 14, nrhs: 3, with_y: 0, ..one }),
                variant("odd, one", &CoarseApplyArgs { rows: 14, with_y: 0, ..one }),
            ]
        }
        "coarse_adjoint" | "coarse_inner" | "coarse_invert" | "coarse_multiply" => {
            vec![variant("one", &CoarseMatrixArgs { rows: 48, each: 8, ..Default::default() })]
        }
        "coarse_pair" => {
            let args = CoarsePairArgs { rows: 48, ..Default::default() };
            vec![variant("sum", &args), variant("product", &CoarsePairArgs { product: 1, ..args })]
        }
        "coarse_shorten"
        | "coarse_shorten_byte"
        | "aggregate_shorten"
        | "aggregate_shorten_byte" => {
            vec![variant("one", &CoarseShortenArgs { rows: 48, ..Default::default() })]
        }
        "krylov_gram" | "krylov_solve" => {
            let args = KrylovArgs { step: 1, ..Default::default() };
            vec![variant("one", &args), variant("several", &KrylovArgs { step: 12, ..args })]
        }
        "krylov_combine" => {
            let args = KrylovArgs { step: 1, with_y: 1, with_z: 1, ..Default::default() };
            vec![
                variant("both", &args),
                variant("solution", &KrylovArgs { with_z: 0, ..args }),
                variant("residual, several", &KrylovArgs { step: 12, with_y: 0, ..args }),
            ]
        }
        "krylov_gram_short" | "krylov_combine_short" => {
            let args = KrylovShortArgs { reals: 24, ..Default::default() };
            vec![
                variant("one", &args),
                variant("both", &KrylovShortArgs { with_z: 1, ..args }),
                variant("sample", &KrylovShortArgs { sample: 1, ..args }),
                variant("columns", &KrylovShortArgs { sample: 1, columns: 12, ..args }),
                variant("columns, both", &KrylovShortArgs { with_z: 1, columns: 12, ..args }),
            ]
        }
        "tensor_tables" => {
            let one = HopArgs { geom: geom(), gauge: view(), nrhs: 1, ..Default::default() };
            let tables = |hop| TensorTablesArgs { hop, ..Default::default() };
            let clover = HopArgs { clover: view(), site_hop: SITE_CLOVER, phase_mask: 8, ..one };
            let twist = HopArgs { site_hop: SITE_CLOVER_TWIST_INVERSE, ..clover };
            vec![
                variant("links", &tables(one)),
                variant("CLOVER", &tables(clover)),
                variant("CLOVER_TWIST_INVERSE", &tables(twist)),
            ]
        }
        "tensor_convert" => {
            let args = TensorConvertArgs { inp: view(), nrhs: 12, ..Default::default() };
            vec![variant("columns", &args)]
        }
        "tensor_faces" => {
            let args = TensorFacesArgs { geom: divided, nrhs: 12, ..Default::default() };
            let arrived = TensorFacesArgs { arrived: 1, ..args };
            vec![variant("sent", &args), variant("arrived", &arrived)]
        }
        "tensor_hop" => {
            let args = TensorHopArgs {
                geom: geom(),
                nrhs: 12,
                site_term: 1,
                tile_y: 2,
                tile_z: 2,
                slices: 64,
                ..Default::default()
            };
            vec![
                variant("two groups", &args),
                variant("unequal groups", &TensorHopArgs { nrhs: 13, ..args }),
                variant("one group", &TensorHopArgs { nrhs: 8, tile_z: 4, ..args }),
                variant("without site term", &TensorHopArgs { site_term: 0, ..args }),
                variant("halos", &TensorHopArgs { geom: divided, ..args }),
            ]
        }
        "aggregate_restrict"
        | "aggregate_prolong"
        | "aggregate_restrict_short"
        | "aggregate_prolong_short"
        | "aggregate_restrict_byte"
        | "aggregate_prolong_byte"
        | "aggregate_cholesky" => {
            let one = AggregateArgs { m: 6, n: 24, columns: 1, block: 256, ..Default::default() };
            let several = AggregateArgs { columns: 12, vectors: 1, ..one };
            let tiled = AggregateArgs { vectors: AGGREGATE_VECTORS, ..several };
            vec![
                variant("one", &AggregateArgs { vectors: 2, ..one }),
                variant("several", &several),
                variant("tiled", &tiled),
                variant("upper", &AggregateArgs { columns: 24, upper: 1, ..tiled }),
            ]
        }
        "aggregate_from_spinors" | "aggregate_to_spinors" => {
            let args = columns_of_spinors();
            vec![
                variant("even", &args),
                variant(
                    "several",
                    &AggregateFieldArgs { columns: 24, count: 8, parities: 2, ..args },
                ),
            ]
        }
        "aggregate_from_spinors_times" => {
            let to = columns_of_spinors();
            [("CLOVER", SITE_CLOVER), ("TWIST", SITE_TWIST), ("both", SITE_CLOVER_TWIST)]
                .map(|(what, site)| {
                    variant(
                        what,
                        &AggregateSiteArgs { to, clover: view(), site, ..Default::default() },
                    )
                })
                .into()
        }
        "aggregate_hop" => {
            let one =
                HopArgs { geom: geom(), inp: view(), gauge: view(), nrhs: 8, ..Default::default() };
            let hop = |hop| AggregateHopArgs { hop, ..Default::default() };
            let phases = HopArgs { phase_mask: 8, ..one };
            vec![variant("several", &hop(one)), variant("antiperiodic t", &hop(phases))]
        }
        "hop_force" => {
            let geom = Geom { halos: 0b1101, ..geom() };
            let one = HopForceArgs {
                geom: self::geom(),
                x: view(),
                y: view(),
                gauge: view(),
                momenta: view(),
                phase_mask: 8,
                nrhs: 1,
                ..Default::default()
            };
            vec![
                variant("one", &one),
                variant("several", &HopForceArgs { nrhs: 12, ..one }),
                variant("halos, several", &HopForceArgs { geom, nrhs: 12, ..one }),
            ]
        }
        "clover_insertion" | "clover_exponential_insertion" => {
            let one = CloverInsertionArgs {
                geom: geom(),
                x: view(),
                y: view(),
                even: view(),
                odd: view(),
                out: view(),
                nrhs: 1,
                ..Default::default()
            };
            let determinant = CloverInsertionArgs { nrhs: 0, with_blocks: 3, add: 1, ..one };
            vec![
                variant("one", &one),
                variant("several", &CloverInsertionArgs { nrhs: 12, ..one }),
                variant("determinant", &determinant),
                variant("one and determinant", &CloverInsertionArgs { with_blocks: 3, ..one }),
            ]
        }
        "plaquette_force" | "plaquette_flow" | "loop_force" | "plane_staples"
        | "rectangle_force" => {
            let one = ForceArgs {
                geom: geom(),
                gauge: view(),
                staples: view(),
                elements: view(),
                momenta: view(),
                flowed: view(),
                column: 1,
                ..Default::default()
            };
            let halos = Geom { halos: 0b1101, ..geom() };
            vec![
                variant("one", &one),
                variant("column", &ForceArgs { column: 8, ..one }),
                variant("open in time", &ForceArgs { bounds: bounds(BOUND_OPEN), ..one }),
                variant("links are fixed", &ForceArgs { bounds: bounds(BOUND_SF), ..one }),
                variant("halos, column", &ForceArgs { geom: halos, column: 8, ..one }),
            ]
        }
        "laplace" | "laplace_columns" | "vector_pack" => {
            { [(1, 63, 0, 0), (4, 63, 0, 0), (4, 255, 15, 0), (4, 63, 0, 8)] }
                .into_iter()
                .filter(|(spins, ..)| *spins == 4 || kernel.name != "laplace_columns")
                .map(|(spins, hops, phase_mask, halos)| {
                    let geom = Geom { halos, ..geom() };
                    let (inp, out, y, gauge) = (view(), view(), view(), view());
                    let steps =
                        LaplaceArgs { step_out: 2, step_in: 2, step_y: 2, ..Default::default() };
                    let args =
                        LaplaceArgs { geom, inp, out, y, gauge, hops, spins, phase_mask, ..steps };
                    let phases = if phase_mask == 0 { "" } else { ", phases" };
                    let halos = if halos == 0 { "" } else { ", t divided" };
                    variant(&format!("{spins} spins{phases}{halos}"), &args)
                })
                .collect()
        }
        "smear_links" => [(4, 4), (12, 12), (12, 4)]
            .map(|(matrices, matrices_out)| {
                let (geom, gauge, inp, out) = (geom(), view(), view(), view());
                let counts = SmearArgs { matrices, matrices_out, ..Default::default() };
                let args = SmearArgs { geom, gauge, inp, out, directions: 14, ..counts };
                variant(&format!("{matrices} to {matrices_out} matrices"), &args)
            })
            .into(),
        "random_spinor" => [RANDOM_NORMAL_SPINOR, RANDOM_Z4_SPINOR]
            .map(|purpose| {
                let (geom, field) = (geom(), view());
                let base = RandomArgs { parities: 2, reals: 24, ..Default::default() };
                let args = RandomArgs { geom, field, purpose, ..base };
                variant(&format!("purpose {purpose}"), &args)
            })
            .into(),
        "time_slice_dots" | "time_slice_update" => [("of", 0), ("add diagonal", 1)]
            .map(|(what, add)| {
                let (v, w) = (view(), view());
                let args =
                    TimeSliceArgs { geom: geom(), v, w, add, diagonal: add, ..Default::default() };
                variant(what, &args)
            })
            .into(),
        "chiral_sum" => {
            let sum = |terms| ChiralArgs { out: view(), x: view(), terms, ..Default::default() };
            [1, 4].map(|terms| variant(&format!("{terms} terms"), &sum(terms))).into()
        }
        _ => {
            let with = |what: &str, kind| {
                let mut specs = specs_of(&geom());
                specs.extend(specs_of(&view()));
                specs.extend(specs_of(&bounds(kind)));
                Variant { what: what.to_string(), specs }
            };
            let mut list = vec![with("-", 0)];
            if BOUNDED.contains(&kernel.name) {
                list.push(with(STANDING, BOUND_SF));
            }
            list
        }
    }
}

/// Name of a kernel's variant for a lattice with boundaries at which links are fixed.
const STANDING: &str = "links are fixed";

/// The compiled kernel: kept from an earlier run if the source and the options are unchanged, or else compiled now.
/// The flag says whether it was kept.
fn compiled(nvrtc: &Nvrtc, source: &Source, arch: i32) -> Result<(Compiled, bool)> {
    static CACHE: LazyLock<Cache> =
        LazyLock::new(|| Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("gpu_compile")));
    CACHE.get_or_compile(&source.hash(arch, nvrtc.version), || nvrtc.compile(source, arch))
}

/// Kernels that are compiled without constants for extents or number of sites have the same code as with them.
#[test]
fn constants_that_are_left_out_change_no_code() {
    let Ok(nvrtc) = Nvrtc::get() else { return println!("SKIPPED, no kernel was compiled") };
    let mut jobs = Vec::new();
    for kernel in KERNELS {
        for params in combinations(kernel.params) {
            // Where links are fixed this one asks for the slice, and so for extents.
            let without = |v: &Variant| kernel.name != "project_links" || v.what != STANDING;
            for v in variants(kernel, &params).into_iter().filter(without).take(2) {
                let kept = constants(kernel, v.specs.clone());
                // A hundred combinations of precisions are as good as these.
                if kept == v.specs || params.contains(&"f16") {
                    continue;
                }
                let shape = default_shape(kernel, &params);
                let both = [&v.specs, &kept].map(|s| Source::new(kernel, &params, s, shape));
                jobs.push((format!("{} {}", symbol(kernel, &params), v.what), both));
            }
        }
    }
    let cubins = in_parallel(&jobs, |(_, both)| {
        both.each_ref().map(|source| compiled(nvrtc, source, 90).unwrap().0.cubin)
    });
    let differ = |(_, [a, b]): &(_, &[Vec<u8>; 2])| a != b;
    let names = jobs.iter().map(|j| &j.0);
    let wrong: Vec<_> = names.zip(&cubins).filter(differ).map(|(name, _)| name).collect();
    println!("{} kernels with and without", jobs.len());
    assert!(jobs.len() > 20, "{}", jobs.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn allowed(symbol: &str, what: &str) -> u32 {
    let fits = |(s, w, _): &&(&str, &str, u32)| symbol.starts_with(s) && what.starts_with(w);
    SPILLS_ALLOWED.iter().find(fits).map_or(0, |row| row.2)
}

#[test]
fn every_kernel_compiles_and_fits_its_registers() {
    let nvrtc = match Nvrtc::get() {
        Ok(nvrtc) => nvrtc,
        Err(e) if std::env::var_os("PLAQ_REQUIRE_NVRTC").is_some() => panic!("{e}"),
        Err(e) => return println!("SKIPPED, no kernel was compiled: {e}"),
    };
    let start = Instant::now();
    let mut jobs = Vec::new();
    let [all, only, what, more] = [
        "PLAQ_GPU_COMPILE_ALL",
        "PLAQ_GPU_COMPILE_ONLY",
        "PLAQ_GPU_COMPILE_VARIANT",
        "PLAQ_GPU_COMPILE_ARCHS",
    ]
    .map(|name| std::env::var(name).unwrap_or_default());
    let every = [&all, &only, &what, &more].iter().any(|set| !set.is_empty());
    let more: Vec<i32> = more.split_terminator(',').map(|n| n.parse().expect("a number")).collect();
    let (known, unknown): (Vec<i32>, _) = OTHER_ARCHS.iter().partition(|a| nvrtc.archs.contains(a));
    if !unknown.is_empty() {
        println!("skipped: NVRTC {:?} does not know {unknown:?}", nvrtc.version);
    }
    assert!(OF_EACH_KIND.iter().all(|name| KERNELS.iter().any(|k| k.name == *name)));
    for kernel in KERNELS {
        let others = if OF_EACH_KIND.contains(&kernel.name) { &known } else { &more };
        let chosen = |p: &Vec<&str>| symbol(kernel, p).starts_with(&only);
        for params in combinations(kernel.params).into_iter().filter(chosen) {
            let shape = default_shape(kernel, &params);
            assert!(candidates(kernel, &params).contains(&shape));
            let precisions = kernel.params.first().copied().unwrap_or_default();
            let turn = params.first().and_then(|p| precisions.iter().position(|of| of == p));
            let by_turns = match turn {
                Some(turn) if precisions.len() > 1 => &ARCHS[turn % 2..][..1],
                _ => &ARCHS[..],
            };
            for (i, v) in variants(kernel, &params)
                .into_iter()
                .enumerate()
                .filter(|(_, v)| v.what.contains(&what))
            {
                let first = params.iter().zip(kernel.params).skip(1).all(|(p, all)| *p == all[0]);
                if !(every || first || i == 0) {
                    continue;
                }
                let once = every && first && i == 0;
                let other_archs = by_turns.iter().chain(others).copied().filter(|_| once);
                let archs = std::iter::once(90).chain(other_archs);
                let mut job = |what: String, arch, shape| {
                    let mut specs = constants(kernel, v.specs.clone());
                    if what.ends_with(MANY) {
                        specs.push((WIDE, 1));
                    }
                    let source = Source::new(kernel, &params, &specs, shape);
                    jobs.push((symbol(kernel, &params), what, arch, shape, source));
                };
                for arch in archs {
                    job(v.what.clone(), arch, shape);
                }
                if kernel.elements && once {
                    job(format!("{}{MANY}", v.what), 90, shape);
                }
                // What the tuner tries by default: compiles, and may spill.
                let others = candidates(kernel, &params).into_iter().filter(|s| *s != shape);
                for other in others.filter(|_| once && kernel.tuned) {
                    job(format!("{} (candidate)", v.what), 90, other);
                }
            }
        }
    }
    let Err(refused) = nvrtc.compile(&jobs[0].4, 5) else { panic!("no such architecture") };
    assert_eq!(refused.status, Status::CompileFailed);
    assert!(refused.message().contains("does not know sm_5"), "{refused}");
    let results = in_parallel(&jobs, |(.., arch, _, source)| compiled(nvrtc, source, *arch));
    println!("{:28} {:26} arch  shape  registers  stores  loads  stack", "kernel", "variant");
    let (mut failures, mut fresh) = (Vec::new(), 0);
    for ((symbol, what, arch, shape, _), result) in jobs.iter().zip(results) {
        let usage = match result {
            Ok((compiled, new)) => {
                fresh += usize::from(new);
                compiled.usage
            }
            Err(e) => {
                failures.push(format!("[{what}] {e}"));
                continue;
            }
        };
        let Usage { registers, spill_stores, spill_loads, stack } = usage;
        println!(
            "{symbol:28} {what:26} {arch:4} {:3}x{:<2} {registers:9} {spill_stores:7} {spill_loads:6} {stack:6}",
            shape.block, shape.min_blocks
        );
        assert!(registers > 0, "the assembler's report on {symbol} was not understood");
        let spilled = spill_stores.max(spill_loads);
        if spilled > allowed(symbol, what) && !what.ends_with("(candidate)") {
            failures.push(format!("{symbol} [{what}] sm_{arch}: {spilled} bytes spill"));
        }
    }
    println!(
        "{} variants, {fresh} compiled in {:.0} s by NVRTC {}.{}",
        jobs.len(),
        start.elapsed().as_secs_f64(),
        nvrtc.version.0,
        nvrtc.version.1
    );
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), jobs.len(), failures.join("\n"));
}
