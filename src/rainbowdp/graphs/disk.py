"""Open graphs that are larger than memory, and say which are.

What ``RainbowGraph`` holds in memory lies in a DuckDB database here, in a folder that is gone when
the work ends; the searches are those of ``engines.joins``, and their results are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from rainbowdp.expecting import expect
from rainbowdp.graphs.disk_graph import DiskGraph
from rainbowdp.graphs.disk_loading import Lengths, Unit, Wanted, load_edges
from rainbowdp.graphs.engines.joins import joins
from rainbowdp.graphs.margins import half_of_memory
from rainbowdp.graphs.readers.sizes import about_edges
from rainbowdp.numeric.quantity import Number

IN_MEMORY = 100  # bytes for each edge that the engines in memory take at their peak, measured
_ROOM = 0.8  # of the machine's memory


def too_large_for_memory(path: str | PathLike[str]) -> str | None:
    """Why a graph file does not fit into this machine's memory, in words; None where it does.

    The number of edges is that of a Parquet file's rows; of other files it is guessed from their
    beginning.
    """
    edges = about_edges(path)
    needed, there = edges * IN_MEMORY, int(2 * half_of_memory() * _ROOM)
    if needed <= there:
        return None
    return (
        f"some {edges:,} edges need about {needed / 2**30:.1f} GiB in memory, and "
        f"{there / 2**30:.1f} GiB of this machine's can be used"
    )


@contextmanager
def graph_on_disk(
    path: str | PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    lengths: Lengths = None,
    unit: Unit = 1,
    measure: str = "",
    scale: Number = 1,
    memory: str | None = None,
    folder: str | PathLike[str] | None = None,
) -> Iterator[DiskGraph]:
    r"""Open a graph that is larger than memory, for depths, margins and mechanism files.

    Parquet and text files are read by DuckDB and never held; a ``.gr``, ``.graphml`` or ``.npy``
    file is read into memory once, 8 bytes for each edge and 8 more for its length.

    Parameters
    ----------
    path
        A file that ``rb.read_graph`` reads.
    columns
        The names of the two columns with the ends of each edge, for a file with more than two.
    weight
        The name of the column or attribute with the lengths of the edges. DIMACS files have them
        without a name.
    lengths
        What lengths are for, which must be said where a file has them. False counts edges. True
        goes by length: ⌊length/unit⌋ steps each, exactly, as in ``rb.with_lengths``.
        ``"nearest"`` has the nearest site go by length, and depth and promises by edge.
    unit
        For ``lengths=True`` the length of one step; or a function that chooses it, given a sample
        of the lengths.
    measure, scale
        What the unit is measured in, for messages and files: ``"m"``; and how many of these a
        length of 1 in the file is.
    memory
        How much DuckDB may use, such as ``"2GB"``; by default a quarter of the machine's.
    folder
        Where to put what memory cannot hold; by default the system's folder for temporary files. We
        make a folder of our own there, which is removed at the end, whatever happens.

    Yields
    ------
    DiskGraph
        The graph, as long as the block lasts.

    Raises
    ------
    InvalidGraph
        If the file cannot be read as a graph; the message names the file and, if there is one, the
        line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> work = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(work.name, "roads.csv")
    >>> _ = file.write_text("0,1\n1,2\n2,3\n3,4\n")
    >>> with graph_on_disk(file) as roads:
    ...     near = roads.nearest_sites({"north": 0, "south": 4})
    ...     print(near.region_numbers().tolist(), near.depths().tolist())
    [0, 0, 0, 1, 1] [2.0, 1.0, 0.0, 0.0, 1.0]
    >>> work.cleanup()

    """
    allowed = f"{half_of_memory() // 2 >> 20}MiB" if memory is None else memory
    with joins(expect(allowed, str, "memory"), folder) as engine:
        wanted = Wanted(columns, weight, lengths, unit, measure, scale)
        yield DiskGraph(engine, *load_edges(engine, Path(path), wanted))
