"""Provides examples of ground truth files for the handbook. The examples of each track form a valid ground truth."""

from collections.abc import Mapping

IMAGES = "ImageID\n0001eeaf4aed83f9\n0004886b7d043cfd\n000595fe6fee6369\n"
LABELS = "ImageID,LabelName,Confidence\n0001eeaf4aed83f9,/m/01yrx,1\n0004886b7d043cfd,/m/0bt9lr,1\n"
LABELS += "0001eeaf4aed83f9,/m/0bt9lr,0\n"
CLASSES = "/m/01yrx,Cat\n/m/0bt9lr,Dog\n"
HIERARCHY = """\
{"LabelName": "/m/0bl9f", "Subcategory": [
  {"LabelName": "/m/01yrx"},
  {"LabelName": "/m/0bt9lr"}
]}
"""
BOXES = """\
ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf
0001eeaf4aed83f9,/m/01yrx,0.11,0.53,0.2,0.81,0
0004886b7d043cfd,/m/0bt9lr,0.5,0.9,0.4,0.88,1
"""
USAGE = "ImageID,Usage\n0001eeaf4aed83f9,Public\n0004886b7d043cfd,Private\n000595fe6fee6369,Private\n"
DETECTION = {
    "boxes.csv": BOXES,
    "image_labels.csv": LABELS,
    "hierarchy.json": HIERARCHY,
    "classes.csv": CLASSES,
    "images.csv": IMAGES,
    "usage.csv": USAGE,
}
EXAMPLES: Mapping[str, Mapping[str, str]] = {
    "openimages-detection": DETECTION,
    "openimages-relationships": {
        "relationships.csv": (
            "ImageID,LabelName1,LabelName2,RelationshipLabel,XMin1,XMax1,YMin1,YMax1,XMin2,XMax2,YMin2,YMax2\n"
            "00173afdc7581c41,/m/04yx4,/m/0342h,plays,0.1,0.44,0.12,0.95,0.2,0.5,0.4,0.8\n"
        ),
        "image_labels.csv": "ImageID,LabelName,Confidence\n00173afdc7581c41,/m/04yx4,1\n00173afdc7581c41,/m/0342h,1\n",
        "classes.csv": "/m/04yx4,Man\n/m/0342h,Guitar\n",
        "relations.csv": "plays,plays\nholds,holds\n",
        "images.csv": "ImageID\n00173afdc7581c41\n001aca415f89a7b9\n",
        "usage.csv": "ImageID,Usage\n00173afdc7581c41,Public\n001aca415f89a7b9,Private\n",
    },
    "openimages-segmentation": {
        "boxes.csv": BOXES,
        "masks.csv": (
            "ImageID,LabelName,ImageWidth,ImageHeight,XMin,XMax,YMin,YMax,IsGroupOf,Mask\n"
            "0001eeaf4aed83f9,/m/01yrx,8,6,0.11,0.53,0.2,0.81,0,eJyzMDI28jcAAUM/UwATLQLD\n"
        ),
        "image_labels.csv": LABELS,
        "images.csv": (
            "ImageID,Width,Height\n0001eeaf4aed83f9,8,6\n0004886b7d043cfd,1024,683\n000595fe6fee6369,1024,768\n"
        ),
        "hierarchy.json": HIERARCHY,
        "classes.csv": CLASSES,
        "usage.csv": USAGE,
    },
    "openimages-classification": {name: text for name, text in DETECTION.items() if name != "boxes.csv"},
    "flickr30k-grounding": {
        "phrases.jsonl": (
            '{"image_id": "1007129816", "sentence_id": 0, "phrase_index": 0, "types": ["people"],'
            ' "boxes": [[80, 20, 240, 330]]}\n'
            '{"image_id": "1009434119", "sentence_id": 2, "phrase_index": 0, "types": ["animals"],'
            ' "boxes": [[15, 40, 300, 210]]}\n'
        ),
        "images.csv": "ImageID\n1007129816\n1009434119\n",
        "usage.csv": "ImageID,Usage\n1007129816,Public\n1009434119,Private\n",
    },
    "flickr30k-retrieval": {
        "gallery.json": (
            '{"images": ["1007129816", "1009434119"],\n "captions": [\n'
            '  {"caption_id": "c41", "image_id": "1009434119", "text": "A dog runs over the grass."},\n'
            '  {"caption_id": "c07", "image_id": "1007129816", "text": "A man wears an orange hat."}\n]}\n'
        ),
        "images.csv": "ImageID\n1007129816\n1009434119\n",
        "usage.csv": "ImageID,Usage\n1007129816,Public\n1009434119,Private\n",
    },
    "objectnet": {
        "answers.json": '{"0ab390d15ad8445.png": 297, "e65821c2fdd0467.png": 290}\n',
        "classes.csv": "290,Umbrella\n297,Water bottle\n",
        "controls.csv": "file,background,rotation,viewpoint\n0ab390d15ad8445.png,kitchen,0,top\n",
        "images.csv": "ImageID\n0ab390d15ad8445.png\ne65821c2fdd0467.png\n",
        "usage.csv": "ImageID,Usage\n0ab390d15ad8445.png,Public\ne65821c2fdd0467.png,Private\n",
    },
}
"""Example contents of ground truth files, by track and file name.

There is no example of `salt.txt`, because a salt must be secret.
"""
