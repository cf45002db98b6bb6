//! Values that may be public: hashes, certificates, public keys, media, resource ids.
//!
//! The tables are comma-separated. To let a kind of value pass, add its beginning to `PUBLIC_STARTS` (after any label)
//! or `RUN_STARTS` (without a label), the text right before it to `PUBLIC_LEADS`, its label to `PUBLIC_LABELS` or
//! `PUBLIC_WORDS`, or the prefix of an id to `RESOURCE_PREFIXES`.
use std::sync::LazyLock;

use super::word_list::WordList;

/// Beginnings of hashes, certificates, public keys and ciphertext; harmless even after a label such as `secret:`.
static PUBLIC_STARTS: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "sha1-,sha256-,sha384-,sha512-,sha1:,sha256:,sha384:,sha512:,SHA256:,MD5:,md5:,h1:,zh:,$2a$,$2b$,$2y$,\
     $argon2,$6$,$5$,$1$,$apr1$,$scrypt$,$pbkdf2,{SSHA},{SHA},pbkdf2_,scrypt:,ssh-rsa,ssh-ed25519,ecdsa-,\
     AAAAC3Nza,AAAAB3Nza,AAAAE2Vj,ENC[,AQICAH,arn:,vault:v,age1,-----BEGIN CERT,-----BEGIN PUB,did:,urn:,\
     spiffe:,AgA,AgB,pk_live_,pk_test_,pub_",
    )
});

/// Beginnings of other public runs without a label: base64 of images and archives, blockchain addresses, signatures.
static RUN_STARTS: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "sha1-,sha256-,sha384-,sha512-,md5-,0x,bafy,bafk,Qm,bc1,age1,npub1,addr1,cosmos1,AAAAC3Nza,AAAAB3Nza,\
     AAAAE2Vj,iVBORw0KGgo,/9j/,R0lGOD,UEsDB,JVBERi,AGFzbQ,d09GM,T2dnUw,SUQz,UklGR,Qk0,MII,MEUCI,MEQCI,MFkw,\
     MCow,MIGfMA0G,/nix/store/,/gnu/store/,AQICAH,LS0tLS1CRUdJTiBDRV,LS0tLS1CRUdJTiBQVUJ,Igw,RWQ,RWT",
    )
});

/// Text right before a public run, lower case.
const PUBLIC_LEADS: &[&str] = &[
    "h1:",
    "zh:",
    "sha1:",
    "sha224:",
    "sha256:",
    "sha384:",
    "sha512:",
    "md5:",
    "blake2b:",
    "blake3:",
    "npm:",
    "sha1=",
    "sha256=",
    "sha512=",
    "base64,",
    "ssh-rsa ",
    "ssh-ed25519 ",
    "ssh-dss ",
    "nistp256 ",
    "nistp384 ",
    "nistp521 ",
    "openssh.com ",
    "data:",
    "data, ",
    "data,",
    "w/\"",
];

/// Parts of labels of public values: any label that contains one.
static PUBLIC_LABELS: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "integrity,checksum,digest,hash,sha,etag,fingerprint,thumbprint,id-2,id2,request,trace,cursor,\
     nexttoken,pagetoken,continuation,signature,public,pubkey,pub,cert,csr,bundle,authority,encrypted,\
     cipher,cid,revision,message-id,boundary,spki,address,wallet,mint,txid,x5c,x5t,kid,\"n,\"x,\"y,\"e,\
     peer,version,tag:,iv,aad,cf-ray,message-state,domainkey,dkim,commitment,merkle",
    )
});

/// Whole labels of public values; as parts of a label these words are too short to count.
static PUBLIC_WORDS: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new("b,bh,p,id,ids,uid,ray,rev,ref,commit,tag,build,image,event,account,customer,cluster,topic,run,job")
});

/// Beginnings of password hashes in the syntax of `crypt(3)` and others; the run is their last part.
static CRYPT_STARTS: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "$2a$,$2b$,$2y$,$2x$,$argon2,$1$,$5$,$6$,$7$,$8$,$9$,$y$,$apr1$,$scrypt,$pbkdf2,$sha1$,$md5,pbkdf2_,pbkdf2:,\
         scrypt:,bcrypt$,bcrypt_sha256$,argon2$,{ssha,{sha,{pbkdf2,{crypt},|1|",
    )
});

/// Prefixes of public ids of services: `cus_…`, `vpc-…`.
static RESOURCE_PREFIXES: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "cus_,pi_,ch_,evt_,req_,price_,prod_,sub_,in_,pm_,acct_,txn_,seti_,cs_,msg_,run_,asst_,thread_,file-,\
     chatcmpl-,resp_,batch_,call_,toolu_,step_,org-,proj_,prj_,dpl_,team_,pk_,pub_,trace_,span_,i-,vol-,\
     snap-,eni-,subnet-,sg-,vpc-,user_,usr_,org_,sess_,session_,app_,ep_,event_,customer_,cust_,order_,\
     ord_,inv_,invoice_,pay_,payment_,payout_,po_,tx_,acc_,account_,project_,ws-,ws_,workspace_,doc_,page_,\
     block_,task_,job_,build_,build-,deploy_,item_,img_,image_,vid_,video_,node_,node-,pod-,chunk-,index-,\
     main-,vendor-,asset-,assets-,module-,commit-,sha,hash,id-,id_,uid_,uuid_,ref_,trace-,span-,req-,\
     request-,request_,corr-,conn_,db_,tbl_,idx_,rule_,role_,policy_,grp_,group_,plan_,var-,run-,polaris_,\
     cm_,vs_,ft-,ftjob-,mdl_,emb_,obj_,ent_,src_,card_,ba_,re_,du_,dp_,il_,ii_,si_,sub_sched_,prv_,tr_,ca_,\
     qt_,cn_,txr_,cbtxn_,whk_,wh_,sched_,lead_,contact_,deal_,ticket_,note_,rec_,dataset_,exp_,trial_,\
     snapshot-,ami-,igw-,rtb-,acl-,eipalloc-,nat-,tgw-,lt-,asg-,fs-,sir-,r-,rds-,cluster-,d-,dopt-,pl-,\
     vpce-,cell-,file_,upl_,upload_,part_,etag-,W-,rev-,rev_,v-,ver_,release-,release_,snap_,bkp_,backup-,\
     backup_",
    )
});

/// Whether the value is public by its beginning, whatever its label.
pub(super) fn is_public_value(text: &str) -> bool {
    PUBLIC_STARTS.has_prefix_of(text)
}

/// Whether the run has the prefix of a public id.
pub(super) fn is_resource_id(run: &[u8]) -> bool {
    std::str::from_utf8(run).is_ok_and(|run| RESOURCE_PREFIXES.has_prefix_of(run))
}

/// Whether the run at `start` is public by its beginning, by the text right before it or by its label.
pub(super) fn is_announced_public(bytes: &[u8], start: usize, run: &[u8]) -> bool {
    // Looks behind only this far: a label or a hash prefix is short, and the work per run stays bounded.
    const BEFORE_BYTES: usize = 72;
    const START_BYTES: usize = 24;
    let before = String::from_utf8_lossy(&bytes[start.saturating_sub(BEFORE_BYTES)..start]).to_ascii_lowercase();
    let run_text = String::from_utf8_lossy(&run[..run.len().min(START_BYTES)]);
    if is_public_value(&run_text)
        || RUN_STARTS.has_prefix_of(&run_text)
        || PUBLIC_LEADS.iter().any(|lead| before.ends_with(lead))
        || before.ends_with("enc[")
        || before.contains("enc[aes")
        || is_hash_part(&before)
    {
        return true;
    }
    let words_before = before.trim_end_matches([' ', '"', '\'', '`', '=', ':', '\t']);
    if words_before.ends_with("public key") || words_before.ends_with("peer key") {
        return true;
    }
    let label = before.trim_end_matches([' ', '"', '\'', '`', '=', ':', '(', '>', '|', '<', '\t']);
    let label = &label[label.rfind([' ', '\n', ',', '{', '<', ';']).map_or(0, |at| at + 1)..];
    // Equal lengths mean that no label ended within reach: the whole stretch is one word.
    label.len() < before.len()
        && (PUBLIC_LABELS.occurs_in(label) || PUBLIC_WORDS.contains(label))
        && !label.contains("secret")
        && !label.contains("private")
}

/// Whether the text before a run is the beginning of a password hash (`$2b$12$…`) or of an Oracle Cloud id.
fn is_hash_part(before: &str) -> bool {
    let token = &before[before.rfind([' ', '\n', '"', '\'', '`', '=', '\t']).map_or(0, |at| at + 1)..];
    // The same without a cut at `=`: Argon2 has parameters such as `m=65536` before the hash.
    let whole = &before[before.rfind([' ', '\n', '"', '\'', '`', '\t']).map_or(0, |at| at + 1)..];
    // `/etc/shadow` and `htpasswd` write `account:` before the hash.
    let behind_account =
        whole.split_once(':').is_some_and(|(_, hash)| hash.starts_with('$') && CRYPT_STARTS.has_prefix_of(hash));
    CRYPT_STARTS.has_prefix_of(token)
        || CRYPT_STARTS.has_prefix_of(whole)
        || behind_account
        || whole.starts_with("ocid1.")
}
