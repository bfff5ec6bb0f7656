"""Scores a file with hotcoco and prints the CPU time in seconds. The file must have one prediction per row.

Usage: `peer_hotcoco.py BOXES HIERARCHY PREDICTIONS`.
"""

import sys
from time import process_time

from hotcoco import COCO, COCOeval, Hierarchy

boxes, tree, predictions = sys.argv[1:]
truth = COCO.from_oid(boxes)
before = process_time()
found = truth.load_res_oid(predictions)
codes = {category["name"]: category["id"] for category in truth.dataset["categories"]}
evaluation = COCOeval(truth, found, "bbox", oid_style=True, hierarchy=Hierarchy.from_file(tree, label_to_id=codes))
evaluation.evaluate()
evaluation.accumulate()
print(process_time() - before)
