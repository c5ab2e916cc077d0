"""Validates bags with bagit-python, fast and in full. Arguments: what fast says,
what full says, and the bag; as often as wanted."""
import logging
import sys

import bagit

logging.disable(logging.CRITICAL)
wrong = 0
for fast, full, path in zip(*[iter(sys.argv[1:])] * 3):
    for want, mode in ((fast, {"fast": True}), (full, {})):
        try:
            bag = bagit.Bag(path)
            bag.validate(**mode)
            found, why = "valid", ""
        except bagit.BagError as e:
            found, why = "invalid", e
        if found != want:
            wrong += 1
            print(path, mode, "is", found, why, "want", want)
sys.exit(wrong > 0)
