"""Will a model run on a machine, how fast, and does that pay: pure, exact arithmetic."""
