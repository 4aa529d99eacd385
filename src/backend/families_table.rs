/// The table of kernels.
pub const KERNELS: &[Kernel] = &[
    Kernel { name: "hop", body: "Hop", header: "wilson.h", args: "HopArgs", kind: Kind::Site, params: &[PRECISIONS, RECONS] },
    Kernel { name: "site_op", body: "SiteOp", header: "wilson.h", args: "SiteOpArgs", kind: Kind::Site, params: &[PRECISIONS] },
    Kernel { name: "blas", body: "Blas", header: "blas.h", args: "BlasArgs", kind: Kind::Site, params: &[PRECISIONS] },
    Kernel { name: "blas_mixed", body: "Blas2", header: "blas.h", args: "BlasArgs", kind: Kind::Site, params: &[PRECISIONS, PRECISIONS] },
    Kernel { name: "heavy_quark", body: "HeavyQuark", header: "blas.h", args: "BlasArgs", kind: Kind::Reduce(3), params: &[PRECISIONS] },
    Kernel { name: "blas_sum", body: "BlasSum", header: "blas.h", args: "BlasArgs", kind: Kind::Reduce(3), params: &[PRECISIONS] },
    Kernel { name: "stream_copy", body: "StreamCopy", header: "blas.h", args: "StreamArgs", kind: Kind::Site, params: &[] },
    Kernel { name: "convert_gauge", body: "ConvertGauge", header: "recon.h", args: "ConvertArgs", kind: Kind::Site, params: &[PRECISIONS, PRECISIONS] },
    Kernel { name: "convert_clover", body: "ConvertClover", header: "recon.h", args: "ConvertArgs", kind: Kind::Site, params: &[PRECISIONS, PRECISIONS] },
    Kernel { name: "math", body: "MathProbe", header: "plaq_math.h", args: "MathArgs", kind: Kind::Site, params: &[&["f64", "f32"]] },
    Kernel { name: "lex_spinor_in", body: "LexSpinorIn", header: "layout.h", args: "LexArgs", kind: Kind::Lane, params: &[PRECISIONS] },
    Kernel { name: "lex_spinor_out", body: "LexSpinorOut", header: "layout.h", args: "LexArgs", kind: Kind::Lane, params: &[PRECISIONS] },
    Kernel { name: "lex_gauge_in", body: "LexGaugeIn", header: "layout.h", args: "LexArgs", kind: Kind::Lane, params: &[PRECISIONS, RECONS] },
    Kernel { name: "lex_gauge_out", body: "LexGaugeOut", header: "layout.h", args: "LexArgs", kind: Kind::Lane, params: &[PRECISIONS, RECONS] },
    Kernel { name: "clover_build", body: "CloverBuild", header: "clover.h", args: "CloverArgs", kind: Kind::Site, params: &[FLOATS, &["R18", "R12"]] },
    Kernel { name: "clover_invert", body: "CloverInvert", header: "clover.h", args: "CloverArgs", kind: Kind::Reduce(3), params: &[FLOATS] },
];

/// Kernels whose launch shape the GPU tuner measures. They may run any number of times: none
/// reads what it writes.
#[allow(dead_code)]
pub const TUNED: &[&str] = &["hop"];
