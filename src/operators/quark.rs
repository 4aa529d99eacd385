//! The parameters of a quark, as users give them and as operators hold them: one table, from which also come the struct
//! of the C interface, keys of TOML, options, Python's keywords and docs/parameters.md.

use std::hash::{Hash, Hasher};

use num_complex::Complex64;

use super::Boundary;
use crate::bail;
use crate::error::Result;
use crate::fields::{CloverForm, Precision, Recon};
use crate::params::{choices, parameters, Choice, Reals as _};

choices! {
    /// Normalisation of an operator. The symmetric Schur complement P is the same in both.
    pub enum Normalisation: plaq_normalisation {
        /// M = A - kappa H, 1 - kappa H without clover term (2 kappa D).
        Kappa = 0, PLAQ_NORMALISATION_KAPPA, "kappa";
        /// D = m + 4 - H/2 with the bare mass m, plus clover term and twisted mass; D = M / (2 kappa).
        Mass = 1, PLAQ_NORMALISATION_MASS, "mass";
    }
    /// The links from which a clover term is made.
    pub enum CloverLinks: plaq_clover_links {
        /// The links of the hop, smeared or not.
        Hop = 0, PLAQ_CLOVER_LINKS_HOP, "hop";
        /// The thin links from which the links of the hop were smeared (QCDSF: Cundy et al., Phys. Rev. D 79 (2009)
        /// 094507); only in chains whose quarks have smearing.
        Thin = 1, PLAQ_CLOVER_LINKS_THIN, "thin";
    }
}

/// The value of a term of an operator, for files and reports.
#[derive(Clone, Debug, PartialEq)]
pub enum TermValue {
    Number(f64),
    Numbers(Vec<f64>),
    Word(&'static str),
}

impl Hash for TermValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            TermValue::Number(number) => number.hash_bits(state),
            TermValue::Numbers(numbers) => numbers.hash_bits(state),
            TermValue::Word(word) => word.hash(state),
        }
    }
}

impl std::fmt::Display for TermValue {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            TermValue::Number(number) => write!(f, "{number}"),
            TermValue::Numbers(numbers) => write!(f, "{numbers:?}"),
            TermValue::Word(word) => f.write_str(word),
        }
    }
}

/// A row's value as a member of an operator's parameters.
trait MemberValue<As> {
    /// The value that the operator gets: the one that is set, else `other`.
    fn held(&self, other: Option<As>) -> As;
}

impl<T: Copy> MemberValue<T> for T {
    fn held(&self, _: Option<T>) -> T {
        *self
    }
}
impl MemberValue<f64> for Option<f64> {
    fn held(&self, other: Option<f64>) -> f64 {
        self.or(other).expect("a row without a value names another row")
    }
}
impl MemberValue<[Complex64; 4]> for Boundary {
    fn held(&self, _: Option<[Complex64; 4]>) -> [Complex64; 4] {
        self.phases()
    }
}

impl From<f64> for TermValue {
    fn from(number: f64) -> Self {
        TermValue::Number(number)
    }
}
impl From<[f64; 4]> for TermValue {
    fn from(numbers: [f64; 4]) -> Self {
        TermValue::Numbers(numbers.to_vec())
    }
}
impl From<[Complex64; 4]> for TermValue {
    fn from(phases: [Complex64; 4]) -> Self {
        TermValue::Numbers(Boundary::of_phases(phases).0.to_vec())
    }
}
impl<T: Choice + PartialEq> From<T> for TermValue {
    fn from(choice: T) -> Self {
        TermValue::Word(choice.word())
    }
}

/// Declares a quark by its rows in the order of the struct of C: those under `interfaces` are for who makes an
/// operator, those under `operators` are also members of the operator's parameters. `as TYPE` is the type of that
/// member where it is not the row's, `or NAME` the row that counts where a row has no value.
macro_rules! quark {
    (@type $ty:ty) => { $ty };
    (@type $ty:ty, $as:ty) => { $as };
    (
        $(#[doc = $doc:expr])*
        pub struct $quark:ident: $c:ident;
        $(#[doc = $hdoc:expr])*
        pub struct $held:ident {
            $(#[doc = $mdoc:expr])*
            $mass:ident,
            $(#[doc = $adoc:expr])*
            $additional:ident: f64,
        }
        $(
            interfaces { $($own:tt)* }
            operators { $(
                $(#[doc = $rdoc:expr])*
                $field:ident: $ty:ty $(, as $as:ty)? $(, or $other:ident)? = $default:expr
                    $(, $word:ident($($value:expr),*))*;
            )* }
        )*
    ) => {
        parameters! {
            $(#[doc = $doc])*
            pub struct $quark: $c {
                $(
                    $($own)*
                    $(
                        $(#[doc = $rdoc])*
                        $field: $ty = $default
                            $(, absent(stringify!($other)))? $(, $word($($value),*))*;
                    )*
                )*
            }
        }

        $(#[doc = $hdoc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $held {
            $(#[doc = $mdoc])*
            pub $mass: f64,
            $(#[doc = $adoc])*
            pub $additional: f64,
            $($(
                $(#[doc = $rdoc])*
                pub $field: quark!(@type $ty $(, $as)?),
            )*)*
        }

        impl Hash for $held {
            fn hash<H: Hasher>(&self, state: &mut H) {
                (self.$mass, self.$additional).hash_bits(state);
                self.terms().hash(state);
            }
        }

        impl $quark {
            /// The operator's parameters with this mass.
            fn with_mass(&self, $mass: f64) -> $held {
                $($(
                    let $field: quark!(@type $ty $(, $as)?) =
                        MemberValue::held(&self.$field, None$(.or(Some($other)))?);
                )*)*
                $held { $mass, $additional: 0.0, $($($field,)*)* }
            }
        }

        impl $held {
            /// Names of the rows that are terms of the operator, all but its mass.
            pub const TERMS: &'static [&'static str] = &[$($(stringify!($field),)*)*];

            /// The terms of the operator: names and values.
            pub fn terms(&self) -> Vec<(&'static str, TermValue)> {
                vec![$($((stringify!($field), self.$field.into()),)*)*]
            }
        }
    };
}

quark! {
    /// A quark of Wilson type: D = m + sum_mu h_mu (1 - ...) Wilson's term, + csw (i/4) sum sigma F, + i mu gamma5.
    pub struct QuarkParams: plaq_dirac_params;

    /// Physical parameters of a Wilson-type operator.
    pub struct DiracParams {
        /// Bare mass m of D = (m + sum_mu h_mu) - H/2 + ...
        mass,
        /// Additional twisted mass where the site term A itself is applied, not its inverse; in an asymmetric Schur
        /// complement A_p - kappa^2 H A_q^-1 H that is its own parity p.
        rho: f64,
    }

    interfaces {
        /// Normalisation of the operator; mass: D as above, kappa: 2 kappa D, which is 1 - kappa H without clover
        /// term. Solutions, shifts, eigenvalues and propagators are those of the normalised operator.
        normalisation: Normalisation = Normalisation::Mass;
        /// Hopping parameter 1 / (2 m + 2 sum_mu hop[mu]); 0: the quark is given by `mass`. One of the two must be
        /// set.
        kappa: Option<f64> = None, above(0.0, DiracParams::LARGEST_KAPPA), absent("mass");
        /// Bare mass m; ignored where kappa is not 0. Default: not set (NaN).
        mass: Option<f64> = None, absent("kappa");
    }
    operators {
        /// Sheikholeslami-Wohlert coefficient; 0: no clover term.
        csw: f64 = 0.0;
        /// Sheikholeslami-Wohlert coefficient in the planes with t; NaN: the same as csw.
        csw_t: Option<f64>, as f64, or csw = None;
        /// Coefficient cF of the boundary counterterm, for links with boundaries in time: cF - 1 is added to the mass
        /// on the slice next to the lower boundary, where quarks vanish.
        cf: f64 = 1.0;
        /// Coefficient cF' of the boundary counterterm at the upper boundary; NaN: the same as cf.
        cf_prime: Option<f64>, as f64, or cf = None;
        /// Twisted mass mu.
        mu: f64 = 0.0;
        /// Coefficient of the hop in each direction, e.g. (nu/xi, nu/xi, nu/xi, 1).
        hop: [f64; 4] = [1.0; 4];
        /// Boundary phases in units of pi: psi(x + L_mu) = exp(i pi boundary[mu]) psi(x); 1: antiperiodic. Options,
        /// TOML and Python also take a word: `periodic` (0, 0, 0, 0) or `antiperiodic` (0, 0, 0, 1).
        boundary: Boundary, as [Complex64; 4] = Boundary::ANTIPERIODIC, old("phase");
    }
    interfaces {
        /// Precision of the operator's links and spinors; 0: that of the gauge field.
        precision: Option<Precision> = None, absent("links");
        /// Storage of the links of the hop; 0: two rows. The clover term is computed from the gauge field as it is
        /// stored.
        storage: Option<Recon> = None;
    }
    operators {
        /// Form of the clover term: traditional, or exponential: 4 + m + csw (i/4) sum sigma F becomes (4 + m) exp(csw
        /// / (4 + m) (i/4) sum sigma F), where 4 + m stands for 1 / (2 kappa).
        clover: CloverForm = CloverForm::Traditional;
        /// Links that the clover term is made of: those of the hop, or the thin ones under a chain's smearing.
        clover_links: CloverLinks = CloverLinks::Hop;
    }
}

impl QuarkParams {
    /// The operator's parameters. In messages `prefix` is put before the names of members.
    ///
    /// # Errors
    /// `BadParameter`: neither kappa nor mass.
    pub fn physics(&self, prefix: &str) -> Result<DiracParams> {
        match (self.kappa, self.mass) {
            (Some(kappa), _) => Ok(self.with_mass(0.0).with_kappa(kappa)),
            (None, Some(mass)) => Ok(self.with_mass(mass)),
            (None, None) => {
                bail!(BadParameter, "{prefix}kappa, {prefix}mass: one of them must be set")
            }
        }
    }

    /// The terms of the operator, all but its mass, with their names.
    pub fn terms(&self) -> Vec<(&'static str, TermValue)> {
        self.with_mass(0.0).terms()
    }
}

impl Default for DiracParams {
    /// The massless operator of the table's defaults: Wilson's, isotropic, antiperiodic in time.
    fn default() -> Self {
        QuarkParams::default().with_mass(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Parameters as _;

    /// A value of every term that is not its default.
    const OTHERS: [(&str, &str); 9] = [
        ("csw", "1.5"),
        ("csw_t", "1.25"),
        ("cf", "0.9"),
        ("cf_prime", "0.8"),
        ("mu", "0.1"),
        ("hop", "0.5,0.5,0.5,1.0"),
        ("boundary", "0.0,0.0,0.0,0.5"),
        ("clover", "exponential"),
        ("clover_links", "thin"),
    ];

    #[test]
    fn operators_hold_every_term_of_a_quark() {
        assert_eq!(OTHERS.map(|(name, _)| name), DiracParams::TERMS);
        let usual = DiracParams::default();
        for (name, text) in OTHERS {
            let mut quark = QuarkParams { mass: Some(0.0), ..Default::default() };
            quark.set(name, text).unwrap();
            let held = quark.physics("").unwrap();
            let changed: Vec<_> =
                held.terms().into_iter().zip(usual.terms()).filter(|(a, b)| a != b).collect();
            // csw_t without a value follows csw, cf_prime follows cf.
            let followers = usize::from(["csw", "cf"].contains(&name));
            assert_eq!(changed.len(), 1 + followers, "{name}: {changed:?}");
            assert_eq!(changed[0].0 .0, name);
            assert_eq!(changed[0].0 .1.to_string().replace(['[', ']', ' '], ""), text);
            assert!(changed.iter().all(|(now, _)| now.1 == changed[0].0 .1), "{name}: {changed:?}");
        }
    }

    #[test]
    fn options_of_rows_have_dashes() {
        assert_eq!(QuarkParams::row("cf_prime").option, "cf-prime");
        assert_eq!(QuarkParams::row("mu").option, "mu");
    }
}
