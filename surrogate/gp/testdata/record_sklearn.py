#!/usr/bin/env python3
"""Write sklearn.json: what scikit-learn's GaussianProcessRegressor answers, for the tests of package gp.

usage: OPENBLAS_NUM_THREADS=1 /usr/bin/python3 record_sklearn.py > sklearn.json     (recorded with scikit-learn 1.2.1)

Each case holds training rows, hyper-parameters (signal, length scales, noise), the log marginal likelihood and its
gradient with respect to their logarithms (same order), and mean and variance (noise included, as scikit-learn has it) at
query rows.
"""
import json
import sys
import warnings

import numpy as np
import sklearn
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

warnings.filterwarnings("ignore")


def kernel(signal, length, noise):
    bounds = (1e-5, 1e5)
    return ConstantKernel(signal, bounds) * Matern(length, bounds, nu=2.5) + WhiteKernel(noise, (1e-6, 1e5))


def case(n, dim, seed):
    rng = np.random.default_rng(seed)
    x = np.round(rng.uniform(0, 10, (n, dim)), 2)
    y = np.sin(x[:, 0]) + 0.3 * x[:, -1] + 0.05 * x.sum(1) + rng.normal(0, 0.1, n)
    y = np.round(y, 4)
    xq = np.round(rng.uniform(-1, 11, (6, dim)), 2)
    signal, noise = 1.7, 0.02
    length = np.round(rng.uniform(1, 5, dim), 2)
    k = kernel(signal, length, noise)
    fixed = GaussianProcessRegressor(k, alpha=0, optimizer=None).fit(x, y)
    value, gradient = fixed.log_marginal_likelihood(k.theta, eval_gradient=True)
    mean, std = fixed.predict(xq, return_std=True)
    return dict(x=x.tolist(), y=y.tolist(), signal=signal, length=length.tolist(), noise=noise,
                log_likelihood=value, gradient=gradient.tolist(), query=xq.tolist(), mean=mean.tolist(),
                variance=(std**2).tolist())


cases = [case(12, 1, 1), case(40, 3, 2), case(25, 2, 3), case(60, 4, 4)]
json.dump(dict(scikit_learn=sklearn.__version__, cases=cases), sys.stdout, indent=None, separators=(",", ":"))
print()
