"""The digits task: scikit-learn's 1,797 handwritten digits of 8×8 pixels."""

from __future__ import annotations

import numpy as np
import torch
from sklearn import datasets
from sklearn.model_selection import train_test_split

from depthgauge.tasks.base import Split, Task

_MEAN, _STD, _SIDE = 4.9, 6.0, 8
_TEST, _SEED = 500, 0


def load_digits() -> Task:
    """Load the digits with a fixed split, stratified by class: 1,297 to train and 500 to test.

    A stored value x from 0 to 16 becomes (x − 4.9)/6.0, so the features have about zero mean and
    unit variance. The two constants are fixed: no statistic is taken from the test set. Nothing is
    augmented: the images are too small to be cropped, and a mirrored digit is not a digit.
    """
    pixels, labels = datasets.load_digits(return_X_y=True)
    x = ((pixels - _MEAN) / _STD).astype(np.float32).reshape(-1, 1, _SIDE, _SIDE)
    x_train, x_test, y_train, y_test = train_test_split(
        x, labels.astype(np.int64), test_size=_TEST, random_state=_SEED, stratify=labels
    )
    return Task(
        name="digits",
        train=Split(torch.from_numpy(x_train), torch.from_numpy(y_train)),
        evaluation=Split(torch.from_numpy(x_test), torch.from_numpy(y_test)),
        num_classes=10,
    )
