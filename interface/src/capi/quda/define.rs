//! `quda_define.h`: macros.

use crate::capi::table::interface;

interface! {
    "What this library is"
    defines {
        /// Tells that these headers are plaq's, not QUDA's.
        QUDA_PLAQ = "1";
        /// Tells that hosts may pass pointers to memory of a CUDA device; on a CPU it has no effect.
        QUDA_TARGET_CUDA = "1";
    }
}
