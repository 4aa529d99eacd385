"""Quark operators: Wilson, clover, twisted mass, doublets; the Laplacian."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from . import capi, loops as _loops, reweighting as _reweighting
from ._objects import bits, phases
from ._signatures import checks_keywords, passes_on
from .gauge import Gauge, links
from .operators import Multigrid, Operator, Quark

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import _keywords
    from .loops import Loops, Space, Sums
    from .reweighting import Reweighting

    class Term(_keywords.Dirac, total=False):
        """Keywords for terms of a Wilson operator; some classes have csw and mu as arguments of their own."""

        csw: float
        mu: float

    class Twist(_keywords.Dirac, total=False):
        """Keywords of all Wilson operators except csw and mu."""

        mass: Optional[float]
        kappa: Optional[float]
        boundary: Union[None, str, Sequence[float]]
        xi: float
        nu: float
        precision: Union[int, str]
        normalisation: str
        thin: Optional[Gauge]

    class Plain(Twist, total=False):
        """Keywords of all Wilson operators except csw."""

        mu: float


class Wilson(Quark):
    """D = m + sum_mu h_mu - 1/2 sum_mu h_mu [(1 - gamma_mu) U_mu(x) psi(x+mu) + (1 + gamma_mu) U_mu(x-mu)^dagger psi(x-mu)].

    One of `mass` m and `kappa` = 1/(2m + 8). boundary: phases of x, y, z, t in units of pi, or "periodic", or
    "antiperiodic", which is [0, 0, 0, 1] and the default. xi, nu: hops in space are nu/xi times those in time.
    precision: "double", "single" or "half" of the operator, by default that of the links. normalisation: "mass", D as
    above, or "kappa", 2 kappa D. thin: the links that `gauge` is smeared from, of which a clover term is then made."""

    @passes_on(capi.plaq_dirac_params, without=["hop", "boundary"])
    def __init__(
        self,
        gauge: Gauge,
        *,
        mass: Optional[float] = None,
        kappa: Optional[float] = None,
        boundary: Union[None, str, Sequence[float]] = None,
        xi: float = 1,
        nu: float = 1,
        precision: Union[int, str] = 0,
        normalisation: str = "mass",
        thin: Optional[Gauge] = None,
        **more: "Unpack[Term]",
    ) -> None:
        links(gauge)
        self._thin = thin
        if (mass is None) == (kappa is None):
            raise TypeError(
                f"{type(self).__name__}: expected one of mass and kappa, found {'none' if mass is None else 'both'}"
            )
        for name, number in (("mass", mass), ("kappa", kappa), ("xi", xi)):
            if number == 0 and name != "mass":
                raise ValueError(f"{name}: expected a number other than 0")
            if isinstance(number, (int, float, np.number)) and not np.isfinite(number):
                raise ValueError(f"{name}: expected a finite number, found {number}")
        angles = phases(boundary)
        params = capi.plaq_dirac_params(
            boundary=angles,
            hop=(nu / xi, nu / xi, nu / xi, 1),
            precision=precision,
            normalisation=normalisation,
            **more,
        )
        if mass is not None:
            params.mass = mass
        else:
            params.kappa = kappa  # type: ignore[assignment]
        handle = self._create(gauge, params)
        report = capi.plaq_dirac_report()
        capi.plaq_dirac_describe(handle, report)
        #: Mass and kappa, whichever of them was given.
        self.mass, self.kappa, self.boundary = report.mass, report.kappa, angles
        self.mu = float(params.mu)
        factor = "2 kappa " if normalisation == "kappa" else ""
        # NaN, which differs from itself, stands for no value, for instance of cf_prime.
        stated = {key: value for key, value in more.items() if isinstance(value, (int, float)) and value == value}
        extra = "".join(f", {key} {value:g}" for key, value in stated.items())
        if params.clover == capi.plaq_clover_form.EXPONENTIAL:
            extra += ", exponential clover term"
        said = ", ".join(f"{phase:g}" for phase in angles)
        super().__init__(
            handle,
            gauge,
            f"{factor}D, mass {self.mass:.6g}, kappa {self.kappa:.6g}{extra}, boundary phases exp(i pi [{said}]){gauge._ends()}",
        )
        # Quarks that vanish at boundaries in time pass no phase there.
        self._boundary = angles[3] if gauge.boundary_time == "periodic" else 0.0
        self.normalisation = normalisation

    def _create(self, gauge: Gauge, params: capi.plaq_dirac_params) -> capi.plaq_dirac:
        if self._thin is not None:
            return capi.plaq_dirac_create_thin(gauge.context, gauge, links(self._thin), params)
        return capi.plaq_dirac_create(gauge.context, gauge, params)

    @passes_on(_loops.loops)
    def loops(self, gauge: Gauge, **how: Any) -> "Loops":
        """Quark loops sum_x exp(-i p x) tr[Gamma line D^-1] by noise, a plaq.loops.Loops with an estimate for each noise vector: `gauge`,
        the operator's links; `lines` and `momenta` are those of plaq.structure.insertions; noise="z4", "z2" or "normal", `vectors` from number
        `first` on, `seed`; dilute="spin,colour,parity,time" with `time_parts`; `probes` waves of hierarchical probing; one_end=True:
        those of D(mu)^-1 - D(-mu)^-1 of twisted mass; minus=D2: of D^-1 - D2^-1 of another mass; members of
        capi.plaq_solver_params by keyword, multigrid and progress. A progress function that returns true keeps finished vectors; an
        exception, as Ctrl-C is one, loses all of them: long work is for loop_sums, whose `add` keeps them."""
        return _loops.loops(self, gauge, **how)

    @passes_on(_loops.space)
    def space(self, **how: Any) -> "Space":
        """Low modes of the operator, a plaq.loops.Space: the first `levels` coarse levels of `multigrid`, 0: all on all ranks, whose systems are
        solved to `tol`, or those of `eigen`, D.eigen()."""
        return _loops.space(self, **how)

    def space_memory(self, multigrid: "Multigrid", levels: int = 0) -> int:
        """Bytes of the device that D.space(multigrid=..., levels=...) takes at most, and after that L of twelve columns."""
        return int(capi.plaq_space_memory(self._solver(multigrid, {}), multigrid, levels))

    @passes_on(_loops.sums)
    def loop_sums(self, gauge: Gauge, **how: Any) -> "Sums":
        """Quark loops part by part, a plaq.loops.Sums of which nothing is summed yet; lines, momenta and noise are those of loops. `space`: low modes,
        D.space(); traces="noise", "last" (exactly that of the last level), "every" (of all) or "auto"; `hopping`: terms of the hopping
        expansion that are taken exactly; members of capi.plaq_solver_params by keyword, and multigrid for the solves."""
        return _loops.sums(self, gauge, **how)

    @passes_on(_reweighting.reweighting)
    def reweighting(self, mu: Any = (), **how: Any) -> "Reweighting":
        """Reweighting factors by noise, a plaq.reweighting.Reweighting with an estimate for each of `vectors` noise vectors from number `first` on and
        of each factor. kind="twisted-mass-1": det X / (X + mu^2), X = D^dagger D, "twisted-mass-2": det X (X + 2 mu^2) / (X + mu^2)^2; mu: the
        twisted mass, or ascending ones of which the last counts, whose factors have less noise; system="even_asymmetric": of openQCD's even-odd
        preconditioned ones. kind="rational": |det P| over the determinant of a chain's rational function of P^dagger P on `interval` with
        `poles`, or with `error`, of `fields` pseudofermions; `system`: that of P; with `multigrid` that solves for the poles with the `shifts` least
        shifts. Members of capi.plaq_solver_params by keyword, multigrid and progress."""
        return _reweighting.reweighting(self, mu, **how)


class Clover(Wilson):
    """The Wilson operator + csw (i/4) sum_munu sigma_munu F_munu; csw_t: its value in planes with t.

    With clover="exponential" 4 + m + csw (i/4) sum sigma F is (4 + m) exp(csw / (4 + m) (i/4) sum sigma F) instead."""

    @passes_on(Wilson.__init__)
    def __init__(self, gauge: Gauge, *, csw: float, **more: "Unpack[Plain]") -> None:
        super().__init__(gauge, csw=csw, **more)


class Twisted(Wilson):
    """The Wilson or, with csw, the clover operator + i mu gamma5."""

    @passes_on(Wilson.__init__)
    def __init__(self, gauge: Gauge, *, mu: float, csw: float = 0, **more: "Unpack[Twist]") -> None:
        super().__init__(gauge, mu=mu, csw=csw, **more)


class Doublet(Wilson):
    """Two twisted flavours whose masses differ: the Wilson or clover operator of both + i mu gamma5 tau3 - epsilon
    tau1, on fields (n, 2, T, Z, Y, X, 4, 3), up before down. It has no propagator(): solve for columns of your own."""

    slices = 2

    @passes_on(Wilson.__init__)
    def __init__(self, gauge: Gauge, *, mu: float, epsilon: float, csw: float = 0, **more: "Unpack[Twist]") -> None:
        self.epsilon = epsilon
        super().__init__(gauge, mu=mu, csw=csw, **more)
        self.name += f", epsilon {epsilon:g}"

    def _create(self, gauge: Gauge, params: capi.plaq_dirac_params) -> capi.plaq_dirac:
        if self._thin is not None:
            raise capi.Unsupported("thin: expected None, as the clover term of a doublet is made of its own links")
        return capi.plaq_dirac_create_doublet(gauge.context, gauge, params, self.epsilon)

    def propagator(self, *arguments: Any, **more: Any) -> Any:
        raise capi.Unsupported(
            "a doublet has no propagator of twelve columns: solve(b) with b (n, 2, T, Z, Y, X, 4, 3)"
        )


class Laplace(Operator):
    """-D^2 + mass2, D^2 the covariant second difference in `directions`, on periodic fields: of colour vectors
    (n, T, Z, Y, X, 1, 3), or with spins=4 of quark fields."""

    def __init__(
        self, gauge: Gauge, *, mass2: float = 0, directions: Any = "xyz", spins: int = 1, precision: Any = 0
    ) -> None:
        links(gauge)
        params = capi.plaq_laplace_params(mass2=mass2, directions=bits(directions), spins=spins, precision=precision)
        self.spins = spins
        super().__init__(
            capi.plaq_dirac_create_laplace(gauge.context, gauge, params), gauge, f"mass2 {mass2:g}, directions {directions}"
        )


checks_keywords(globals())
