//! Tests of the program `plaq` and of hosts that load the library, on the CPU and on the GPU if there is one. `make
//! kit` packs this program, too.

extern crate plaq_reference as reference;

mod common;

#[path = "ends/main.rs"]
mod ends;
#[path = "examples/main.rs"]
mod examples;
