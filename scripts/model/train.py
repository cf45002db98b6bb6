"""Trains the token vectors so that their sums point where the teacher's sentence vectors point.

    train.py MODEL_FOLDER TEXTS.txt TEACHER_FOLDER OUT.npz [epochs]

A token's vector is  weight * (features @ map) + own.  `features` are what the teacher makes of the token alone
and its input embedding; `map` is shared and solved by least squares, so frequent tokens teach rare ones; `own` is held small by decay,
so a token seen twice stays near its distilled vector.

Loss: cosine to the teacher's vector, plus the squared difference of similarities between the texts of a batch,
half of whose texts come from a few clusters, so that near neighbours are compared and not only strangers.
"""

import os, sys, time
from glob import glob
import numpy as np
from scipy.sparse import csr_matrix
from minilm import MiniLM
from distil import single_token_vectors, usable

DIMS = 256
BATCH = 512
HELD_OUT = 3000
CLUSTERS = 300
RATE = 2e-3
RATE_OWN = 1e-3
OWN_DECAY = 2e-3       # each step the token is seen in
RELATION = 20.0         # weight of the similarity loss; its raw size is some fiftieth of the cosine loss
SIF_A = 1e-3
PRIOR_COUNT = 4.0       # ridge of the regression, in sightings of a token


def load(texts_paths, teacher_folders, tokenizer):
    """Comma-separated lists, one folder a text file; chunks the teacher has not done are left out."""
    rows, kept = [], []
    for texts_path, teacher_folder in zip(texts_paths.split(","), teacher_folders.split(",")):
        texts = open(texts_path).read().splitlines()
        for path in sorted(glob(f"{teacher_folder}/*.npy")):
            if ".part" in path:
                continue
            start = int(os.path.basename(path)[:9])
            part = np.load(path).astype(np.float32)
            rows.append(part)
            kept += texts[start : start + len(part)]
    tokenizer.no_truncation()
    tokens = [e.ids for e in tokenizer.encode_batch(kept, add_special_tokens=False)]
    return kept, tokens, np.concatenate(rows)


def features(model, ids, cache):
    if os.path.exists(cache):
        return np.load(cache)
    alone = single_token_vectors(model, ids)
    table = model.w["embeddings.word_embeddings.weight"][ids]
    unit = lambda x: x / np.linalg.norm(x, axis=1, keepdims=True)
    out = np.concatenate([unit(alone - alone.mean(0)), 0.5 * unit(table - table.mean(0))], 1).astype(np.float32)
    np.save(cache, out)
    return out


def matrix(tokens, place, count):
    index = [place[t] for row in tokens for t in row if t in place]
    ends = np.cumsum([0] + [sum(t in place for t in row) for row in tokens])
    x = csr_matrix((np.ones(len(index), np.float32), index, ends), shape=(len(tokens), count))
    x.sum_duplicates()
    return x


def clusters(vectors, rng, count=CLUSTERS, rounds=4):
    centres = vectors[rng.choice(len(vectors), count, replace=False)]
    for _ in range(rounds):
        label = np.argmax(vectors @ centres.T, 1)
        for c in range(count):
            member = vectors[label == c]
            if len(member):
                centres[c] = member.mean(0) / np.linalg.norm(member.mean(0))
    return label


class Adam:
    def __init__(self, shape, rate):
        self.m, self.v, self.t, self.rate = np.zeros(shape, np.float32), np.zeros(shape, np.float32), 0, rate

    def step(self, value, grad, scale, rows=slice(None)):
        self.t += 1
        self.m[rows] = 0.9 * self.m[rows] + 0.1 * grad
        self.v[rows] = 0.999 * self.v[rows] + 0.001 * grad * grad
        m, v = self.m[rows] / (1 - 0.9**self.t), self.v[rows] / (1 - 0.999**self.t)
        value[rows] -= scale * self.rate * m / (np.sqrt(v) + 1e-8)


class Student:
    def __init__(self, features, frequency, targets, x):
        self.f = features
        self.log_weight = np.log(SIF_A / (SIF_A + frequency)).astype(np.float32)
        # The best shared map for these weights, by least squares on the summed features.
        sums = x @ (self.f * np.exp(self.log_weight)[:, None])
        sums /= np.linalg.norm(sums, axis=1, keepdims=True)
        gram = sums.T @ sums + 1e-3 * len(sums) / sums.shape[1] * np.eye(sums.shape[1], dtype=np.float32)
        self.map = np.linalg.solve(gram, sums.T @ targets).astype(np.float32)
        self.own = np.zeros((len(features), DIMS), np.float32)
        self.adam = {"weight": Adam(self.log_weight.shape, RATE * 5), "own": Adam(self.own.shape, RATE_OWN)}

    def regress(self, x, target, rounds=3, iterations=12):
        """Ridge regression of all `own` vectors at once, by conjugate gradients on the normal equations.

        The length each sum is divided by is held fixed within a round. PRIOR_COUNT sightings of a token
        weigh as much as its distilled vector.
        """
        base = np.exp(self.log_weight)[:, None] * (self.f @ self.map)
        for _ in range(rounds):
            inverse = 1 / (np.linalg.norm(x @ (base + self.own), axis=1, keepdims=True) + 1e-8)
            scaled = x.multiply(inverse).tocsr()
            back = scaled.T.tocsr()
            ridge = PRIOR_COUNT * float((inverse**2).mean())
            residual = back @ (target - scaled @ (base + self.own)) - ridge * self.own
            direction, size = residual.copy(), (residual**2).sum(0)
            for _ in range(iterations):
                turned = back @ (scaled @ direction) + ridge * direction
                pace = size / ((direction * turned).sum(0) + 1e-12)
                self.own += pace * direction
                residual -= pace * turned
                size, before = (residual**2).sum(0), size
                direction = residual + size / (before + 1e-12) * direction

    def table(self):
        return np.exp(self.log_weight)[:, None] * (self.f @ self.map) + self.own

    def step(self, x, target, scale):
        seen = np.unique(x.indices)
        local = csr_matrix((x.data, np.searchsorted(seen, x.indices), x.indptr), shape=(x.shape[0], len(seen)))
        feature, weight = self.f[seen], np.exp(self.log_weight[seen])[:, None]
        base = feature @ self.map
        sums = local @ (weight * base + self.own[seen])
        length = np.linalg.norm(sums, axis=1, keepdims=True) + 1e-8
        s = sums / length
        n = len(s)
        off = s @ s.T - target @ target.T
        np.fill_diagonal(off, 0)
        grad = -target / n + RELATION * 4 * (off @ s) / (n * n)
        grad = (grad - (grad * s).sum(1, keepdims=True) * s) / length
        rows = local.T @ grad
        self.adam["weight"].step(self.log_weight, (rows * base).sum(1) * weight[:, 0], scale, seen)
        self.own[seen] *= 1 - OWN_DECAY * scale
        self.adam["own"].step(self.own, rows, scale, seen)
        return 1 - (s * target).sum(1).mean(), (off * off).mean()


def quality(table, x, teacher):
    s = x @ table
    s /= np.linalg.norm(s, axis=1, keepdims=True) + 1e-8
    mine, theirs = s @ s.T, teacher @ teacher.T
    np.fill_diagonal(mine, -2), np.fill_diagonal(theirs, -2)
    near, near_teacher = np.argsort(-mine, 1)[:, :10], np.argsort(-theirs, 1)[:, :10]
    overlap = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(near, near_teacher)])
    upper = np.triu_indices(len(s), 1)
    return overlap, np.corrcoef(mine[upper], theirs[upper])[0, 1]


def main(model_folder, texts_path, teacher_folder, out, epochs=4):
    rng = np.random.default_rng(5)
    model = MiniLM(model_folder)
    vocabulary = usable(model.tokenizer)
    ids = [i for i, _ in vocabulary]
    place = {i: n for n, i in enumerate(ids)}
    texts, tokens, teacher = load(texts_path, teacher_folder, model.tokenizer)
    x = matrix(tokens, place, len(ids))
    good = np.asarray(x.sum(1)).ravel() > 0
    x, teacher = x[good], teacher[good]
    _, _, axes = np.linalg.svd(teacher.T @ teacher)
    target = teacher @ axes[:DIMS].T
    print(f"{len(teacher)} texts, {x.sum():.0f} tokens; share of the teacher's vectors kept in {DIMS} dims {(target**2).sum(1).mean():.4f}", flush=True)
    target /= np.linalg.norm(target, axis=1, keepdims=True)
    count = np.asarray(x.sum(0)).ravel()
    frequency = (count + 0.5) / (count.sum() + 0.5 * len(count))
    train, held = np.arange(HELD_OUT, x.shape[0]), np.arange(HELD_OUT)
    student = Student(features(model, ids, os.path.join(model_folder, "features.npy")), frequency, target[train], x[train])
    report = lambda name: print(name, "held out: overlap@10 %.4f, pearson %.4f" % quality(student.table(), x[held], teacher[held]), flush=True)
    report("shared map only;")
    student.regress(x[train], target[train])
    report("after regression;")
    label = clusters(target[train], rng)
    members = [train[label == c] for c in range(label.max() + 1)]
    members = [m for m in members if len(m) >= 32]
    steps = int(epochs) * (len(train) // BATCH)
    began = time.time()
    for step in range(steps):
        picked = [rng.choice(members[c], 32, replace=False) for c in rng.choice(len(members), BATCH // 64, replace=False)]
        batch = np.unique(np.concatenate(picked + [rng.choice(train, BATCH // 2, replace=False)]))
        scale = min(1, step / 100) * (1 - step / steps)
        loss = student.step(x[batch], target[batch], scale)
        if step % max(1, steps // 8) == 0 or step == steps - 1:
            overlap, pearson = quality(student.table(), x[held], teacher[held])
            print(f"step {step}/{steps} {time.time() - began:.0f} s: cosine loss {loss[0]:.4f}, relation {loss[1]:.5f}; held out: overlap@10 {overlap:.4f}, pearson {pearson:.4f}", flush=True)
            np.savez(out, table=student.table(), ids=np.array(ids), count=count, axes=axes[:DIMS])


if __name__ == "__main__":
    main(*sys.argv[1:])
