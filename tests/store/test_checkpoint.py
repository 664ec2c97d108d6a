"""A checkpoint: every bit comes back, and every bit that is lost is found."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import save_file
from store.small_runs_on_disk import state, state_bits

from depthgauge.store.checkpoint import position_of, read_checkpoint, write_checkpoint
from depthgauge.store.quarantine import DamagedError
from depthgauge.training.trainee import RunState

STATE = state(3, seed=1, step=2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "checkpoint.safetensors"
    write_checkpoint(path, STATE)
    return path


def come_back(path: Path, saved: RunState) -> RunState:
    write_checkpoint(path, saved)
    return read_checkpoint(path)


# What was written


def test_a_state_comes_back_bit_for_bit(path):
    found = read_checkpoint(path)
    assert state_bits(found) == state_bits(STATE)
    assert all((found.parameters, found.feedback, found.moments))
    assert position_of(path) == (3, 2)


def test_between_two_epochs_there_is_no_noise_and_no_loss(path):
    found = come_back(path, state(3))
    assert state_bits(found) == state_bits(state(3))
    assert (found.noise, found.loss, position_of(path)) == (None, 0.0, (3, 0))


@pytest.mark.parametrize(
    "loss", [0.1 + 0.2, -0.0, 5e-324, 1.7976931348623157e308, math.inf, math.nan], ids=str
)
def test_the_loss_so_far_comes_back_to_the_last_bit(path, loss):
    found = come_back(path, RunState(0, {}, {}, step=1, loss=loss))
    assert found.loss.hex() == loss.hex()


def test_noise_is_drawn_on_as_if_nothing_had_happened(path):
    generator = torch.Generator().manual_seed(5)
    torch.randn(7, generator=generator)
    found = come_back(path, RunState(0, {}, {}, step=1, noise=generator.get_state()))
    again = torch.Generator()
    again.set_state(found.noise)
    assert torch.equal(torch.randn(7, generator=again), torch.randn(7, generator=generator))


def test_without_moments_there_are_none(path):
    assert come_back(path, RunState(1, STATE.parameters, STATE.feedback)).moments == {}


def test_a_view_into_a_larger_tensor_is_saved_alone(path):
    stacked = torch.randn(50, 4, 3, generator=torch.Generator().manual_seed(0))
    found = come_back(path, RunState(1, {"w": stacked[7]}, {"B": stacked[8].T}))
    assert torch.equal(found.parameters["w"], stacked[7])
    assert torch.equal(found.feedback["B"], stacked[8].T)
    assert path.stat().st_size < stacked.nbytes / 2


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor(True),
        torch.tensor([[1], [-(2**62)]]),
        torch.empty(0, 3),
        torch.tensor([1.5, -0.0], dtype=torch.bfloat16),
    ],
    ids=lambda tensor: str(tensor.dtype),
)
def test_feedback_may_be_of_any_kind_and_shape(path, tensor):
    found = come_back(path, RunState(0, {}, {"kept": tensor})).feedback["kept"]
    assert (found.dtype, found.shape) == (tensor.dtype, tensor.shape)
    assert torch.equal(found, tensor)


def test_names_may_have_slashes(path):
    assert set(come_back(path, RunState(0, {}, {"a/b": torch.ones(1)})).feedback) == {"a/b"}


# What was damaged


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """All that a checkpoint can have, in few bytes."""
    path, noise = tmp_path / "checkpoint.safetensors", torch.arange(8, dtype=torch.uint8)
    write_checkpoint(path, RunState(3, {"w": torch.ones(2)}, {}, step=2, loss=0.1, noise=noise))
    return path


def assert_damaged(path: Path, what: object) -> None:
    with pytest.raises(DamagedError) as caught:
        pytest.fail(f"{what} comes out as {read_checkpoint(path)}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("first", [0, 3])
def test_every_byte_that_has_a_bit_flipped_is_found(small, first):
    """Also in the header, and also in the name of the checksum itself."""
    whole = small.read_bytes()
    for position in range(len(whole)):
        changed = bytearray(whole)
        changed[position] ^= 1 << (first + position) % 8
        small.write_bytes(changed)
        assert_damaged(small, changed)


def test_a_file_that_is_cut_short_anywhere_is_found(small):
    whole = small.read_bytes()
    for length in range(len(whole)):
        small.write_bytes(whole[:length])
        assert_damaged(small, length)


def test_a_file_that_has_grown_is_found(path):
    path.write_bytes(path.read_bytes() + b"\0" * 8)
    assert_damaged(path, "eight bytes more")


@pytest.fixture(scope="module")
def one_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "checkpoint.safetensors"
    write_checkpoint(path, STATE)
    return path


@pytest.fixture(scope="module")
def whole(one_path: Path) -> bytes:
    return one_path.read_bytes()


@given(place=st.floats(0, 1, exclude_max=True), new=st.binary(min_size=1, max_size=64))
def test_whatever_is_written_over_it_no_other_state_comes_out(one_path, whole, place, new):
    """Other white space in the header is harmless."""
    start = int(place * len(whole))
    new = new[: len(whole) - start]
    one_path.write_bytes(whole[:start] + new + whole[start + len(new) :])
    try:
        found = read_checkpoint(one_path)
    except DamagedError:
        return
    assert state_bits(found) == state_bits(STATE)


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"\0" * 64])
def test_the_position_of_what_is_no_checkpoint_cannot_be_told(path, content):
    path.write_bytes(content)
    with pytest.raises(DamagedError, match="cut short or damaged"):
        position_of(path)
    assert_damaged(path, content)


def test_a_checkpoint_that_is_not_there_has_no_position(tmp_path):
    assert position_of(tmp_path / "checkpoint.safetensors") is None
    assert_damaged(tmp_path / "checkpoint.safetensors", "nothing there")


def test_a_folder_is_no_checkpoint(tmp_path):
    assert_damaged(tmp_path, "a folder")
    with pytest.raises(DamagedError):
        position_of(tmp_path)


# Other versions


def with_metadata(path: Path, metadata: dict[str, str] | None) -> None:
    """The same tensors, with other words around them."""
    with safe_open(path, framework="pt") as handle:
        tensors = {name: handle.get_tensor(name) for name in handle.keys()}  # noqa: SIM118
    save_file(tensors, path, metadata)


@pytest.mark.parametrize("version", ["0", "2", "x", None])
def test_another_schema_version_is_named(path, version):
    said = {} if version is None else {"schema_version": version}
    with_metadata(path, said | {"epoch": "3"})
    for read in (read_checkpoint, position_of):
        with pytest.raises(DamagedError, match=rf"schema version {version}; .* knows 1$"):
            read(path)


@pytest.mark.parametrize("said", [{}, {"epoch": "three"}])
def test_a_checkpoint_that_does_not_say_where_it_stands_is_damaged(path, said):
    with_metadata(path, {"schema_version": "1"} | said)
    for read in (read_checkpoint, position_of):
        with pytest.raises(DamagedError, match="which epoch"):
            read(path)


def test_a_tensor_file_of_another_kind_is_no_checkpoint(path):
    with_metadata(path, None)
    assert_damaged(path, "no metadata at all")


def test_a_checkpoint_from_before_checksums_and_steps_is_read(path):
    old = state(3, seed=1)
    write_checkpoint(path, old)
    with_metadata(path, {"schema_version": "1", "epoch": "3"})
    assert position_of(path) == (3, 0)
    assert state_bits(read_checkpoint(path)) == state_bits(old)


@pytest.mark.parametrize("said", [{"step": "2"}, {"step": "2", "loss": "x"}])
def test_a_checkpoint_from_after_them_is_not_read_without_its_checksum(path, said):
    with_metadata(path, {"schema_version": "1", "epoch": "3"} | said)
    assert_damaged(path, said)
