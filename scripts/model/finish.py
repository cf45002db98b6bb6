"""Writes static.bin from what train.py saved: last frequency weights, calibration, int8.

    finish.py MODEL_FOLDER TRAINED.npz PAIRS.tsv static.bin

A token's trained length is damped to its root and times a SIF weight by its frequency in the training text.
The teacher spends much length on common words; retrieval wants less (figures: README.md).
"""

import sys
import numpy as np
from calibrate import calibrate, pairs_of
from distil import usable
from measure import static_embed
from minilm import MiniLM
import modelfile

NAME = "ingrain-static-2"
LENGTH_POWER = 0.5
SIF_A = 3e-3


def main(model_folder, trained, pairs, out):
    model = MiniLM(model_folder)
    vocabulary = usable(model.tokenizer)
    saved = np.load(trained)
    assert [i for i, _ in vocabulary] == list(saved["ids"])
    frequency = (saved["count"] + 0.5) / saved["count"].sum()
    length = np.linalg.norm(saved["table"], axis=1) + 1e-9
    weight = length ** (LENGTH_POWER - 1) * SIF_A / (SIF_A + frequency)
    vectors = (saved["table"] * weight[:, None]).astype(np.float32)
    write = lambda scale: modelfile.write(out, NAME, [t for _, t in vocabulary], saved["ids"], vectors, scale)
    write((0.0, 1.0))
    table = modelfile.load_table(out)
    low, high, _, _ = calibrate(lambda texts: static_embed(model.tokenizer, table, texts), pairs_of(pairs))
    write((low, high))


if __name__ == "__main__":
    main(*sys.argv[1:5])
