"""Runs the teacher over a text file and stores its sentence vectors, chunk by chunk, so a stop loses little.

    teach.py MODEL_FOLDER TEXTS.txt OUT_FOLDER
"""

import os, sys, time
import numpy as np
from minilm import MiniLM

CHUNK_TEXTS = 8192


def main(model_folder, texts_path, out_folder):
    os.makedirs(out_folder, exist_ok=True)
    model = MiniLM(model_folder)
    texts = open(texts_path).read().splitlines()
    for start in range(0, len(texts), CHUNK_TEXTS):
        path = f"{out_folder}/{start:09d}.npy"
        if os.path.exists(path):
            continue
        began = time.time()
        vectors = model.embed(texts[start : start + CHUNK_TEXTS])
        np.save(path + ".part.npy", vectors.astype(np.float16))
        os.rename(path + ".part.npy", path)
        print(f"{start + len(vectors)} of {len(texts)}, {time.time() - began:.0f} s a chunk", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:4])
