"""Records what Optuna's TPE reaches on the three objectives of tpe_quality_test.go.

    python3 record_optuna.py [seeds] > optuna.json

Written for Optuna 3.1.0 (Debian package python3-optuna). The objectives are
the same, line for line, as in tpe_quality_test.go: each has its minimum at 0.
"""
import json
import math
import sys

import optuna

TRIALS = 100


def mixed(trial):
    nodes = trial.suggest_int("nodes", 1, 64)
    trees = trial.suggest_int("trees", 20, 300, log=True)
    rate = trial.suggest_float("rate", 1e-4, 1, log=True)
    kind = trial.suggest_categorical("kind", ["red", "green", "blue", "grey"])
    penalty = {"red": 0.3, "green": 0.0, "blue": 0.1, "grey": 0.2}[kind]
    return (
        ((nodes - 37) / 32) ** 2
        + math.log(trees / 90) ** 2
        + (math.log10(rate / 0.005) / 2) ** 2
        + penalty
    )


def sphere(trial):
    centre = [1.0, -2.0, 0.5, 3.0]
    return sum((trial.suggest_float(f"x{i}", -5, 5) - c) ** 2 for i, c in enumerate(centre))


def branin(trial):
    x = trial.suggest_float("x", -5, 10)
    y = trial.suggest_float("y", 0, 15)
    b, c, t = 5.1 / (4 * math.pi**2), 5 / math.pi, 1 / (8 * math.pi)
    return (y - b * x**2 + c * x - 6) ** 2 + 10 * (1 - t) * math.cos(x) + 10 - 0.39788735772973816


def best(objective, seed):
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=TRIALS)
    return study.best_value


def main():
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 21
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    record = {"optuna": optuna.__version__, "trials": TRIALS}
    for objective in (mixed, sphere, branin):
        record[objective.__name__] = [best(objective, seed) for seed in range(seeds)]
    json.dump(record, sys.stdout, indent=1)
    print()


main()
