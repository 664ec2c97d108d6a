"""`depthgauge schema`: the JSON schema of study files."""

from __future__ import annotations

import argparse
import json


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add no options."""


def run(args: argparse.Namespace) -> int:
    """Print the schema."""
    from depthgauge.study_file import study_file_schema

    print(json.dumps(study_file_schema(), indent=2, ensure_ascii=False))
    return 0
