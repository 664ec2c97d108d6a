"""`depthgauge export`: all runs and epochs of a study as one tidy table."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from depthgauge.studies.tidy import TidyTable

ROWS_AT_ONCE = 20_000
FORMATS = ("csv", "parquet")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `export` to the command line."""
    parser = subparsers.add_parser(
        "export", help="all runs and epochs of a study as one tidy table"
    )
    parser.add_argument("study", metavar="DIR", help="folder of a study")
    parser.add_argument(
        "--format", choices=FORMATS, help="(what the output's name ends in, or csv)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="(runs.csv or runs.parquet in DIR)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the table and say where it is."""
    from depthgauge.store.files import write_atomically
    from depthgauge.studies.tidy import TidyTable

    folder = Path(args.study)
    ending = Path(args.output).suffix[1:] if args.output else ""
    kind = args.format or (ending if ending in FORMATS else "csv")
    output = Path(args.output) if args.output else folder / f"runs.{kind}"
    table = TidyTable(folder)
    write = write_csv if kind == "csv" else write_parquet
    write_atomically(output, lambda path: write(path, table))
    if table.torn:
        print(
            f"depthgauge: {len(table.torn)} runs that are done have lost epochs of their metrics, "
            f"the first of them runs/{table.torn[0]}",
            file=sys.stderr,
        )
    print(output)
    return 0


def write_csv(path: Path, table: TidyTable) -> None:
    """As comma-separated values; what is not known is left empty.

    Measured values are numbers, which are written as JSON writes them: that is many times faster.
    """
    from pydantic_core import to_json

    with path.open("w", encoding="utf-8", newline="") as handle:
        handle.write(_csv(table.columns) + "\n")
        for beginning, rests in table.runs():
            identity, k, seed, *shared = beginning
            start = f"{identity},{k},{seed},{_shared_csv(tuple(shared))}"
            for rest in rests:
                numbers = to_json(rest).decode().strip("[]").replace("null", "")
                handle.write(f"{start},{numbers}\n")


@cache
def _shared_csv(values: tuple[Any, ...]) -> str:
    """What many runs have in common, made into text once."""
    return _csv(list(values))


def _csv(values: list[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(values)
    return text.getvalue()


def write_parquet(path: Path, table: TidyTable) -> None:
    """As Parquet, some rows at a time."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        from depthgauge.errors import UserError

        raise UserError(
            "--format parquet needs pyarrow: pip install 'depthgauge[parquet]'"
        ) from error
    schema = pa.schema([(name, _kind(name, pa)) for name in table.columns])
    rows = table.rows()
    with pq.ParquetWriter(path, schema) as writer:
        while some := list(islice(rows, ROWS_AT_ONCE)):
            arrays = [
                pa.array(column, field.type)
                for column, field in zip(zip(*some, strict=True), schema, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _kind(name: str, pa: Any) -> Any:
    if name in ("k", "width", "blocks", "epochs", "batch_size", "epoch"):
        return pa.int32()
    if name == "seed":
        return pa.int64()
    if name == "diverged":
        return pa.bool_()
    numbers = ("train_loss", "accuracy", "g_over_e", "learning_rate", "weight_decay", "penalty")
    return pa.float64() if name in numbers or "_norm_" in name else pa.string()
