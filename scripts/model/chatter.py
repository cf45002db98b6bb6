"""Made-up everyday and operations sentences, so that the training text is not all manuals and novels.

Every sentence is drawn from the tables below; nothing is taken from anybody's data.
"""

import random

NAMES = """Anna Ben Carla Dmitri Elena Farid Grace Hugo Ines Jamal Karin Liam Mei Nadia Oscar Priya Quentin Rosa Sven Tara
Umar Vera Wes Ximena Yuki Zoe Aaron Bianca Cedric Dana Emil Fiona Gustav Hana Igor Julia Kofi Lena Marco Nora Olaf Petra
Ravi Sofia Tom Ursula Victor Wanda Yara Zack Alice Bob Chris Dave Emma Frank Helen Ivan Jack Kate Laura Mike Nick Paul Rachel Sam Tim""".split()
KIN = "mom|dad|sister|brother|grandma|grandpa|aunt|uncle|cousin|wife|husband|partner|boss|neighbor|roommate|best friend|son|daughter|kids|team|colleague|girlfriend|boyfriend|nephew|niece|parents".split("|")
PLACES = """Paris|Berlin|Tokyo|the beach|the mountains|the lake|a small village in Italy|the gym|the library|the museum|the park|a music festival|
a pottery class|the animal shelter|the farmers market|a conference in Austin|Chicago|Lisbon|Nairobi|the hospital|the community center|church|a national park|
the art gallery|a coffee shop downtown|my old school|the office|a vegan restaurant|Mexico|New Zealand|the stadium|a cooking class|a dance studio|the forest|Norway|San Francisco""".replace("\n", "").split("|")
HOBBIES = """painting|running|pottery|hiking|baking bread|playing the guitar|playing chess|gardening|yoga|photography|swimming|reading science fiction|writing poems|
knitting|woodworking|camping|bird watching|cycling|learning Spanish|playing video games|volunteering|restoring old furniture|surfing|rock climbing|dancing salsa|
watching documentaries|collecting stamps|martial arts|meditation|astronomy|cooking Thai food|making candles|playing basketball|stand-up comedy|genealogy""".replace("\n", "").split("|")
THINGS = """a dog|a cat|a guitar|a new car|a house|a bike|a camera|a laptop|a painting|a necklace|a book about history|a tent|a piano|concert tickets|a puppy|two kittens|
running shoes|a telescope|a birthday cake|a scholarship|a promotion|a garden|a 3D printer|a motorcycle|a pair of boots|a phone|an old record player|a turtle|a parrot|a violin""".replace("\n", "").split("|")
TIMES = """yesterday|last week|last weekend|last month|two years ago|in May|on Monday|this morning|last summer|next week|next month|tomorrow|in 2019|since I was ten|
for three years|every Sunday|before the pandemic|during the holidays|on my birthday|last Friday|a few days ago|in the spring|next year|tonight|on 3 June 2022|around Christmas""".replace("\n", "").split("|")
FEELINGS = """happy|nervous|proud|exhausted|grateful|sad|excited|overwhelmed|relieved|lonely|inspired|angry|calm|hopeful|worried|embarrassed|surprised|confident|stressed|peaceful""".replace("\n", "").split("|")
EVENTS = """wedding|birthday party|job interview|marathon|graduation|road trip|surgery|move to a new apartment|breakup|exam|art show|family reunion|charity run|funeral|
adoption interview|concert|book club meeting|baby shower|camping trip|accident|divorce|first day at work|promotion|talent show|support group meeting|vacation""".replace("\n", "").split("|")
JOBS = """nurse|teacher|software engineer|counselor|chef|photographer|lawyer|social worker|mechanic|writer|designer|musician|firefighter|dentist|carpenter|store owner|dance teacher|researcher|pilot|farmer""".replace("\n", "").split("|")
FOODS = """pizza|sushi|pancakes|lasagna|a salad|chocolate cake|noodle soup|tacos|ice cream|roast chicken|curry|dumplings|apple pie|a smoothie|grilled salmon|cookies""".replace("\n", "").split("|")
TRAITS = """kind|stubborn|creative|allergic to nuts|vegetarian|left-handed|afraid of heights|good with kids|bilingual|a night owl|shy|patient|religious|ambitious|funny|a cancer survivor|single|married|an only child|colorblind""".replace("\n", "").split("|")
SERVICES = """nginx|postgres|the payment service|redis|the API gateway|kafka|the login page|the search index|the billing job|the message queue|the load balancer|prometheus|
the cache|the scheduler|the staging cluster|the build server|the mail relay|the ingress controller|the backup job|the database replica|the auth service|the frontend|the data pipeline|elasticsearch|the cron job|grafana""".replace("\n", "").split("|")
FAULTS = """crashed|ran out of memory|returned 502 errors|timed out|filled the disk|lost its connection|was restarted|went down|got stuck in a crash loop|became very slow|
rejected every request|failed its health check|leaked file descriptors|was throttled|could not resolve DNS|fell behind on replication|hit the rate limit|dropped messages|deadlocked|served stale data""".replace("\n", "").split("|")
CAUSES = """an expired certificate|a bad config map|a wrong environment variable|a full disk|a missing index|a memory leak|a failed migration|a typo in the manifest|a network partition|
an outdated driver|too many connections|a revoked token|a race condition|clock drift|a large log file|a missing permission|a broken health probe|an upgrade to version 2.4|a firewall rule|a noisy neighbor|an unpinned dependency|a low file handle limit""".replace("\n", "").split("|")
FIXES = """rolling back the last deploy|raising the memory limit|rotating the key|restarting the pod|adding an index|renewing the certificate|scaling to three replicas|
clearing the cache|pinning the version|increasing the timeout|draining the node|rebuilding the image|vacuuming the table|fixing the DNS record|enabling compression|switching to the replica|deleting old logs|setting a connection limit""".replace("\n", "").split("|")
PREFS = """dark mode|short answers|tabs over spaces|metric units|Rust|Python|meetings in the morning|email instead of calls|window seats|decaf coffee|bullet points|British spelling|the vegetarian menu|trains over planes|a quiet room|weekly summaries|TypeScript|pnpm|conventional commits""".replace("\n", "").split("|")
OPENERS = ["", "", "", "", "Hey {n}! ", "Wow, ", "Thanks, {n}! ", "Yeah, ", "That's great! ", "Oh no, ", "Hi! ", "Haha, ", "Sure. ", "Congrats! ", "I'm so sorry. ", "By the way, ", "Honestly, ", "No worries. ", "Cool! ", "Good question. ", "Note: ", "So, "]
CLOSERS = ["", "", "", "", " What about you?", " How have you been?", " It was amazing.", " Thanks for asking!", " I can't wait!", " It means a lot to me.", " Take care!", " Have you tried it?", " It was tough.", " Talk to you soon!", " You should come too."]

STATEMENTS = """I went to {place} with my {kin} {time}.|I've been {hobby_ing} {time} and it makes me feel {feel}.|My {kin} gave me {thing} {time}.|I just got {thing}!|
I'm {feel} about the {event}.|{n} and I are planning a trip to {place} {time}.|My {kin} works as a {job}.|I'm thinking of becoming a {job}.|{n} is {trait}.|I started {hobby} {time}.|
We had {food} at {place} {time}.|The {event} was {time} and I felt so {feel}.|{n} told me about the {event}.|I signed up for {place} to try {hobby}.|I lost my job as a {job} {time}.|
My {kin} and I love {hobby}.|I took a photo of the sunset at {place}.|Since the {event} I have been {feel}.|I'm allergic to most animals, but my {kin} has {thing}.|{n} moved from {place} {time}.|
I used to live near {place}.|{hobby} helps me relax after work.|I want to save money for {thing}.|The doctor said my {kin} will be fine.|We adopted {thing} {time}.|I read a great book {time} and it made me {feel}.|
{n} is getting married {time}.|I'm learning to cook {food}.|My favorite food is {food}.|I prefer {pref}.|{n} prefers {pref}.|Please remember that I like {pref}.|I ran a charity race {time} for mental health.|
I won first place in the contest {time}.|I have been studying to be a {job} {time}.|My {kin} passed away {time}.|We painted together {time}, it was so much fun.|I bought {thing} for my {kin}.|
{service} {fault} {time}.|{service} {fault} because of {cause}.|We fixed it by {fix}.|The root cause was {cause}.|{service} {fault}; {fix} helped.|After {fix}, {service} was healthy again.|
Do not restart {service} during business hours.|The runbook says to try {fix} first when {service} {fault}.|Alert: {service} {fault} at 03:14 UTC.|{n} owns {service}.|Deploys to {service} need approval from {n}.|
The workaround is {fix}.|{cause} made {service} unreliable {time}.|We decided to keep {service} for now.|The user asked for {pref}.|Incident 4211: {service} {fault}, root cause {cause}, resolved by {fix}.""".replace("\n", "").split("|")
QUESTIONS = """When did {n} go to {place}?|What does {n} do for a living?|Who gave {n} {thing}?|What are {n}'s hobbies?|How does {n} feel about the {event}?|Where did {n} move from?|
What did {n} buy for the {event}?|Why did {service} fail {time}?|How do I fix {service} when it {fault}?|What caused the outage of {service}?|Who owns {service}?|Does {n} like {hobby}?|
How long has {n} been {hobby_ing}?|What kind of food does {n} like?|Which city did {n} visit {time}?|What does the user prefer?|Is {n} {trait}?|What happened at the {event}?|Would {n} enjoy {hobby}?|
What helped when {service} {fault}?|How many times has {n} been to {place}?|What is {n}'s relationship to {m}?|When is the {event}?|What do {n} and {m} have in common?|What did we decide about {service}?|
Have you ever tried {hobby}?|What's your favorite thing about {hobby}?|How was the {event}?|Can you help me with {service}?|What pets does {n} have?|What book did {n} recommend to {m}?""".replace("\n", "").split("|")


def sentence(rng, question=False):
    template = rng.choice(QUESTIONS if question else STATEMENTS)
    hobby = rng.choice(HOBBIES)
    text = template.format(
        n=rng.choice(NAMES), m=rng.choice(NAMES), kin=rng.choice(KIN), place=rng.choice(PLACES), time=rng.choice(TIMES),
        hobby=hobby, hobby_ing="into " + hobby, thing=rng.choice(THINGS), feel=rng.choice(FEELINGS), event=rng.choice(EVENTS),
        job=rng.choice(JOBS), food=rng.choice(FOODS), trait=rng.choice(TRAITS), service=rng.choice(SERVICES),
        fault=rng.choice(FAULTS), cause=rng.choice(CAUSES), fix=rng.choice(FIXES), pref=rng.choice(PREFS),
    )
    return text[0].upper() + text[1:]


def message(rng):
    """One to four sentences, as people type them into a chat or a note."""
    if rng.random() < 0.35:
        return sentence(rng, question=True)
    count = rng.choice([1, 1, 1, 2, 2, 3, 4])
    body = " ".join(sentence(rng, question=rng.random() < 0.1) for _ in range(count))
    opener = rng.choice(OPENERS).format(n=rng.choice(NAMES))
    return opener + body + rng.choice(CLOSERS)


NOUN_FRAMES = """I love {w}.|Do you know anything about {w}?|We talked about {w} {time}.|My {kin} is into {w}.|{n} told me about the {w}.|Have you seen the {w}?|There was a problem with the {w}.|
The {w} is more important than the {x}.|I need a {w} and a {x}.|What kind of {w} does {n} have?|{n} bought a {w} {time}.|It reminds me of the {w} we saw {time}.|The {w} near the {x} is closed.|
I had a dream about {w} and {x}.|{n} asked whether the {w} is ready.|Thanks for the {w}!|Is there any {w} left?|The report says the {w} caused it.|I'm worried about the {w}.|Our {w} broke {time}.|
Which {w} did you choose?|The {w} belongs to my {kin}.|How is the {w} going?|She is studying {w}.|Note: check the {w} before the {x}.""".replace("\n", "").split("|")
VERB_FRAMES = """I want to {w} it {time}.|Did {n} {w} the {x}?|We had to {w} everything.|Please {w} the {x} first.|You should never {w} that.|{n} will {w} tomorrow.|How do I {w} the {x}?|I can't {w} anymore.|
They decided to {w} together.|My {kin} likes to {w}.|Why would you {w} a {x}?|I forgot to {w} the {x}.""".replace("\n", "").split("|")
ADJECTIVE_FRAMES = """It was really {w}.|That sounds {w}!|I felt {w} after the {event}.|The {x} looks {w}.|Is it {w} enough?|{n} seems {w} lately.|What a {w} {x}!|My {kin} has a {w} {x}.|We need something more {w}.|The {w} {x} was {n}'s idea.""".replace("\n", "").split("|")


def frames(nouns, verbs, adjectives, rounds, seed=9):
    """Every word of the lists in `rounds` everyday sentences, so that none is known from its definition only."""
    rng = random.Random(seed)
    out = []
    for words, templates in ((nouns, NOUN_FRAMES), (verbs, VERB_FRAMES), (adjectives, ADJECTIVE_FRAMES)):
        for word in words:
            for template in rng.sample(templates, rounds):
                text = template.format(w=word, x=rng.choice(nouns), n=rng.choice(NAMES), kin=rng.choice(KIN), time=rng.choice(TIMES), event=rng.choice(EVENTS))
                out.append(text[0].upper() + text[1:])
    return out


def messages(count, seed=7):
    rng = random.Random(seed)
    return [message(rng) for _ in range(count)]
