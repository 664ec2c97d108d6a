"""The reference network: a pre-LayerNorm residual multilayer perceptron."""

from __future__ import annotations

from torch import Tensor, nn

from depthgauge.nets.contract import Trace


class Block(nn.Module):
    """One branch: LayerNorm → Linear → GELU → Linear.

    The second Linear starts with zero bias and weights drawn from N(0, `w2_std`²), so that the
    blocks of an untrained network are close to the identity.
    """

    def __init__(self, width: int, w2_std: float = 0.01, hidden: int | None = None) -> None:
        super().__init__()
        hidden = width if hidden is None else hidden
        self.ln = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, hidden)
        self.fc2 = nn.Linear(hidden, width)
        self.activation = nn.GELU()
        nn.init.normal_(self.fc2.weight, std=w2_std)
        nn.init.zeros_(self.fc2.bias)

    def forward(self, stream: Tensor) -> Tensor:
        """Return the branch f(h), which the network adds to the stream."""
        branch: Tensor = self.fc2(self.activation(self.fc1(self.ln(stream))))
        return branch


class ResidualMLP(nn.Module):
    """h_0 = embed(x), h_{l+1} = h_l + block_l(h_l), logits = out_head(out_ln(h_L)).

    The parts are created in the order embed, blocks, out_ln, out_head. If `torch.manual_seed(seed)`
    is called directly before, this order gives the published initial weights.

    Args:
        input_dim: the number of features of a sample; samples with more axes are flattened.
        d_hidden: the width d of the stream.
        num_classes: the number of logits.
        num_blocks: the number of blocks L, which may be 0.
        residual_add: if False, there is no skip connection: h_{l+1} = block_l(h_l).
        w2_std: the standard deviation of the initial weights of each block's second Linear.
        terminal_norm: if False, there is no LayerNorm before the readout.
        hidden: the width between a block's two Linears; by default d.
    """

    summary = "h_0 = embed(x), h_{l+1} = h_l + block_l(h_l), logits = out_head(out_ln(h_L))."

    def __init__(
        self,
        input_dim: int,
        d_hidden: int,
        num_classes: int,
        num_blocks: int,
        *,
        residual_add: bool = True,
        w2_std: float = 0.01,
        terminal_norm: bool = True,
        hidden: int | None = None,
    ) -> None:
        super().__init__()
        self.embed = nn.Linear(input_dim, d_hidden)
        self.blocks = nn.ModuleList(Block(d_hidden, w2_std, hidden) for _ in range(num_blocks))
        self.out_ln: nn.Module = nn.LayerNorm(d_hidden) if terminal_norm else nn.Identity()
        self.out_head = nn.Linear(d_hidden, num_classes)
        self.num_blocks = num_blocks
        self.residual_add = residual_add

    def readout(self, stream: Tensor) -> Tensor:
        """Return the logits for the last state of the stream."""
        logits: Tensor = self.out_head(self.out_ln(stream))
        return logits

    def trace(self, x: Tensor) -> Trace:
        """Run the forward pass and return every state and branch."""
        states, branches = [self.embed(x.flatten(1))], []
        for block in self.blocks:
            branch = block(states[-1])
            branches.append(branch)
            states.append(states[-1] + branch if self.residual_add else branch)
        return Trace(tuple(states), tuple(branches), self.readout(states[-1]))

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits."""
        return self.trace(x).logits
