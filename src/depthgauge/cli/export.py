"""`depthgauge export`: all runs and epochs of a study as one tidy table."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from depthgauge.studies.tidy import TidyTable

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
    table, torn = TidyTable(folder), list[str]()
    write = write_csv if kind == "csv" else write_parquet
    write_atomically(output, lambda path: torn.extend(write(path, table)))
    if torn:
        print(
            f"depthgauge: {len(torn)} runs that are done have lost epochs of their metrics, "
            f"the first of them runs/{torn[0]}",
            file=sys.stderr,
        )
    print(output)
    return 0


def write_csv(path: Path, table: TidyTable) -> list[str]:
    """As comma-separated values; what is not known is left empty. Gives the runs that are torn."""
    from depthgauge.studies.in_parts import in_parts

    torn: list[str] = []
    with path.open("w", encoding="utf-8", newline="") as handle:
        handle.write(_csv(table.columns) + "\n")
        for text, torn_here in in_parts(table, _csv_part):
            handle.write(text)
            torn += torn_here
    return torn


def _csv_part(table: TidyTable, part: slice) -> tuple[str, list[str]]:
    """Rows as text, and the runs that are torn.

    Measured values are numbers, which are written as JSON writes them: that is many times faster.
    """
    from pydantic_core import to_json

    rows, torn = list[str](), list[str]()
    for (identity, k, seed, *shared), rests, is_torn in table.runs(part):
        start = f"{identity},{k},{seed},{_shared_csv(tuple(shared))}"
        for rest in rests:
            numbers = to_json(rest).decode().strip("[]").replace("null", "")
            rows.append(f"{start},{numbers}\n")
        if is_torn:
            torn.append(identity)
    return "".join(rows), torn


@cache
def _shared_csv(values: tuple[Any, ...]) -> str:
    """What many runs have in common, made into text once."""
    return _csv(list(values))


def _csv(values: list[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(values)
    return text.getvalue()


def write_parquet(path: Path, table: TidyTable) -> list[str]:
    """As Parquet, some rows at a time. Gives the runs that are torn."""
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        from depthgauge.errors import UserError

        raise UserError(
            "--format parquet needs pyarrow: pip install 'depthgauge[parquet]'"
        ) from error
    from depthgauge.studies.in_parts import in_parts

    torn: list[str] = []
    with pq.ParquetWriter(path, _schema(table)) as writer:
        for rows, torn_here in in_parts(table, _parquet_part):
            writer.write_table(rows)
            torn += torn_here
    return torn


def _parquet_part(table: TidyTable, part: slice) -> tuple[Any, list[str]]:
    """Rows as an Arrow table, and the runs that are torn."""
    import pyarrow as pa

    runs, schema = list(table.runs(part)), _schema(table)
    rows = [run.beginning + rest for run in runs for rest in run.rests]
    arrays = [
        pa.array(column, field.type)
        for column, field in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema), [r.beginning[0] for r in runs if r.torn]


def _schema(table: TidyTable) -> Any:
    import pyarrow as pa

    return pa.schema([(name, _kind(name, pa)) for name in table.columns])


def _kind(name: str, pa: Any) -> Any:
    if name in ("k", "width", "blocks", "epochs", "batch_size", "epoch"):
        return pa.int32()
    if name == "seed":
        return pa.int64()
    if name == "diverged":
        return pa.bool_()
    numbers = ("train_loss", "accuracy", "g_over_e", "learning_rate", "weight_decay", "penalty")
    return pa.float64() if name in numbers or "_norm_" in name else pa.string()
