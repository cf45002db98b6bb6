"""The teacher: all-MiniLM-L6-v2 as a plain numpy forward pass over the registry package's safetensors."""

import os
import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

HEADS = 12
LAYERS = 6
LAYER_NORM_EPS = 1e-12
TOKENS_MAX = 256  # the model card's max_seq_length


def erf(x):
    """Abramowitz and Stegun 7.1.26; absolute error below 1.5e-7, which float32 cannot see."""
    sign = np.sign(x)
    x = np.abs(x)
    t = 1.0 / (1.0 + 0.3275911 * x)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return sign * (1.0 - poly * np.exp(-x * x))


def gelu(x):
    try:
        from scipy.special import erf as fast_erf
    except ImportError:
        fast_erf = erf
    return x * (0.5 + 0.5 * fast_erf(x * np.float32(1 / np.sqrt(2))).astype(np.float32))


class MiniLM:
    def __init__(self, folder):
        self.w = load_file(os.path.join(folder, "model.safetensors"))
        self.tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(TOKENS_MAX)
        self.layers = [self._layer(i) for i in range(LAYERS)]

    def _layer(self, i):
        prefix = f"encoder.layer.{i}."
        part = lambda name: (
            np.ascontiguousarray(self.w[prefix + name + ".weight"].T),
            self.w[prefix + name + ".bias"],
        )
        qkv = [part(f"attention.self.{n}") for n in ("query", "key", "value")]
        return {
            "qkv": (np.concatenate([w for w, _ in qkv], 1), np.concatenate([b for _, b in qkv])),
            "out": part("attention.output.dense"),
            "norm1": (self.w[prefix + "attention.output.LayerNorm.weight"], self.w[prefix + "attention.output.LayerNorm.bias"]),
            "up": part("intermediate.dense"),
            "down": part("output.dense"),
            "norm2": (self.w[prefix + "output.LayerNorm.weight"], self.w[prefix + "output.LayerNorm.bias"]),
        }

    @staticmethod
    def _norm(x, scale_shift):
        mean = x.mean(-1, keepdims=True)
        x = x - mean
        var = np.einsum("...i,...i->...", x, x)[..., None] / x.shape[-1]
        return x / np.sqrt(var + LAYER_NORM_EPS) * scale_shift[0] + scale_shift[1]

    def hidden(self, ids):
        """ids: (batch, length), all of one length, so no mask is needed."""
        batch, length = ids.shape
        w = self.w
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:length]
        x = x + w["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x, (w["embeddings.LayerNorm.weight"], w["embeddings.LayerNorm.bias"]))
        width = x.shape[-1]
        head = width // HEADS
        for layer in self.layers:
            qkv = (x.reshape(-1, width) @ layer["qkv"][0] + layer["qkv"][1]).reshape(batch, length, 3, HEADS, head)
            q, k, v = (np.ascontiguousarray(qkv[:, :, j].transpose(0, 2, 1, 3)) for j in range(3))
            scores = q @ k.transpose(0, 1, 3, 2) * np.float32(1 / np.sqrt(head))
            scores -= scores.max(-1, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(-1, keepdims=True)
            mixed = (scores @ v).transpose(0, 2, 1, 3).reshape(-1, width)
            x = x.reshape(-1, width)
            x = self._norm(x + mixed @ layer["out"][0] + layer["out"][1], layer["norm1"])
            up = gelu(x @ layer["up"][0] + layer["up"][1])
            x = self._norm(x + up @ layer["down"][0] + layer["down"][1], layer["norm2"])
            x = x.reshape(batch, length, width)
        return x

    def embed_ids(self, sequences, tokens_per_batch=2048, progress=None):
        """Unit vectors of token id lists. Equal lengths run together: no padding is wasted."""
        out = np.zeros((len(sequences), self.w["embeddings.LayerNorm.weight"].shape[0]), np.float32)
        by_length = {}
        for index, ids in enumerate(sequences):
            by_length.setdefault(len(ids), []).append(index)
        done = 0
        for length in sorted(by_length):
            group = by_length[length]
            step = max(1, tokens_per_batch // length)
            for start in range(0, len(group), step):
                part = group[start : start + step]
                pooled = self.hidden(np.array([sequences[i] for i in part])).mean(1)
                out[part] = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
                done += len(part)
                if progress:
                    progress(done, len(sequences))
        return out

    def embed(self, texts, progress=None):
        sequences = [e.ids for e in self.tokenizer.encode_batch(list(texts))]
        return self.embed_ids(sequences, progress=progress)
