//! Operators with products of links and derivatives between quarks: their terms, and the paths of these ordered so
//! that one step leads from one to the next.

use num_complex::Complex64;

use super::spin::Spin;
use crate::error::Result;
use crate::ops::gamma::SpinMatrix;
use crate::refuse;

/// A factor of an operator qbar(z) Gamma ... q(z), to the right of Gamma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// Transports q along a link: 0 to 3 forward in x, y, z, t, giving U_mu(z) q(z + mu); 7 - mu back, giving
    /// U_mu(z - mu)^dagger q(z - mu).
    Step(u8),
    /// The derivative (D - D')_mu / 2, with D q(z) = [U_mu(z) q(z + mu) - U_mu(z - mu)^dagger q(z - mu)] / 2 and qbar
    /// D' defined in the same way for qbar.
    Derivative(u8),
}

impl Factor {
    /// The factor with this number: 0 to 7 are steps, 8 to 11 derivatives in x, y, z, t.
    ///
    /// # Errors
    /// `InvalidArgument`: a number that is not 0 to 11.
    pub fn from_number(number: i32) -> Result<Factor> {
        match number {
            0..=7 => Ok(Factor::Step(number as u8)),
            8..=11 => Ok(Factor::Derivative(number as u8 - 8)),
            _ => refuse!(InvalidArgument, "steps", expected("0 to 11"), found("{number}")),
        }
    }
}

/// Writes a factor as it is spelled in lines: +z, -z, dz.
impl std::fmt::Display for Factor {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let (kind, mu) = match *self {
            Factor::Step(step) if step < 4 => ('+', step),
            Factor::Step(step) => ('-', 7 - step),
            Factor::Derivative(mu) => ('d', mu),
        };
        write!(f, "{kind}{}", ["x", "y", "z", "t"][usize::from(mu)])
    }
}

/// Largest number of factors in an operator.
pub const LONGEST: usize = 256;
pub const DERIVATIVES: usize = 3;

/// Refuses lines with more steps in a direction than the lattice has sites in it; a derivative counts as one, as it takes
/// the quark a site on.
///
/// # Errors
/// `InvalidArgument`.
pub fn check_lengths(operators: &[Vec<Factor>], extents: [usize; 4]) -> Result<()> {
    for factors in operators {
        let count = |of: Factor| factors.iter().filter(|factor| **factor == of).count();
        for mu in 0..4u8 {
            let steps = count(Factor::Step(mu)).max(count(Factor::Step(7 - mu)));
            let found = steps + count(Factor::Derivative(mu));
            let extent = extents[usize::from(mu)];
            if found > extent {
                refuse!(
                    InvalidArgument,
                    "lines",
                    expected("lines that are not longer than the lattice, {extent}"),
                    found("{found}")
                );
            }
        }
    }
    Ok(())
}

/// Refuses a path with more steps in a direction than the lattice has sites in it.
///
/// # Errors
/// `InvalidArgument`.
pub fn check_path(path: &[u8], extents: [usize; 4]) -> Result<()> {
    check_lengths(&[path.iter().map(|step| Factor::Step(*step)).collect()], extents)
}

/// A term qbar(end of left) spin q(end of right) of an operator at z, where `left` and `right` are paths from z; qbar
/// and q are parallel transported along them to z.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub spin: Spin,
    pub left: Vec<u8>,
    pub right: Vec<u8>,
}

/// The terms of a product of factors; the last factor acts first on q, the first one on qbar.
///
/// # Errors
/// `InvalidArgument`: more than [`LONGEST`] factors or [`DERIVATIVES`] derivatives.
pub(super) fn terms(factors: &[Factor]) -> Result<Vec<Term>> {
    let derivatives = factors.iter().filter(|f| matches!(f, Factor::Derivative(_))).count();
    if factors.len() > LONGEST || derivatives > DERIVATIVES {
        refuse!(
            InvalidArgument,
            "lines",
            expected("at most {LONGEST} steps, {DERIVATIVES} of them derivatives"),
            found("{} and {derivatives}", factors.len())
        );
    }
    let one = Spin::diagonal(Complex64::ONE);
    let mut all = vec![Term { spin: one, left: vec![], right: vec![] }];
    for factor in factors {
        match *factor {
            Factor::Step(step) => all.iter_mut().for_each(|term| term.right.push(step)),
            Factor::Derivative(mu) => {
                let split = |term: &Term| {
                    [
                        (mu, true, 0.25),
                        (7 - mu, true, -0.25),
                        (mu, false, -0.25),
                        (7 - mu, false, 0.25),
                    ]
                    .map(|(step, right, weight)| {
                        let mut new = term.clone();
                        new.spin = new.spin.scaled(weight.into());
                        match right {
                            true => new.right.push(step),
                            false => new.left.insert(0, step),
                        }
                        new
                    })
                };
                all = all.iter().flat_map(split).collect();
            }
        }
    }
    Ok(all)
}

/// The terms of the conserved vector current of Wilson's operator,
/// V_mu(z) = [qbar(z + mu) (1 + gamma_mu) U_mu(z)^dagger q(z) - qbar(z) (1 - gamma_mu) U_mu(z) q(z + mu)] / 2
/// (Karsten, Smit, Nucl. Phys. B 183 (1981) 103).
pub(super) fn conserved(mu: u8) -> [Term; 2] {
    let gamma = Spin::from(SpinMatrix::axis(mu.into()));
    let half = |one: f64, g: f64| {
        Spin::diagonal(one.into()).plus(gamma.scaled(g.into())).scaled(0.5.into())
    };
    [
        Term { spin: half(1.0, 1.0), left: vec![mu], right: vec![] },
        Term { spin: half(-1.0, 1.0), left: vec![], right: vec![mu] },
    ]
}

/// The displacement from the start of a path to its end, in lattice sites.
pub fn displacement(path: &[u8]) -> [i32; 4] {
    let mut end = [0; 4];
    for &step in path {
        match step < 4 {
            true => end[usize::from(step)] += 1,
            false => end[usize::from(7 - step)] -= 1,
        }
    }
    end
}

/// The path without pairs of steps that go along a link and immediately back.
fn reduced(path: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut out: Vec<u8> = vec![];
    for step in path {
        match out.last() {
            Some(last) if *last == 7 - step => {
                out.pop();
            }
            _ => out.push(step),
        }
    }
    out
}

impl Term {
    /// The earliest and the latest time slice that the term's paths pass, relative to that of z.
    pub fn slices(&self) -> [i32; 2] {
        let mut passed = [0; 2];
        for path in [&self.left, &self.right] {
            for steps in 1..=path.len() {
                let t = displacement(&path[..steps])[3];
                passed = [passed[0].min(t), passed[1].max(t)];
            }
        }
        passed
    }

    /// The path from the place of qbar to that of q; a sum over all z depends on the term's paths only through it.
    pub fn path(&self) -> Vec<u8> {
        reduced(self.left.iter().rev().map(|step| 7 - step).chain(self.right.iter().copied()))
    }
}

/// Paths as a tree: a child has one step more in front than its parent, so that one shift leads from the field of one
/// to that of the other.
#[derive(Default)]
pub(super) struct Tree {
    /// Numbers of the paths that end at this node.
    pub wanted: Vec<usize>,
    pub children: Vec<(u8, Tree)>,
}

impl Tree {
    pub fn new(paths: &[Vec<u8>]) -> Tree {
        let mut root = Tree::default();
        for (number, path) in paths.iter().enumerate() {
            let mut node = &mut root;
            for &step in path.iter().rev() {
                let place =
                    node.children.iter().position(|(s, _)| *s == step).unwrap_or_else(|| {
                        node.children.push((step, Tree::default()));
                        node.children.len() - 1
                    });
                node = &mut node.children[place].1;
            }
            node.wanted.push(number);
        }
        root
    }
}
