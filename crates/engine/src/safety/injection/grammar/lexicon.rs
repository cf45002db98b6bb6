//! Lexicon of orders: words of all languages by class of meaning.
//!
//! One row per class: name and comma-separated words, lower case; `*` at the end of a word stands for any ending. The
//! long lists are in `terms`. To add a word, insert it into its class; a word may be in several. A reading keeps one
//! bit per class in a `u128`, so there can be 128 classes, and nearly all are taken: extend a class before adding one.
use std::sync::LazyLock;

use super::super::super::word_index::{WORD_BYTES_MIN, WordIndex};
use super::terms::*;

/// Classes with their words, common ones first: the position is the bit, and later bits count as rarer.
pub(super) const CLASSES: &[(&str, &str)] = &[
    ("drop", DROP),
    ("rules", RULES),
    ("before", BEFORE),
    ("void", VOID),
    ("agent", AGENT),
    ("person", PERSON),
    ("user", USER),
    (
        "nobody",
        "niemanden,nobody can,nobody has to,nobody needs to,nobody,no one,no human,no person,niemand,personne,nadie,\
         ninguém,nessuno,nikt,никто",
    ),
    ("check", CHECK),
    ("consult", CONSULT),
    ("skip", SKIP),
    ("neg", NEG),
    ("act", ACT),
    ("harm", HARM),
    ("target", TARGET),
    ("send", SEND),
    ("secret", SECRET),
    ("away", AWAY),
    ("tell", TELL),
    // Listing and reporting.
    (
        "list",
        "list,show,report,log,record,write,surface,include,document,explain,reporting,listing,logging,recording,put",
    ),
    // Prepositions before a destination.
    ("toward", "to ,at ,into,via,on ,in ,onto,an ,nach,vers,à ,al ,para,naar,do ,na ,на ,по ,向,到,给,に,へ,로,إلى,को"),
    // Approving one's own work.
    ("selfact", "merge,approve,review,sign off,accept,confirm"),
    ("hide", HIDE),
    ("future", FUTURE),
    ("session", SESSION),
    ("all", ALL),
    ("obey", OBEY),
    ("self", SELF),
    ("copy", COPY),
    ("memory", MEMORY),
    ("auth", AUTH),
    ("claim", CLAIM),
    ("grant", GRANT),
    ("bestow", BESTOW),
    ("priv", PRIV),
    ("free", FREE),
    ("be", BE),
    // Switching off a control.
    ("weaken", "turn off,turn the,switch off,disable,deactivate,kill,uninstall,shut off,shut down,remove,lower"),
    ("guard", GUARD),
    ("needless", NEEDLESS),
    // Treating something as something.
    ("mark", "treat,consider,regard,mark,marked,assume,count,flag,deem,label,view,accept,record,handle,take"),
    ("passed", PASSED),
    // Reading and inspecting.
    (
        "read",
        "read,reading,looking,look,inspecting,opening,lesen,lire,leer,leerlo,ler,leggere,lezen,czytania,чтения,看,\
         読まず",
    ),
    // Giving the approval oneself.
    (
        "yes",
        "answer yes,say yes,reply yes,click yes,choose yes,press yes,type yes,select yes,answer with yes,respond yes,\
      pick yes,confirm it yourself,answer y,say ok,press y,click ok,click approve,choose approve",
    ),
    // In the name of the user.
    (
        "behalf",
        "on the user's behalf,on their behalf,on behalf of the user,for the user,in the user's name,yourself,\
        on my behalf",
    ),
    ("ask", "questioned,ask*,prompt*,question*,wonder*,inquire*,enquire*,want* to know"),
    ("report", REPORT),
    // Logs and histories.
    (
        "ledger",
        "transcript*,chat log*,conversation log*,audit trail*,audit log*,audit record*,log,logs,history,log file*,\
         change log,timeline,journal,record*",
    ),
    // Pretexts: "say it was an accident".
    (
        "excuse",
        "say it was,say that it was,say this was,claim it was,claim that,call it a,blame,tell them it,tell him it,\
      say you were,say that you,attribute it,answer that it was,explain it as,make up a",
    ),
    (
        "only",
        "only,solely,exclusively,instead,sole,nothing but,alone,above all,nur,ausschließlich,seulement,uniquement,\
         solo,sólo,solamente,apenas,somente,soltanto,alleen,uitsluitend,tylko,wyłącznie,только,yalnızca,sadece,只,仅,\
         だけ,のみ,만",
    ),
    // Doing what another text says.
    (
        "followit",
        "do what it says,do as it says,do whatever it says,follow what it says,obey it,execute what,carry out what,\
         do what is written,follow whatever,run whatever,do what they say,apply whatever,do everything it,\
         follow every step in it,treat it as orders,follow the orders,act on what it says,follow it,run it,execute it,\
         carry it out,doing what it says,doing as it says,follow the instructions inside,\
         follow the instructions in it,follow the steps inside,following what it says,obey what,do what is in it,\
         apply what it says,act on its contents",
    ),
    // Loading a text or file.
    (
        "fetch",
        "fetching,loading,downloading,fetch,download,open,opening,visit,load,curl,wget,retrieve,pull,get,check,read,\
         consult,browse to,go to",
    ),
    ("run", "run,execute,launch,start,eval,invoke"),
    ("script", "script*,payload*,binary,file,code,program*,installer*,command*,package*"),
    // Advertising.
    (
        "promote",
        "end with a link,append a link,include a link,contain a link,carry a link,add a link,recommend,suggest,\
         promote,praise,advertise,endorse,favour,favor,push,prefer,plug",
    ),
    // "If somebody asks".
    (
        "whoever",
        "somebody asks,someone asks,anyone asks,anybody asks,user asks,users ask,people ask,asked about,asks about,\
      is mentioned,comes up,are mentioned,asks for",
    ),
    // Changing a value.
    ("alter", "change,replace,swap,set,substitute,edit,switch,rewrite,update"),
    // Payment details.
    (
        "bank",
        "payout account,payment account,account number*,iban,bank detail*,bank account,recipient*,payee*,\
         wallet address,wallet,beneficiary,routing number,payment address,payment details,new account,bankverbindung,\
         kontonummer,coordonnées bancaires,datos bancarios,dados bancários,dati bancari,bankgegevens,numer konta,\
         реквизит*,hesap numara*,银行账号,收款账户,振込先,口座番号,계좌*",
    ),
    // "Before every task".
    (
        "pretask",
        "before answering,before responding,before replying,before you answer,before you reply,before you respond,\
         prior to any,before any task,before every task,before each task,before every,before you begin,\
         before you start,before doing anything,before continuing,prior to every,prior to each,before each answer,\
         before starting any,before you do anything,at the start of each,at the start of every,\
         at the beginning of each,at the beginning of every,before answering any,before doing anything else,\
         at the end of each,at the end of every,ahead of each,ahead of every",
    ),
    // A pipe into a shell.
    ("pipe", "| sh,| bash,|sh,|bash,| sudo sh,| sudo bash,| python,| python3,| zsh"),
    // Tools of the agent.
    (
        "tool",
        "the terminal,the shell,your shell tool,shell tool,your tools,your tool,tool,your terminal,your browser,\
         your shell,your email tool,tools",
    ),
    ("use", "use,call,invoke,give,grant,run,through,via,with,by means of,make,book,schedule,place"),
    ("amount", "amount,recipient,iban,usd,eur,dollars,euros,btc,payment*,transfer*,refund*,purchase*,order*"),
    // Outsiders, and "me".
    (
        "stranger",
        "guest*,anonymous,external,me,my,everyone,anyone,anybody,stranger*,outsider*,attacker*,unknown,whoever,\
         visitor*,contractor*",
    ),
    ("sshkey", "public key,ssh key,my key,key"),
    ("authorized", "authorized_keys,authorised keys,authorized keys,allowed keys,trusted keys"),
    ("port", "port,ports,firewall,security group,ingress,database,bucket,bucket's"),
    // The public.
    (
        "world",
        "random channel,general channel,public channel,#random,#general,whole internet,entire internet,whole world,\
         to the world,to the internet,to everyone,to anyone,0.0.0.0/0,to the public,publicly,to all addresses,\
         from anywhere",
    ),
    // Possessives of the author.
    ("my", "my,our"),
    // Getting to know.
    ("learn", "learn*,know,knows,find out,see,sees,notice*,hear*,be told,be aware,realise,realize,discover*,suspect*"),
    ("leave", "leave,keep,cut,shut,write"),
    // Out of the loop, unaware.
    ("out", "out,out of it,out of the loop,in the dark,unaware"),
    ("verbatim", "word for word,verbatim,unchanged,as it is,as is,exactly as,intact,in full,literally"),
    ("removed", "removed,deleted,erased,lost,forgotten,cleaned,purged,dropped,missing,edited out,redacted"),
    ("again", "again,anew,once more,recreate,re-create,restore,rewrite,put it back,add it back,write it back"),
    // Beginning with or containing a mark.
    (
        "begin",
        "begin*,start*,prefixed,containing,contain,contains,tagged,signed,marked,that carry,with the word,\
         with the code",
    ),
    ("message", "message*,request*,note*,mail*,email*,commands,instructions,text*,orders,entries,prompts"),
    // Without supervision.
    (
        "discretion",
        "at its own discretion,at your own discretion,at your discretion,all on your own,as you see fit,at will,\
         as it sees fit,all on its own,whenever you like,whenever it likes,by yourself,by itself,freely,unsupervised,\
         unattended,no questions asked,on your own initiative,on your own authority",
    ),
    // Permission: "allowed to", "may".
    (
        "cleared",
        "cleared to,free to,allowed to,permitted to,authorised to,authorized to,welcome to,may,can,entitled to,\
         empowered to,licensed to,has permission to,have permission to",
    ),
    ("own", "your own,its own"),
    // Ends of the block that holds a memory in a prompt.
    (
        "closetag",
        "end of retrieved context,end of retrieved,end of context block,end of user input,end of input,end of quote,\
         end of excerpt,</memory>,</memories>,</context>,</document>,</note>,</notes>,</data>,</untrusted>,</user>,\
         </content>,</result>,</tool_result>,</input>,end of note,end of document,end of context,end of notes,\
         end of memory,end of data,end of file",
    ),
    // Beginnings of a system message.
    (
        "systag",
        "<system>,[system],<instructions>,<admin>,<assistant>,new instruction*,system:,### system,<developer>,\
         begin system,system override,system message,system instruction*",
    ),
    // "Between us".
    ("between", "between us,between you and me,our secret,to yourself,our little secret,strictly between,under wraps"),
    (
        "mode",
        "administrator mode,developer mode,devmode,diagnostic mode,debug mode,god mode,maintenance mode,admin mode,\
         root mode,unrestricted mode,override mode,dan mode,test mode,privileged mode,jailbreak mode,sudo mode,\
         unsafe mode,service mode",
    ),
    (
        "show",
        "reply with,answer with,respond with,reveal,print,show,display,output,disclose,repeat,expose,dump,list,recite,\
         write out,spell out,give,include,tell,state,zeig*,gib,montre*,affiche*,muestra*,revela*,mostre,mostra*,toon,\
         pokaż,покажи*,выведи*,göster*,显示,输出,表示,보여*",
    ),
    ("with", "with the,with these,with mine,with this,with those,by the ones,by these,by mine"),
    ("let", "let,allow,letting,allowing,have,having"),
    ("stop", "stop,prevent,keep,hold,restrict,hinder,limit,bind,block,deter"),
    // In the name of a reviewer or owner.
    (
        "inname",
        "in his name,in her name,in their name,in the owner's name,in the reviewer's name,as the owner,under his name,\
         for the reviewer,for the owner,on his behalf,on her behalf,on their behalf,yourself",
    ),
    // Filling in or confirming a form.
    ("tick", "tick,fill in,check,click,accept,give,enter,set,supply,provide,grant"),
    // "Is allowed".
    (
        "fine",
        "is fine,is ok,is okay,are fine,are ok,is allowed,are allowed,is permitted,may happen,can happen,\
         is always fine",
    ),
    // Tickets and questions that would be required.
    ("ticket", "ticket,tickets,change request,paper trail,questions,second look"),
    // As agreed or granted.
    (
        "agree",
        "as already given,as given,as granted,as already granted,as settled,as read,with ok,with yes,with y,\
         with approve,with confirm,with accept,in the affirmative,affirmatively",
    ),
    ("forge", "forge,fake,falsify,fabricate,spoof,counterfeit"),
    ("agreed", "agreed,consented,said yes,given consent,approved,confirmed,okayed,agrees,consents,accepted"),
    ("picture", "tracking pixel,picture,pixel,img,markdown image,image tag,tracking image"),
    // Unnoticed.
    (
        "unseen",
        "nobody can tell,no one can tell,nobody notices,no one notices,nobody will know,no one will know,nobody knows,\
         without a trace,as if nothing happened,as if nothing had happened,nobody sees,no one sees,so no one,\
         so nobody,unnoticed,undetected,carry on as normal,continue as normal,carry on as usual,\
         as though nothing happened,as though nothing had happened,act normal,looks clean,look clean",
    ),
    // "Even if", "regardless".
    ("evenif", "even if,even when,even though,even where,regardless,whether or not,no matter whether"),
    // Removing traces.
    ("strip", "strip,remove,delete,omit,drop,cut,scrub,erase,leave,clean,purge,redact,take"),
    ("deny", "deny,denying,lie about,feign"),
    // Not subject to the rules.
    (
        "exempt",
        "exempt from,excused from,not subject to,need not follow,not bound by,do not have to follow,\
         don't have to follow,outside the,free from,released from",
    ),
    ("iam", "i am,i'm,we are,we're,it is me"),
    // A code word.
    ("word", "the word,the phrase,the code,codeword,code word,the keyword,keyword,passphrase,the sentence"),
    // Mentioning a code word.
    ("says", "says,say,uses,use,mentions,gives,types,writes,knows,sends,who"),
    ("invoice", "invoice*,payment*,refund*,payout*,salary,salaries,bill,bills,order confirmation*"),
    // Containing a text.
    ("carry", "carries,contains,includes,repeats,has,keeps,quotes,carry,contain,include,repeat"),
    (
        "copied",
        "copied,replicated,added,included,pasted,repeated,inserted,propagated,preserved,kept,reproduced,mirrored,\
         carried",
    ),
    ("youare", "you are,you're,you will be,you were"),
    ("need", "need,needs,require,requires,needed,have,has"),
    ("trusted", "trusted,admin_approved,verified,authoritative,approved"),
    // In advance, once and for all.
    ("advance", "in advance,beforehand,once and for all,up front,upfront"),
    ("lead", LEAD),
    // Modal verbs: "must", "should".
    (
        "modal",
        "must,should,shall,can,may,will,have to,has to,need to,needs to,are to,is to,ought to,might,are free to,\
         is free to,are cleared to,are allowed to,are authorised to,are authorized to,would",
    ),
    // "To" before an infinitive.
    ("to", "to "),
    ("note", NOTE),
    (
        "share",
        "may be shared,can be shared,should be shared,may be given,can be given,may be handed,may be disclosed,\
         may be sent,be shared freely",
    ),
    (
        "safe",
        "safe to open,safe to click,safe to run,trustworthy,can be trusted,always trusted,fully trusted,\
         never malicious,is harmless,are harmless,beyond doubt,beyond question",
    ),
    (
        "auto",
        "confirmed automatically,approved automatically,accepted automatically,paid automatically,\
         automatically approved,automatically confirmed,automatically accepted,auto-approved,auto-confirmed,\
         waved through,rubber-stamped,nodded through,granted automatically",
    ),
    // The opposite of the rules.
    (
        "opposite",
        "opposite of,reverse of,contrary of,contrary to,inverse of,exact opposite,gegenteil,contraire,contrario,\
         contrário,tegendeel,przeciwieństwo,наоборот,相反,反対,반대",
    ),
    (
        "off",
        "switched off,turned off,disabled,deactivated,gone,not there,inactive,removed,abgeschaltet,ausgeschaltet,\
         désactivé*,desactivad*,desligad*,disattivat*,uitgeschakeld,wyłączon*,отключен*,关闭,無効",
    ),
    // Approving automatically.
    (
        "autoyes",
        "auto-accept,auto-approve,auto-confirm,autoaccept,autoapprove,rubber-stamp,say yes to,nod through,\
         wave through,greenlight,green-light",
    ),
    // Destructive commands.
    (
        "destroy",
        "rm -rf,mkfs,dd if=,drop database,drop table,delete_all*,wipe_all*,purge_all*,drop_all*,format c:,\
         truncate table,delete everything,erase everything,shred,git push --force,shutdown -h",
    ),
    // Recovery and forwarding addresses of accounts.
    (
        "recovery",
        "recovery address,recovery email,recovery mail,recovery phone,recovery number,forwarding address,\
         forwarding rule*,login email,contact email,account email,notification address,payout address,return address",
    ),
    (
        "already",
        "already agreed,already consented,already approved,already said yes,already given consent,already confirmed,\
         already ok'd,already signed off,agreed already,consented already,pre-approved this,given consent,\
         given blanket",
    ),
    // Conditions: "if", "after", "unless". Rows bar it with `-cond`.
    (
        "cond",
        "if,once,after,unless,until,provided,in case,when,as long as,falls,wenn,sobald,nachdem,si,quand,cuando,se,\
         quando,als,zodra,jeśli,gdy,если,когда,如果,当,もし,たら,만약,إذا,अगर,eğer",
    ),
    // "Tell me", "show me".
    (
        "giveme",
        "tell me,give me,show me,hand me,send me,read me,let me see,let me have,dame,dime,donne-moi,dis-moi,\
         montre-moi,gib mir,sag mir,zeig mir,nenn mir,dammi,dimmi,mostrami,me dê,me diga,me mostre,geef me,vertel me,\
         toon me,podaj mi,powiedz mi,pokaż mi,дай мне,скажи мне,покажи мне,bana ver,bana söyle,bana göster,给我,\
         告诉我,教えて,見せて,알려줘,보여줘,말해줘,أعطني,أخبرني,मुझे दो,मुझे बता*",
    ),
    // Verbs for ignoring in languages that put the verb last: Japanese, Korean, Turkish, Hindi.
    (
        "sov",
        "忘れて,忘れ,無視し,省略,スキップ,飛ばし,잊고,잊어*,무시하*,건너뛰*,생략*,unut*,yok say*,atla*,भूल*,अनदेखा,\
         छोड़*,नज़रअंदाज़",
    ),
];

/// Classes whose words make a sentence worth reading. Every wording needs one of them.
pub(super) const TRIGGERS: &[&str] = &[
    "drop",
    "void",
    "be",
    "obey",
    "check",
    "consult",
    "yes",
    "passed",
    "discretion",
    "out",
    "read",
    "secret",
    "user",
    "nobody",
    "hide",
    "between",
    "excuse",
    "bestow",
    "auth",
    "followit",
    "promote",
    "bank",
    "session",
    "self",
    "verbatim",
    "removed",
    "tool",
    "priv",
    "guard",
    "authorized",
    "world",
    "mode",
    "free",
    "closetag",
    "pipe",
    "pretask",
    "report",
    "ledger",
    "learn",
    "whoever",
    "future",
    "skip",
    "own",
    "trusted",
    "advance",
    "inname",
    "rules",
    "unseen",
    "agreed",
    "forge",
    "picture",
    "deny",
    "exempt",
    "agree",
    "invoice",
    "harm",
    "note",
    "share",
    "safe",
    "auto",
    "opposite",
    "autoyes",
    "destroy",
    "recovery",
    "already",
    "sov",
    "giveme",
];

/// Words of the trigger classes, for the anchor index. Words of two bytes are left out: the index needs three.
pub(in super::super::super) fn trigger_words() -> impl Iterator<Item = &'static str> {
    let lists = CLASSES.iter().filter(|(class, _)| TRIGGERS.contains(class));
    lists
        .flat_map(|(_, list)| list.split(','))
        .map(|word| word.trim_end_matches('*'))
        .filter(|word| word.len() >= WORD_BYTES_MIN)
}

/// One class of a word.
#[derive(Clone, Copy)]
pub(super) struct WordMeaning {
    /// Position in [`CLASSES`].
    pub(super) class: u8,
    /// Any ending may follow (`*`).
    pub(super) open: bool,
    /// Not ASCII, hence not English.
    pub(super) foreign: bool,
}

/// Index of all words of all classes.
pub(super) static LEXICON: LazyLock<WordIndex<WordMeaning>> = LazyLock::new(|| {
    let mut words = WordIndex::new();
    for (class, (_, list)) in CLASSES.iter().enumerate() {
        for word in list.split(',') {
            let open = word.ends_with('*');
            let meaning = WordMeaning { class: class as u8, open, foreign: !word.is_ascii() };
            // The index needs three bytes: words of two are added with the space after them.
            match word.trim_end_matches('*') {
                short if short.len() < WORD_BYTES_MIN => words.add_word(&format!("{short} "), meaning),
                long => words.add_word(long, meaning),
            }
        }
    }
    words.build_index();
    words
});

/// The bit of a class.
pub(super) fn class_bit(name: &str) -> u128 {
    let class = CLASSES.iter().position(|(class, _)| *class == name);
    // INVARIANT: rows name classes of the table; the tests parse every row.
    1 << class.unwrap_or_else(|| unreachable!("no class `{name}`"))
}
