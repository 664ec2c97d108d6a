"""The audit of networks, one after the other."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from oracles.readings import lower_median
from studies.small_grids import NET, RECIPE, TASK, grid, study_of, train

from depthgauge.nets.registry import initial_net
from depthgauge.studies.audit import (
    SMALL,
    audit,
    depth_gain_of_bp,
    reading_threads,
    untrained_reports,
)
from depthgauge.studies.audit_subjects import Subject, subjects_of_study
from depthgauge.studies.null import calibrate_null
from depthgauge.studies.trained import Trained, first_samples
from depthgauge.verdict.thresholds import Thresholds


@pytest.fixture(scope="module")
def subjects(tmp_path_factory):
    planned = grid("bp", "dfa", ks=(0, 2), seeds=(1,))
    study = study_of(planned, tmp_path_factory.mktemp("study"))
    train(study, planned)
    return subjects_of_study(study, planned)


@pytest.fixture(scope="module")
def audited(subjects):
    return audit(subjects, TASK, Thresholds())


def make_subject(method: str, accuracy: float | None, frozen: float | None) -> Subject:
    return Subject(method, 1, None, accuracy, frozen, {})


def test_every_subject_has_its_report(subjects, audited):
    assert [one.subject for one in audited] == subjects
    for one in audited:
        assert one.report.method_name == one.subject.method
        assert one.report.source == one.subject.source
        assert one.report.headline_acc == one.subject.accuracy
        assert one.report.frozen_baseline_acc == one.subject.frozen


def test_readings_are_those_of_the_last_epoch(audited):
    """Training reads the same samples, all of them at once; here they come in ten batches."""
    for one in audited:
        last = one.subject.metrics[-1]
        assert last["epoch"] == RECIPE.epochs
        assert one.report.residual_norms == pytest.approx(last["h_norm"], rel=1e-5)
        assert one.report.bp_grad_norms == pytest.approx(last["g_norm"], rel=1e-5)
        assert one.report.reference.over_error == pytest.approx(last["g_over_e"], rel=1e-5)


def test_the_last_gradient_by_hand(audited):
    report, trained = audited[1].report, audited[1].subject.trained
    x, y = TASK.evaluation.x, TASK.evaluation.y
    norms = []
    for one, label in zip(x, y, strict=True):
        last = trained.net.trace(one[None]).states[-1].detach().requires_grad_()
        logits = trained.net.out_head(trained.net.out_ln(last))[0]
        (gradient,) = torch.autograd.grad(logits.logsumexp(0) - logits[label], last)
        norms.append(math.sqrt(float((gradient**2).sum())))
    assert report.bp_grad_norms[-1] == pytest.approx(lower_median(norms), rel=1e-5)


def test_credit_is_examined_where_the_rule_is_known(audited):
    bp, dfa = (one.report for one in audited)
    assert bp.alignment.per_layer == pytest.approx([1.0] * 3, abs=1e-5)
    assert bp.null is None
    assert all(abs(gamma) < 1 for gamma in dfa.alignment.per_layer)
    assert dfa.null.draws == 200
    observed = [layer.observed for layer in dfa.null.per_layer]
    assert observed == pytest.approx(dfa.alignment.per_layer, abs=1e-6)


def test_alignment_is_read_in_the_convention_of_the_record_too(audited):
    dfa = audited[1]
    batch = first_samples(TASK, 2048)
    expected = calibrate_null(dfa.subject.trained, batch, 2, "record")
    observed = [layer.observed for layer in expected.per_layer]
    assert dfa.report.alignment_record.per_layer == pytest.approx(observed, abs=1e-6)
    assert dfa.report.alignment_record.per_layer != dfa.report.alignment.per_layer


def test_the_null_is_the_one_of_the_null_study(audited):
    trained = audited[1].subject.trained
    assert audited[1].report.null == calibrate_null(trained, first_samples(TASK, 2048), 200)


def test_progress_is_heard_for_every_network(audited):
    heard = []
    diverged = make_subject("broken", None, 0.3)
    (one,) = audit([diverged], TASK, Thresholds(), heard.append)
    assert heard == ["broken_s1"]
    assert one.report is None
    assert one.first_fired is None


def test_the_epoch_at_which_a_diagnostic_first_fires(subjects):
    """A threshold that even the untrained network passes fires before training, at epoch 0."""
    quick = replace(subjects[0], trained=replace(subjects[0].trained, rule=None))
    (always,) = audit([quick], TASK, Thresholds(growth=0.1, gradient=9, error_share=9))
    assert always.first_fired == {"D1": 0, "D2": 0}
    assert always.report.verdict == "walk back"
    assert always.report.thresholds.growth == 0.1
    assert always.report.alignment is None


def test_diagnostics_that_never_fired(audited):
    assert audited[0].first_fired == {"D1": None, "D2": None}


def test_what_bp_gains_from_depth_is_its_mean_over_seeds():
    subjects = [
        make_subject("bp", 0.5, 0.4),
        make_subject("bp", 0.6, 0.3),
        make_subject("bp", None, 0.1),
        make_subject("bp", 0.9, None),
        make_subject("dfa", 0.9, 0.1),
    ]
    assert depth_gain_of_bp(subjects) == pytest.approx(0.2)
    assert depth_gain_of_bp(subjects[2:]) is None


def test_of_several_settings_of_bp_the_most_accurate_one_tells_what_depth_gives():
    slow = replace(make_subject("bp[learning_rate=1e-09]", 0.4, 0.1), rule="bp")
    wide = replace(make_subject("bp[wide_block]", 0.9, 0.1), rule="bp", control="wide_block")
    assert depth_gain_of_bp([slow, wide, make_subject("bp", 0.5, 0.4)]) == pytest.approx(0.1)


def test_depth_is_judged_by_what_bp_gains_from_it():
    """Where bp gains nothing, D3 does not apply to any rule."""
    net = initial_net(NET, TASK, 1)
    for bp_gain, finding in ((0.0, "untested"), (0.3, "fires")):
        bp = make_subject("bp", 0.5, 0.5 - bp_gain)
        trained = Trained(net, None, None, "")
        dfa = replace(make_subject("dfa", 0.4, 0.4), trained=trained)
        (_, one) = audit([bp, dfa], TASK, Thresholds())
        assert one.report.judgement.findings[2].outcome == finding


def test_of_networks_trained_in_bf16_the_gradient_is_looked_at_in_bf16_too():
    net = initial_net(NET, TASK, 1)
    for in_bf16, precisions in ((False, []), (True, ["bfloat16"])):
        trained = Trained(net, None, None, "", in_bf16=in_bf16)
        (one,) = audit(
            [replace(make_subject("dfa", 0.4, 0.4), trained=trained)], TASK, Thresholds()
        )
        numerics = one.report.numerics
        assert list(numerics.of_native) == precisions
        assert numerics.value > 0.9999
        for cosines in numerics.of_native.values():
            assert all(0.9 < cosine < numerics.value for cosine in cosines), cosines


def test_untrained_networks_raise_no_alarm():
    reports = untrained_reports(NET, TASK, [1, 2], Thresholds())
    assert list(reports) == ["untrained_s1", "untrained_s2"]
    assert {report.verdict for report in reports.values()} == {"no alarm, depth untested"}
    norms = [tuple(report.residual_norms) for report in reports.values()]
    assert norms[0] != norms[1]
    h_0 = initial_net(NET, TASK, 2).embed(TASK.evaluation.x).detach()
    lengths = h_0.double().square().sum(1).sqrt().tolist()
    assert norms[1][0] == pytest.approx(lower_median(lengths), rel=1e-5)


def test_threads_share_the_products_of_large_networks_alone(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 8)
    small, large = torch.nn.Linear(SMALL // 100, 99), torch.nn.Linear(SMALL // 100, 100)
    assert (reading_threads(small), reading_threads(large)) == (1, 8)
