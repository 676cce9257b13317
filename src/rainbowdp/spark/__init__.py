"""Searches on Spark, for graphs that do not fit in one machine's memory: DataFrames in and out.

``nearest_sites`` labels the nodes, ``depths`` finds regions and depths, ``margins`` how far each
answer is. What a mechanism needs of them is small, so it is made on the driver; a dataset finds its
row by region and depth, or by its margins.
"""

from __future__ import annotations

from rainbowdp.mechanisms.leveled import LeveledRegion as SparkRegion
from rainbowdp.spark.depth import SparkDepths, depths
from rainbowdp.spark.java import java_home, session
from rainbowdp.spark.margin import SparkMargins, margins
from rainbowdp.spark.sites import SparkSites, nearest_sites

__all__ = [
    "SparkDepths",
    "SparkMargins",
    "SparkRegion",
    "SparkSites",
    "depths",
    "java_home",
    "margins",
    "nearest_sites",
    "session",
]
