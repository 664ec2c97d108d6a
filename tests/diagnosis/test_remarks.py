"""What a report remarks on: labels nobody shifted, a headline far from what is measured."""

from __future__ import annotations

import pytest
import torch
from diagnosis.examined_networks import shown
from gauges.small_networks import make_net

from depthgauge import diagnose


def causal_model():
    transformers = pytest.importorskip("transformers", reason="needs a language model")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        n_layer=2, n_head=2, n_embd=8, vocab_size=20, n_positions=9, bos_token_id=0, eos_token_id=0
    )
    return transformers.GPT2LMHeadModel(config)


def test_labels_that_are_the_inputs_are_remarked_upon():
    tokens = torch.randint(1, 20, (4, 9), generator=torch.Generator().manual_seed(1))
    shifted = torch.cat([tokens[:, 1:], torch.full((4, 1), -100)], 1)
    model = causal_model()

    def remarks(labels):
        batch = {"input_ids": tokens, "labels": labels}
        return " ".join(diagnose(model, [batch], blocks="transformer.h").remarks)

    assert "shift" in remarks(tokens)
    assert "shift" not in remarks(shifted)


def test_a_headline_far_from_the_measured_accuracy_is_remarked_upon():
    net, batches = make_net(), shown(2)
    measured = diagnose(net, batches).accuracy.value
    far = diagnose(net, batches, headline_acc=1.0 if measured < 0.5 else 0.0)
    assert any("headline" in remark for remark in far.remarks)
    near = diagnose(net, batches, headline_acc=measured)
    assert not any("headline" in remark for remark in near.remarks)


def test_a_gain_of_bp_that_was_not_given_is_remarked_upon():
    options = {"headline_acc": 0.5, "frozen_baseline_acc": 0.1}
    unknown = diagnose(make_net(), shown(1), **options)
    assert any("backpropagation" in remark for remark in unknown.remarks)
    known = diagnose(make_net(), shown(1), bp_depth_gain=0.3, **options)
    assert not any("backpropagation" in remark for remark in known.remarks)
