"""Declares the gate: checks that a ground truth must pass before its phase opens. `evaluator.gate` runs the checks."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GateCheck:
    """A check of the gate, which a ground truth must pass before its phase opens.

    Attributes
    ----------
    name : str
    tried : str
        A sentence that describes what this check scores.
    advice : str
        What an organizer should do if the check fails.
    """

    name: str
    tried: str
    advice: str


GATE_CHECKS = (
    GateCheck(
        "ceiling",
        "The ground truth is scored as if it were a submission.",
        "Look for images without objects, objects that no prediction can match, and splits without objects. Then add "
        "a corrected ground truth.",
    ),
    GateCheck(
        "empty",
        "An empty file and a file without predictions are submitted.",
        "Contact the operator: this version of the evaluator handles empty files differently from what the track "
        "specifies.",
    ),
    GateCheck(
        "template",
        "The sample submission that participants download is scored.",
        "Fix the sample submission of the bundle, or leave it out to get one that is generated from the ground truth.",
    ),
    GateCheck(
        "broken",
        "Files with a known defect are submitted.",
        "Contact the operator: this version of the evaluator does not report defects correctly.",
    ),
    GateCheck(
        "repeat",
        "The same file is scored twice.",
        "Contact the operator: this version of the evaluator does not give identical results for identical files.",
    ),
    GateCheck(
        "order",
        "The ground truth is scored as a submission, once complete and once with half of its predictions removed.",
        "Check that the ground truth has objects that count, and that some of them are in public images. If all files "
        "get the same score, the phase cannot rank anyone.",
    ),
)
