"""Audit a rule of your own on arrays in memory: `python examples/own_rule.py`.

The study goes to `runs/` in the folder where this is run; a second time nothing is trained.
"""

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import depthgauge as dg


class SignFeedback(dg.Rule):
    """a_l = sign(e)·B_lᵀ with B_l Gaussian and fixed; the embedding uses B_0."""

    name = "sign_feedback"
    summary = "the signs of the error through a fixed matrix to each block"
    needs = frozenset({"error"})

    def feedback(self, net, generator):
        """Draw what the rule keeps for a run; everything random comes from `generator`."""
        return {"B": torch.randn(net.num_blocks, net.width, net.error_width, generator=generator)}

    def credit(self, context: dg.Context) -> dg.Credit:
        """Estimate the gradient at each block's output, and at the embedding's."""
        signs, matrices = context.error.sign(), context.feedback["B"]
        blocks = [context.project(signs, matrix, i + 1) for i, matrix in enumerate(matrices)]
        return dg.Credit(blocks=blocks, embed=context.project(signs, matrices[0], 0))


def main() -> None:
    """Train, judge, and look at the study in every way there is."""
    images, labels = load_digits(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(images / 16, labels, random_state=0)

    study = dg.audit(
        rules=["bp", SignFeedback],
        task=(x_train, y_train, x_test, y_test),
        seeds=3,
        width=16,
        depth=2,
        epochs=3,
    )
    print(study)
    print(study.to_dataframe("runs")[["label", "k", "seed", "accuracy"]])
    print(study.plot("ladder").save("ladder.pdf"))

    verdict = study["sign_feedback"].verdict
    if verdict.word == "walk back":
        print("The blocks are not trained:", ", ".join(verdict.fired))

    again = dg.load(study.folder)
    print("The same after loading:", again["sign_feedback"].verdict == verdict)


if __name__ == "__main__":
    main()
