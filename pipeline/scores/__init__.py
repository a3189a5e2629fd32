"""Scores of models from files, bundled or imported, and what a dollar buys of them."""
