"""Many questions, one budget: plans that are fixed beforehand, and sessions that go on."""
