"""Fits on synthetic data with known answers: values, coverage of errors, distributions of chi2, ratios, summation."""

import math

import numpy as np
import plaq
from common import close, refused
from plaq import fits
from plaq.analysis import Estimate

T = 32
t = np.arange(T)


def noisy(mean, configurations, rng, error=0.02, memory=0.7):
    """Normal data about `mean` (configurations, n) with relative errors and correlations memory^|i - j|."""
    n = len(mean)
    root = np.linalg.cholesky(memory ** np.abs(np.subtract.outer(np.arange(n), np.arange(n))))
    return mean * (1 + error * rng.normal(size=(configurations, n)) @ root.T)


def exact(mean):
    """An estimate with errors and a mean that is known to rounding."""
    data = noisy(mean, 200, np.random.default_rng(5), 1e-3)
    found = plaq.jackknife(data)
    return Estimate(mean, found.error, found.samples - found.value + mean)


def test_probabilities():
    # Tails of chi2: exponential for 2 degrees of freedom, (1 + x / 2) exp(-x / 2) for 4; the error function for 1.
    for x in 0.01, 0.5, 3.0, 20.0, 80.0:
        close(fits.gamma_tail(1, x / 2), math.exp(-x / 2), 1e-12)
        close(fits.gamma_tail(2, x / 2), (1 + x / 2) * math.exp(-x / 2), 1e-12)
        close(fits.gamma_tail(0.5, x / 2), math.erfc(math.sqrt(x / 2)), 1e-12)
    # Incomplete beta functions: I_x(1, b) = 1 - (1 - x)^b, I_x(2, 3) = 6 x^2 - 8 x^3 + 3 x^4.
    for x in 0.05, 0.4, 0.9:
        close(fits.beta_head(x, 1, 3.5), 1 - (1 - x) ** 3.5, 1e-12)
        close(fits.beta_head(x, 2, 3), 6 * x**2 - 8 * x**3 + 3 * x**4, 1e-12)
    # Hotelling's distribution is that of chi2 for many samples, and Student's for one quantity: t = 1 has the tail 1/2
    # with one degree of freedom.
    close(fits.hotelling(7.0, 4, 10**7), fits.gamma_tail(2, 3.5), 1e-5)
    close(fits.hotelling(1.0, 1, 1), 0.5, 1e-12)


def test_covariances():
    data = noisy(np.ones(6), 40, np.random.default_rng(1))
    found = plaq.jackknife(data)
    full = fits.covariance(found)
    close(full, np.cov(data.T) / 40, 1e-12)
    close(np.sqrt(np.diag(full)), found.error, 1e-12)
    half = fits.covariance(found, shrink=0.5)
    close(half, (full + np.diag(np.diag(full))) / 2, 1e-12)
    chosen = fits.covariance(found, shrink="auto")
    lam = 1 - chosen[0, 1] / full[0, 1]
    assert 0 < lam < 0.3
    # With more noise the covariance is shrunk more.
    few = plaq.jackknife(data[:8])
    assert 1 - fits.covariance(few, shrink="auto")[0, 1] / fits.covariance(few)[0, 1] > lam
    raised = fits.covariance(found, cut=0.2)
    d = np.sqrt(np.diag(full))
    before, after = (np.linalg.eigvalsh(m / np.outer(d, d)) for m in (full, raised))
    close(after, np.maximum(before, 0.2 * before[-1]), 1e-12)
    refused(ValueError, "shrink|auto|'much'", lambda: fits.covariance(found, shrink="much"))
    refused(ValueError, "cut", lambda: fits.covariance(found, cut=1))
    refused(ValueError, "two jackknife samples", lambda: fits.covariance(plaq.jackknife(data[:1])))


def test_states_are_found():
    cases = {"cosh": 1, "sinh": -1, "log": 0}
    for form, sign in cases.items():
        one = [2.0 * (np.exp(-0.3 * t) + sign * np.exp(-0.3 * (T - t)))]
        two = one + [0.7 * (np.exp(-0.8 * t) + sign * np.exp(-0.8 * (T - t)))]
        fit = fits.correlator(exact(sum(one)), 3, 12, form=form)
        close(fit.parameters.value, [0.3, 2.0], 1e-7)
        assert fit.dof == 8 and fit.chi2 < 1e-6 and fit.p > 0.999
        fit = fits.correlator(exact(sum(two)), 1, 12, states=2, form=form)
        close(fit.parameters.value, [0.3, 0.8, 2.0, 0.7], 1e-5)
        close(fit["E1"].value, 0.8, 1e-5)
        assert fit.names == ("E0", "E1", "A0", "A1") and fit["A0"].samples.shape == (200,)
        # A fit of one state to two has a bad p.
        assert fits.correlator(exact(sum(two)), 1, 12, form=form).p < 1e-6
    C = plaq.Correlator(noisy(2 * np.cosh(0.3 * (t - T / 2)), 60, np.random.default_rng(2)), form="cosh")
    fit = fits.correlator(C, 4, 12)
    assert abs(fit["E0"].value - 0.3) < 4 * fit["E0"].error < 0.1
    assert "E0 = 0.3" in str(fit) and "chi2/dof" in str(fit)


def test_errors_cover_and_chi2_is_distributed_as_told():
    """Of 400 fits with few configurations 68 per cent of the intervals hold the truth, and p is uniform."""
    mean = 2 * np.exp(-0.4 * t[:10])
    for configurations, how, factor in ((24, {}, 1), (24, {"shrink": 1.0}, 1), (300, {}, 1)):
        rng = np.random.default_rng(11)
        pulls, ps, linear = [], [], []
        for _ in range(400):
            found = plaq.jackknife(noisy(mean, configurations, rng, 0.05))
            flat = Estimate(found.value / mean, found.error / mean, found.samples / mean)
            fit = fits.plateau(flat, 0, 9, **how)
            linear.append((fit["value"].value - 1) / fit["value"].error)
            ps.append(fit.p)
        for _ in range(100 if configurations < 100 else 0):
            fit = fits.correlator(plaq.jackknife(noisy(mean, configurations, rng, 0.05)), 0, 9, form="log", **how)
            pulls.append((fit["E0"].value - 0.4) / fit["E0"].error)
        # With few configurations Student's t is wider than a normal distribution; 400 fits determine 0.68 to 0.023.
        inside = np.mean(np.abs(linear) < 1)
        assert abs(inside - 0.67) < 0.07, f"{configurations}, {how}: {inside}"
        inside = np.mean(np.abs(pulls) < 1) if pulls else 0.67
        assert abs(inside - 0.67) < 0.14, f"{configurations}, {how}: {inside} of the energies"
        if not how:
            below = [np.mean(np.array(ps) < q) for q in (0.1, 0.5, 0.9)]
            assert np.abs(np.subtract(below, (0.1, 0.5, 0.9))).max() < 0.07, f"{configurations}: {below}"


def test_ratios_plateaus_and_summation():
    rng = np.random.default_rng(3)
    e, gap, value, mixed, excited = {0: 0.5, 1: 0.7}, 0.6, 1.25, -0.4, 0.3
    n = 80
    shared = 1 + 0.05 * rng.normal(size=(n, 1))  # what ratios lose
    two = {p: shared * np.exp(-e[p] * t) * (1 + 1e-4 * rng.normal(size=(n, T))) for p in e}
    # With different momenta the square root in the ratio removes exponentials and amplitudes.
    tau = np.arange(10)
    three = shared * value * np.exp(-e[1] * (9 - tau) - e[0] * tau) * (1 + 1e-4 * rng.normal(size=(n, 10)))
    found = fits.ratio(three, two[1], 9, two[0])
    fit = fits.plateau(found, 2, 7)
    assert abs(fit["value"].value - value) < 4 * fit["value"].error < 1e-3
    # Equal momenta, with a contribution of an excited state.
    ratios = {}
    for sink in range(6, 13):
        tau = np.arange(sink + 1)
        shape = value + mixed * (np.exp(-gap * tau) + np.exp(-gap * (sink - tau))) + excited * np.exp(-gap * sink)
        three = two[0][:, sink, None] * shape * (1 + 1e-4 * rng.normal(size=(n, sink + 1)))
        ratios[sink] = fits.ratio(three, two[0], sink)
    close(ratios[6].value.shape, (7,))
    fit = fits.two_states({s: ratios[s] for s in (6, 8, 10)}, 1)
    for name, wanted in (("value", value), ("gap", gap), ("mixed", mixed), ("excited", excited)):
        assert abs(fit[name].value - wanted) < 4 * fit[name].error, f"{name}: {fit}"
    assert fit["value"].error < 2e-3 and fit.p > 1e-3
    late = fits.summation({s: ratios[s] for s in (10, 11, 12)}, 1)
    # The excited state that remains contributes less than the amplitude times exp(-gap t).
    assert abs(late["slope"].value - value) < 4 * late["slope"].error + sink * abs(excited) * math.exp(-gap * 10), late
    sums = [ratios[s].value[1:s].sum() for s in (10, 11)]
    two_sinks = fits.summation({s: ratios[s] for s in (10, 11)}, 1)
    close(two_sinks["slope"].value, sums[1] - sums[0], 1e-9)
    assert two_sinks.dof == 0 and two_sinks.p == 1
    refused(ValueError, "ratios[7]|8 times", lambda: fits.summation({7: ratios[6], 6: ratios[6]}))
    refused(ValueError, "two sinks", lambda: fits.summation({6: ratios[6]}))
    refused(ValueError, "skip", lambda: fits.two_states({6: ratios[6]}, 4))
    refused(ValueError, "two_sink|80 configurations", lambda: fits.ratio(three, two[0][:5], 9))


def test_fits_say_what_is_missing():
    growing = np.exp(0.1 * np.arange(16)) * (1 + 0.01 * np.random.default_rng(1).normal(size=(50, 16)))
    refused(ValueError, "data|does not fall", lambda: fits.correlator(plaq.Correlator(growing, form="log"), 2, 12))
    found = plaq.jackknife(noisy(np.exp(-0.4 * t), 8, np.random.default_rng(4)))
    refused(ValueError, "at least 11 jackknife samples|found 8|shrink", lambda: fits.correlator(found, 1, 8, form="log"))
    assert fits.correlator(found, 1, 8, form="log", shrink="auto").dof == 6
    assert fits.correlator(found, 1, 8, form="log", cut=0.1).dof == 6
    refused(ValueError, "form|None", lambda: fits.correlator(found, 1, 8))
    C = plaq.Correlator(noisy(np.cosh(0.3 * (t - T / 2)), 60, np.random.default_rng(2)), form="cosh")
    refused(ValueError, "first, last|16", lambda: fits.correlator(C, 4, 17))
    refused(ValueError, "states", lambda: fits.correlator(found, 1, 8, form="log", states=3))
    refused(ValueError, "first, last|31", lambda: fits.correlator(found, 1, 40, form="log"))
    refused(ValueError, "at least 4 numbers", lambda: fits.correlator(found, 1, 2, form="log", states=2, shrink=1))
    fit = fits.plateau(found, 1, 3)
    refused(KeyError, "value", lambda: fit["E0"])


def test_other_packages_take_estimates():
    found = plaq.jackknife(noisy(np.exp(-0.4 * t[:6]), 50, np.random.default_rng(6)))
    try:
        import gvar
    except ImportError:
        print("skipped: no gvar")
    else:
        made = fits.to_gvar(found)
        close(gvar.mean(made), found.value, 1e-12)
        close(gvar.evalcov(made), fits.covariance(found), 1e-12)
    try:
        import pyerrors
    except ImportError:
        print("skipped: no pyerrors")
    else:
        made = fits.to_pyerrors(found, "ensemble")
        [o.gamma_method(S=0) for o in made]
        close([o.value for o in made], found.value, 1e-12)
        close([o.dvalue for o in made], found.error, 1e-10)
        assert isinstance(fits.to_pyerrors(fits.plateau(found, 1, 3)["value"], "ensemble"), pyerrors.Obs)
