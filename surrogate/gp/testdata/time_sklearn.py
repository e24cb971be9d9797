#!/usr/bin/env python3
"""Time scikit-learn's GaussianProcessRegressor on rows like those of the benchmarks of package gp.

usage: OPENBLAS_NUM_THREADS=1 taskset -c 1 /usr/bin/python3 time_sklearn.py [n ...]

Prints one JSON line per n: evaluations of the likelihood; processor seconds to fit, per evaluation, and to predict mean
and deviation of 20 000 rows; fit again in user mode alone, without what the operating system does for fresh memory.
Minimum of three runs up to n = 500. Compare the cpu-s figures of BenchmarkFit and BenchmarkPool20k.
"""
import json
import os
import sys
import time

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel


def shaped(n, seed):
    g = np.random.default_rng(seed)
    x = np.c_[g.integers(1, 11, n), g.integers(1, 7, n), g.integers(1, 22, n)].astype(float)
    nodes, ppn, size = 2.0 ** (x[:, 0] - 1), 2.0 ** (x[:, 1] - 1), 2.0 ** (x[:, 2] - 1)
    t = 1.2 * np.log2(nodes * ppn + 1) + 0.3 * ppn + size / 12e3 * np.log2(nodes + 1) + np.where(size > 16384, 3.0, 0.0)
    return x, np.log10(t) + g.normal(0, 0.0087, n)


for n in [int(a) for a in sys.argv[1:]] or [500, 2000]:
    x, y = shaped(n, 1)
    xq, _ = shaped(20000, 2)
    best = None
    for _ in range(3 if n <= 500 else 1):
        k = ConstantKernel(1.0) * Matern(length_scale=[9, 5, 20], nu=2.5) + WhiteKernel(1e-2)
        model = GaussianProcessRegressor(k, normalize_y=True)
        calls = [0]
        inner = model.log_marginal_likelihood

        def counted(*args, **kw):
            calls[0] += 1
            return inner(*args, **kw)

        model.log_marginal_likelihood = counted
        user = os.times().user
        a = time.process_time()
        model.fit(x, y)
        b = time.process_time()
        user = os.times().user - user
        model.predict(xq, return_std=True)
        c = time.process_time()
        run = dict(n=n, evaluations=calls[0], fit_s=b - a, fit_user_s=user, s_per_evaluation=(b - a) / calls[0],
                   user_s_per_evaluation=user / calls[0], predict_20k_s=c - b)
        if best is None or run["fit_s"] < best["fit_s"]:
            best = run
    print(json.dumps({k: round(v, 4) for k, v in best.items()}), flush=True)
