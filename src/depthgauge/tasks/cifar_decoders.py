"""Turn the bytes of CIFAR's published files into images and labels.

Each `split_from_…` function takes the files of one split, in order, and the number of images they
hold together, and returns (images, labels) in canonical form. A file of the wrong length or
content is refused by name.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping

import numpy as np
from PIL import Image

from depthgauge.errors import UserError
from depthgauge.tasks.cifar_pickle import load_restricted
from depthgauge.tasks.cifar_sets import CHANNELS, HEIGHT, IMAGE_BYTES, WIDTH, Array

LARGEST_BYTE = 255


def split_from_binary(
    files: Mapping[str, bytes], images: int, label_bytes: int
) -> tuple[Array, Array]:
    """Records of `label_bytes` labels, of which the last one counts, and 3072 pixels."""
    share = images // len(files)
    record = label_bytes + IMAGE_BYTES
    for name, content in files.items():
        if len(content) != share * record:
            raise UserError(
                f"{name} has {len(content)} bytes where {share} images take {share * record}: "
                "it is truncated or not the original file"
            )
    records = np.concatenate(
        [np.frombuffer(content, np.uint8).reshape(share, record) for content in files.values()]
    )
    return (
        np.ascontiguousarray(records[:, label_bytes:]),
        np.ascontiguousarray(records[:, label_bytes - 1]),
    )


def split_from_pickle(
    files: Mapping[str, bytes], images: int, label_key: bytes
) -> tuple[Array, Array]:
    """Pickled dictionaries with the images under b"data" and a list of labels."""
    share = images // len(files)
    pixels, labels = [], []
    for name, content in files.items():
        batch = load_restricted(content, name)
        data = batch.get(b"data")
        if not isinstance(data, np.ndarray) or data.dtype != np.uint8:
            raise UserError(f"{name} holds no uint8 array under b'data'")
        if data.shape != (share, IMAGE_BYTES):
            raise UserError(f"{name} holds images of shape {data.shape}, not {share}×{IMAGE_BYTES}")
        pixels.append(data)
        labels.append(_labels(batch.get(label_key), name, share))
    return np.concatenate(pixels), np.concatenate(labels)


def split_from_png(files: Mapping[str, bytes], images: int) -> tuple[Array, Array]:
    """PNG files with one image a row, and, as the last file, a JSON list of labels."""
    *pictures, (label_name, label_content) = files.items()
    share = images // len(pictures)
    pixels = np.concatenate([_images_of_png(content, name, share) for name, content in pictures])
    try:
        labels = json.loads(label_content)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{label_name} is not a JSON list of labels ({error})") from error
    return pixels, _labels(labels, label_name, images)


def _images_of_png(content: bytes, name: str, images: int) -> Array:
    """The rows of one PNG, each pixel's channels apart as the canonical order wants them."""
    form = ("RGB", (HEIGHT * WIDTH, images))
    try:
        with Image.open(io.BytesIO(content), formats=["PNG"]) as picture:
            if (picture.mode, picture.size) != form:
                raise UserError(f"{name} is {picture.mode} {picture.size}, not {form[0]} {form[1]}")
            pixels = np.asarray(picture)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise UserError(f"{name} cannot be read as PNG ({error})") from error
    return pixels.reshape(images, HEIGHT * WIDTH, CHANNELS).swapaxes(1, 2).reshape(images, -1)


def _labels(labels: object, name: str, count: int) -> Array:
    """A list of small whole numbers as uint8."""
    if not isinstance(labels, list) or len(labels) != count:
        raise UserError(f"{name} does not hold a list of {count} labels")
    if not all(isinstance(label, int) and 0 <= label <= LARGEST_BYTE for label in labels):
        raise UserError(f"{name} holds labels that are not whole numbers from 0 to {LARGEST_BYTE}")
    return np.array(labels, np.uint8)
