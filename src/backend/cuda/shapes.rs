//! Launch shapes: what each kernel starts with, and what the tuner tries.

use super::source::Shape;
use crate::backend::families::{Blocks, Kernel, Kind};

const fn shape(block: u32, min_blocks: u32) -> Shape {
    Shape { block, min_blocks }
}

/// The shape without tuning. A multiprocessor has 65536 registers, so (block, blocks) allows
/// 65536 / (block * blocks) per thread; tests/gpu_compile.rs holds the spills of each to a bound.
pub fn default_shape(kernel: &Kernel, params: &[&str]) -> Shape {
    let double = params.contains(&"f64");
    match (kernel.blocks, kernel.kind) {
        (Blocks::Small, _) => shape(64, if double { 4 } else { 8 }),
        (Blocks::SmallSingle, _) if !double => shape(64, 8),
        (Blocks::AllRegisters, _) => shape(64, 4),
        (Blocks::Links, _) => {
            if double {
                shape(384, 1)
            } else {
                shape(256, 2)
            }
        }
        (Blocks::Rectangles, _) => shape(if double { 256 } else { 384 }, 1),
        (_, Kind::Site | Kind::Block) => shape(128, if double { 2 } else { 4 }),
        (_, Kind::Lane) => shape(64, 4),
        (_, Kind::Reduce(_) | Kind::LaneReduce(..) | Kind::ReduceMost(..)) => {
            shape(256, if double { 1 } else { 2 })
        }
    }
}

/// What the tuner tries; one shape for kernels that are not tuned. The default comes first.
pub fn candidates(kernel: &Kernel, params: &[&str]) -> Vec<Shape> {
    let first = default_shape(kernel, params);
    if !kernel.tuned {
        return vec![first];
    }
    // From many registers and few warps to the opposite. The assembler rounds the warps of a
    // multiprocessor up to a multiple of four, so shapes between these give the same code.
    let more: &[Shape] = if params.contains(&"f64") {
        &[shape(64, 4), shape(64, 6), shape(128, 2), shape(128, 3)]
    } else {
        &[
            shape(64, 6),
            shape(64, 8),
            shape(64, 10),
            shape(64, 12),
            shape(128, 3),
            shape(128, 4),
            shape(128, 5),
            shape(128, 6),
            shape(256, 2),
        ]
    };
    let mut all = vec![first];
    all.extend(more.iter().copied().filter(|s| *s != first));
    all
}
