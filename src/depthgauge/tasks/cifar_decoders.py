"""Turn the bytes of CIFAR's published files into images and labels.

Each `split_from_…` function takes the files of one split, in order, and the number of images that
they hold together. It returns (images, labels) in canonical form (`cifar_sets`). An error names
the file with the wrong length or content.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping

import numpy as np
from PIL import Image

from depthgauge.errors import UserError
from depthgauge.tasks.cifar_pickle import load_restricted
from depthgauge.tasks.cifar_sets import CHANNELS, HEIGHT, IMAGE_BYTES, WIDTH
from depthgauge.tasks.data_set import Array

LARGEST_BYTE = 255


def split_from_binary(
    files: Mapping[str, bytes], images: int, label_bytes: int
) -> tuple[Array, Array]:
    """Decode the binary files that CIFAR's authors publish.

    Each file is a sequence of records. A record begins with `label_bytes` labels of one byte each,
    and goes on with 3072 bytes of pixels. Only the last label of a record is used.
    """
    share = images // len(files)
    record = label_bytes + IMAGE_BYTES
    for name, content in files.items():
        if len(content) != share * record:
            raise UserError(
                f"{name} has {len(content)} bytes, but {share} images take {share * record}: "
                "the file is truncated or is not the original file; download it again"
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
    """Decode the Python files that CIFAR's authors publish.

    Each file is a pickled dictionary: b"data" has the images, and `label_key` a list of labels.
    """
    share = images // len(files)
    pixels, labels = [], []
    for name, content in files.items():
        batch = load_restricted(content, name)
        data = batch.get(b"data")
        if not isinstance(data, np.ndarray) or data.dtype != np.uint8:
            raise UserError(f"{name} holds no uint8 array under b'data'; download it again")
        if data.shape != (share, IMAGE_BYTES):
            raise UserError(
                f"{name} holds images of shape {data.shape}, not {share}×{IMAGE_BYTES}; "
                "download it again"
            )
        pixels.append(data)
        labels.append(_labels(batch.get(label_key), name, share))
    return np.concatenate(pixels), np.concatenate(labels)


def split_from_png(files: Mapping[str, bytes], images: int) -> tuple[Array, Array]:
    """Decode PNG files and their labels.

    Each row of pixels in a PNG file is one image. The last file is a JSON list of the labels.
    """
    *pictures, (label_name, label_content) = files.items()
    share = images // len(pictures)
    pixels = np.concatenate([_images_of_png(content, name, share) for name, content in pictures])
    try:
        labels = json.loads(label_content)
    except (ValueError, RecursionError) as error:
        raise UserError(
            f"{label_name} is not a JSON list of labels ({error}); download it again"
        ) from error
    return pixels, _labels(labels, label_name, images)


def _images_of_png(content: bytes, name: str, images: int) -> Array:
    """Return the rows of one PNG as images in canonical order: channel, height, width."""
    form = ("RGB", (HEIGHT * WIDTH, images))
    try:
        with Image.open(io.BytesIO(content), formats=["PNG"]) as picture:
            if (picture.mode, picture.size) != form:
                raise UserError(
                    f"the image {name} is {picture.mode} {picture.size}, not {form[0]} {form[1]}; "
                    "download it again"
                )
            pixels = np.asarray(picture)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise UserError(f"{name} cannot be read as PNG ({error}); download it again") from error
    return pixels.reshape(images, HEIGHT * WIDTH, CHANNELS).swapaxes(1, 2).reshape(images, -1)


def _labels(labels: object, name: str, count: int) -> Array:
    """Return a list of whole numbers from 0 to 255 as a uint8 array."""
    if not isinstance(labels, list) or len(labels) != count:
        raise UserError(f"{name} does not hold a list of {count} labels; download it again")
    if not all(isinstance(label, int) and 0 <= label <= LARGEST_BYTE for label in labels):
        raise UserError(
            f"{name} holds labels that are not whole numbers from 0 to {LARGEST_BYTE}; "
            "download it again"
        )
    return np.array(labels, np.uint8)
