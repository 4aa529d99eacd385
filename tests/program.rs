//! Tests of the program `plaq` and of hosts that load the library, on the CPU and on the GPU if there is one. `make
//! kit` packs this program, too.

mod common;
mod reference;

#[path = "ends/main.rs"]
mod ends;
#[path = "examples/main.rs"]
mod examples;
