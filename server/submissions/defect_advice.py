"""Advice on how to fix a defect, for each defect code of the evaluator."""

ADVICE = {
    "bad_byte": "Remove the NUL bytes. The file must be plain text.",
    "bad_gzip": "The gzip data is incomplete or damaged. Compress the file again, then submit it.",
    "bad_header": "The first line must be the header of one of the formats on the data page.",
    "bad_json": "Use the format on the data page. The path shows where the file differs; indices start at 0.",
    "bad_mask": "Encode each mask with pycocotools at the size of its image, then apply zlib, then base64.",
    "bad_quote": "Close every quoted field on the line where it starts.",
    "bad_row": "Remove empty lines inside the file.",
    "bad_tokens": "Write all tokens of every prediction in the string, separated by spaces.",
    "bad_width": "Each line must have as many cells as the header.",
    "duplicate_image": "List each image once, with all its predictions.",
    "empty": "The file is empty. The data page shows what to submit.",
    "encoding": "Save the file as UTF-8.",
    "field_too_long": "Shorten the value. The limits are on the data page.",
    "line_too_long": "Start a new line for each image or prediction. The limits are on the data page.",
    "missing_image": "List every image, with empty predictions if there are none. The template file lists all images.",
    "missing_value": "Write a number in every cell.",
    "nothing_to_score": "Correct the predictions. To have the file scored as it is, use the button on the "
    "submission's page, or force=true in the API. The file then counts against your quota.",
    "not_a_number": "Write numbers with ASCII digits and a decimal point: 0.5, .5 or 5e-1.",
    "not_csv": "Submit the CSV file itself, or the CSV file compressed with gzip.",
    "not_finite": "Replace NaN and infinity with finite numbers, or leave those predictions out.",
    "too_large": "The uncompressed file is too large. The limits are on the data page.",
    "too_many_rows": "Submit fewer predictions: keep those with the highest confidence in each image.",
    "unknown_image": "Use only the image ids of the test set. The template file lists them.",
    "unknown_label": "Use only the labels of the class list, spelled as in the list.",
}
