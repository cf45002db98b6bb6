"""Made-up operations and work sentences, and every common word in plain frames, so that the training text is not all manuals
and novels.

Every sentence is drawn from the tables below and from WordNet's word lists; nothing is taken from anybody's data, and no topic
of people's lives is picked by hand: what such notes are about comes from the word lists alone.
"""

import random

NAMES = """Anna Ben Carla Dmitri Elena Farid Grace Hugo Ines Jamal Karin Liam Mei Nadia Oscar Priya Quentin Rosa Sven Tara
Umar Vera Wes Ximena Yuki Zoe Aaron Bianca Cedric Dana Emil Fiona Gustav Hana Igor Julia Kofi Lena Marco Nora Olaf Petra
Ravi Sofia Tom Ursula Victor Wanda Yara Zack Alice Bob Chris Dave Emma Frank Helen Ivan Jack Kate Laura Mike Nick Paul Rachel Sam Tim""".split()
KIN = "mom|dad|sister|brother|grandma|grandpa|aunt|uncle|cousin|wife|husband|partner|boss|neighbor|roommate|best friend|son|daughter|kids|team|colleague|girlfriend|boyfriend|nephew|niece|parents".split("|")
TIMES = """yesterday|last week|last weekend|last month|two years ago|in May|on Monday|this morning|last summer|next week|next month|tomorrow|in 2019|
for three years|every Sunday|during the holidays|last Friday|a few days ago|in the spring|next year|tonight|on 3 June 2022""".replace("\n", "").split("|")
SERVICES = """nginx|postgres|the payment service|redis|the API gateway|kafka|the login page|the search index|the billing job|the message queue|the load balancer|prometheus|
the cache|the scheduler|the staging cluster|the build server|the mail relay|the ingress controller|the backup job|the database replica|the auth service|the frontend|the data pipeline|elasticsearch|the cron job|grafana""".replace("\n", "").split("|")
FAULTS = """crashed|ran out of memory|returned 502 errors|timed out|filled the disk|lost its connection|was restarted|went down|got stuck in a crash loop|became very slow|
rejected every request|failed its health check|leaked file descriptors|was throttled|could not resolve DNS|fell behind on replication|hit the rate limit|dropped messages|deadlocked|served stale data""".replace("\n", "").split("|")
CAUSES = """an expired certificate|a bad config map|a wrong environment variable|a full disk|a missing index|a memory leak|a failed migration|a typo in the manifest|a network partition|
an outdated driver|too many connections|a revoked token|a race condition|clock drift|a large log file|a missing permission|a broken health probe|an upgrade to version 2.4|a firewall rule|a noisy neighbor|an unpinned dependency|a low file handle limit""".replace("\n", "").split("|")
FIXES = """rolling back the last deploy|raising the memory limit|rotating the key|restarting the pod|adding an index|renewing the certificate|scaling to three replicas|
clearing the cache|pinning the version|increasing the timeout|draining the node|rebuilding the image|vacuuming the table|fixing the DNS record|enabling compression|switching to the replica|deleting old logs|setting a connection limit""".replace("\n", "").split("|")
PREFS = """dark mode|short answers|tabs over spaces|metric units|Rust|Python|meetings in the morning|email instead of calls|window seats|decaf coffee|bullet points|British spelling|the vegetarian menu|trains over planes|a quiet room|weekly summaries|TypeScript|pnpm|conventional commits""".replace("\n", "").split("|")
OPENERS = ["", "", "", "", "", "Thanks, {n}. ", "Note: ", "So, ", "By the way, ", "Hi {n}, ", "Yes. ", "Update: "]

STATEMENTS = """{service} {fault} {time}.|{service} {fault} because of {cause}.|We fixed it by {fix}.|The root cause was {cause}.|{service} {fault}; {fix} helped.|After {fix}, {service} was healthy again.|
Do not restart {service} during business hours.|The runbook says to try {fix} first when {service} {fault}.|Alert: {service} {fault} at 03:14 UTC.|{n} owns {service}.|Deploys to {service} need approval from {n}.|
The workaround is {fix}.|{cause} made {service} unreliable {time}.|We decided to keep {service} for now.|The user asked for {pref}.|Incident 4211: {service} {fault}, root cause {cause}, resolved by {fix}.|
I prefer {pref}.|{n} prefers {pref}.|Please remember that I like {pref}.|{n} approved the change to {service} {time}.|{n} rejected {fix} as too risky.|The plan for {service} was moved to {time}.|
Before the release we check {service} by hand.|{n} takes over {service} from {m} {time}.|Tests of {service} fail on a fresh machine.|Never do without {fix} after {cause}.""".replace("\n", "").split("|")
QUESTIONS = """Why did {service} fail {time}?|How do I fix {service} when it {fault}?|What caused the outage of {service}?|Who owns {service}?|What does the user prefer?|
What helped when {service} {fault}?|What did we decide about {service}?|Can you help me with {service}?|Who approved {fix}?|When did {service} last have trouble?|Is {fix} safe?|
What does {n} like better?|Which service suffered from {cause}?|Who takes over {service}?""".replace("\n", "").split("|")


def sentence(rng, question=False):
    template = rng.choice(QUESTIONS if question else STATEMENTS)
    text = template.format(
        n=rng.choice(NAMES), m=rng.choice(NAMES), time=rng.choice(TIMES), service=rng.choice(SERVICES),
        fault=rng.choice(FAULTS), cause=rng.choice(CAUSES), fix=rng.choice(FIXES), pref=rng.choice(PREFS),
    )
    return text[0].upper() + text[1:]


def message(rng):
    """One to four sentences, as people type them into a chat or a note."""
    if rng.random() < 0.35:
        return sentence(rng, question=True)
    count = rng.choice([1, 1, 1, 2, 2, 3, 4])
    body = " ".join(sentence(rng, question=rng.random() < 0.1) for _ in range(count))
    return rng.choice(OPENERS).format(n=rng.choice(NAMES)) + body


NOUN_FRAMES = """I love {w}.|Do you know anything about {w}?|We talked about {w} {time}.|My {kin} is into {w}.|{n} told me about the {w}.|Have you seen the {w}?|There was a problem with the {w}.|
The {w} is more important than the {x}.|I need a {w} and a {x}.|What kind of {w} does {n} have?|{n} bought a {w} {time}.|It reminds me of the {w} we saw {time}.|The {w} near the {x} is closed.|
I had a dream about {w} and {x}.|{n} asked whether the {w} is ready.|Thanks for the {w}!|Is there any {w} left?|The report says the {w} caused it.|I'm worried about the {w}.|Our {w} broke {time}.|
Which {w} did you choose?|The {w} belongs to my {kin}.|How is the {w} going?|She is studying {w}.|Note: check the {w} before the {x}.|When did {n} get the {w}?|What did {n} say about {w}?|Where is the {w}?|Why does {n} need a {w}?|Who gave {n} the {w}?""".replace("\n", "").split("|")
VERB_FRAMES = """I want to {w} it {time}.|Did {n} {w} the {x}?|We had to {w} everything.|Please {w} the {x} first.|You should never {w} that.|{n} will {w} tomorrow.|How do I {w} the {x}?|I can't {w} anymore.|
They decided to {w} together.|My {kin} likes to {w}.|Why would you {w} a {x}?|I forgot to {w} the {x}.""".replace("\n", "").split("|")
ADJECTIVE_FRAMES = """It was really {w}.|That sounds {w}!|I felt {w} about the {x}.|The {x} looks {w}.|Is it {w} enough?|{n} seems {w} lately.|What a {w} {x}!|My {kin} has a {w} {x}.|We need something more {w}.|The {w} {x} was {n}'s idea.""".replace("\n", "").split("|")


def frames(nouns, verbs, adjectives, rounds, seed=9):
    """Every word of the lists in `rounds` everyday sentences, so that none is known from its definition only."""
    rng = random.Random(seed)
    out = []
    for words, templates in ((nouns, NOUN_FRAMES), (verbs, VERB_FRAMES), (adjectives, ADJECTIVE_FRAMES)):
        for word in words:
            for template in rng.sample(templates, rounds):
                text = template.format(w=word, x=rng.choice(nouns), n=rng.choice(NAMES), kin=rng.choice(KIN), time=rng.choice(TIMES))
                out.append(text[0].upper() + text[1:])
    return out


def messages(count, seed=7):
    rng = random.Random(seed)
    return [message(rng) for _ in range(count)]
