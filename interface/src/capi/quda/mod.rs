//! The part of QUDA's interface that plaq offers. Its functions return no status and take no objects: they share one
//! default context, and errors go to one handler. The headers of QUDA come from tables in this folder and beside it.

pub(crate) mod actions;
pub(crate) mod arrays;
pub mod calls;
pub(crate) mod chrono;
pub mod constants;
pub mod contract;
pub mod define;
pub(crate) mod deflation;
pub mod dynamics;
pub mod eigen;
pub(crate) mod eigenspaces;
pub mod enums;
pub mod enums_named;
pub mod gauge;
pub(crate) mod host;
pub mod invert;
pub mod laph;
pub mod links;
pub mod memory;
pub mod multigrid;
pub mod operators;
pub mod params;
pub mod params_invert;
pub mod params_parts;
pub mod quark_flow;
pub mod quark_force;
pub mod ranks;
pub mod records;
pub mod refused;
pub(crate) mod resident;
pub(crate) mod session;
pub mod setup;
pub(crate) mod topology;
pub(crate) mod uploads;
