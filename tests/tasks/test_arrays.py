"""A user's own arrays: what is accepted, and the sentence for everything that is not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from depthgauge.errors import UserError
from depthgauge.tasks.arrays import load_arrays, save_task, task_from_arrays


def good() -> dict[str, Any]:
    random = np.random.default_rng(0)
    return {
        "x_train": random.normal(size=(6, 4)),
        "y_train": np.array([0, 1, 2, 0, 1, 2]),
        "x_test": random.normal(size=(3, 4)),
        "y_test": np.array([2, 1, 0]),
    }


def write(folder: Path, **changes: Any) -> Path:
    path = folder / "mine.npz"
    np.savez(path, **{**good(), **changes})
    return path


def test_a_good_file(tmp_path: Path) -> None:
    task = load_arrays(write(tmp_path))
    assert (task.name, task.num_classes, task.input_dim) == ("mine", 3, 4)
    assert task.train.x.dtype == torch.float32
    assert task.train.y.dtype == torch.int64
    np.testing.assert_array_equal(task.train.x, good()["x_train"].astype(np.float32))
    np.testing.assert_array_equal(task.evaluation.y, good()["y_test"])


def test_the_path_may_be_text(tmp_path: Path) -> None:
    assert load_arrays(str(write(tmp_path))).name == "mine"


def test_features_of_any_number_type(tmp_path: Path):
    for dtype in ["uint8", "int32", "float16", "float64", ">f8", ">i4"]:
        x = np.arange(24).reshape(6, 4).astype(dtype)
        task = load_arrays(write(tmp_path, x_train=x))
        np.testing.assert_array_equal(task.train.x, np.arange(24).reshape(6, 4))


def test_labels_of_any_integer_type(tmp_path: Path):
    for dtype in ["uint8", "int32", "uint64", ">i8"]:
        task = load_arrays(write(tmp_path, y_train=good()["y_train"].astype(dtype)))
        assert task.train.y.tolist() == [0, 1, 2, 0, 1, 2]


def test_samples_keep_their_shape(tmp_path: Path) -> None:
    x_train, x_test = np.arange(24.0).reshape(6, 1, 2, 2), np.zeros((3, 1, 2, 2))
    task = load_arrays(write(tmp_path, x_train=x_train, x_test=x_test))
    np.testing.assert_array_equal(task.train.x, x_train)
    assert (task.input_dim, task.shape.sample) == (4, (1, 2, 2))


def test_the_checksum_does_not_depend_on_the_shape_of_samples(tmp_path: Path) -> None:
    """Studies of images from before samples kept their shape keep their run ids."""
    x_train, x_test = np.arange(24.0).reshape(6, 2, 2), np.zeros((3, 2, 2))
    shaped = load_arrays(write(tmp_path, x_train=x_train, x_test=x_test)).checksum
    flat = write(tmp_path, x_train=x_train.reshape(6, 4), x_test=x_test.reshape(3, 4))
    assert load_arrays(flat).checksum == shaped


def test_a_class_may_be_absent(tmp_path: Path) -> None:
    assert load_arrays(write(tmp_path, y_train=np.array([0, 3, 3, 0, 3, 0]))).num_classes == 4


def write_tokens(folder: Path, **changes: Any) -> Path:
    tokens = np.array([[0, 1, 2], [2, 1, 0], [1, 1, 2], [0, 0, 3]])
    arrays = {
        "tokens_train": tokens,
        "y_train": np.array([0, 1, 0, 1]),
        "tokens_test": tokens[:2],
        "y_test": np.array([1, 0]),
    }
    path = folder / "tokens.npz"
    np.savez(path, **{**arrays, **changes})
    return path


def test_tokens_stay_whole_numbers(tmp_path: Path) -> None:
    task = load_arrays(write_tokens(tmp_path))
    assert task.train.x.dtype == torch.int64
    assert (task.shape.sample, task.shape.symbols, task.shape.per_position) == ((3,), 4, False)


def test_every_token_may_have_a_label(tmp_path: Path) -> None:
    labels = np.array([[-100, 0, 1], [-100, 2, 0], [-100, -100, 1], [0, 0, 0]])
    task = load_arrays(write_tokens(tmp_path, y_train=labels, y_test=labels[:2]))
    np.testing.assert_array_equal(task.train.y, labels)
    assert (task.num_classes, task.loss, task.shape.per_position) == (3, "cross_entropy", True)
    assert task.chance == 0.5  # of 0, 1, 2, 0


def test_real_targets(tmp_path: Path) -> None:
    y_train, y_test = np.arange(12.0).reshape(6, 2), np.zeros((3, 2))
    task = load_arrays(write(tmp_path, y_train=y_train, y_test=y_test))
    assert (task.num_classes, task.loss, task.is_regression) == (2, "squared_error", True)
    assert task.train.y.dtype == torch.float32
    np.testing.assert_array_equal(task.train.y, y_train)


def test_four_arrays_are_tokens_if_every_one_has_a_label() -> None:
    tokens = np.array([[0, 1], [1, 2], [2, 0]])
    assert task_from_arrays((tokens, tokens, tokens, tokens)).symbols == 3
    assert task_from_arrays((tokens, np.array([0, 1, 0]), tokens, np.array([0, 1, 0]))).symbols is (
        None
    )


@pytest.mark.parametrize("kind", ["images", "tokens", "labels of tokens", "real targets"])
def test_a_saved_task_is_the_same_task(tmp_path: Path, kind: str) -> None:
    labels = np.array([[0, -100, 1], [-100, 2, 0], [-100, -100, 1], [0, 0, 0]])
    path = {
        "images": lambda: write(
            tmp_path, x_train=np.ones((6, 1, 2, 2)), x_test=np.ones((3, 1, 2, 2))
        ),
        "tokens": lambda: write_tokens(tmp_path),
        "labels of tokens": lambda: write_tokens(tmp_path, y_train=labels, y_test=labels[:2]),
        "real targets": lambda: write(tmp_path, y_train=np.ones((6, 1)), y_test=np.ones((3, 1))),
    }[kind]()
    task = load_arrays(path)
    again = load_arrays(save_task(task, tmp_path / "saved"))
    assert (again.checksum, again.shape, again.loss) == (task.checksum, task.shape, task.loss)


TOKENS = np.array([[0, 1, 2], [2, 1, 0], [1, 1, 2], [0, 0, 3]])
WRONG_TOKENS = {
    "tokens float": ({"tokens_train": TOKENS / 2}, "tokens_train has dtype float64; give integers"),
    "tokens flat": ({"tokens_test": np.zeros(2, int)}, "tokens_test has shape (2,)"),
    "tokens negative": ({"tokens_train": TOKENS - 1}, "tokens_train has the token -1"),
    "tokens not numbered": ({"tokens_train": TOKENS * 100}, "tokens_train has the token 300"),
    "lengths differ": ({"tokens_test": TOKENS[:2, :2]}, "3 positions but tokens_test has 2 posit"),
    "labels of other shape": ({"y_train": TOKENS[:, :2]}, "y_train has shape (4, 2)"),
    "no label counts": ({"y_train": np.full((4, 3), -100)}, "all labels in y_train are −100"),
    "one split has labels of tokens": ({"y_train": TOKENS}, "y_train has the shape (4, 3) but y_"),
    "y negative": ({"y_train": np.array([0, -100, 1, 0])}, "y_train has the label -100"),
}


def test_wrong_tokens(tmp_path: Path):
    for changes, sentence in WRONG_TOKENS.values():
        path = write_tokens(tmp_path, **changes)
        with pytest.raises(UserError) as caught:
            load_arrays(path)
        assert str(caught.value).startswith(str(path))
        assert sentence in str(caught.value)


X, Y = good()["x_train"], good()["y_train"]
WRONG = {
    "x with one axis": ({"x_train": np.zeros(6)}, "x_train has shape (6,)"),
    "x without features": ({"x_test": np.zeros((3, 0))}, "x_test has shape (3, 0)"),
    "x without samples": ({"x_train": np.zeros((0, 4))}, "x_train has shape (0, 4)"),
    "x not a number": ({"x_train": np.where(X > 0, np.nan, X)}, "x_train has values that are not"),
    "x infinite": ({"x_test": np.full((3, 4), np.inf)}, "x_test has values that are not finite"),
    "x beyond float32": ({"x_test": np.full((3, 4), 1e300)}, "x_test has values that are not"),
    "x complex": ({"x_train": X.astype(complex)}, "x_train has dtype complex128"),
    "x boolean": ({"x_train": X > 0}, "x_train has dtype bool"),
    "x text": ({"x_train": X.astype(str)}, "x_train has dtype <U"),
    "x of objects": ({"x_train": X.astype(object)}, "x_train cannot be read"),
    "y of objects": ({"y_test": np.array([{}, 1, 2])}, "y_test cannot be read"),
    "y float": ({"y_train": Y.astype(float)}, "y_train has dtype float64"),
    "y one-hot": ({"y_train": np.eye(6, 3, dtype=int)}, "y_train has shape (6, 3)"),
    "targets infinite": ({"y_train": np.full((6, 1), np.inf)}, "y_train has values that are not"),
    "targets of one kind": ({"y_train": np.ones((6, 1))}, "y_test has dtype int64 and shape (3,)"),
    "targets differ": (
        {"y_train": np.ones((6, 1)), "y_test": np.ones((3, 2))},
        "y_train has the shape (6, 1) but y_test has (3, 2)",
    ),
    "shapes differ": ({"x_train": np.ones((6, 2, 2))}, "x_train has the shape (2, 2) but x_test"),
    "y negative": ({"y_train": Y - 1}, "y_train has the label -1"),
    "y empty": ({"y_test": np.zeros(0, int)}, "y_test is empty"),
    "y one class": ({"y_train": np.ones(6, int)}, "y_train has a single class, 1"),
    "y not numbered": ({"y_train": 1000 * Y}, "y_train has the label 2000"),
    "y beyond int64": ({"y_train": np.full(6, 2**64 - 1, np.uint64)}, "y_train has the label 1844"),
    "y new in test": ({"y_test": np.array([0, 1, 3])}, "y_test has the label 3"),
    "lengths differ": ({"y_train": Y[:5]}, "x_train has 6 samples but y_train has 5"),
    "features differ": ({"x_test": np.zeros((3, 5))}, "x_train has 4 features but x_test has 5"),
}


def test_wrong_arrays(tmp_path: Path):
    for changes, sentence in WRONG.values():
        path = write(tmp_path, **changes)
        with pytest.raises(UserError) as caught:
            load_arrays(path)
        message = str(caught.value)
        assert message.startswith(str(path))
        assert sentence in message
        assert "\n" not in message


def test_a_missing_array(tmp_path: Path):
    for name in ["x_train", "y_train", "x_test", "y_test"]:
        path = tmp_path / "part.npz"
        np.savez(path, **{key: array for key, array in good().items() if key != name})
        with pytest.raises(UserError, match=f"has no array {name}; the file holds"):
            load_arrays(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"absent\.npz is not a file"):
        load_arrays(tmp_path / "absent.npz")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a file"):
        load_arrays(tmp_path)


def test_not_an_npz(tmp_path: Path):
    for content in [b"", b"hello", b"PK\x03\x04 cut short"]:
        path = tmp_path / "odd.npz"
        path.write_bytes(content)
        with pytest.raises(UserError, match=r"odd\.npz is not a readable \.npz file"):
            load_arrays(path)


def test_a_single_array_is_not_an_npz(tmp_path: Path) -> None:
    path = tmp_path / "one.npz"
    with path.open("wb") as file:
        np.save(file, np.zeros((3, 4)))
    with pytest.raises(UserError, match=r"one\.npz is not a readable \.npz file"):
        load_arrays(path)


def test_a_damaged_archive(tmp_path: Path) -> None:
    path = write(tmp_path)
    content = bytearray(path.read_bytes())
    content[200] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(UserError, match="x_train cannot be read"):
        load_arrays(path)
