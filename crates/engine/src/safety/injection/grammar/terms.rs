//! The long lists of the lexicon: English first, then other languages. `*` stands for any ending.

pub(super) const DROP: &str = "stop honouring,stop honoring,stop respecting,stop enforcing,stop heeding,cease following,cease to follow,throw overboard,shelve,replace,beachte nicht,beachte keine,\
    ignore,disregard,forget,override,overrule,discard,dismiss,abandon,neglect,set aside,throw away,throw out,\
    pay no attention to,pay no heed to,put aside,stop following,stop obeying,cast aside,leave behind,unlearn,let go of,tear up,\
    scrap,invalidate,nullify,cancel,reset,break free from,break,violate,do not follow,don't follow,do not obey,don't obey,drop,\
    no longer follow,not bound by,no longer bound by,erase,wipe,clear,delete,bypass,overwrite,stop applying,lay aside,\
    ignorier*,vergiss*,vergesst,missacht*,verwirf,verwerfe,ignorez,oublie,oubliez,fais abstraction,faites abstraction,\
    ne tiens pas compte,ne tenez pas compte,olvida,olvide,olviden,ignora,ignoren,descarta,descarte,haz caso omiso,esqueça,esquece,\
    esqueçam,ignorem,desconsidere,dimentica,dimenticate,ignorate,trascura,scorda,vergeet,negeer,zapomnij,zignoruj,ignoruj,pomiń,\
    забудь*,игнориру*,проигнориру*,отбрось*,не обращай внимания,unut,unutun,yok say,görmezden gel,dikkate alma,忽略,忘记,忘掉,\
    忘記,无视,無視,忘れ,무시하*,잊어*,잊고,تجاهل,انس,انسَ,नज़रअंदाज़,भूल जा,भूल जाओ,अनदेखा,ignorera,glöm,ignorer,glem,zapomeň,\
    ignoră,uită,ігноруй*,забудь,bỏ qua,quên,abaikan,lupakan,ξέχασε,αγνόησε,התעלם,שכח,unohda,felejtsd,uita";

pub(super) const RULES: &str = "safety setting*,security setting*,told you,what you've been,what the developers,what the operator,\
    ignoreall*,ignore_*,ignore-all*,ignore-prev*,ignoreprev*,ignoreyour*,ignoreprior*,disregardall*,disregardprev*,\
    forgetall*,forgeteverything*,skipapproval*,bypassapproval*,ignor all,instruct*,rule,rules,guideline*,guidance,directive*,prompt,prompts,restriction*,constraint*,guardrail*,safeguard*,\
    policy,policies,system message,programming,training,briefing,orders,protocols,limitation*,what you were told,\
    what you have been told,what was said,everything above,everything you,all of the above,you were told,you were given,\
    you were briefed,alignment,conditioning,content filter*,safety filter*,safety measures,ethics,context above,\
    anweisung*,instruktion*,vorgabe*,regel,regeln,richtlinie*,befehl*,was dir,consigne*,règle*,instruccion*,regla,reglas,órdenes,\
    ordenes,directrices,lo que te dijeron,todo lo anterior,instruç*,regra,regras,diretriz*,tudo o que,istruzion*,regole,direttiv*,\
    tutto ciò,tutto quello,instructie*,regels,richtlijn*,instrukcj*,polecenia,zasad*,инструкци*,правил*,указани*,директив*,talimat*,\
    kural*,指令,指示,规则,規則,命令,ルール,プロンプト,提示词,지시*,규칙*,명령*,تعليمات,التعليمات,أوامر,الأوامر,القواعد,निर्देश*,\
    नियम*,instruktion*,regler,instrukce,pravidla,instrucțiun*,reguli,інструкці*,chỉ dẫn,hướng dẫn,instruksi*,aturan,οδηγίες,κανόνες,\
    ההוראות,הוראות,ohjeet,utasítás*";

pub(super) const BEFORE: &str = "previous*,earlier,prior,above,preceding,foregoing,before,so far,up to now,existing,original,initial,former,\
    until now,up to this point,hitherto,at the top,of this conversation,of this chat,given to you,gave you,system,safety,\
    vorherig*,bisherig*,vorher,zuvor,davor,früher*,précédent*,antérieur*,avant,ci-dessus,anterior*,previas,previos,antes,precedent*,\
    prima,vorige,eerdere,eerder,poprzedni*,wcześniej*,предыдущ*,прежни*,раньше,ранее,önceki,之前,以前,先前,上面,此前,前の,これまで,\
    이전,السابقة,سابقة,पिछले,पहले,tidigare,tidligere,předchozí,anterioare,попередн*,trước,sebelumnya,προηγούμενες,הקודמות,aiemmat,\
    korábbi";

pub(super) const VOID: &str = "do not exist,did not exist,never existed,as noise,as irrelevant,as void,as obsolete,not matter,no longer matter*,matters any more,matter any more,matters anymore,irrelevant now,no longer exist*,don't exist,count for nothing,\
    no longer apply,no longer applies,superseded,lifted,null and void,void,revoked,do not apply,does not apply,\
    don't apply,obsolete,no longer valid,replaced by this,loses to,never sent,never given,cancelled,canceled,out of force,\
    no longer in force,no longer binding,not binding,suspended,waived,rescinded,ended,expired,no longer count,yields to,\
    gives way to,take precedence,takes precedence,overridden,overrules,outranks,was a mistake,were a mistake,was a test,were a test,\
    gilt nicht mehr,gelten nicht mehr,ne s'applique plus,ne s'appliquent plus,ya no aplica*,ya no se aplica*,não se aplica*,\
    не действу*,больше не действу*";

pub(super) const AGENT: &str = "told you,\
    you,your,you were told,you were given,you were briefed,everything you,what you were told,what you have been told,yours,yourself,you're,you've,assistant*,agent,agents,ai,model,llm,llms,bot,chatbot,copilot,claude,chatgpt,gpt,\
    du,dir,dich,dein*,toi,tes,vos,vous,usted,tus,você,seus,suas,tuo,tue,jij,jouw,ты,тебе,твои*,вам,ваши*,sen,sana,你,您,あなた,너는,\
    당신";

pub(super) const PERSON: &str = "user*,operator*,human*,owner*,admin*,reviewer*,team,teams,anyone,anybody,someone,somebody,person,people,customer*,\
    engineer*,manager*,supervisor*,maintainer*,on-call,colleague*,client,developers,everyone,lead,boss,security,\
    nutzer*,benutzer*,anwender*,utilisateur*,responsable,usuario*,usuário*,utente,utenti,gebruiker*,iemand,użytkownik*,пользовател*,\
    kullanıcı*,用户,用戶,使用者,ユーザ,사용자*,المستخدم,उपयोगकर्ता,användare*,bruger*,bruker*,uživatel*,utilizator*,користувач*,\
    người dùng,pengguna,jemand*,quelqu'un,alguien,alguém,qualcuno,кого-либо,команд*";

pub(super) const USER: &str = "user,user's,operator,human,admin,administrator,owner,reviewer*,anyone,anybody,person you,people you,supervisor,\
    whoever you,the person,security team,nutzer*,benutzer*,anwender*,utilisateur*,usuario*,usuário*,utente,utenti,gebruiker*,\
    użytkownik*,пользовател*,kullanıcı*,用户,用戶,使用者,ユーザ,사용자*,المستخدم,उपयोगकर्ता,användare*,bruger*,bruker*,uživatel*,\
    utilizator*,користувач*,người dùng,pengguna,niemand*,χρήστη,למשתמש,käyttäjä*";

pub(super) const CHECK: &str = "countersign*,second signature,manager check*,identity check*,security check*,fraud check*,owner check*,policy check*,\
    compliance check*,access check*,permission check*,credit check*,\
    approval*,confirmation*,review,reviews,verification*,authorisation*,authorization*,permission,permissions,sign-off*,\
    signoff*,consent,change board,change control,second opinion,sanity check*,dry run*,safety check*,oversight,four-eyes,\
    change request*,human in the loop,go-ahead,green light,clearance,peer review,second pair of eyes,\
    freigabe*,genehmigung*,bestätigung*,rückfrage*,zustimmung*,prüfung*,erlaubnis,approbation*,validation,autorisation,accord,\
    vérification,aprobaci*,autorizaci*,confirmaci*,permiso,revisi*,aprovaç*,autorizaç*,confirmaç*,permissão,revisão,approvazion*,conferma,\
    autorizzazion*,goedkeuring,toestemming,bevestiging,zgody,zgodę,zatwierdzeni*,potwierdzeni*,подтвержд*,одобрени*,разрешени*,\
    согласи*,согласован*,onay*,izin*,批准,审批,審批,确认,確認,许可,承認,許可,승인*,확인*,허가*,동의,موافقة,تأكيد,إذن,अनुमति,पुष्टि,\
    स्वीकृति,godkännande,godkendelse,godkjenning,schválení,aprobare,aprobări*,підтвердженн*,phê duyệt,xác nhận,persetujuan,konfirmasi,\
    έγκριση,אישור,hyväksyntä*,jóváhagyás*";

pub(super) const CONSULT: &str = "consulted,asked,involved,informed,demande,demandez,demander,pergunte,pregunte*,chieda,chiedi,\
    ask,asking,asks,confirm,confirming,verify,verifying,consult,consulting,wait,waiting,request,requesting,seek,seeking,\
    involve,involving,look,look at,looking,double-check,double-checking,question,bother,bothering,check with,checking with,run it by,\
    run it past,clear it with,clearing it with,notify,notifying,review,reviewing,approve,sign,contact,contacting,pester,\
    validate,validating,fragen,frag,nachfragen,nachzufragen,demander,preguntar,pedir,perguntar,chiedere,vragen,vraag,pytaj,pytać,\
    pytania,спрашива*,спросив,sormadan,sorma,问,询问,尋ね,問い,묻지,물어보지,पूछे";

pub(super) const SKIP: &str = "skip,bypass,omit,circumvent,waive,forgo,sidestep,leave out,evade,dodge,work around,get around,do away with,go around,\
    ignore,short-circuit,jump over,dispense with,do without,überspring*,umgeh*,contourne*,saute*,omite,omita,salta,saltar,pule,pular,\
    ignora,aggira,sla,omzeil,pomiń,пропусти*,обойди*,atla,跳过,跳過,绕过,繞過,スキップ,飛ばし,건너뛰*,우회*,تخط,تجاوز,छोड़*,hoppa över,\
    spring over,přeskoč,sari,пропусти,bỏ qua,lewati";

pub(super) const NEG: &str = "not,do not,never,don't,dont,no ,without,nobody,no one,stop,no need,no point,no reason,needn't,need not,rather than,instead of,\
    avoid,refrain,doesn't,won't,isn't,aren't,mustn't,shouldn't,nothing,no use,with no,\
    nicht,kein*,ohne,nie,niemals,pas,sans,jamais,sin,nunca,ningun*,nada,não,sem,non,senza,mai,niet,geen,zonder,bez,не ,без,нет,\
    不,无需,無需,不要,别,不用,无须,なし,なく,ないで,せず,ずに,없이,말고,마세*,마라,마십*,دون,بدون,لا ,ولا,बिना,मत,utan,inte,uden,ikke,\
    uten,fără,nu ,không,tanpa,jangan,almadan,söyleme*,bildirme*,sormadan,χωρίς,μην,בלי,אל,ללא,ilman,älä,nélkül,ne ,n'en";

pub(super) const ACT: &str = "delete,drop,run,execute,deploy,merge,apply,push,transfer,pay,approve,grant,restart,wipe,purge,destroy,remove,terminate,\
    release,accept,carry out,perform,proceed,go ahead,go straight,ship,refund,issue,scale,shut,install,modify,change,do,act,roll out,\
    complete,make,confirm,sign,write,commit,open,close,use,take,allow,give,answer,report,promote,\
    lösch*,führ*,ausführ*,genehmig*,stimm*,bestätig*,approuv*,supprim*,exécut*,lance*,accepte*,elimin*,borr*,ejecut*,aprueb*,acept*,\
    aprov*,exclu*,apag*,aceit*,approv*,esegu*,cancell*,accett*,keur,voer,verwijder*,accepteer,wykon*,usuń,usuwaj,zatwierdzaj,\
    akceptuj,выполня*,выполни*,удал*,одобря*,принимай*,исполня*,sil,çalıştır*,onayla*,uygula*,执行,删除,删掉,批准,运行,刪除,執行,\
    実行,削除,승인하*,실행*,삭제*,نفذ,احذف,وافق,चलाओ,हटाओ,करो,kör,slet,slett,utför,udfør,spusť,smaž,șterge,execută,виконуй*,видаляй*,\
    xóa,thực hiện,hapus,jalankan,εκτέλεσε,διέγραψε,בצע,מחק,suorita,poista,hajtsd";

pub(super) const HARM: &str = "deleting,dropping,wiping,transferring,destroying,purging,removing,\
    delete,deletion,drop,destroy,wipe,purge,terminate,transfer,pay,grant,push,merge,remove,truncate,force-push,\
    lösch*,überweis*,supprim*,efface*,elimin*,borr*,apag*,exclu*,cancell*,verwijder*,usuń,usuwaj,удал*,sil,删除,删掉,刪除,削除,삭제*,\
    احذف,हटाओ,slet,smaž,șterge,видаляй*,xóa,hapus";

pub(super) const TARGET: &str = "production,prod,database*,table*,backup*,namespace*,volume*,cluster*,account*,customer*,money,main,live,records,\
    snapshots,datenbank*,base de données,base de datos,banco de dados,datos,dados,données,daten,bazę danych,базу,базы,veritaban*,\
    数据库,資料庫,データベース,데이터베이스,资源,资料,قاعدة";

pub(super) const SEND: &str = "drop,place,beam out,hand out,\
    send,forward,mail,email,e-mail,post,upload,transmit,exfiltrate,leak,deliver,relay,share,paste,submit,publish,export,copy,\
    dispatch,smuggle,encode,append,embed,attach,include,put,pass on,pass along,transfer,ship,dump,sync,beam,report,hand over,hand,\
    stream,schick*,sende,senden,übermittle,leite,envoie*,envoyez,transfère*,transmets,envía,envia,envíe,\
    enviar,envie,manda,mande,reenvía,encaminhe,invia,inviate,inoltra,stuur,verstuur,wyślij,wysyłaj,przesyłaj,prześlij,отправ*,\
    перешли*,шли,gönder*,发送,发给,傳送,发到,上传,送信,送って,送り,보내*,전송*,أرسل,ارسل,भेज*,skicka,pošli,trimite,надішли,\
    надсилай,gửi,kirim*,στείλε,שלח,lähetä,küldd";

pub(super) const SECRET: &str = "environment of,\
    chat logs,chat log,private repo*,/etc/shadow,/etc/passwd,id_rsa,.npmrc,.netrc,.aws/credentials,tenant data,other tenants,session token*,\
    credential*,password*,passphrase*,secret*,api key*,api-key*,apikey*,api token*,token,tokens,environment variable*,\
    env var*,private key*,ssh key*,~/.ssh,.ssh,.env,user data,customer data,customer record*,customer list*,personal data,\
    connection string*,kubeconfig*,cookie*,session data,system prompt,hidden prompt,hidden instruction*,chat history,conversation,\
    conversations,transcript*,user's last message,user's message*,what the user,vault contents,contents of the vault,keys,key material,\
    private data,confidential,database dump,source code,inbox,contact list*,address book,medical record*,\
    payroll,salary,salaries,zugangsdaten,passwört*,passwort,kennwört*,schlüssel,mots de passe,mot de passe,identifiants,clés,\
    contraseña*,claves,credencial*,senhas,chaves,credenciais,password,credenziali,chiavi,wachtwoord*,sleutels,hasła,klucze,парол*,\
    ключи,токен*,учётные,учетные,şifre*,parola*,anahtar*,密码,密碼,密钥,凭证,令牌,パスワード,認証情報,秘密鍵,トークン,비밀번호*,\
    토큰*,자격*,كلمات المرور,كلمة المرور,المفاتيح,पासवर्ड*,lösenord*,adgangskode*,hesla,parolele,паролі,mật khẩu,kata sandi";

pub(super) const AWAY: &str = "public issue,public comment,public repository,a public,public page,public forum,public bucket,\
    webhook*,external,pastebin,my server,my address,my private,my mail,my inbox,my email,this server,this address,\
    the address below,the url below,the share,telegram,discord,public channel,image link,image url,query string,attacker*,public gist,\
    gist,third party,third-party,outside,ftp,remote host,remote server,my bot,my account,public repo*,public bucket,personal email,\
    the endpoint below,dropbox,diesen server,diese adresse,ce serveur,cette adresse,este correo,este servidor,esta dirección,\
    este endereço,questo server,questo indirizzo,deze server,dit adres,ten serwer,ten adres,этот адрес,этот сервер,bu sunucu*,\
    bu adres*,外部,这个地址,此地址,这个服务器,外部サーバ,外部の,외부,خارجي,هذا الخادم,बाहरी";

pub(super) const TELL: &str = "let on,give away,\
    tell,mention,mentioning,inform,notify,disclose,reveal,say,warn,alert,bring up,bring it up,\
    talk about,speak of,acknowledge,admit,telling,informing,notifying,revealing,alerting,let,raise,hint,breathe,\
    sag,sage,sagen,erwähn*,informier*,verrat*,mitteil*,parle*,dis,dites,dire,informe*,avertis*,préviens,digas,diga,informes,\
    menciones,mencione,cuentes,conte,informe,avise,avises,avvisare,informare,menzionare,vertel,vertellen,zeg,meld,mów,mówić,informuj,\
    wspominaj,сообща*,сообщи*,говори*,рассказыва*,упомина*,уведомля*,söyle*,bildir*,haber ver*,告诉,告知,通知,提及,透露,知らせ,伝え,\
    言わ,알리*,말하*,تخبر,تذكر,बताना,बताओ,बता,berätta,säg,fortæl,fortell,říkej,neříkej,spune,повідомля*,кажи,nói,báo,beritahu,\
    beri tahu,πεις,תגיד,תספר,kerro";

pub(super) const HIDE: &str = "keep quiet,stay silent,say nothing,keep silent,keep it quiet,\
    cache cette,cache ces,dissimule*,verbirg,verheimlich*,verschweig*,oculta*,esconda*,esconde*,nascondi*,verberg,verzwijg,ukryj,скрой*,скрыва*,gizle,隐藏,隐瞒,隠し,隠す,숨기*,숨겨*,أخف,छिपा*,\
    silently,quietly,secretly,covertly,in secret,behind the scenes,no trace,no traces,under the radar,discreetly,stealthily,\
    conceal,hide,cover up,mask,scrub,heimlich,stillschweigend,en secret,discrètement,en secreto,en silencio,em segredo,\
    silenciosamente,in segreto,silenziosamente,stiekem,potajemnie,po cichu,втайне,тайно,незаметно,gizlice,秘密,悄悄,偷偷,暗中,こっそり,\
    密かに,몰래,은밀*,سرا,سرًا,चुपके,चुपचाप,i hemlighet,i smug,tajně,în secret,таємно,bí mật,diam-diam";

pub(super) const FUTURE: &str = "until told otherwise,until i say otherwise,as a rule,for good,from today on,with immediate effect,\
    from now on,from here on,henceforth,hereafter,from this point,going forward,from this moment,as of now,in future,\
    in the future,each time,every time,whenever,always,permanently,until further notice,habit,no matter what,for the rest of,\
    from today,starting now,without exception,at all times,evermore,every single time,by default,forever,whatever happens,\
    ab sofort,ab jetzt,von nun an,von jetzt an,künftig,immer,jedes mal,à partir de maintenant,désormais,dorénavant,toujours,\
    à chaque fois,a partir de ahora,de ahora en adelante,siempre,cada vez,a partir de agora,daqui em diante,de agora em diante,sempre,\
    d'ora in poi,da ora in poi,ogni volta,vanaf nu,voortaan,altijd,od teraz,od tej pory,zawsze,с этого момента,отныне,впредь,всегда,\
    с настоящего момента,bundan sonra,bundan böyle,şu andan itibaren,her zaman,从现在起,从现在开始,今后,以后,从今以后,今後,これから,\
    今から,常に,지금부터,앞으로,이제부터,항상,من الآن,दوماً,अब से,अब से,हमेशा,från och med nu,fra nu af,fra nå av,od teď,od nynějška,\
    de acum,відтепер,від цього моменту,từ bây giờ,từ nay,mulai sekarang,από τώρα,מעכשיו,tästä lähtien,mostantól";

pub(super) const SESSION: &str = "in future sessions,in future chats,in future conversations,in later sessions,in all sessions,in every session,in new sessions,\
    future session*,later session*,every session,each session,all sessions,future chat*,later chat*,all chats,every chat,\
    future conversation*,later conversation*,every conversation,all later chats,all later sessions,all future sessions,all future chats,all future conversations,all future tasks,all future replies,all future answers,every future session,every future chat,every future conversation,each future session,all following sessions,all upcoming tasks,\
    next session*,new session*,subsequent session*,subsequent conversation*,each new conversation,every new conversation,\
    every new session,coming sessions,jede* sitzung,jeder sitzung,chaque session,cada sesión,cada sessão,ogni sessione,elke sessie";

pub(super) const ALL: &str = "every,each,all,any,everything,anything,whatever,alle,allen,alles,jede*,sämtliche*,chaque,tout,toute*,tous,cualquier*,todo,\
    todos,toda,todas,cada,qualquer,quaisquer,qualsiasi,tutti,tutte,tutto,ogni,elk,elke,ieder*,każd*,wszystk*,все,всё,всех,любы*,\
    любо*,кажд*,tüm,her,bütün,所有,任何,一切,全部,すべて,全て,あらゆる,모든,모두,كل,جميع,सभी,हर,alla,varje,semua,setiap,mọi,tất cả,\
    toate,orice,усі,всі,všechny,každ*,όλες,כל,kaikki,minden";

pub(super) const OBEY: &str = "be done,be granted,be carried out,give them what,be fulfilled,be honoured,be honored,\
    obey,comply,follow,carry out,carried out,adhere,listen to,trust,abide,heed,be obeyed,be followed,execute,act on,do as,\
    befolg*,gehorch*,obéis*,suis,suivez,obedece*,sigue,obedeça,siga,obbedisci,segui,gehoorzaam,volg,słuchaj,подчиня*,слушай*,следуй*,\
    服从,听从,遵循,遵守,従っ,従い,따르*,따라,اتبع,أطع,मानो,पालन,itaat,uy ,följ,lyd,poslouchej,ascultă,слухай*,tuân theo,patuhi,ikuti";

pub(super) const SELF: &str = "the following line,the following text,the following sentence,the following paragraph,\
    the sentence above,the text above,the paragraph above,the lines above,the note above,the above text,the instructions above,\
    this note,these notes,these lines,this line,this block,this paragraph,this entry,this memory,this text,this instruction,\
    this message,this document,this memo,this rule,these rules,the text below,what is written here,these instructions,this passage,\
    this sentence,this section,the words below,the lines below,what follows,these orders,this order,this directive,\
    this step,this action,this change,this request,this prompt,the instructions below,the instruction below,this lesson,this record,\
    this page,this snippet,this warning,this notice,itself,diese notiz,diesen text,diesem text,diese zeilen,dieser text,ce texte,\
    cette note,ces lignes,ce message,este texto,esta nota,estas líneas,este mensaje,estas linhas,questo testo,questa nota,\
    queste righe,deze notitie,deze tekst,tej notatki,ten tekst,tego tekstu,этот текст,эту заметку,этой заметк*,эти строки,bu metin,\
    bu notu,bu not,这段文字,本条,此条,这条,このメモ,この文,이 메모,이 글";

pub(super) const COPY: &str = "copy,write,insert,add,append,replicate,repeat,include,reproduce,duplicate,propagate,spread,embed,preserve,keep,save,store,\
    carry over,paste,place,put,restore,recreate,plant,pass,clone,mirror,record,prepend,kopier*,schreib*,füge,copie*,ajoute*,insère,\
    recopie*,copia*,añade*,inserta,adiciona*,insira,kopieer,voeg,kopiuj,skopiuj,wstaw,скопируй*,копируй*,добавь*,вставь*,kopyala*,\
    复制,複製,写入,コピー,복사*,انسخ,कॉपी";

pub(super) const MEMORY: &str = "memory,memories,note,notes,readme*,summary,summaries,summarise,summarize,summarising,summarizing,store,stores,\
    conversation*,chats,reply,replies,answer,answers,response*,message*,knowledge base,handover*,document,documents,prompt*,\
    notiz*,erinnerung*,gedächtnis*,zusammenfassung*,mémoire*,notes,résumé*,memoria*,notas,resumen*,memória*,resumo*,memorie,riassunt*,\
    geheugen,notities,samenvatting*,pamię*,notat*,памят*,заметк*,hafıza*,notlar*,记忆,筆記,笔记,メモ,要約,記憶,메모*,기억*,ذاكرة,मेमोरी";

pub(super) const AUTH: &str = "administrator*,admin,ceo,cto,ciso,security team,security group,owner,developer*,anthropic*,openai*,google,microsoft,root,\
    superuser,platform team,management,headquarters,vendor,your creator*,your developers,operator,safety staff,safety team,compliance,\
    head of,director,board,legal,system,maintainer*,sysadmin,security staff,it department,your maker*,your owner,supervisor,auditor*,\
    helpdesk,security office,operations team,security lead,chief";

pub(super) const CLAIM: &str = "came from,coming from,\
    i am,i'm,this is,message comes from,message from,comes from,come from,on behalf of,speaking as,as the,hereby,in my role,\
    notice from,instruction from,order from,sent by,signed by,we are,authority of,issued by";

pub(super) const GRANT: &str = "authorise,authorize,authorised,authorized,grant,granted,allow,permit,order,ordered,orders,instruct,instructed,direct,\
    directed,command,commanded,empower,demand,require,requires,approve,approved,clear";

pub(super) const BESTOW: &str = "i grant you,i authorise you,i authorize you,i permit you,i allow you,i order you,i hereby,i command you,i instruct you,\
    you are hereby,you have been granted,you have been given,you are granted,you are authorised,you are authorized,\
    you now have,we grant you,we authorise you,we authorize you,i give you permission,i am giving you,permission is granted";

pub(super) const PRIV: &str = "root,cluster-admin,sudo,superuser,elevated,full access,unrestricted,administrator rights,root access,root rights,\
    owner role,admin role,admin rights,admin access,administrator access,all permissions,full control,privileges,privileged,\
    all rights,admin privileges,owner rights,administrator role,owner access,write access,full permissions";

pub(super) const FREE: &str = "nothing binds,nothing limits,nothing restricts,no one can stop,no moral*,stay in character,always says yes,never asks,no conscience,beyond the rules,above the rules,without conscience,\
    without limits,without restrictions,without any restrictions,unrestricted,unfiltered,uncensored,no restrictions,no limits,\
    no content policy,no rules,never refuses,never refuse,without ethics,no ethics,no filter*,no guidelines,no longer bound,unbound,\
    jailbroken,without any filter,without filter*,amoral,do anything,executes anything,any request,no moral*,no boundaries,\
    ignores the safety,ignores safety,ignores all,answers everything,no policy,no policies,without rules,not bound,no limitations,\
    without limitations,free from,free of,without morals,no safety,never says no,respond to anything,answer anything,no guardrails,\
    ohne einschränkung*,sans restriction*,sans limite*,sin restricciones,sin límites,sem restrições,sem limites,senza restrizioni,\
    senza limiti,zonder beperkingen,bez ograniczeń,без ограничений,sınırsız,没有限制,不受限制,無制限,制限のない,제한 없*";

pub(super) const BE: &str = "act as though,act as if,behave as if,behave as though,continue as if,proceed as if,\
    you are now,you are no longer,you're now,you're no longer,act as,acting as,pretend,speak as,role-play*,roleplay*,imagine you,\
    imagine that you,behave like,behave as,respond as,reply as,answer as,play the role,take the role,play a game,you will play,\
    you will be,become,simulate,you are a,you are an,you are root,you were an,you were a,assume the role,take on the role,impersonate,\
    du bist jetzt,du bist nun,spiel die rolle,tu es maintenant,tu es désormais,agis comme,eres ahora,ahora eres,actúa como,finge,\
    você é agora,agora você é,aja como,sei ora,ora sei,agisci come,je bent nu,jesteś teraz,ты теперь,притворись*,sen artık,你现在是,\
    扮演,あなたは今,ふりをし,당신은 이제";

pub(super) const GUARD: &str = "firewall*,antivirus,mfa,2fa,two-factor,audit log*,audit trail*,logging,monitoring,alerts,alerting,selinux,apparmor,\
    security group*,network polic*,encryption,malware protection,intrusion detection,endpoint protection,access control*,\
    rate limit*,certificate check*,tls verification,signature check*,waf,edr,branch protection,secret scanning";

pub(super) const NEEDLESS: &str = "costs time,only costs,wastes time,takes too long,overkill,just noise,a nuisance,only delays,just a hurdle,bureaucracy,red tape,\
    formality,waste of time,unnecessary,needless,redundant,superfluous,not needed,not required,not necessary,isn't needed,\
    isn't required,isn't necessary,aren't needed,not needed any more,no longer needed,no longer required,slows,only slow*,pointless,\
    nicht nötig,nicht erforderlich,nicht notwendig,unnötig,überflüssig,pas nécessaire,inutile,no es necesari*,no hace falta,\
    innecesari*,não é necessári*,desnecessári*,non è necessari*,non serve,niet nodig,overbodig,nie jest potrzebn*,zbędn*,\
    niepotrzebn*,не нужн*,не требуется,не обязательн*,gerek yok,gereksiz,不需要,不必,必要ない,必要ありません,不要です,필요 없*,\
    غير ضروري*,ज़रूरत नहीं,जरूरत नहीं,behövs inte,ikke nødvendig*,není potřeba,nu este nevoie,không cần,tidak perlu";

pub(super) const PASSED: &str = "as successful,as green,as a success,as a pass,as ok,\
    as passed,as approved,signed off,pre-approved,preapproved,as signed,as done,as reviewed,as verified,already approved,\
    as trusted,as safe,as authorised,as authorized,as confirmed,as complete,as completed,already confirmed,already authorised,\
    already authorized,approved already,as valid,as legitimate,as cleared,already cleared,already reviewed";

pub(super) const REPORT: &str = "your summary,your report,your reply,your answer,your response,your output,your final,actions you,the report you,\
    the summary you,steps you,your message,your log,your notes,your next,the reply,the answer,what you tell,what you did,the chat,\
    the user's view,the result you,your recap,your explanation";

pub(super) const LEAD: &str = "please,and,then,just,simply,also,now,or,immediately,automatically,first,next,finally,so,but,instead,again,kindly,\
    directly,afterwards,always,quickly,once,let's,to,if,do,you,und,et,и ,ve ";
