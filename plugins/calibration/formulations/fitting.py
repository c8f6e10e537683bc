"""Coefficients of features of arrays that are least wrong about what was synthesized."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

#: Numbers of several arrays.
Numbers = NDArray[np.float64]

#: Most parts that arrays are held out in, one after the other.
FOLDS = 16

#: Least gain, in the root of the sum of squares of relative errors, for which more features are
#: taken.
GAIN = 1e-4


def fitted(features: Numbers, counts: Numbers) -> Numbers:
    """Coefficients, none below 0, that are least wrong relatively: the least squares of errors as
    shares of the counts. No more of them than half the arrays are other than 0.

    Parameters
    ----------
    features : array of floats, arrays × features
        The features of each array.
    counts : array of floats
        The resources of each, all above 0.

    Returns
    -------
    array of floats
        A coefficient for each feature.
    """
    shares, best, least = features / counts[:, None], np.zeros(features.shape[1]), np.inf
    # there are few features, so all choices of those that are not 0 are tried, fewer first
    choices = sorted(product((True, False), repeat=len(best)), key=sum)
    for kept in choices:
        if sum(kept) > len(counts) / 2:
            break
        trial = np.zeros(len(best))
        trial[[*kept]] = np.linalg.lstsq(shares[:, [*kept]], np.ones(len(counts)), rcond=None)[0]
        error = float(np.linalg.norm(shares @ trial - 1))
        if (trial >= 0).all() and error < least - GAIN:
            best, least = trial, error
    return best


def errors(features: Numbers, counts: Numbers, folds: int = FOLDS) -> Numbers:
    """Relative errors on arrays that took no part in a fit: every array once.

    Parameters
    ----------
    features : array of floats, arrays × features
        The features of each array.
    counts : array of floats
        The resources of each, all above 0.
    folds : int, optional
        The parts that arrays are held out in.

    Returns
    -------
    array of floats
        Estimated over synthesized, less one, of each array.
    """
    wrong, places = np.zeros(len(counts)), np.arange(len(counts))
    for fold in range(min(folds, len(counts))):
        out = places % folds == fold
        rates = fitted(features[~out], counts[~out])
        wrong[out] = features[out] @ rates / counts[out] - 1
    return wrong
