#!/usr/bin/env python3
"""Write sklearn.json: what scikit-learn's forests make of broadcast.csv, for sklearn_test.go.

usage: python3 record.py          (needs python3-sklearn 1.2.1; run it in this folder)

broadcast.csv holds simulated times of one broadcast algorithm (binomial tree) over nodes,
processes per node and message bytes. Features are log2(value)+1. The target is log10 of the
time, for the poisson criterion the time itself in milliseconds. Every share trains on the rows that
a fixed shuffle puts first and is scored on all others.
"""
import csv
import json

import numpy as np
import sklearn
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeRegressor

SEEDS = range(10)
SHARES = (0.1, 0.3)
CRITERIA = ("squared_error", "absolute_error", "friedman_mse", "poisson")
TREES = (
    dict(),
    dict(min_samples_leaf=5),
    dict(max_depth=4),
    dict(min_samples_split=20, max_depth=6),
    dict(criterion="absolute_error", min_samples_leaf=8),
    dict(criterion="poisson", min_samples_leaf=8),
)


def load():
    with open("broadcast.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    x = [[float(r[k]) for k in ("nodes", "ppn", "msg_bytes")] for r in rows]
    return np.log2(np.array(x)) + 1, np.array([float(r["time_us"]) for r in rows])


def target(criterion, time_us):
    return time_us / 1000 if criterion == "poisson" else np.log10(time_us)


def forests(x, time_us, order):
    for criterion in CRITERIA:
        y = target(criterion, time_us)
        for share in SHARES:
            n = round(share * len(y))
            train, test = order[:n], order[n:]
            r2 = []
            for seed in SEEDS:
                f = RandomForestRegressor(criterion=criterion, random_state=seed)
                f.fit(x[train], y[train])
                r2.append(r2_score(y[test], f.predict(x[test])))
            yield dict(criterion=criterion, share=share, rows=n, r2=r2)


def trees(x, time_us, order):
    n = round(0.3 * len(time_us))
    train = order[:n]
    for options in TREES:
        y = target(options.get("criterion"), time_us)
        t = DecisionTreeRegressor(random_state=0, **options).fit(x[train], y[train])
        p = t.predict(x[train])
        yield dict(
            options=options, rows=n, nodes=int(t.tree_.node_count),
            r2=r2_score(y[train], p), predictions=[float(v) for v in p],
        )


def main():
    x, time_us = load()
    order = np.random.RandomState(1).permutation(len(time_us))
    out = dict(
        version=sklearn.__version__,
        order=[int(i) for i in order],
        forests=list(forests(x, time_us, order)),
        trees=list(trees(x, time_us, order)),
    )
    with open("sklearn.json", "w") as f:
        json.dump(out, f, separators=(",", ":"))
        f.write("\n")


if __name__ == "__main__":
    main()
