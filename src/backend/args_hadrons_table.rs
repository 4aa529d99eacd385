// The table of argument structs of sources, contractions and distillation.

kernel_args! {
    table HADRON_ARGS;

    /// Fills columns of a source (source.h).
    struct SourceArgs {
        sub geom: Geom,
        sub out: FieldView,
        /// Global coordinates of the source.
        arg position: [i32; 4],
        arg places: i32,
        /// Whether there is a momentum, 2 pi n / L.
        arg moving: i32,
        arg momentum: [i32; 4],
        /// A RANDOM_* code of the noise; below 0: none.
        arg noise: i32,
        /// Bits DILUTE_* of the dilution.
        arg dilute: i32,
        /// Number of parts of DILUTE_TIME.
        arg time_parts: i32,
        /// The only spin that is not zero; below 0: all.
        arg spin: i32,
        arg colour: i32,
        /// Column of the field's first right-hand side.
        arg first: i32,
        arg seed: u64,
    }

    /// Multiplies a time slice by a gamma matrix and a momentum phase (source.h).
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

    /// Contracts two quark lines (contract.h).
    struct MesonArgs {
        sub geom: Geom,
        sub quark: FieldView,
        sub other: FieldView,
        /// Time slice, in the lanes' parts, at which the launch begins.
        arg slice: i32,
        /// Number of columns of a spin.
        arg colours: i32,
        arg moving: i32,
        arg momentum: [i32; 4],
        arg position: [i32; 4],
    }

    /// Arguments of products and combinations of vectors on time slices (time_slices.h).
    struct TimeSliceArgs {
        sub geom: Geom,
        sub v: FieldView,
        sub w: FieldView,
        /// Time slice, in the lanes' parts, at which the launch begins.
        arg slice: i32,
        /// Numbers of vectors v and w.
        arg rows: i32,
        arg columns: i32,
        spec add: i32,
        spec diagonal: i32,
        arg coef: Ptr,
    }

    /// Colour vectors and spinors of distillation (distillation.h).
    struct DistillArgs {
        sub geom: Geom,
        sub out: FieldView,
        sub inp: FieldView,
        sub other: FieldView,
        /// For each vector the number of a right-hand side, 32-bit integers.
        arg table: Ptr,
        arg momentum: [i32; 4],
        arg time: i32,
        arg reserved: i32,
    }

    /// A plane wave with other factors that depend on the site (structure.h, wave_phases).
    struct WaveArgs {
        arg position: [i32; 4],
        arg displacement: [i32; 4],
        /// Boundary phases in units of pi.
        arg boundary: [f64; 4],
        arg time: i32,
        arg reserved: i32,
    }

    /// Memory of spin matrices of sites, and bytes of a plane.
    struct MatricesArgs {
        arg data: Ptr,
        arg bytes: i64,
    }

    /// Pairs spins of two quark lines (structure.h).
    struct SpinPairArgs {
        sub geom: Geom,
        sub forward: FieldView,
        sub back: FieldView,
        sub matrices: MatricesArgs,
        /// Time slice, in the lanes' parts, at which the launch begins.
        arg slice: i32,
        arg columns: i32,
    }

    /// Multiplies colour vectors with field strengths (gluons.h).
    struct FieldStrengthTimesArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub gauge: FieldView,
        sub vectors: FieldView,
        sub out: FieldView,
        /// 1: the planes with t.
        arg electric: i32,
        /// 1: the vectors are first set to unit vectors.
        arg begin: i32,
    }

    /// Sums spin matrices over time slices (structure.h).
    struct SliceWaveArgs {
        sub geom: Geom,
        sub matrices: MatricesArgs,
        sub wave: WaveArgs,
        /// Momenta, four 32-bit integers each.
        arg table: Ptr,
        arg waves: i32,
        arg slice: i32,
    }

    /// Multiplies spinors with spin matrices and a plane wave (structure.h).
    struct SpinProductArgs {
        sub geom: Geom,
        sub out: FieldView,
        sub inp: FieldView,
        sub wave: WaveArgs,
        arg momentum: [i32; 4],
        arg left: [f64; 32],
        arg right: [f64; 32],
        arg spins: i32,
        arg colours: i32,
    }

    /// Contracts three quark lines with open spins, or makes a sequential source of them (structure.h).
    struct QuarkTripleArgs {
        sub geom: Geom,
        sub x: FieldView,
        sub y: FieldView,
        sub z: FieldView,
        sub out: FieldView,
        sub matrices: MatricesArgs,
        arg g: [f64; 32],
        arg h: [f64; 32],
        arg p: [f64; 32],
        arg scale: [f64; 2],
        arg open: i32,
        arg which: i32,
        arg slice: i32,
        arg reserved: i32,
    }
}
