"""A trained network, loaded from a run's folder or from a user's file."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch
from pydantic import ValidationError
from torch import Tensor, nn

from depthgauge.config import NetConfig, RuleConfig
from depthgauge.errors import UserError, one_line
from depthgauge.gauges.norms import BATCH_READ, BATCHES_READ
from depthgauge.nets.from_state_dict import build_residual_mlp
from depthgauge.nets.layout import Layout
from depthgauge.nets.net_shape import NetShape
from depthgauge.nets.probed import shape_of
from depthgauge.nets.registry import initial_net
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stream_reader import StreamReader
from depthgauge.nets.user.network import build_network, load_weights
from depthgauge.registry import RULES
from depthgauge.rules.choice import choose_rule
from depthgauge.rules.contract import Rule
from depthgauge.rules.feedback import draw_feedback
from depthgauge.store.checkpoint import read_checkpoint
from depthgauge.store.network_sources import remember_sources
from depthgauge.store.plain_checkpoint import read_plain_checkpoint
from depthgauge.store.quarantine import DamagedError
from depthgauge.store.relative_paths import SOURCES
from depthgauge.store.run_folder import RunFolder
from depthgauge.store.run_paths import read_config
from depthgauge.tasks.base import Task
from depthgauge.tasks.inputs import as_inputs
from depthgauge.training.precision import DTYPES
from depthgauge.training.trainee import RunState

log = logging.getLogger("depthgauge")


@dataclass(frozen=True)
class TrainedNetwork:
    """A network and its learning rule, if the rule is known.

    Attributes:
        net: the network.
        rule: the rule; None if it is not known.
        feedback: the rule's feedback from training; None if it was not saved.
        origin: the path of the run's folder or of the file.
        name: the name of the network in messages.
        blocks: the dotted path to its blocks; None if they are its attribute `blocks`.
        in_bf16: whether it was trained with matrix products in bfloat16.
        drawn: the configuration and the seed from which its initial weights were drawn, if known.
        loss: the name of the loss on which it was trained.
        shape: the network's shape, from which a rule draws feedback; always known for a
            ResidualMLP.
    """

    net: nn.Module
    rule: Rule | None
    feedback: dict[str, Tensor] | None
    origin: str
    name: str = ""
    in_bf16: bool = False
    blocks: str | None = None
    drawn: tuple[NetConfig, int] | None = None
    shape: NetShape | None = None
    loss: str = "cross_entropy"

    def __post_init__(self) -> None:
        if self.shape is None and isinstance(self.net, ResidualMLP):
            object.__setattr__(self, "shape", NetShape.of(self.net))

    @property
    def layout(self) -> Layout | None:
        """The axes of the network's stream; None if they are not known."""
        return None if self.shape is None else self.shape.layout

    def reader(self) -> StreamReader:
        """Return a reader of the network's stream."""
        return StreamReader(self.net, self.blocks, loss=self.loss, layout=self.layout)

    def initial(self, task: Task) -> nn.Module | None:
        """Return the network before training; None if its initial weights are not known."""
        return None if self.drawn is None else initial_net(self.drawn[0], task, self.drawn[1])


def find_rule(config: RuleConfig, study: Path) -> Rule | None:
    """Return the rule of a run; None if the rule is no longer available.

    A rule from a user's file is read from the copy of the file in the study's folder. An installed
    rule must have the same version as in the run. Every rule must still accept the run's options.
    """
    checksum, _, name = config.source.rpartition(":")
    saved = study / SOURCES / f"{checksum[:16]}.py"
    reference = f"{saved}:{name}" if checksum and saved.is_file() else config.name
    if reference == config.name and config.name not in RULES.names:
        return None
    rule_class, source = RULES.find(reference)
    if source != config.source:
        return None
    with suppress(ValidationError):
        return rule_class(rule_class.Options.model_validate(config.options))
    return None


def load_run(
    folder: RunFolder, task: Task, rule: Rule | None = None, state: RunState | None = None
) -> TrainedNetwork:
    """Load the network of a run from its newest checkpoint.

    Without `rule`, `find_rule` looks up the rule of the run. Pass `state`, the content of the
    checkpoint, if the checkpoint was read before.
    """
    state, config = state or _newest_state(folder), folder.config
    study = folder.path.parent.parent
    remember_sources(study, config.net)
    net = initial_net(config.net, task, config.seed).to(DTYPES[config.recipe.dtype])
    load_weights(net, state.parameters, f"the run {folder.path} (task {task.name})")
    rule = rule or find_rule(config.rule, study)
    name = f"{config.rule.label}, k = {config.k}, seed {config.seed}"
    in_bf16 = config.recipe.dtype == "bf16"
    drawn, shape = (config.net, config.seed), shape_of(net, config.net, task)
    own = (net, rule, state.feedback, str(folder.path), name, in_bf16, config.net.block_path)
    return _check(TrainedNetwork(*own, drawn, shape, config.recipe.loss))


def _newest_state(folder: RunFolder) -> RunState:
    """Return the content of the newest undamaged checkpoint; change no file."""
    damaged = ""
    for path in (folder.checkpoint_path, folder.previous_path):
        try:
            if path.exists():
                return read_checkpoint(path)
        except DamagedError as error:
            damaged = damaged or f": {error}"
    raise UserError(
        f"the run {folder.path} has no usable checkpoint{damaged}; remove its result.json, "
        "and run the command of its study again to train the run again"
    )


def open_run(path: Path) -> RunFolder:
    """Open a run, given its folder or a checkpoint file in its folder."""
    folder = path if path.is_dir() else path.parent
    if not (folder / "config.json").is_file():
        raise UserError(f"{path} is not the folder of a run: it has no config.json")
    return RunFolder(folder.parent, read_config(folder / "config.json"))


def is_run(path: Path) -> bool:
    """Return whether `path` is a run's folder, or a file in a run's folder."""
    return ((path if path.is_dir() else path.parent) / "config.json").is_file()


def load_residual_mlp(path: Path, rule: Rule | None = None) -> TrainedNetwork:
    """Load a ResidualMLP from a file, with its feedback if the file has matrices `Bs`.

    Without `rule`, the shape of the matrices tells the rule: (d, classes) means dfa, and (d, d)
    means fa, where d is the width of the network.
    """
    plain = read_plain_checkpoint(path)
    net = build_residual_mlp(plain.state_dict, str(path))
    if plain.matrices is None:
        return _check(TrainedNetwork(net, rule, None, str(path), path.name))
    classes, width = net.out_head.weight.shape
    shapes = {tuple(matrix.shape) for matrix in plain.matrices}
    if rule is None and shapes in ({(width, classes)}, {(width, width)}):
        rule = choose_rule("dfa" if shapes == {(width, classes)} else "fa").build()
    if rule is None or len(plain.matrices) != net.num_blocks:
        raise UserError(
            f"`Bs` in {path} are {len(plain.matrices)} matrices of the shapes {sorted(shapes)}; "
            f"there must be {net.num_blocks}, all ({width}, {classes}) or all ({width}, {width})"
        )
    feedback = {"B": torch.stack(plain.matrices)}
    return _check(TrainedNetwork(net, rule, feedback, str(path), path.name))


def load_module(path: Path, factory: str, blocks: str | None, seed: int) -> TrainedNetwork:
    """Make a network with the user's `factory`, and load its weights from a file.

    The factory runs with the given seed, so that weights missing in the file are reproducible.
    """
    weights = read_plain_checkpoint(path).state_dict
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = build_network(factory, seed=seed)
    load_weights(net, weights, str(path))
    return _check(TrainedNetwork(net, None, None, str(path), path.name, blocks=blocks))


def _check(trained: TrainedNetwork) -> TrainedNetwork:
    """Return the network; refuse weights that are not finite, and feedback of wrong shapes."""
    for name, tensor in trained.net.named_parameters():
        if not bool(tensor.isfinite().all()):
            raise UserError(
                f"{trained.origin}: {name} has values that are not finite (NaN or Inf); give "
                "an earlier checkpoint"
            )
    if trained.rule is None or trained.feedback is None or trained.shape is None:
        return trained
    try:
        with torch.random.fork_rng(devices=[]):
            generator = torch.default_generator
            wanted = draw_feedback(trained.rule, trained.net, trained.shape, generator)
    except Exception as error:
        reason = one_line(error)
        log.warning("the feedback of %s was not checked: %s", trained.name, reason)
        return trained
    shapes = [{name: tuple(t.shape) for name, t in f.items()} for f in (wanted, trained.feedback)]
    if shapes[0] != shapes[1]:
        raise UserError(
            f"the feedback in {trained.origin} has the shapes {shapes[1]}; the rule "
            f"{trained.rule.name} needs {shapes[0]}; give the rule that trained the network"
        )
    return trained


def check_fits(trained: TrainedNetwork, task: Task) -> None:
    """Refuse a task whose number of inputs or of classes differs from that of the ResidualMLP."""
    net = cast(ResidualMLP, trained.net)
    of_net = (net.embed.in_features, net.out_head.out_features)
    of_task = (task.input_dim, task.num_classes)
    if of_task != of_net:
        raise UserError(
            f"{trained.origin} has {of_net[0]} inputs and {of_net[1]} classes; the task "
            f"{task.name} has {of_task[0]} inputs and {of_task[1]} classes; give the task on which "
            "the network was trained"
        )


def evaluation_batches(task: Task, batches: int) -> list[tuple[Tensor, Tensor]]:
    """Return the first `batches` batches of 128 samples of the evaluation split.

    If the split is too small for ten batches of 128 samples, the batches are smaller, because the
    diagnostic of stability needs several batches.
    """
    size = max(1, min(BATCH_READ, len(task.evaluation) // BATCHES_READ))
    x, y = first_samples(task, batches * size)
    return list(zip(torch.split(x, size), torch.split(y, size), strict=True))


def first_samples(task: Task, count: int) -> tuple[Tensor, Tensor]:
    """Return the first samples of the evaluation split as one batch."""
    x = as_inputs(task.evaluation.x[:count], task, torch.float32)
    return x, task.evaluation.y[:count]
