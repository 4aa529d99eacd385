//! Two-point functions of mesons from perambulators and elementals (Peardon et al., Phys. Rev. D 80, 054506).

use num_complex::Complex64;

use crate::bail;
use crate::error::Result;
use crate::ops::gamma::{Gamma, SpinMatrix};

/// A meson operator sum_x exp(-i p x) qbar' Gamma O q at one end of a correlator: its Gamma, and its elemental,
/// [t][a][b] at the sink or [a][b] at the source.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub gamma: Gamma,
    pub elemental: &'a [Complex64],
}

/// C(t) = <O_A(t0 + t) O_B(t0)^dagger>
///      = -tr[(Gamma_A x Phi_A(t')) tau(t', t0) (gamma_t Gamma_B^dagger gamma_t x Phi_B(t0)^dagger) gamma5 tau'(t', t0)^dagger
///        gamma5], t' = t0 + t,
/// connected, over the time from the source, for perambulators [t'][spin'][spin][mode'][mode] of `times` times and n
/// modes; tau' is that of the antiquark. Perambulators of fermions antiperiodic in time need no other sign.
///
/// # Errors
/// `InvalidArgument`: arrays of other sizes.
pub fn correlator(
    quark: &[Complex64],
    antiquark: &[Complex64],
    (times, n, source_time): (usize, usize, usize),
    sink: Side,
    source: Side,
) -> Result<Vec<Complex64>> {
    let block = n * n;
    let sizes = [quark.len(), antiquark.len(), sink.elemental.len(), source.elemental.len()];
    if sizes != [16 * block * times, 16 * block * times, block * times, block]
        || source_time >= times
    {
        bail!(InvalidArgument, "mesons: {sizes:?} numbers for {times} times and {n} modes");
    }
    let t = SpinMatrix::axis(3);
    let five = SpinMatrix::gamma5();
    // Spin matrices gamma5 Gamma_A and gamma_t Gamma_B^dagger gamma_t gamma5: in the trace gamma5 stands on both sides
    // of tau'^dagger.
    let a = five.times(sink.gamma.matrix());
    let b = t.times(source.gamma.matrix().dagger()).times(t).times(five);
    let at = |all: &[Complex64], time: usize, sink: usize, source: usize| -> Vec<Complex64> {
        let start = ((time * 4 + sink) * 4 + source) * block;
        all[start..start + block].to_vec()
    };
    let product = |x: &[Complex64], y: &[Complex64]| -> Vec<Complex64> {
        let mut z = vec![Complex64::ZERO; block];
        for i in 0..n {
            for k in 0..n {
                let f = x[i * n + k];
                (0..n).for_each(|j| z[i * n + j] += f * y[k * n + j]);
            }
        }
        z
    };
    let adjoint = |x: &[Complex64]| -> Vec<Complex64> {
        (0..block).map(|k| x[k % n * n + k / n].conj()).collect()
    };
    let phi_b = adjoint(source.elemental);
    let mut found = vec![];
    for time in 0..times {
        let now = (source_time + time) % times;
        let phi_a = &sink.elemental[now * block..(now + 1) * block];
        let mut sum = Complex64::ZERO;
        // tr_spin [A tau B tau'^dagger] = sum A_ru tau_uv B_vw conj(tau'_rw), where each row of A and B has one
        // non-zero entry.
        for r in 0..4 {
            let u = a.column[r];
            for v in 0..4 {
                let w = b.column[v];
                let left = product(&product(phi_a, &at(quark, now, u, v)), &phi_b);
                let right = at(antiquark, now, r, w);
                let trace: Complex64 = left.iter().zip(&right).map(|(x, y)| x * y.conj()).sum();
                sum += a.entry(r) * b.entry(v) * trace;
            }
        }
        found.push(-sum);
    }
    Ok(found)
}
