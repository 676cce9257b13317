"""From Parquet files of nodes and edges to depths and a mechanism, for spark-submit.

    spark-submit examples/spark_depth.py NODES EDGES OUT --mechanism FILE --epsilon 1

NODES has the columns id and label, EDGES src and dst. Spark writes OUT, a folder of Parquet files
with id, region, depth (null where infinite) and boundary; the driver writes FILE, the exact
mechanism, in which the row of a node is that of its region and depth.
"""

from __future__ import annotations

import argparse

import rainbowdp as rb
from rainbowdp import spark


def rainbows(found: spark.SparkDepths) -> dict[object, list[object]]:
    """The answers are the regions: the own one first, then those it touches, then the rest."""
    labels = list(found.regions)
    beside: dict[object, set[object]] = {label: set() for label in labels}
    for a, b in found.touching:
        beside[a].add(b)
        beside[b].add(a)
    return {
        label: sorted(labels, key=lambda other, own=label: (other != own, other not in beside[own]))  # type: ignore[misc]
        for label in labels
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Depths and a mechanism of a graph in Spark.")
    parser.add_argument("nodes", help="Parquet with the columns id and label")
    parser.add_argument("edges", help="Parquet with the columns src and dst")
    parser.add_argument("out", help="folder of Parquet files that Spark writes")
    parser.add_argument("--mechanism", required=True, help="file that the driver writes")
    parser.add_argument("--epsilon", default="1", help="the guarantee, pure DP")
    parser.add_argument("--deepest", type=int, help="search no deeper than this")
    asked = parser.parse_args()

    session = spark.session("rainbow depths")
    try:
        nodes, edges = session.read.parquet(asked.nodes), session.read.parquet(asked.edges)
        found = spark.depths(nodes, edges, deepest=asked.deepest)
        found.nodes.write.parquet(asked.out)
        for label, region in found.regions.items():
            print(f"region {label}: {region.size:,} datasets, deepest {region.deepest}")
        mechanism = found.optimal(rainbows(found), rb.DP(asked.epsilon))
        mechanism.save(asked.mechanism)
        print(mechanism.exact().proof)
    finally:
        session.stop()


if __name__ == "__main__":
    main()
