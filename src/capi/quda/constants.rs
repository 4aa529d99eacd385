//! `quda_constants.h`.

use crate::capi::table::interface;

interface! {
    "Constants"
    defines {
        /// The version of QUDA whose interface this is.
        QUDA_VERSION_MAJOR = "1";
        QUDA_VERSION_MINOR = "1";
        QUDA_VERSION_SUBMINOR = "0";
        QUDA_VERSION = "((QUDA_VERSION_MAJOR << 16) | (QUDA_VERSION_MINOR << 8) | QUDA_VERSION_SUBMINOR)";
    }
}
