//! `quda_define.h`.

use crate::capi::table::interface;

interface! {
    "What this library is"
    defines {
        /// These headers are plaq's, not QUDA's.
        QUDA_PLAQ = "1";
        /// The device that hosts may pass pointers of; the CPU does without.
        QUDA_TARGET_CUDA = "1";
    }
}
