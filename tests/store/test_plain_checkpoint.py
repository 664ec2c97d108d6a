"""Checkpoints that others wrote: what is read, what is refused, and that no code is run."""

from __future__ import annotations

import argparse
import os
import pickle
import shutil
from collections import OrderedDict
from pathlib import Path

import pytest
import torch
from gauges.small_networks import make_net, random
from safetensors.torch import save_file

from depthgauge.errors import UserError
from depthgauge.store.plain_checkpoint import PlainCheckpoint, read_plain_checkpoint

WEIGHTS = make_net().state_dict()
MATRICES = random(3, 8, 4)


def saved(folder: Path, content: object, name: str = "mine.pt") -> Path:
    path = folder / name
    torch.save(content, path)
    return path


def assert_weights(found: PlainCheckpoint) -> None:
    assert list(found.state_dict) == list(WEIGHTS)
    for name, tensor in WEIGHTS.items():
        assert torch.equal(found.state_dict[name], tensor)


def refusal(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        read_plain_checkpoint(path)
    told = str(caught.value)
    assert "\n" not in told
    assert str(path) in told
    return told


@pytest.mark.parametrize("kind", [dict, OrderedDict])
def test_a_state_dict_alone(tmp_path, kind):
    found = read_plain_checkpoint(saved(tmp_path, kind(WEIGHTS)))
    assert_weights(found)
    assert found.matrices is None


@pytest.mark.parametrize("holder", ["state_dict", "model_state_dict", "model", "net"])
def test_a_state_dict_beside_other_things(tmp_path, holder):
    others = {"epoch": 3, "optimizer": {"state": {0: {"step": torch.ones(1)}}}, "name": "dfa"}
    found = read_plain_checkpoint(saved(tmp_path, {**others, holder: WEIGHTS}))
    assert_weights(found)
    assert found.matrices is None


def test_a_state_dict_with_a_part_that_is_called_like_a_holder(tmp_path):
    named = {"net.weight": torch.ones(2, 2), "model.bias": torch.ones(2)}
    assert read_plain_checkpoint(saved(tmp_path, named)).state_dict.keys() == named.keys()


@pytest.mark.parametrize("nested", [False, True])
def test_the_prefix_of_parallel_training_is_taken_off(tmp_path, nested):
    prefixed = {f"module.{name}": tensor for name, tensor in WEIGHTS.items()}
    content = {"state_dict": prefixed} if nested else prefixed
    assert_weights(read_plain_checkpoint(saved(tmp_path, content)))


def test_a_part_of_the_network_that_is_called_module_keeps_its_name(tmp_path):
    names = {"module.weight": torch.ones(1), "head.weight": torch.ones(1)}
    assert read_plain_checkpoint(saved(tmp_path, names)).state_dict.keys() == names.keys()


@pytest.mark.parametrize(
    "matrices",
    [
        list(MATRICES),
        tuple(MATRICES),
        MATRICES,
        {"block 0": MATRICES[0], "block 1": MATRICES[1], "block 2": MATRICES[2]},
    ],
    ids=["list", "tuple", "stacked", "dict"],
)
def test_feedback_matrices_come_as_a_list(tmp_path, matrices):
    found = read_plain_checkpoint(saved(tmp_path, {"state_dict": WEIGHTS, "Bs": matrices}))
    assert_weights(found)
    assert isinstance(found.matrices, list)
    assert torch.equal(torch.stack(found.matrices), MATRICES)


@pytest.mark.parametrize(
    "matrices",
    [[], "B", [1.0, 2.0], [torch.ones(3)], MATRICES[0], torch.tensor(1.0), 3, {"B": None}],
    ids=["none", "text", "numbers", "vectors", "one matrix", "one number", "integer", "nothing"],
)
def test_feedback_that_is_no_matrices_is_refused(tmp_path, matrices):
    path = saved(tmp_path, {"state_dict": WEIGHTS, "Bs": matrices})
    assert "must be a list of feedback matrices" in refusal(path)


def test_safetensors(tmp_path):
    path = tmp_path / "mine.safetensors"
    save_file(WEIGHTS, path)
    found = read_plain_checkpoint(path)
    assert found.state_dict.keys() == WEIGHTS.keys()
    assert all(torch.equal(found.state_dict[name], tensor) for name, tensor in WEIGHTS.items())
    assert found.matrices is None


@pytest.mark.parametrize("name", ["nowhere.pt", "nowhere.safetensors", "."])
def test_a_file_that_is_not_there(tmp_path, name):
    assert "there is no checkpoint" in refusal(tmp_path / name)


@pytest.mark.parametrize(
    "junk",
    [b"", b"epoch,loss\n1,0.5\n", bytes(100), bytes(range(256)), b"PK\x03\x04 not a zip"],
    ids=["empty", "text", "zeros", "bytes", "almost a zip"],
)
@pytest.mark.parametrize("suffix", [".pt", ".safetensors"])
def test_junk_is_called_something_else_or_damaged(tmp_path, junk, suffix):
    path = tmp_path / f"junk{suffix}"
    path.write_bytes(junk)
    assert "is not a checkpoint" in refusal(path)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_file_is_called_damaged(tmp_path, share):
    path = saved(tmp_path, WEIGHTS)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    assert "is not a checkpoint" in refusal(path)


class Trap:
    """When it is unpickled, something comes into being at `path`."""

    def __init__(self, path: Path, how: str) -> None:
        self.path, self.how = str(path), how

    def __reduce__(self):
        if self.how == "mkdir":
            return os.mkdir, (self.path,)
        return shutil.copyfile, (__file__, self.path)


@pytest.mark.parametrize("how", ["mkdir", "copy"])
def test_a_pickle_with_code_in_it_is_refused_and_the_code_is_not_run(tmp_path, how):
    sprung = tmp_path / "sprung"
    path = saved(tmp_path, {"state_dict": WEIGHTS, "args": Trap(sprung, how)})
    told = refusal(path)
    assert not sprung.exists()
    assert "holds more than plain tensors" in told
    assert "model.state_dict()" in told
    torch.load(path, weights_only=False)
    assert sprung.exists()


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_a_bare_pickle_with_code_in_it_is_refused_and_the_code_is_not_run(tmp_path):
    sprung, path = tmp_path / "sprung", tmp_path / "bare.pt"
    path.write_bytes(pickle.dumps(Trap(sprung, "mkdir")))
    refusal(path)
    assert not sprung.exists()


@pytest.mark.parametrize(
    "extra", [make_net(), argparse.Namespace(lr=0.1)], ids=["a whole network", "arguments"]
)
def test_harmless_objects_are_refused_for_the_same_reason(tmp_path, extra):
    told = refusal(saved(tmp_path, {"state_dict": WEIGHTS, "extra": extra}))
    assert "holds more than plain tensors" in told


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"epoch": 3},
        {"state_dict": {}},
        {"state_dict": {"weight": 1.0}},
        [torch.ones(2)],
        torch.ones(2),
        {"weights": {"embed.weight": torch.ones(2)}},
    ],
    ids=["nothing", "an epoch", "empty", "numbers", "a list", "a tensor", "another name"],
)
def test_a_file_without_a_state_dict_says_where_one_would_be_found(tmp_path, content):
    told = refusal(saved(tmp_path, content))
    for holder in ("'state_dict'", "'model_state_dict'", "'model'", "'net'"):
        assert holder in told
