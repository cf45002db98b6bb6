"""The plain distillation: each token of the teacher's vocabulary alone through the model, PCA, SIF weights, int8.

    distil.py MODEL_FOLDER static.bin

train.py starts from these vectors and improves them on text.
"""

import sys
import numpy as np
from minilm import MiniLM
import modelfile

DIMS = 256
SIF_A = 1e-4  # Arora et al.; by vocabulary rank, since the vocabulary is ordered by frequency
CLS, SEP = 101, 102
NAME = "ingrain-static-0"
CALIBRATION = (0.10, 0.60)  # calibrate.py


def usable(tokenizer):
    """Token texts and reference ids without the special and unused entries."""
    pairs = sorted((i, t) for t, i in tokenizer.get_vocab().items())
    return [(i, t) for i, t in pairs if not (t.startswith("[") and t.endswith("]") and len(t) > 2)]


def single_token_vectors(model, ids):
    return np.concatenate([model.hidden(np.array([[CLS, i, SEP] for i in ids[s : s + 1024]])).mean(1) for s in range(0, len(ids), 1024)])


def pca(vectors, dims):
    centred = vectors - vectors.mean(0)
    _, _, axes = np.linalg.svd(centred.T @ centred)
    return centred @ axes[:dims].T


def sif(count):
    rank = np.arange(1, count + 1)
    probability = 1 / rank / (1 / rank).sum()
    return (SIF_A / (SIF_A + probability)).astype(np.float32)


def main(model_folder, out):
    model = MiniLM(model_folder)
    tokens = usable(model.tokenizer)
    ids = [i for i, _ in tokens]
    vectors = pca(single_token_vectors(model, ids), DIMS) * sif(len(ids))[:, None]
    modelfile.write(out, NAME, [t for _, t in tokens], ids, vectors, CALIBRATION)


if __name__ == "__main__":
    main(*sys.argv[1:3])
