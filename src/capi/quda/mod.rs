//! The part of QUDA's interface that plaq offers. Its functions return no status and know no
//! objects: they share one default context, and what fails goes to one handler. Headers of QUDA
//! are tables here and beside this folder, as plaq.h is one of the others.

pub mod calls;
pub mod constants;
pub mod define;
pub mod enums;
pub mod gauge;
pub(crate) mod session;
pub(crate) mod uploads;
