//! `quda_define.h`.

use crate::capi::table::interface;

interface! {
    "What this library is"
    defines {
        /// These headers are plaq's, not QUDA's.
        QUDA_PLAQ = "1";
    }
}
