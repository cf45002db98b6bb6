"""Runs the teacher over a text file and stores its sentence vectors, chunk by chunk, so a stop loses little.

    OPENBLAS_NUM_THREADS=1 teach.py MODEL_FOLDER TEXTS.txt OUT_FOLDER [PART PARTS]

One single-threaded process a core (PART 0 of 2, PART 1 of 2) is faster than one process with two threads.
"""

import os, sys, time
import numpy as np
from minilm import MiniLM

CHUNK_TEXTS = 2048


def main(model_folder, texts_path, out_folder, part=0, parts=1):
    os.makedirs(out_folder, exist_ok=True)
    model = MiniLM(model_folder)
    texts = open(texts_path).read().splitlines()
    for start in range(int(part) * CHUNK_TEXTS, len(texts), int(parts) * CHUNK_TEXTS):
        path = f"{out_folder}/{start:09d}.npy"
        if os.path.exists(path):
            continue
        began = time.time()
        vectors = model.embed(texts[start : start + CHUNK_TEXTS])
        np.save(path + ".part.npy", vectors.astype(np.float16))
        os.rename(path + ".part.npy", path)
        print(f"{start + len(vectors)} of {len(texts)}, {time.time() - began:.0f} s a chunk", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
