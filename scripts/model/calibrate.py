"""What a cosine means for a model: the median of unrelated pairs and of paraphrases (crates/embed/model/pairs.tsv).

    calibrate.py MODEL_FOLDER PAIRS.tsv static.bin|minilm ...

Relevance is (cosine - unrelated) / (same - unrelated), cut to 0..1, so one threshold serves every model.
Printed beside: how many paraphrases and how many unrelated pairs pass the thresholds SPEC.md uses.
"""

import sys
import numpy as np
from minilm import MiniLM
from measure import static_embed
import modelfile


def calibrate(embed, pairs):
    left, right = embed([a for a, _ in pairs]), embed([b for _, b in pairs])
    cosines = left @ right.T
    same = np.diag(cosines)
    unrelated = cosines[~np.eye(len(pairs), dtype=bool)]
    return float(np.median(unrelated)), float(np.median(same)), unrelated, same


def pairs_of(path):
    return [line.rstrip("\n").split("\t") for line in open(path)]


def main(model_folder, pairs_path, *models):
    teacher = MiniLM(model_folder)
    for name in models:
        table = None if name == "minilm" else modelfile.load_table(name)
        embed = teacher.embed if table is None else lambda texts: static_embed(teacher.tokenizer, table, texts)
        low, high, unrelated, same = calibrate(embed, pairs_of(pairs_path))
        relevance = lambda x: (x - low) / (high - low)
        passing = ", ".join(
            f"at {t}: paraphrases {np.mean(relevance(same) >= t):.0%}, unrelated {np.mean(relevance(unrelated) >= t):.2%}" for t in (0.6, 0.7)
        )
        print(f"{name}: unrelated {low:.3f}, same {high:.3f}; {passing}")


if __name__ == "__main__":
    main(*sys.argv[1:])
