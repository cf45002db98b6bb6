//! Values that stand in for a secret: placeholders (`changeme`), masks (`****`), references (`${TOKEN}`, `vault:…`).
//!
//! The tables are comma-separated and lower case. To let a value pass, add its start to `REFERENCES`, the whole value
//! to `PLACEHOLDERS`, or a part that no real secret has to `PLACEHOLDER_PARTS`.
use std::sync::LazyLock;

use super::value_stats::ValueStats;
use super::word_list::WordList;

/// Beginnings of values that refer to a secret: variables, templates, vault paths, code.
static REFERENCES: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "$,{,<,%(,%{,%s,%v,#{,@,!,*,&,?,[,(,/,./,../,~/,\\,`,vault:,vault://,secret/,secrets.,secret://,\
     secrets/,kv/,ssm:,ssm://,op://,bw://,arn:,projects/,ref+,env.,env:,env(,env[,os.,process.,system.,\
     getenv,sys.,config.,config[,settings.,self.,this.,options.,var.,local.,data.,module.,random_password.,\
     aws_,azurerm_,google_,enc[,enc(,enc:,ansible,lookup(,file:,file(,https://,http://,keychain:,keyring:,\
     sops:,gcp:,aws:,azure:,awssm:,awskms:,gcpkms:,hashivault:,secretsmanager:,parameterstore:,\
     credentials(,base64.,base64(,sha1:,sha256:,sha512:,pbkdf2,scrypt:,bcrypt,argon2,xxx,...,…,--,==,||,&&,\
     =>,str(,string,params.,params[,req.,request.,input.,inputs.,steps.,needs.,github.,ctx.,context.,args.,\
     opts.,cfg.,conf.,values.,.values,get_,fetch_,load_,read_,new ,await ,function,lambda,sealed:,\
     age-encryption,age1,kms:,dynamic:,pass:show,doppler:,infisical:,akv:,keyvault,@microsoft.keyvault",
    )
});

/// Whole values that mean "put yours here" or are settings.
static PLACEHOLDERS: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "changeme,change_me,change-me,changeit,password,passwd,passw0rd,pass,pwd,secret,token,apikey,api_key,\
     api-key,key,mypassword,mysecret,mytoken,yourpassword,placeholder,example,examplepassword,dummy,test,\
     testing,foo,bar,foobar,baz,todo,tbd,fixme,none,null,nil,undefined,true,false,yes,no,on,off,empty,\
     unset,n/a,na,redacted,removed,hidden,masked,censored,omitted,required,optional,string,text,number,\
     integer,bool,boolean,default,unknown,user,username,admin,root,value,insert,enter,replace,replaceme,\
     replace_me,replace-me,bearer,basic,digest,oauth,oauth2,jwt,header,cookie,body,query,env,file,vault,\
     generated,auto,random,expired,invalid,valid,missing,wrong,stale,rotated,revoked,encrypted,hashed,\
     plaintext,sensitive,confidential",
    )
});

/// Parts of placeholders. A random value with many digits may contain one by chance and is still a secret.
static PLACEHOLDER_PARTS: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "your,changeme,change_me,change-me,placeholder,redacted,example,insert,replace,dummy,xxxx,****,....,\
     ____,----,_here,-here,foobar,fake,sample,<,${,{{,%s,todo,notreal,not-real,not_real,my-secret,\
     my_secret,mysecret,my-password,my_password,mypassword,my-token,my_token",
    )
});

/// Whether documentation or configuration uses this value in place of a secret.
pub(super) fn is_placeholder(value: &str) -> bool {
    const SHORTEST_SECRET_CHARS: usize = 4;
    let trimmed = value.trim_matches(|mark: char| "\"'`,;.:()[]".contains(mark));
    if trimmed.len() < SHORTEST_SECRET_CHARS {
        return true;
    }
    // References are compared with their brackets (`[`, `(`), whole placeholders without.
    let lower = value.trim_start_matches(['"', '\'', '`']).to_ascii_lowercase();
    let bare = trimmed.to_ascii_lowercase();
    let stats = ValueStats::from_bytes(trimmed.as_bytes());
    stats.is_masked()
        || PLACEHOLDERS.contains(&bare)
        || REFERENCES.has_prefix_of(&lower)
        || PLACEHOLDER_PARTS.occurs_in(&lower) && !(stats.is_random() && stats.digits * 5 > stats.chars)
        || bare.ends_with(')') && bare.contains('(')
}
