"""Writes a portfolio's postings as CSV, Parquet or beancount.

A file is written whole beside its place and then moved there, so that a half-written one is never taken for the books.
"""

import csv
import io
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from alphaagent.errors import UsageFault
from alphaagent.ledger.export import ExportedPosting
from alphaagent.views_books import csv_cell
from alphaagent.views_ledger import POSTING_COLUMNS, POSTING_TEXTS, beancount_lines, posting_document

if TYPE_CHECKING:
    from alphaagent.ledger.store import SqlStore

ExportFormat = Literal["csv", "parquet", "beancount"]
ROWS_AT_ONCE = 10_000


def export(store: "SqlStore", portfolio: str, format_: ExportFormat, path: Path | None) -> Iterator[bytes]:
    """The books piece by piece where there is no path; else nothing, and a file is there. Raises UsageFault."""
    if path is None and format_ == "parquet":
        raise UsageFault("Parquet is no text for a terminal", fix="name a file with --out")
    with store.exported(portfolio) as postings:
        if path is None:
            yield from _pieces(portfolio, format_, postings)
            return
        with _replacing(path) as stream:
            _write(portfolio, format_, postings, stream)


def _pieces(portfolio: str, format_: ExportFormat, postings: Iterable[ExportedPosting]) -> Iterator[bytes]:
    lines = csv_lines(postings) if format_ == "csv" else (f"{line}\n" for line in beancount_lines(portfolio, postings))
    return (line.encode() for line in lines)


def csv_lines(postings: Iterable[ExportedPosting]) -> Iterator[str]:
    """A header and a line a posting; no cell is a formula."""
    yield ",".join(POSTING_COLUMNS) + "\n"
    for posting in postings:
        document, out = posting_document(posting), io.StringIO()
        csv.writer(out, lineterminator="\n").writerow([csv_cell(document[column], is_text=column in POSTING_TEXTS) for column in POSTING_COLUMNS])
        yield out.getvalue()


def _write(portfolio: str, format_: ExportFormat, postings: Iterable[ExportedPosting], stream: BinaryIO) -> None:
    if format_ == "parquet":
        _write_parquet(postings, stream)
        return
    for piece in _pieces(portfolio, format_, postings):
        stream.write(piece)


def _write_parquet(postings: Iterable[ExportedPosting], stream: BinaryIO) -> None:
    """With the amounts as exact decimals, instants in UTC, and settlement as a date."""
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    texts = {name: pyarrow.string() for name in POSTING_TEXTS}
    types = {"txn": pyarrow.int64(), "n": pyarrow.int64(), "reverses": pyarrow.int64(), **texts}
    types |= {"trade_at": pyarrow.timestamp("us", "UTC"), "settle_on": pyarrow.date32(), "amount": pyarrow.decimal128(19, 6)}
    schema = pyarrow.schema([(name, types[name]) for name in POSTING_COLUMNS])
    rows: list[dict[str, Any]] = []
    with ParquetWriter(stream, schema) as writer:
        for posting in postings:
            rows.append({name: getattr(posting, name) for name in POSTING_COLUMNS})
            if len(rows) == ROWS_AT_ONCE:
                writer.write_table(pyarrow.Table.from_pylist(rows, schema))
                rows = []
        writer.write_table(pyarrow.Table.from_pylist(rows, schema))


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream to a file beside `path`, which takes its place when all is written, and goes otherwise."""
    with _told(path):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    made = Path(name)
    try:
        with _told(path):
            with os.fdopen(handle, "wb") as stream:
                yield stream
            made.replace(path)
    finally:
        made.unlink(missing_ok=True)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise UsageFault(f"{path} cannot be written: {fault.strerror}", fix="choose another file with --out") from None
