"""Explains the score of a file with tidecv, and prints the CPU time in seconds.

Usage: `peer_tidecv.py TRUTH PREDICTIONS`. Both files are COCO JSON. The ground truth is read before the time is
measured. The ground truth reader of tidecv requires a mask for each object, so this program adds the objects itself.
"""

import json
import sys
from pathlib import Path
from time import process_time

from tidecv import TIDE, datasets
from tidecv.data import Data

truth_file, predictions = sys.argv[1:]
content = json.loads(Path(truth_file).read_text())
truth = Data("truth")
for image in content["images"]:
    truth.add_image(image["id"], image["file_name"])
for category in content["categories"]:
    truth.add_class(category["id"], category["name"])
for one in content["annotations"]:
    add = truth.add_ignore_region if one["iscrowd"] else truth.add_ground_truth
    add(one["image_id"], one["category_id"], one["bbox"])
before = process_time()
tide = TIDE()
tide.evaluate(truth, datasets.COCOResult(predictions), mode=TIDE.BOX)
tide.get_main_errors()
tide.get_special_errors()
print(process_time() - before)
