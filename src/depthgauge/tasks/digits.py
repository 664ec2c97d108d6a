"""Handwritten digits: 1,797 real 8×8 images bundled with scikit-learn, as 64 plain features."""

from __future__ import annotations

import numpy as np
import torch
from sklearn import datasets
from sklearn.model_selection import train_test_split

from depthgauge.tasks.base import Split, Task

_MEAN, _STD = 4.9, 6.0
_TEST, _SEED = 500, 0


def load_digits() -> Task:
    """The task, with a fixed split into 1,297 training and 500 test samples, stratified by class.

    The stored values 0..16 become (x − 4.9)/6.0, about zero mean and unit variance over all
    features. The constants are fixed, so no statistic is taken from the test set. The images are
    too small to be cropped or shifted, and digits must not be mirrored, so nothing is augmented.
    """
    pixels, labels = datasets.load_digits(return_X_y=True)
    x = ((pixels - _MEAN) / _STD).astype(np.float32)
    x_train, x_test, y_train, y_test = train_test_split(
        x, labels.astype(np.int64), test_size=_TEST, random_state=_SEED, stratify=labels
    )
    return Task(
        name="digits",
        train=Split(torch.from_numpy(x_train), torch.from_numpy(y_train)),
        evaluation=Split(torch.from_numpy(x_test), torch.from_numpy(y_test)),
        num_classes=10,
    )
