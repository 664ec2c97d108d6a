"""Which device runs are trained on."""

from __future__ import annotations

import torch

from depthgauge.errors import OptionError


def choose_device(name: str, executor: str = "local") -> str:
    """Return the device; `auto` is a GPU where there is one, else the processor.

    On a cluster a GPU need not be here, and which one it is is the cluster's to say.
    """
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if executor != "local":
        if ":" in name:
            raise OptionError(
                "device", f"--executor {executor} chooses the GPU itself: say --device cuda"
            )
        return name
    try:
        torch.empty(1, device=name)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise OptionError("device", f"--device {name} cannot be used here: {reason}") from error
    return name
