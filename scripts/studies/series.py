"""Means of Markov chains, with errors from the autocorrelation: the Gamma method (U. Wolff, Comput. Phys. Commun.
156 (2004) 143, hep-lat/0306017) with its automatic window, S = 1.5. Nothing but Python's standard library.
"""
import math
import statistics

S = 1.5


class Mean:
    """Mean of a chain: value, error, tau (integrated, in steps of the chain; 1/2: independent), its error, window, n."""

    def __init__(self, chain):
        self.n = n = len(chain)
        self.value = statistics.fmean(chain) if n else math.nan
        self.error = self.tau = self.tau_error = math.nan
        self.window = 0
        if n < 10:
            if n > 1:
                self.error = statistics.stdev(chain) / math.sqrt(n)
            return
        d = [x - self.value for x in chain]
        gamma = [sum(x * x for x in d) / n]
        if gamma[0] == 0:
            self.error, self.tau, self.tau_error = 0.0, 0.5, 0.0
            return
        total = 0.5
        for w in range(1, n // 2):
            gamma.append(sum(a * b for a, b in zip(d, d[w:])) / (n - w))
            total += gamma[w] / gamma[0]
            # Decay that this sum of an exponential would have; beyond the window noise adds more than signal.
            tau = S / math.log((2 * total + 1) / (2 * total - 1)) if total > 0.5 else 1e-9
            if math.exp(-w / tau) - tau / math.sqrt(w * n) < 0:
                break
        self.window = w = len(gamma) - 1
        c = gamma[0] + 2 * sum(gamma[1:])
        # The mean that was subtracted is the chain's own: a bias of C / N in every Gamma.
        gamma = [g + c / n for g in gamma]
        c = gamma[0] + 2 * sum(gamma[1:])
        if c <= 0:  # Too short a chain for its correlations.
            c = gamma[0]
        self.tau = c / (2 * gamma[0])
        self.tau_error = self.tau * 2 * math.sqrt(max(w + 0.5 - self.tau, 0.0) / n)
        self.error = math.sqrt(max(c, 0.0) / n)

    def json(self):
        return {"value": self.value, "error": self.error, "tau": self.tau, "tau_error": self.tau_error,
                "window": self.window, "n": self.n}


def digits(value, error):
    """value(error) with two digits of the error."""
    if not (error > 0 and math.isfinite(error)):
        return f"{value:.6g}"
    places = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{places}f}({error * 10 ** places:.0f})"


def combined(means):
    """Weighted mean of independent (value, error), its error, chi^2."""
    weights = [1 / e ** 2 for _, e in means]
    value = sum(w * v for w, (v, _) in zip(weights, means)) / sum(weights)
    return value, sum(weights) ** -0.5, sum(w * (v - value) ** 2 for w, (v, _) in zip(weights, means))


def pooled(means):
    """Independent chains of one ensemble in one mean, as long as each is: weights that do not come from errors
    cannot prefer chains that stay near one value. chi2: of the chains about it."""
    n = sum(m["n"] for m in means)
    value = sum(m["n"] * m["value"] for m in means) / n
    error = math.sqrt(sum((m["n"] * m["error"]) ** 2 for m in means)) / n
    spread = [((m["value"] - value) / m["error"]) ** 2 for m in means if m["error"] > 0]
    return {"value": value, "error": error, "tau": sum(m["n"] * m["tau"] for m in means) / n, "n": n, "chi2": sum(spread)}


def jackknife(samples, function):
    """function of the mean of samples (lists of numbers), and its error by leaving one out at a time."""
    n = len(samples)
    total = [math.fsum(column) for column in zip(*samples)]
    value = function([t / n for t in total])
    if n < 2:
        return value, math.nan
    parts = [function([(t - x) / (n - 1) for t, x in zip(total, s)]) for s in samples]
    middle = statistics.fmean(parts)
    return value, math.sqrt((n - 1) / n * sum((p - middle) ** 2 for p in parts))


def slope(points):
    """Least-squares slope of log y over log x."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    mx, my = (statistics.fmean(p[i] for p in logs) for i in (0, 1))
    return sum((x - mx) * (y - my) for x, y in logs) / sum((x - mx) ** 2 for x, _ in logs)
