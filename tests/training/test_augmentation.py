"""Crops and flips against a slow loop over single images, and pixels against the formula."""

from __future__ import annotations

import pytest
import torch
from oracles.plain_crops import all_crops
from scipy.stats import chisquare
from training.small_images import PIXELS, random_images

from depthgauge.tasks.inputs import normalise_pixels
from depthgauge.training.augmentation import CropAndFlip

OUTCOMES = 9 * 9 * 2


def test_the_outcomes_are_the_crops_of_the_padded_image_each_once():
    augment, image = CropAndFlip(PIXELS), random_images(1)
    made = augment.apply(image.expand(OUTCOMES, -1, -1, -1), torch.arange(OUTCOMES))
    as_sets = {tuple(row) for row in made.flatten(1).tolist()}
    assert len(augment.table) == OUTCOMES
    assert len(as_sets) == OUTCOMES
    assert as_sets == all_crops(image[0], PIXELS)


def test_one_outcome_is_the_image_itself():
    augment, image = CropAndFlip(PIXELS), random_images(1)
    made = augment.apply(image.expand(OUTCOMES, -1, -1, -1), torch.arange(OUTCOMES))
    assert (made == image).flatten(1).all(1).sum() == 1


def test_every_image_of_a_batch_gets_its_own_outcome():
    augment, images = CropAndFlip(PIXELS), random_images(20)
    outcomes = augment.draw(20, torch.Generator().manual_seed(0))
    made = augment.apply(images, outcomes)
    for index in range(20):
        alone = augment.apply(images[index : index + 1], outcomes[index : index + 1])[0]
        assert torch.equal(made[index], alone)
        assert tuple(made[index].flatten().tolist()) in all_crops(images[index], PIXELS)
    assert len(outcomes.unique()) > 10


def test_channels_are_moved_together():
    grey = torch.randint(1, 256, (1, 30), generator=torch.Generator().manual_seed(0))
    image = grey.repeat(1, 3).to(torch.uint8).view(1, 3, 6, 5)
    made = CropAndFlip(PIXELS).apply(image.expand(OUTCOMES, -1, -1, -1), torch.arange(OUTCOMES))
    by_channel = made.view(OUTCOMES, 3, 30)
    assert torch.equal(by_channel[:, 0], by_channel[:, 1])
    assert torch.equal(by_channel[:, 0], by_channel[:, 2])


def test_all_outcomes_are_equally_likely():
    drawn = CropAndFlip(PIXELS).draw(200_000, torch.Generator().manual_seed(11))
    counts = torch.bincount(drawn, minlength=OUTCOMES)
    assert len(counts) == OUTCOMES
    assert chisquare(counts.numpy()).pvalue > 1e-3


def test_augmenting_leaves_the_stored_images_as_they_were():
    images = random_images(4)
    before = images.clone()
    augment = CropAndFlip(PIXELS)
    made = augment.apply(images, torch.tensor([0, 40, 80, 161]))
    assert torch.equal(images, before)
    assert made.dtype == torch.uint8


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_pixels_are_normalised_channel_by_channel(dtype):
    images = random_images(3)
    before = images.clone()
    found = normalise_pixels(images, PIXELS, dtype).flatten(1)
    assert found.dtype == dtype
    assert torch.equal(images, before)
    area = 6 * 5
    for n in range(3):
        for channel in range(3):
            mean, std = PIXELS.mean[channel], PIXELS.std[channel]
            for place in range(area):
                feature = channel * area + place
                expected = (int(images[n].flatten()[feature]) / 255 - mean) / std
                assert float(found[n, feature]) == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_the_border_is_black_before_normalisation():
    augment = CropAndFlip(PIXELS)
    white = torch.full((1, 3, 6, 5), 255, dtype=torch.uint8)
    corner = normalise_pixels(augment.apply(white, torch.tensor([0])), PIXELS, torch.float64)
    black = -torch.tensor(PIXELS.mean, dtype=torch.float64) / torch.tensor(PIXELS.std)
    assert torch.allclose(corner[0][:, 0, 0], black, rtol=1e-6)
