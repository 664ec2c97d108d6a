"""D1 and D2 in a user's own training loop."""

from __future__ import annotations

import copy
import sys
from pathlib import Path

import pytest
import torch
from diagnosis.examined_networks import BLOCKS, faint, overflowing, shown
from gauges.small_networks import make_batches, make_net, read, stream_times
from nets.foreign_networks import Encoder, build, encoder
from nets.module_fields import fields
from torch import nn

from depthgauge import Thresholds, UserError, diagnose, watch
from depthgauge.gauges.reference import ReferenceGauge
from depthgauge.gauges.scale import ScaleGauge

HELD_OUT = shown(1)[0]
NEVER = {"D1": None, "D2": None}


def test_two_lines_in_a_training_loop():
    net = make_net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    watching = watch(net, log_dir=None)
    for x, y in make_batches(8, 8, 8, 8):
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
        watching(*HELD_OUT)
    assert [watched.step for watched in watching.history] == [0, 1, 2, 3]
    assert len({watched.readings["gradient"] for watched in watching.history}) == 4
    assert watching.first_fired == NEVER


def test_what_is_watched_is_what_the_gauges_read():
    net = make_net()
    watched = watch(net, log_dir=None)(*HELD_OUT)
    scale = read(net, [HELD_OUT], ScaleGauge())
    reference = read(net, [HELD_OUT], ReferenceGauge())
    assert watched.residual_norms == scale.residual_norms
    assert watched.bp_grad_norms == reference.per_layer
    assert watched.readings == {
        "growth": scale.value,
        "gradient": reference.value,
        "error_share": reference.over_error,
    }


def test_history_keeps_what_each_call_returned_at_the_step_that_was_said():
    watching = watch(make_net(), log_dir=None)
    returned = [watching(*HELD_OUT, step=100), watching(*HELD_OUT, step=250), watching(*HELD_OUT)]
    assert watching.history == returned
    assert [watched.step for watched in returned] == [100, 250, 2]


def one_block_grows(net):
    with torch.no_grad():
        net.blocks[1].fc2.weight.mul_(1000)


def every_layer_grows(net):
    stream_times(net, 1e7)


def the_last_block_explodes(net):
    with torch.no_grad():
        net.blocks[-1].fc2.weight.mul_(1e8)


@pytest.mark.parametrize(
    ("blow_up", "fired"),
    [
        (one_block_grows, {"D1": 3, "D2": None}),
        (every_layer_grows, {"D1": None, "D2": 3}),
        (the_last_block_explodes, {"D1": 3, "D2": 3}),
    ],
)
def test_the_step_at_which_each_first_fired(blow_up, fired):
    net = make_net()
    watching = watch(net, log_dir=None)
    for step in range(6):
        if step == 3:
            assert watching.first_fired == NEVER
            blow_up(net)
        watching(*HELD_OUT)
    assert watching.first_fired == fired


def test_the_thresholds_are_the_users():
    watching = watch(make_net(), thresholds=Thresholds(growth=1.01), log_dir=None)
    watching(*HELD_OUT, step=7)
    assert watching.first_fired == {"D1": 7, "D2": None}


@pytest.mark.parametrize(("block", "part"), [(0, "ln"), (1, "fc1"), (2, "fc2")])
def test_a_network_that_overflows_fires_what_its_diagnosis_fires(block, part):
    net = overflowing(block, part)
    watching = watch(net, log_dir=None)
    watching(*HELD_OUT)
    assert diagnose(net, [HELD_OUT]).judgement.fired == ("D1", "D2")
    assert watching.first_fired == {"D1": 0, "D2": 0}


def test_weights_that_are_no_longer_finite_fire_and_do_not_stop_the_training():
    net = make_net()
    watching = watch(net, log_dir=None)
    watching(*HELD_OUT)
    nn.init.constant_(net.out_head.bias, torch.nan)
    watching(*HELD_OUT)
    assert watching.first_fired == {"D1": 1, "D2": 1}


def test_half_precision_is_watched_on_a_float32_copy():
    net = faint(torch.float16)
    watched = watch(net, log_dir=None)(*HELD_OUT)
    assert watched == watch(copy.deepcopy(net).float(), log_dir=None)(*HELD_OUT)
    assert 0 < watched.readings["gradient"] < 1e-9


def test_a_network_from_elsewhere_is_watched_by_its_path():
    network = build(encoder)
    watched = watch(network.model, "encoder.layers", log_dir=None)(*network.batches[0])
    expected = read(network.reader(), network.batches[:1], ScaleGauge())
    assert watched.residual_norms == expected.residual_norms


def test_the_network_is_left_as_it_was():
    net = make_net().train()
    net.embed.weight.grad = torch.ones_like(net.embed.weight)
    watching = watch(net, log_dir=None)
    before = fields(net)
    watching(*HELD_OUT)
    assert fields(net) == before


def trained(observed: bool) -> tuple[Encoder, int]:
    """A network with dropout after four steps, and how often it was watched."""
    network = build(encoder)
    optimizer = torch.optim.AdamW(network.model.parameters(), lr=0.01)
    watching = watch(network.model, network.blocks, log_dir=None)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        for x, y in network.batches[:4]:
            optimizer.zero_grad()
            nn.functional.cross_entropy(network.model(x), y).backward()
            if observed:
                watching(*network.batches[-1])
            optimizer.step()
    return network.model, len(watching.history)


def test_training_is_bit_for_bit_the_same_with_and_without_watching():
    (plain, never), (watched, often) = trained(False), trained(True)
    start = build(encoder).model.state_dict()
    assert (never, often) == (0, 4)
    for name, value in watched.state_dict().items():
        assert torch.equal(value, plain.state_dict()[name]), name
    assert not torch.equal(watched.head.weight, start["head.weight"])


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", ["layers", "blocks.7", ""])
def test_a_wrong_path_is_refused_at_once_and_nothing_is_written(folder, path):
    with pytest.raises(UserError, match="matches no modules of ResidualMLP"):
        watch(make_net(), path)
    assert list(folder.iterdir()) == []


def test_nothing_is_written_where_no_folder_is_wanted(folder):
    watch(make_net(), log_dir=None)(*HELD_OUT)
    assert list(folder.iterdir()) == []


def test_without_tensorboard_it_watches_and_writes_nothing(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    watching = watch(make_net(), log_dir=folder / "logs")
    assert watching(*HELD_OUT).readings["growth"] > 0
    assert len(watching.history) == 1
    assert list(folder.iterdir()) == []


def scalars_in(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """What TensorBoard would show of the folder."""
    reason = "TensorBoard is optional"
    pytest.importorskip("tensorboard", reason=reason)
    accumulators = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason=reason
    )
    events = accumulators.EventAccumulator(str(folder))
    events.Reload()
    return {
        tag: [(event.step, event.value) for event in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }


def test_readings_are_logged_to_tensorboard(folder):
    pytest.importorskip("tensorboard", reason="TensorBoard is optional")
    watching = watch(make_net(), log_dir=folder / "logs")
    for step in (3, 8):
        watching(*HELD_OUT, step=step)
    layers = range(BLOCKS + 1)
    expected = {
        "depthgauge/D1 growth": lambda w: w.readings["growth"],
        "depthgauge/D2 gradient": lambda w: w.readings["gradient"],
        "depthgauge/D2 error share": lambda w: w.readings["error_share"],
    }
    for layer in layers:
        expected[f"depthgauge/stream norm/{layer}"] = lambda w, n=layer: w.residual_norms[n]
        expected[f"depthgauge/gradient norm/{layer}"] = lambda w, n=layer: w.bp_grad_norms[n]
    logged = scalars_in(folder / "logs")
    assert logged.keys() == expected.keys()
    for tag, value in expected.items():
        assert [step for step, _ in logged[tag]] == [3, 8]
        assert [v for _, v in logged[tag]] == pytest.approx(
            [value(watched) for watched in watching.history], rel=1e-6
        )


def test_without_a_folder_of_ones_own_the_log_is_in_the_usual_one(folder):
    pytest.importorskip("tensorboard", reason="TensorBoard is optional")
    watch(make_net())(*HELD_OUT)
    assert [path.name for path in folder.iterdir()] == ["runs"]
    assert "depthgauge/D1 growth" in scalars_in(folder / "runs" / "depthgauge-watch")
