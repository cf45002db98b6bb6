//! Tables of label words: those that name a secret, and those that make such a name harmless.
//!
//! Each table is a comma-separated string, lower case. To add a word, insert it into the list with the right claim or
//! effect. Label words need three bytes or more; shorter ones are written with what must stand before them (`_pw`).
use std::sync::LazyLock;

use super::word_list::WordList;

use super::vendors::VENDORS;

/// How strongly a label suggests a secret, weakest first; it decides how random and long the value must be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(super) enum LabelClaim {
    /// Names many harmless things too: the value must be long and random.
    Weak,
    /// The name of a service as the whole label: `datadog: …`.
    Vendor,
    /// `key` at the end of a name or in prose, which labels cache and map keys as well.
    KeySuffix,
    /// Names a machine-made secret: the value must look random.
    Key,
    /// Names a password that a person chose: a readable value can be real.
    Password,
}

/// Words that name a secret. The index ignores ASCII case; other letters are listed in both cases. Some are written
/// backwards (`drowssap`, `nekot`), as in mirrored text.
pub(super) const LABELS: &[(LabelClaim, &str)] = &[
    (LabelClaim::Vendor, VENDORS),
    (LabelClaim::KeySuffix, "key"),
    (
        LabelClaim::Password,
        "pass,pwd, pw,\npw,_pw,-pw,.pw,kennwort,mot de passe,contraseña,contraseÑa,contrasena,senha,wachtwoord,hasło,\
         haslo,пароль,Пароль,парол,密码,密碼,口令,パスワード,비밀번호,şifre,sifre,parola,parol,lösenord,كلمة المرور,\
         drowssap,psk,presharedkey,preshared,pre-shared key,geheimnis",
    ),
    (
        LabelClaim::Key,
        "secret,token,nekot,terces,api key,apikey,api_key,api-key,api.key,yek_ipa,yek-ipa,access key,accesskey,\
          access_key,access-key,auth key,authkey,auth_key,auth-key,private key,privatekey,private_key,\
          private-key,signing_key,signing-key,signing key,signingkey,encryption_key,encryption-key,\
          encryption key,encryptionkey,hmac_key,hmac key,hmackey,master_key,master-key,master key,masterkey,\
          account_key,account-key,accountkey,account key,shared_key,sharedkey,shared key,app_key,appkey,app-key,\
          app key,application_key,applicationkey,application key,service_key,servicekey,service key,role_key,\
          license_key,license key,licensekey,licence key,crypt_key,cipher_key,session_key,jwt_key,ssh_key,\
          deploy_key,deploy key,integration_key,integration key,ingest_key,ingest key,ingestion key,\
          ingestion_key,ingestionkey,write_key,write key,admin_key,admin key,subscription-key,subscription_key,\
          subscription key,functions-key,storage_key,storage key,root_key,_key,-key,schlüssel,clave,clé d'api,\
          clé api,chiave,chave,ключ,Ключ,密钥,密鑰,キー,credential,zugangsdaten,authorization,_auth,x-auth,webhook,\
          connection string,connectionstring,connection_string,pat=,_pat,sas_,_sas,_dsn,jwt",
    ),
    (
        LabelClaim::Weak,
        "otp,pin code,bearer,cookie,client_id,oauth,salt,pepper,github,gitlab,bitbucket,gitea,circleci,travis,\
          buildkite,jfrog,codecov,jenkins,linear,notion,looker,segment,replicate,airship,square,resend,render,\
          railway,creds",
    ),
];

/// Last words of an identifier that make it a name, a limit or a place instead of the secret: `token_count`.
pub(super) static HARMLESS_ENDINGS: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "name,names,id,ids,url,uri,urls,endpoint,type,types,ttl,expiry,expires,expiration,expires_at,\
          expires_in,expired,at,length,len,count,counts,limit,limits,budget,policy,policies,hash,hashes,hashed,\
          digest,checksum,file,files,path,paths,dir,ref,refs,field,fields,version,arn,class,regex,pattern,\
          prefix,suffix,format,rotation,enabled,required,min,max,minlength,maxlength,size,used,usage,store,\
          manager,provider,reset,strength,space,spaces,selector,label,column,index,order,board,word,words,\
          stroke,frame,frames,value_from,valuefrom,keyref,keyselector,secretref,days,period,age,algorithm,alg,\
          mode,state,status,role,scope,scopes,host,port,user,username,login,email,title,description,bucket,\
          vault,region,engine,backend,issuer,audience,hint,source,target,table,map,list,set,pair,usages,ops,\
          fingerprint,thumbprint,public,pub,ring,chain,cert,certificate,per_second,per_minute,tokens,keys,\
          secrets,passwords,credentials_path,generator,validator,handler,middleware,controller,service,client,\
          factory,config,error,exception",
    )
});

/// First words of an identifier that do the same: `maxTokens`, `public_key`.
pub(super) static HARMLESS_STARTS: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "public,pub,max,min,next,page,cursor,num,total,prompt,completion,sort,primary,foreign,partition,cache,\
          row,object,input,output,context,sha,sha1,sha256,hash,ssh_host,known,csrf,xsrf,idempotency,dedup,\
          continuation,lexer,parser,has,is,no,use,hot,short,translation,i18n,map,group,lookup,stop,eos,bos,pad,\
          monkey,keyboard,tokenizer,secretary,secretsmanager,secretmanager,passport,passive",
    )
});

/// Words before `key` that make it the key of a cache, a map or a table: `routing_key`.
pub(super) static HARMLESS_KEY_WORDS: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "routing,redis,s3,storage_object,message,event,job,request,task,query,cursor,state,data,file,dict,\
     config,registry,record,entity,issue,project,item,user,index,lock,shard,bucket,resource,parent,child,\
     node,etcd,memo,react,selection,hash,range,composite,unique,natural,surrogate,candidate,column,\
     attribute,label,tag",
    )
});
