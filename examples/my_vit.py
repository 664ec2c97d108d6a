"""A small vision transformer of one's own: plain torch, without any import of depthgauge.

Train it under three rules with this command:
`depthgauge audit --net examples/my_vit.py:make --blocks encoder.layers --task digits --rules bp fa
dfa`.
"""

import torch
from torch import Tensor, nn


class MyViT(nn.Module):
    """Cut 8×8 pixels into 16 patches, let a transformer look at them, and average."""

    def __init__(self, width: int = 32, layers: int = 3, classes: int = 10) -> None:
        super().__init__()
        self.patches = nn.Conv2d(1, width, kernel_size=2, stride=2)
        self.positions = nn.Parameter(0.02 * torch.randn(1, 16, width))
        layer = nn.TransformerEncoderLayer(
            width, 2, 2 * width, dropout=0.0, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits of a batch of images."""
        patches = self.patches(images.reshape(-1, 1, 8, 8))
        tokens = patches.flatten(2).transpose(1, 2) + self.positions
        return self.head(self.norm(self.encoder(tokens)).mean(1))


def make() -> nn.Module:
    """Return an untrained network; depthgauge seeds torch before each call."""
    return MyViT()
