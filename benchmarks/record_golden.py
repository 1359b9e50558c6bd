"""Records the golden answers of the embedded model anew (SRV-11), after it was trained
again or a preset was changed on purpose: ``python -m benchmarks.record_golden``."""

from __future__ import annotations

import json
from pathlib import Path

from models.cards.shipped import shipped_card
from models.embedded.loading import load
from models.engine import Row, answer
from models.golden import places, probabilities
from models.questions.parse import parse_question

PATH = Path(__file__).parents[1] / "models" / "embedded" / "golden.json"


def main() -> None:
    engine = load(shipped_card("embedded"), dtype="float32")
    document = json.loads(PATH.read_text())
    for entry in document["golden"]:
        question = parse_question(entry["question"], client=False)
        ((given,),) = answer(engine, [Row(entry["state"], (question,))])
        entry["probabilities"] = [round(p, 6) for p in probabilities(given) or ()]
        if places(given):
            entry["spans"] = places(given)
    PATH.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
