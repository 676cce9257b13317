"""Files that appear whole or not at all, checksummed documents, and SQL quoting."""
