"""The layout of static.bin, read in place by crates/embed/src/vocabulary.rs and fixed.rs. Little-endian throughout.

 0 magic "INGRVEC1"      8 tokens u32        12 dims u32          16 slots u32 (a power of two)
20 slots at u32         24 reference ids at  28 text ends at      32 text at
36 scales at            40 rows at           44 file bytes        48 calibration: unrelated f32
52 calibration: same    56 longest token, bytes u32               60 zero
64 model name, 32 bytes, zero padded

slots:          u16 each; 0 is empty, else token index + 1; FNV-1a (32 bit) of the token's text, linear probing
reference ids:  u16 each; the token's id in the teacher's vocabulary
text ends:      u32 each; end of the token's text, which starts where the one before ends
scales:         f32 each; value of one step of the token's int8 row
rows:           dims int8 each
"""

import struct
import numpy as np

MAGIC = b"INGRVEC1"
HEADER_BYTES = 96
SLOTS = 65536


def fnv1a(data):
    state = 0x811C9DC5
    for byte in data:
        state = ((state ^ byte) * 0x01000193) & 0xFFFFFFFF
    return state


def quantise(vectors):
    scales = np.abs(vectors).max(1) / 127
    rows = np.round(vectors / np.maximum(scales, 1e-12)[:, None]).astype(np.int8)
    return scales.astype("<f4"), rows


def write(path, name, tokens, reference_ids, vectors, calibration):
    texts = [t.encode() for t in tokens]
    slots = np.zeros(SLOTS, "<u2")
    for index, text in enumerate(texts):
        slot = fnv1a(text) & (SLOTS - 1)
        while slots[slot]:
            slot = (slot + 1) & (SLOTS - 1)
        slots[slot] = index + 1
    scales, rows = quantise(vectors)
    text = b"".join(texts)
    text += b"\0" * (-len(text) % 4)
    ends = np.cumsum([len(t) for t in texts]).astype("<u4")
    ids = np.array(reference_ids, "<u2").tobytes()
    ids += b"\0" * (-len(ids) % 4)
    parts = [slots.tobytes(), ids, ends.tobytes(), text, scales.tobytes(), rows.tobytes()]
    offsets, at = [], HEADER_BYTES
    for part in parts:
        offsets.append(at)
        at += len(part)
    header = MAGIC + struct.pack(
        "<10IffII", len(tokens), vectors.shape[1], SLOTS, *offsets, at, calibration[0], calibration[1], max(map(len, texts)), 0
    )
    header += name.encode().ljust(32, b"\0")
    assert len(header) == HEADER_BYTES
    with open(path, "wb") as out:
        out.write(header)
        for part in parts:
            out.write(part)


def read(path):
    raw = open(path, "rb").read()
    assert raw[:8] == MAGIC
    tokens, dims, _slots, _slots_at, ids_at, ends_at, text_at, scales_at, rows_at, size = struct.unpack_from("<10I", raw, 8)
    assert size == len(raw)
    ids = np.frombuffer(raw, "<u2", tokens, ids_at)
    scales = np.frombuffer(raw, "<f4", tokens, scales_at)
    rows = np.frombuffer(raw, np.int8, tokens * dims, rows_at).reshape(tokens, dims)
    return {
        "name": raw[64:96].rstrip(b"\0").decode(), "reference_ids": ids, "vectors": rows * scales[:, None],
        "calibration": struct.unpack_from("<ff", raw, 48),
    }


def load_table(path):
    """Vectors by reference id, of a model file or of what train.py saved."""
    if path.endswith(".npz"):
        saved = np.load(path)
        return table({"reference_ids": saved["ids"], "vectors": saved["table"]})
    return table(read(path))


def table(model, vocabulary_size=30522):
    """Vectors by reference id; tokens the file leaves out are zero."""
    out = np.zeros((vocabulary_size, model["vectors"].shape[1]), np.float32)
    out[model["reference_ids"]] = model["vectors"]
    return out
