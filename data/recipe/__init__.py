"""How the snapshot is made from openly licensed originals; `data/make_snapshot.py` runs it."""
