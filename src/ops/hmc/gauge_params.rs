//! Parameters of a gauge action: the table from which their names in C, TOML, options and Python come.

use std::sync::Arc;

use super::gauge_action::{
    AtBounds, GaugeCoefficients, GaugeForce, GaugeMonomial, LinkAction, DBW2, IWASAKI,
    TREE_LEVEL_SYMANZIK,
};
use super::loop_action::{LoopAction, LoopForce};
use super::Monomial;
use crate::backend::Device;
use crate::bail;
use crate::error::Result;
use crate::fields::{Geometry, Precision};
use crate::params::{choices, parameters, Parameters as _};
use crate::refuse;

choices! {
    /// Gauge actions, which are sums over sites and planes of plaquettes and of rectangles of two by one links.
    pub enum GaugeActionKind: plaq_gauge_action_kind {
        /// Wilson's action of plaquettes (Wilson, Phys. Rev. D 10 (1974) 2445).
        Wilson = 0, PLAQ_GAUGE_ACTION_WILSON, "wilson";
        /// Tree-level improved Symanzik action (Luescher, Weisz, Commun. Math. Phys. 97 (1985) 59): c1 = -1/12.
        Symanzik = 1, PLAQ_GAUGE_ACTION_SYMANZIK, "symanzik";
        /// Tadpole-improved Luescher-Weisz action of plaquettes with coefficient beta, and rectangles with the factor
        /// -1 / (20 u0^2); parallelograms, whose coefficient is of order alpha, are left out.
        LuescherWeisz = 2, PLAQ_GAUGE_ACTION_LUESCHER_WEISZ, "luescher_weisz";
        /// Iwasaki's action: c1 = -0.331.
        Iwasaki = 3, PLAQ_GAUGE_ACTION_IWASAKI, "iwasaki";
        /// The DBW2 action: c1 = -1.4088.
        Dbw2 = 4, PLAQ_GAUGE_ACTION_DBW2, "dbw2";
        /// Plaquettes with the factor 1 - 8 c1 and rectangles with the factor c1, any c1.
        Rectangle = 5, PLAQ_GAUGE_ACTION_RECTANGLE, "rectangle";
        /// One-loop improved Luescher-Weisz action with parallelograms (Phys. Lett. B 158 (1985) 250) and the part of
        /// HISQ quarks (Hart, von Hippel, Horgan, arXiv:0812.0503).
        OneLoopSymanzik = 6, PLAQ_GAUGE_ACTION_ONE_LOOP_SYMANZIK, "one_loop_symanzik";
        /// Separate couplings for planes of space and planes with t: `plaquettes` and `rectangles`.
        General = 7, PLAQ_GAUGE_ACTION_GENERAL, "general";
    }
}

parameters! {
    /// A gauge action: sum over x and planes of beta c0 (1 - Re tr P / 3) and beta c1
    /// (1 - Re tr R / 3), P the plaquettes and R the rectangles of two by one.
    pub struct GaugeActionParams: plaq_gauge_action_params {
        /// The name of the gauge action, from which its coefficients c0 and c1 follow.
        action: GaugeActionKind = GaugeActionKind::Wilson;
        /// Coupling beta; required by every action except `general`.
        beta: Option<f64> = None, from(0.0, 1e6), absent("unset");
        /// Bare anisotropy xi: planes of space have the coupling beta / xi, planes with t the coupling beta xi.
        anisotropy: f64 = 1.0, above(0.0, 1e6);
        /// Coefficient c1 of rectangles; only for the action `rectangle`.
        c1: Option<f64> = None, from(-1e6, 1e6), absent("unset");
        /// Tadpole factor u0 of `luescher_weisz` and `one_loop_symanzik`; 0: the factor is 1.
        u0: Option<f64> = None, above(0.0, 1.0), absent("unset");
        /// Number of HISQ quarks whose part `one_loop_symanzik` includes; NaN: none.
        flavours: Option<f64> = None, from(0.0, 1e3), absent("none");
        /// Coefficient cG at slice 0, for links with boundaries in time. It multiplies plaquettes and rectangles in
        /// an open boundary slice, which also have a factor 1/2, and plaquettes between a slice of fixed links and
        /// the next one.
        cg: f64 = 1.0, from(-1e6, 1e6);
        /// Coefficient cG' at the upper boundary; NaN: the same as cg.
        cg_prime: Option<f64> = None, from(-1e6, 1e6), absent("cg");
        /// Couplings of plaquettes in planes of space and in planes with t; only for the action `general`.
        plaquettes: [f64; 2] = [0.0; 2], from(-1e6, 1e6);
        /// Couplings of rectangles in planes of space, of those with two steps in space and one in t, and of those
        /// with two steps in t; only for the action `general`.
        rectangles: [f64; 3] = [0.0; 3], from(-1e6, 1e6);
    }
}

/// Computes the force of an action: one of plaquettes and rectangles, or one of other loops.
enum Force {
    Planes(GaugeForce),
    Loops(LoopForce),
}

impl GaugeActionParams {
    /// The coefficients of plaquettes and rectangles; `None`: the action has other loops.
    ///
    /// # Errors
    /// `InvalidArgument`: a parameter of another action; `BadParameter`: beta is missing, or a value out of its range.
    pub fn coefficients(&self) -> Result<Option<GaugeCoefficients>> {
        use GaugeActionKind::{
            Dbw2, General, Iwasaki, LuescherWeisz, OneLoopSymanzik, Rectangle, Symanzik, Wilson,
        };
        self.check_rows("gauge action")?;
        let action = self.action;
        if self.c1.is_some() != (action == Rectangle) {
            bail!(InvalidArgument, "gauge action: c1 belongs to action rectangle, and only to it");
        }
        if self.u0.is_some() && !matches!(action, LuescherWeisz | OneLoopSymanzik) {
            bail!(
                InvalidArgument,
                "gauge action: u0 belongs to the actions luescher_weisz and one_loop_symanzik"
            );
        }
        if self.flavours.is_some() && action != OneLoopSymanzik {
            bail!(InvalidArgument, "gauge action: flavours belongs to action one_loop_symanzik");
        }
        if (self.plaquettes, self.rectangles) != ([0.0; 2], [0.0; 3]) && action != General {
            bail!(
                InvalidArgument,
                "gauge action: plaquettes and rectangles belong to action general"
            );
        }
        if action == General {
            if self.beta.is_some() || self.anisotropy != 1.0 {
                bail!(
                    InvalidArgument,
                    "gauge action: general takes plaquettes and rectangles only"
                );
            }
            let (plaquettes, rectangles) = (self.plaquettes, self.rectangles);
            return GaugeCoefficients::anisotropic([1.0; 2], plaquettes, rectangles).map(Some);
        }
        let Some(beta) = self.beta else {
            bail!(BadParameter, "gauge action: beta: expected a number from 0 on, found none")
        };
        let beta = [beta / self.anisotropy, beta * self.anisotropy];
        let with = |c1: f64| GaugeCoefficients::anisotropic(beta, [1.0 - 8.0 * c1; 2], [c1; 3]);
        let coefficients = match action {
            Wilson => with(0.0),
            Symanzik => with(TREE_LEVEL_SYMANZIK),
            Iwasaki => with(IWASAKI),
            Dbw2 => with(DBW2),
            Rectangle | General => with(self.c1.unwrap_or(0.0)),
            LuescherWeisz => {
                let u0 = self.u0.unwrap_or(1.0);
                GaugeCoefficients::anisotropic(beta, [1.0; 2], [-1.0 / (20.0 * u0 * u0); 3])
            }
            OneLoopSymanzik if self.anisotropy != 1.0 => {
                bail!(
                    InvalidArgument,
                    "gauge action: one_loop_symanzik takes beta, u0 and flavours only"
                )
            }
            OneLoopSymanzik => return Ok(None),
        };
        coefficients.map(Some)
    }

    fn force(
        &self,
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
    ) -> Result<Force> {
        let weights = [self.cg, self.cg_prime.unwrap_or(self.cg)];
        if let Some(c) = self.coefficients()? {
            let at = AtBounds { weights, ..Default::default() };
            return GaugeForce::bounded(device, geometry, precision, c, at).map(Force::Planes);
        }
        geometry.periodic_in_time("gauge action one_loop_symanzik")?;
        if weights != [1.0; 2] {
            refuse!(
                BadParameter,
                "gauge action: cg, cg_prime",
                expected("1 on links that are periodic in time"),
                found("{weights:?}")
            );
        }
        let (u0, flavours) = (self.u0.unwrap_or(1.0), self.flavours.unwrap_or(0.0));
        let action = LoopAction::one_loop_symanzik(self.beta.unwrap_or(0.0), u0, flavours)?;
        LoopForce::new(device, geometry, precision, action).map(Force::Loops)
    }

    /// Makes the action, for links in double or single precision.
    ///
    /// # Errors
    /// Errors of [`GaugeActionParams::coefficients`]; `OutOfMemory`.
    pub fn link_action(
        &self,
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
    ) -> Result<Box<dyn LinkAction>> {
        Ok(match self.force(device, geometry, precision)? {
            Force::Planes(force) => Box::new(force),
            Force::Loops(force) => Box::new(force),
        })
    }

    /// Makes the monomial of this action for a chain.
    ///
    /// # Errors
    /// Errors of [`GaugeActionParams::coefficients`]; `OutOfMemory`.
    pub fn monomial(
        &self,
        name: &str,
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
    ) -> Result<Box<dyn Monomial>> {
        Ok(match self.force(device, geometry, precision)? {
            Force::Planes(force) => Box::new(GaugeMonomial::new(name, force)),
            Force::Loops(force) => Box::new(GaugeMonomial::new(name, force)),
        })
    }
}
