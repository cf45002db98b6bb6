"""Evidence recall@10 of vectors alone and in the simple fusion with BM25, on a file in the shared bench format.

    measure.py MODEL_FOLDER BENCH.json static.bin|minilm|none ...
"""

import json, math, os, re, sys
from collections import Counter
import numpy as np
import snowballstemmer
from minilm import MiniLM
import modelfile

K1, B = 0.9, 0.3  # STACK.md: short turns
STOP = set("""a an the and or but if of at by for with about to from in on is are was were be been do does did have has had
it its this that these those i you he she they we me him her them us my your his their our what which who when where why how
as so than then there will would can could should not no""".split())
stem = snowballstemmer.stemmer("english").stemWord
_stems = {}


def words(text):
    out = []
    for word in re.findall(r"\w+", text.lower()):
        if word not in STOP:
            if word not in _stems:
                _stems[word] = stem(word)
            out.append(_stems[word])
    return out


def bm25(documents, queries):
    docs = [Counter(words(d)) for d in documents]
    lengths = np.array([sum(d.values()) for d in docs])
    postings = {}
    for i, doc in enumerate(docs):
        for word, count in doc.items():
            postings.setdefault(word, []).append((i, count))
    norm = K1 * (1 - B + B * lengths / lengths.mean())
    out = np.zeros((len(queries), len(docs)))
    for q, query in enumerate(queries):
        for word in set(words(query)):
            found = postings.get(word, [])
            idf = math.log(1 + (len(docs) - len(found) + 0.5) / (len(found) + 0.5))
            for i, count in found:
                out[q, i] += idf * count * (K1 + 1) / (count + norm[i])
    return out


def static_embed(tokenizer, table, texts):
    out = np.zeros((len(texts), table.shape[1]), np.float32)
    for i, encoding in enumerate(tokenizer.encode_batch(list(texts), add_special_tokens=False)):
        out[i] = table[encoding.ids].sum(0)
    return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-9)


def recall(scores, gold, at=10):
    top = np.argsort(-scores, kind="stable")[:at]
    return len(set(top) & gold) / len(gold)


def divided(scores):
    return scores / np.maximum(scores.max(1, keepdims=True), 1e-9)


def load(path):
    """(documents, queries, gold index sets, categories) of each collection; categories 1 to 4 only."""
    for c in json.load(open(path))["collections"]:
        place = {m["id"]: i for i, m in enumerate(c["memories"])}
        queries = [q for q in c["queries"] if q["category"] in (1, 2, 3, 4) and any(g in place for g in q["gold"])]
        yield (
            [m["speaker"] + ": " + m["text"] for m in c["memories"]], [q["text"] for q in queries],
            [{place[g] for g in q["gold"] if g in place} for q in queries], [q["category"] for q in queries],
        )


def evaluate(collections, embed, weight=0.5):
    alone, fused, by_category = [], [], {}
    for documents, queries, gold, categories in collections:
        words_score = divided(bm25(documents, queries))
        vectors_score = embed(queries) @ embed(documents).T if embed else np.zeros_like(words_score)
        for i in range(len(queries)):
            alone.append(recall(vectors_score[i], gold[i]))
        both = (1 - weight) * words_score + weight * divided(vectors_score) if embed else words_score
        for i in range(len(queries)):
            fused.append(recall(both[i], gold[i]))
            by_category.setdefault(categories[i], []).append(fused[-1])
    return 100 * np.mean(alone), 100 * np.mean(fused), {k: round(100 * np.mean(v), 1) for k, v in sorted(by_category.items())}


def cached_teacher(model, path):
    """The transformer takes minutes; keep its vectors of these texts beside the model."""
    store = {}
    def embed(texts):
        missing = [t for t in texts if t not in store]
        for text, vector in zip(missing, model.embed(missing)):
            store[text] = vector
        np.save(path, store, allow_pickle=True)
        return np.stack([store[t] for t in texts])
    if os.path.exists(path):
        store = np.load(path, allow_pickle=True).item()
    return embed


def main(model_folder, bench, *models):
    collections = list(load(bench))
    model = MiniLM(model_folder)
    for name in models:
        if name == "none":
            embed = None
        elif name == "minilm":
            embed = cached_teacher(model, os.path.join(model_folder, os.path.basename(bench) + ".npy"))
        else:
            table = modelfile.load_table(name)
            embed = lambda texts: static_embed(model.tokenizer, table, texts)
        alone, fused, parts = evaluate(collections, embed)
        print(f"{name}: vectors alone {alone:.1f}, fused {fused:.1f}, fused by category {parts}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
