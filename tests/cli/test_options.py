"""Options that several commands share: which device is meant."""

from __future__ import annotations

import json

import pytest
import torch
from cli.commands import SMALL, run
from training.devices import CUDA

from depthgauge.errors import UserError
from depthgauge.scheduling.resources import choose_device

CLUSTERS = ["ray", "slurm"]


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without one, wherever the test runs."""

    def refuse(*_: object, **options: object) -> torch.Tensor:
        if options.get("device") != "cpu":
            raise RuntimeError("no GPU\nand more of it")
        return torch.zeros(1)

    monkeypatch.setattr(torch, "empty", refuse)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("executor", CLUSTERS)
@pytest.mark.parametrize("name", ["cuda", "cpu"])
def test_a_device_of_a_cluster_need_not_be_here(executor, name):
    assert choose_device(name, executor) == name


def test_which_gpu_of_a_cluster_is_not_for_the_user_to_say():
    for executor in CLUSTERS:
        for name in ["cuda:0", "cuda:1"]:
            with pytest.raises(UserError) as refused:
                choose_device(name, executor)
            assert (
                str(refused.value)
                == f"--executor {executor} chooses the GPU itself; use --device cuda"
            )


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("name", ["cuda", "cuda:1"])
def test_on_this_machine_a_device_must_be_here(name):
    with pytest.raises(UserError) as refused:
        choose_device(name)
    assert str(refused.value) == f"--device {name} cannot be used here: no GPU"


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("executor", ["local", *CLUSTERS])
def test_without_a_gpu_the_processor_is_meant(executor):
    assert choose_device("auto", executor) == "cpu"


@pytest.mark.parametrize("executor", ["local", *CLUSTERS])
def test_with_a_gpu_that_is_meant(executor, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device("auto", executor) == "cuda"


@pytest.mark.parametrize("device", ["cpu", CUDA])
def test_a_study_is_trained_where_that_is(device, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: device == "cuda")
    command = ("ladder", *SMALL, "--rules", "bp", "--seeds", 1, "--k", 0, "--out", tmp_path / "s")
    assert run(*command, "--device", "auto").status == 0
    (result,) = (tmp_path / "s").glob("runs/*/result.json")
    assert json.loads(result.read_text())["provenance"]["device"] == device
    assert json.loads((tmp_path / "s" / "study.json").read_text())["device"] == device
