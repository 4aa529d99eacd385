//! `quda_constants.h`: constants.

use crate::capi::table::interface;

interface! {
    "Constants"
    defines {
        /// Lengths of arrays in structs.
        QUDA_MAX_DIM = "6";
        QUDA_MAX_GEOMETRY = "8";
        QUDA_MAX_MULTI_SHIFT = "32";
        QUDA_MAX_MULTI_SRC = "128";
        QUDA_MAX_DWF_LS = "32";
        QUDA_MAX_MG_LEVEL = "5";
        /// The version of QUDA whose interface plaq offers.
        QUDA_VERSION_MAJOR = "1";
        QUDA_VERSION_MINOR = "1";
        QUDA_VERSION_SUBMINOR = "0";
        QUDA_VERSION = "((QUDA_VERSION_MAJOR << 16) | (QUDA_VERSION_MINOR << 8) | QUDA_VERSION_SUBMINOR)";
    }
}
