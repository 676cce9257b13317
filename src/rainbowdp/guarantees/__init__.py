"""What is promised between neighboring datasets."""
