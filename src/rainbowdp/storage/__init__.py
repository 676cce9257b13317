"""What is kept: files that appear whole, checksummed documents, SQL quoting."""
