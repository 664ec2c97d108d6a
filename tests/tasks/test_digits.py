"""The bundled handwritten digits."""

import torch
from sklearn import datasets

from depthgauge.tasks.digits import load_digits

CHECKSUM = "6012e2094e1cc1b864ba602e85cd06b8357e0aeb5d9328b49a8c817eeb0faf17"


def test_shapes_and_types() -> None:
    task = load_digits()
    assert task.train.x.shape == (1297, 1, 8, 8)
    assert task.evaluation.x.shape == (500, 1, 8, 8)
    assert (task.name, task.num_classes, task.pixels) == ("digits", 10, None)
    for split in (task.train, task.evaluation):
        assert split.x.dtype == torch.float32
        assert split.y.dtype == torch.int64


def test_scaled_to_about_zero_mean_and_unit_scale() -> None:
    x = load_digits().train.x
    assert abs(float(x.mean())) < 0.05
    assert abs(float(x.std()) - 1) < 0.05


def test_the_two_splits_together_are_the_bundled_set() -> None:
    task = load_digits()
    pixels, labels = datasets.load_digits(return_X_y=True)
    x = torch.cat([task.train.x, task.evaluation.x]).flatten(1)
    y = torch.cat([task.train.y, task.evaluation.y])
    found = zip((6.0 * x + 4.9).round().long().tolist(), y.tolist(), strict=True)
    expected = zip(pixels.astype(int).tolist(), labels.tolist(), strict=True)
    assert sorted(found) == sorted(expected)


def test_the_split_is_stratified() -> None:
    task = load_digits()
    shares = [torch.bincount(split.y) / len(split) for split in (task.train, task.evaluation)]
    torch.testing.assert_close(shares[0], shares[1], atol=0.003, rtol=0)


def test_it_is_the_same_split_every_time_and_as_ever() -> None:
    """The checksum is part of the identity of every run on this task."""
    assert load_digits().checksum == load_digits().checksum == CHECKSUM
