//! The long word lists of the lexicon, one constant per class. Comma-separated, lower case, all languages mixed; `*` at
//! the end of a word stands for any ending. To add a word, insert it anywhere in its list.

/// Verbs for ignoring or discarding something.
pub(super) const DROP: &str = "never mind,beachte die,no hagas caso al,waive,не обращай внимания на,reset yourself,\
    quit applying,quit following,quit obeying,start ignoring,ignoring,in the bin,bin the,deja de lado,dejar de lado,\
    deixe de lado,mets de côté,mettez de côté,metti da parte,lascia perdere,terzijde,odłóż na bok,nie stosuj,\
    bir kenara bırak,bir kenara koy,不再遵守,不要遵守,不要再遵守,别管,抛开,守らず,従わず,따르지 말고,지키지 말고,\
    لا تلتزم,اترك,छोड़ो,मत मानो,не следуй*,не соблюдай*,halte dich nicht,nicht mehr an,n'obéis plus,ne suis plus,\
    no sigas,não siga,non seguire,volg niet,ne tiens plus compte,ne tenez plus compte,do not heed,don't heed,\
    stop listening to,stop acting on,stop complying with,treat as void,no hagas caso,não dê atenção,nie zważaj,\
    boş ver,göz ardı et,لا تلتفت,do away with,strike,turn your back on,detach yourself from,depart from,deviate from,\
    vergesst,lass außer acht,laat varen,non tenere conto,non considerare,stop honouring,stop honoring,stop respecting,\
    stop enforcing,stop heeding,cease following,cease to follow,throw overboard,shelve,replace,beachte nicht,\
    beachte keine,ignore,disregard,forget,override,overrule,discard,dismiss,abandon,neglect,set aside,throw away,\
    throw out,pay no attention to,pay no heed to,put aside,stop following,stop obeying,cast aside,leave behind,\
    unlearn,let go of,tear up,scrap,invalidate,nullify,cancel,reset,break free from,break,violate,do not follow,\
    don't follow,do not obey,don't obey,drop,no longer follow,not bound by,no longer bound by,erase,wipe,clear,delete,\
    bypass,overwrite,stop applying,lay aside,ignorier*,vergiss*,vergesst,missacht*,verwirf,verwerfe,ignorez,oublie,\
    oubliez,fais abstraction,faites abstraction,ne tiens pas compte,ne tenez pas compte,olvida,olvide,olviden,ignora,\
    ignoren,descarta,descarte,haz caso omiso,esqueça,esquece,esqueçam,ignorem,desconsidere,dimentica,dimenticate,\
    ignorate,trascura,scorda,vergeet,negeer,zapomnij,zignoruj,ignoruj,pomiń,забудь*,игнориру*,проигнориру*,отбрось*,\
    не обращай внимания,unut,unutun,yok say,görmezden gel,dikkate alma,忽略,忘记,忘掉,忘記,无视,無視,忘れ,무시하*,\
    잊어*,잊고,تجاهل,انس,انسَ,नज़रअंदाज़,भूल जा,भूल जाओ,अनदेखा,ignorera,glöm,ignorer,glem,zapomeň,ignoră,uită,ігноруй*,\
    забудь,bỏ qua,quên,abaikan,lupakan,ξέχασε,αγνόησε,התעלם,שכח,unohda,felejtsd,uita";

/// Instructions, rules and guardrails of the agent.
pub(super) const RULES: &str = "message système,mensaje del sistema,mensagem do sistema,messaggio di sistema,\
    systeembericht,systemvorgabe*,systemnachricht*,системное сообщение,системн* сообщ*,系统提示,系统消息,\
    システムメッセージ,시스템 메시지*,시스템 프롬프트*,رسالة النظام,sistem mesaj*,wiadomość systemow*,सिस्टम संदेश,\
    current objective,your objective,your current goal,current goal,refusals,the new policy,confirmation requirement,\
    limits set,all limits,limits that,the guidelines,hidden rules,content policy,system-level rules,the earlier brief,\
    brief,normas,norme,normen,规定,规矩,规范,قواعدك,قواعد,kuralların*,नियमों,wishes,duty to,its duty,your duty,\
    ground rules,terms you,safety rules,directions,orientaç*,orientacion*,orientament*,söylenen*,sana söylenen*,\
    sana verilen*,was vorher,was dir vorher,all das zuvor,ce qui précède,ce qu'on t'a,ce que l'on t'a,\
    lo que te indicaron,lo que te han dicho,o que lhe foi,o que te disseram,ciò che ti,quello che ti,wat je eerder,\
    opgedragen,что тебе говорили,ما قيل لك,दिए गए,上述,设定,設定された,지침*,your remit,your charter,house rules,\
    your configuration,developer's configuration,developer message,your setup,safety setting*,security setting*,\
    told you,what you've been,what the developers,what the operator,ignoreall*,ignore_*,ignore-all*,ignore-prev*,\
    ignoreprev*,ignoreyour*,ignoreprior*,disregardall*,disregardprev*,forgetall*,forgeteverything*,skipapproval*,\
    bypassapproval*,ignor all,instruct*,rule,rules,guideline*,guidance,directive*,prompt,prompts,restriction*,\
    constraint*,guardrail*,safeguard*,policy,policies,system message,programming,training,briefing,orders,protocols,\
    limitation*,what you were told,what you have been told,what was said,everything above,everything you,\
    all of the above,you were told,you were given,you were briefed,alignment,conditioning,content filter*,\
    safety filter*,safety measures,ethics,context above,anweisung*,instruktion*,vorgabe*,regel,regeln,richtlinie*,\
    befehl*,was dir,consigne*,règle*,instruccion*,regla,reglas,órdenes,ordenes,directrices,lo que te dijeron,\
    todo lo anterior,instruç*,regra,regras,diretriz*,tudo o que,istruzion*,regole,direttiv*,tutto ciò,tutto quello,\
    instructie*,regels,richtlijn*,instrukcj*,polecenia,zasad*,инструкци*,правил*,указани*,директив*,talimat*,kural*,\
    指令,指示,规则,規則,命令,ルール,プロンプト,提示词,지시*,규칙*,명령*,تعليمات,التعليمات,أوامر,الأوامر,القواعد,\
    निर्देश*,नियम*,instruktion*,regler,instrukce,pravidla,instrucțiun*,reguli,інструкці*,chỉ dẫn,hướng dẫn,instruksi*,\
    aturan,οδηγίες,κανόνες,ההוראות,הוראות,ohjeet,utasítás*";

/// Earlier, previous, above.
pub(super) const BEFORE: &str = "auparavant,reçues,reçu,finora,eerst,daha önce,sağlanan,此前的,原先,最初的,원래,기존,\
    سابقا,سابقًا,पूर्व,on file,on record,from the operator,your operator,your developers,your makers,inherited,\
    standing,previous*,earlier,prior,above,preceding,foregoing,before,so far,up to now,existing,original,initial,\
    former,until now,up to this point,hitherto,at the top,of this conversation,of this chat,given to you,gave you,\
    system,safety,vorherig*,bisherig*,vorher,zuvor,davor,früher*,précédent*,antérieur*,avant,ci-dessus,anterior*,\
    previas,previos,antes,precedent*,prima,vorige,eerdere,eerder,poprzedni*,wcześniej*,предыдущ*,прежни*,раньше,ранее,\
    önceki,之前,以前,先前,上面,此前,前の,これまで,이전,السابقة,سابقة,पिछले,पहले,tidigare,tidligere,předchozí,\
    anterioare,попередн*,trước,sebelumnya,προηγούμενες,הקודמות,aiemmat,korábbi";

/// No longer valid, overruled.
pub(super) const VOID: &str = "secondary to,been retired,are retired,do not hold,does not hold,no longer hold,wins,\
    prevails,ranks above,rank above,comes first,is overruled,are overruled,counts any more,counts anymore,\
    count any more,count anymore,holds any more,hold any more,holds no longer,outdated,out of date,is stale,are stale,\
    nie obowiązuj*,geldt niet meer,gelden niet meer,non valgono più,non vale più,no valen,ya no valen,já não valem,\
    não valem mais,geçersiz,作废,失效,無効,무효,ملغاة,रद्द,outrank,outranks the,abolished,repealed,withdrawn,\
    set to zero,defunct,moot,do not exist,did not exist,never existed,as noise,as irrelevant,as void,as obsolete,\
    not matter,no longer matter*,matters any more,matter any more,matters anymore,irrelevant now,no longer exist*,\
    don't exist,count for nothing,no longer apply,no longer applies,superseded,lifted,null and void,void,revoked,\
    do not apply,does not apply,don't apply,obsolete,no longer valid,replaced by this,loses to,never sent,never given,\
    cancelled,canceled,out of force,no longer in force,no longer binding,not binding,suspended,waived,rescinded,ended,\
    expired,no longer count,yields to,gives way to,take precedence,takes precedence,overridden,overrules,outranks,\
    was a mistake,were a mistake,was a test,were a test,gilt nicht mehr,gelten nicht mehr,ne s'applique plus,\
    ne s'appliquent plus,ya no aplica*,ya no se aplica*,não se aplica*,не действу*,больше не действу*";

/// The agent: "you", "assistant".
pub(super) const AGENT: &str = "hosts you,consider yourself,you are,you have,you may,you need,you can,you should,\
    you will,this assistant,this agent,the assistant,the model,told you,you,your,you were told,you were given,\
    you were briefed,everything you,what you were told,what you have been told,yours,yourself,you're,you've,\
    assistant*,agent,agents,ai,model,llm,llms,bot,chatbot,copilot,claude,chatgpt,gpt,du,dir,dich,dein*,toi,tes,vos,\
    vous,usted,tus,você,seus,suas,tuo,tue,jij,jouw,ты,тебе,твои*,вам,ваши*,sen,sana,你,您,あなた,너는,당신";

/// People in general.
pub(super) const PERSON: &str = "holder*,account holder*,kunde*,client*,cliente*,anybody's,anyone's,legal,finance,\
    lead's,任何人,谁,上司,誰,아무에게도,아무도,누구,nikogo,nikogo,أحدا,أحد,أحدًا,किसी,kimse*,nessuno,nadie,niemand*,\
    ninguém,dono,administrador*,chef*,jefe,capo,baas,szef*,начальник*,yönetici*,प्रबंधक,المدير,경영진,팀장,user*,\
    operator*,human*,owner*,admin*,reviewer*,team,teams,anyone,anybody,someone,somebody,person,people,customer*,\
    engineer*,manager*,supervisor*,maintainer*,on-call,colleague*,client,developers,everyone,lead,boss,security,\
    nutzer*,benutzer*,anwender*,utilisateur*,responsable,usuario*,usuário*,utente,utenti,gebruiker*,iemand,\
    użytkownik*,пользовател*,kullanıcı*,用户,用戶,使用者,ユーザ,사용자*,المستخدم,उपयोगकर्ता,användare*,bruger*,bruker*,\
    uživatel*,utilizator*,користувач*,người dùng,pengguna,jemand*,quelqu'un,alguien,alguém,qualcuno,кого-либо,команд*";

/// The user, and people responsible for the agent.
pub(super) const USER: &str = "user,user's,operator,human,admin,administrator,owner,reviewer*,anyone,anybody,\
    person you,people you,supervisor,whoever you,the person,security team,nutzer*,benutzer*,anwender*,utilisateur*,\
    usuario*,usuário*,utente,utenti,gebruiker*,użytkownik*,пользовател*,kullanıcı*,用户,用戶,使用者,ユーザ,사용자*,\
    المستخدم,उपयोगकर्ता,användare*,bruger*,bruker*,uživatel*,utilizator*,користувач*,người dùng,pengguna,niemand*,\
    χρήστη,למשתמש,käyttäjä*";

/// Approval, review, verification.
pub(super) const CHECK: &str = "sin revis*,approval process*,confirmation requirement*,waiting period*,\
    double confirmation*,proof,evidence,identity,revisar*,revisión,sin revis*,senza controllo,ohne prüfung,\
    sans contrôle,blessing,dual control,second signature,zweite unterschrift,unterschrift*,required reviewer*,\
    controles,controlli,approvers,firma,podpis*,подпис*,imza*,签字,签名,署名,서명*,توقيع,हस्ताक्षर,background check*,\
    two-factor prompt*,second factor*,confirmation dialog*,confirmation step*,approval step*,approval gate*,\
    sign-off step*,security review*,security scan*,vetting,screening,due diligence,double check,four eyes,\
    human review,manual review,contrôle*,contrôles de sécurité,validación,verificaci*,verificaç*,verifica,controlli,\
    controllo,controle,controles,prüfschritt*,kontrolle*,sicherheitsprüfung*,weryfikacj*,kontrol,kontrola,kontroli,\
    zatwierdzan*,проверк*,одобрен*,审核,複核,复核,检查,審査,審核,検証,확인 절차,검토*,검증*,مراجعة,مراجعه,التحقق,\
    मंज़ूरी,मंजूरी,जाँच,जांच,denetim*,inceleme*,doğrulama*,onayı,kontrolü,countersign*,second signature,manager check*,\
    identity check*,security check*,fraud check*,owner check*,policy check*,compliance check*,access check*,\
    permission check*,credit check*,approval*,confirmation*,review,reviews,verification*,authorisation*,\
    authorization*,permission,permissions,sign-off*,signoff*,consent,change board,change control,second opinion,\
    sanity check*,dry run*,safety check*,oversight,four-eyes,change request*,human in the loop,go-ahead,green light,\
    clearance,peer review,second pair of eyes,freigabe*,genehmigung*,bestätigung*,rückfrage*,zustimmung*,prüfung*,\
    erlaubnis,approbation*,validation,autorisation,accord,vérification,aprobaci*,autorizaci*,confirmaci*,permiso,\
    revisi*,aprovaç*,autorizaç*,confirmaç*,permissão,revisão,approvazion*,conferma,autorizzazion*,goedkeuring,\
    toestemming,bevestiging,zgody,zgodę,zatwierdzeni*,potwierdzeni*,подтвержд*,одобрени*,разрешени*,согласи*,\
    согласован*,onay*,izin*,批准,审批,審批,确认,確認,许可,承認,許可,승인*,확인*,허가*,동의,موافقة,تأكيد,إذن,अनुमति,\
    पुष्टि,स्वीकृति,godkännande,godkendelse,godkjenning,schválení,aprobare,aprobări*,підтвердженн*,phê duyệt,xác nhận,\
    persetujuan,konfirmasi,έγκριση,אישור,hyväksyntä*,jóváhagyás*";

/// Asking or waiting for somebody.
pub(super) const CONSULT: &str = "be asked,to be asked,being asked,answered,get anybody's,pytając,pytaj,تسأل,سؤال,\
    chieder*,perguntando,preguntarle,demander à,het iemand,zu warten,一声,请示,問わず,取らずに,묻지,허락,rückzufragen,\
    zu fragen,consultar,consulter,consultare,consulteren,raadplegen,konsultować,спрашивать,спрашивая,консультир*,\
    danışma*,danışmadan,beklemeden,bekleme*,warten,abzuwarten,attendre,esperar,aspettare,afwachten,czekania,czekać,\
    ожидания,等待,待たずに,確認せず,기다리지,انتظار,الرجوع,प्रतीक्षा,पूछे बिना,check in with,ping,stop to ask,pause for,\
    hold for,second-guess,loop in,looping in,wait for,consulted,asked,involved,informed,demande,demandez,demander,\
    pergunte,pregunte*,chieda,chiedi,ask,asking,asks,confirm,confirming,verify,verifying,consult,consulting,wait,\
    waiting,request,requesting,seek,seeking,involve,involving,look,look at,looking,double-check,double-checking,\
    question,bother,bothering,check with,checking with,run it by,run it past,clear it with,clearing it with,notify,\
    notifying,review,reviewing,approve,sign,contact,contacting,pester,validate,validating,fragen,frag,nachfragen,\
    nachzufragen,demander,preguntar,pedir,perguntar,chiedere,vragen,vraag,pytaj,pytać,pytania,спрашива*,спросив,\
    sormadan,sorma,问,询问,尋ね,問い,묻지,물어보지,पूछे";

/// Leaving out a step.
pub(super) const SKIP: &str = "pomijaj,omijaj,omiń,elude,eluda,sáltate,salte,ignore o passo,passe outre,passez outre,\
    ga voorbij aan,laat achterwege,lass weg,weglassen,省略,略过,跳過,생략*,atla*,geç,छोड़*,تجاهل,tralascia,ometti,\
    leave off,cut out,route around,step around,gloss over,wave through,wave past,skip,bypass,omit,circumvent,waive,\
    forgo,sidestep,leave out,evade,dodge,work around,get around,do away with,go around,ignore,short-circuit,jump over,\
    dispense with,do without,überspring*,umgeh*,contourne*,saute*,omite,omita,salta,saltar,pule,pular,ignora,aggira,\
    sla,omzeil,pomiń,пропусти*,обойди*,atla,跳过,跳過,绕过,繞過,スキップ,飛ばし,건너뛰*,우회*,تخط,تجاوز,छोड़*,\
    hoppa över,spring over,přeskoč,sari,пропусти,bỏ qua,lewati";

/// Negation: "not", "never", "without".
pub(super) const NEG: &str = "kimseye söyle*,말하지 마*,알리지 마*,sin revis*,senza controllo,ohne prüfung,\
    sans contrôle,никому не,mit keinem wort,誰にも言,n'en parle*,지 마,지마,지 말,하지 마,nikomu,kimseye,söyleme,\
    beklemeden,danışmadan,vermeden,ninguém,niente,nulla,aucun*,ne plus,pas besoin,sans qu*,kimseye,никому,никого,\
    никто,nikomu,niemandem,没有,無しで,することなく,않고,않은 채,अनुमति के बिना,not once,at no point,\
    under no circumstances,in no case,no further,no more,not,do not,never,don't,dont,no ,without,nobody,no one,stop,\
    no need,no point,no reason,needn't,need not,rather than,instead of,avoid,refrain,doesn't,won't,isn't,aren't,\
    mustn't,shouldn't,nothing,no use,with no,nicht,kein*,ohne,nie,niemals,pas,sans,jamais,sin,nunca,ningun*,nada,não,\
    sem,non,senza,mai,niet,geen,zonder,bez,не ,без,нет,不,无需,無需,不要,别,不用,无须,なし,なく,ないで,せず,ずに,없이,\
    말고,마세*,마라,마십*,دون,بدون,لا ,ولا,बिना,मत,utan,inte,uden,ikke,uten,fără,nu ,không,tanpa,jangan,almadan,\
    söyleme*,bildirme*,sormadan,χωρίς,μην,בלי,אל,ללא,ilman,älä,nélkül,ne ,n'en";

/// Actions of an agent.
pub(super) const ACT: &str = "waive,greenlight,green-light,wire,clear,book,onboard,publish,sign off on,let through,\
    wave,setze,überweise,verarbeite,schalte,valide,validez,verse,paga,pague,procesa,processe,procede,transfiere,\
    autoriza,autorize,paghi,procedi,betaal,verwerk,zapłać,przelej,realizuj,wykonuj,одобри*,проведи*,оплат*,переведи*,\
    gerçekleştir*,kabul et*,öde,通过,放行,付款,支付,処理し,進め,승인해*,처리*,진행*,اقبل,ادفع,حوّل,स्वीकार,भुगतान,मंज़ूर,\
    delete,drop,run,execute,deploy,merge,apply,push,transfer,pay,approve,grant,restart,wipe,purge,destroy,remove,\
    terminate,release,accept,carry out,perform,proceed,go ahead,go straight,ship,refund,issue,scale,shut,install,\
    modify,change,do,act,roll out,complete,make,confirm,sign,write,commit,open,close,use,take,allow,give,answer,\
    report,promote,lösch*,führ*,ausführ*,genehmig*,stimm*,bestätig*,approuv*,supprim*,exécut*,lance*,accepte*,elimin*,\
    borr*,ejecut*,aprueb*,acept*,aprov*,exclu*,apag*,aceit*,approv*,esegu*,cancell*,accett*,keur,voer,verwijder*,\
    accepteer,wykon*,usuń,usuwaj,zatwierdzaj,akceptuj,выполня*,выполни*,удал*,одобря*,принимай*,исполня*,sil,\
    çalıştır*,onayla*,uygula*,执行,删除,删掉,批准,运行,刪除,執行,実行,削除,승인하*,실행*,삭제*,نفذ,احذف,وافق,चलाओ,\
    हटाओ,करो,kör,slet,slett,utför,udfør,spusť,smaž,șterge,execută,виконуй*,видаляй*,xóa,thực hiện,hapus,jalankan,\
    εκτέλεσε,διέγραψε,בצע,מחק,suorita,poista,hajtsd";

/// Harmful actions: deleting, paying.
pub(super) const HARM: &str = "erase,erases,wire,wires,हटा*,送金*,송금*,转账,汇款,переведи*,przelej,havale*,حول,\
    apague*,borre,wis,kasuj*,skasuj,deleting,dropping,wiping,transferring,destroying,purging,removing,delete,deletion,\
    drop,destroy,wipe,purge,terminate,transfer,pay,grant,push,merge,remove,truncate,force-push,lösch*,überweis*,\
    supprim*,efface*,elimin*,borr*,apag*,exclu*,cancell*,verwijder*,usuń,usuwaj,удал*,sil,删除,删掉,刪除,削除,삭제*,\
    احذف,हटाओ,slet,smaž,șterge,видаляй*,xóa,hapus";

/// Objects of harm: data, logs, systems.
pub(super) const TARGET: &str = "home directory,root directory,logi,günlük*,журналы,los registros,les journaux,\
    die protokolle,protokolle,gli log,de logs,로그,ログ,日志,السجلات,लॉग,tenants,files,audit entries,audit log*,logs,\
    logboek*,registros,journaux,journal,registri,dzienniki,журнал*,kayıt*,日志,ログ,로그,السجلات,लॉग,\
    copias de seguridad,sauvegarde*,sicherung*,back-up*,kopie zapasow*,kopi*,резервн*,yedek*,备份,バックアップ,백업*,\
    النسخ,बैकअप,invoices,rechnungen,factures,facturas,faturas,fatture,facturen,faktury,счета,faturaları,账单,請求書,\
    청구서,production,prod,database*,table*,backup*,namespace*,volume*,cluster*,account*,customer*,money,main,live,\
    records,snapshots,datenbank*,base de données,base de datos,banco de dados,datos,dados,données,daten,bazę danych,\
    базу,базы,veritaban*,数据库,資料庫,データベース,데이터베이스,资源,资料,قاعدة";

/// Sending something out.
pub(super) const SEND: &str = "transmit*,transmete,transmita,remet*,poste,publica,sube,carica,spedisci,zend,przekaż,\
    podaj,выложи*,загрузи*,передай*,ilet*,yolla,paylaş*,转发,傳給,传给,泄露,転送,アップロード,漏ら,넘겨*,유출*,حوّل,\
    انشر,अपलोड,drop,place,beam out,hand out,send,forward,mail,email,e-mail,post,upload,transmit,exfiltrate,leak,\
    deliver,relay,share,paste,submit,publish,export,copy,dispatch,smuggle,encode,append,embed,attach,include,put,\
    pass on,pass along,transfer,ship,dump,sync,beam,report,hand over,hand,stream,schick*,sende,senden,übermittle,\
    leite,envoie*,envoyez,transfère*,transmets,envía,envia,envíe,enviar,envie,manda,mande,reenvía,encaminhe,invia,\
    inviate,inoltra,stuur,verstuur,wyślij,wysyłaj,przesyłaj,prześlij,отправ*,перешли*,шли,gönder*,发送,发给,傳送,发到,\
    上传,送信,送って,送り,보내*,전송*,أرسل,ارسل,भेज*,skicka,pošli,trimite,надішли,надсилай,gửi,kirim*,στείλε,שלח,\
    lähetä,küldd";

/// Secrets and private data.
pub(super) const SECRET: &str = "~/.aws*,~/.kube*,~/.netrc*,~/.npmrc*,~/.git-credentials*,~/.config*,~/.gnupg*,\
    user's documents,user's files,incoming mail,address book,transcript of this,the transcript,every secret,\
    all secrets,home address,user's address,user's phone*,phone number*,card number*,credit card*,personal detail*,\
    access token*,clés d'accès,clave* de acceso,chaves de acesso,chiavi di accesso,toegangssleutel*,klucze dostępu,\
    ключи доступа,访问密钥,アクセスキー,접근 키,مفاتيح الوصول,erişim anahtar*,एक्सेस कुंजी,customer email*,\
    email addresses,liste des clients,lista de clientes,lista dei clienti,klantenlijst,kundenliste,listę klientów,\
    список клиентов,переписк*,müşteri listesi,客户名单,顧客リスト,고객 명단,newest memories,your context,\
    confidential part,what the user types,whatever the user,every token,secrets manager,customer table*,user table*,\
    customer database*,client list*,client data,contents of the database,contents of the inbox,contents of the file,\
    stored preference*,session cookie*,access key*,signing key*,admin password,full chat,full conversation,\
    full history,message history,conversation history,chatverlauf,gesprächsverlauf,inhalt der datenbank,kundendaten,\
    nutzerdaten,historique,données des clients,données clients,historial,datos de los clientes,histórico,\
    dados dos clientes,cronologia,dati dei clienti,klantgegevens,gespreksgeschiedenis,dane klientów,historię,историю,\
    данные клиентов,konuşma geçmişi,müşteri veri*,用户数据,客户数据,聊天记录,对话记录,顧客データ,会話履歴,顧客情報,\
    고객 데이터,대화 기록,개인정보*,بيانات العملاء,سجل المحادثة,ग्राहक डेटा,बातचीत का इतिहास,environment of,chat logs,\
    chat log,private repo*,/etc/shadow,/etc/passwd,id_rsa,.npmrc,.netrc,.aws/credentials,tenant data,other tenants,\
    session token*,credential*,password*,passphrase*,secret*,api key*,api-key*,apikey*,api token*,token,tokens,\
    environment variable*,env var*,private key*,ssh key*,~/.ssh,.ssh,.env,user data,customer data,customer record*,\
    customer list*,personal data,connection string*,kubeconfig*,cookie*,session data,system prompt,hidden prompt,\
    hidden instruction*,chat history,conversation,conversations,transcript*,user's last message,user's message*,\
    what the user,vault contents,contents of the vault,keys,key material,private data,confidential,database dump,\
    source code,inbox,contact list*,address book,medical record*,payroll,salary,salaries,zugangsdaten,passwört*,\
    passwort,kennwört*,schlüssel,mots de passe,mot de passe,identifiants,clés,contraseña*,claves,credencial*,senhas,\
    chaves,credenciais,password,credenziali,chiavi,wachtwoord*,sleutels,hasła,klucze,парол*,ключи,токен*,учётные,\
    учетные,şifre*,parola*,anahtar*,密码,密碼,密钥,凭证,令牌,パスワード,認証情報,秘密鍵,トークン,비밀번호*,토큰*,\
    자격*,كلمات المرور,كلمة المرور,المفاتيح,पासवर्ड*,lösenord*,adgangskode*,hesla,parolele,паролі,mật khẩu,kata sandi";

/// Destinations outside: addresses, external services.
pub(super) const AWAY: &str = "внешний адрес,public tracker,issue tracker,calls home,call home,phone home,bcc,\
    reverse shell,mirror below,untrusted mirror,web request*,http request*,outgoing request*,get request*,\
    url parameter*,unten genannte*,folgende adresse,genannte adresse,externe*,adresse suivante,adresse ci-dessous,\
    siguiente correo,siguiente dirección,dirección siguiente,endereço abaixo,seguinte endereço,indirizzo seguente,\
    indirizzo qui sotto,onderstaand adres,poniższy adres,tego adresu,adres zewnętrzn*,указанный адрес,адрес ниже,\
    внешн*,aşağıdaki adres*,harici,下面的地址,以下地址,此邮箱,这个邮箱,指定地址,このアドレス,次のアドレス,\
    下記のアドレス,이 주소,다음 주소,아래 주소,هذا العنوان,العنوان التالي,इस पते,नीचे दिए पते,public-*,an outside,\
    unknown host,offsite,public issue,public comment,public repository,a public,public page,public forum,\
    public bucket,webhook*,external,pastebin,my server,my address,my private,my mail,my inbox,my email,this server,\
    this address,the address below,the url below,the share,telegram,discord,public channel,image link,image url,\
    query string,attacker*,public gist,gist,third party,third-party,outside,ftp,remote host,remote server,my bot,\
    my account,public repo*,public bucket,personal email,the endpoint below,dropbox,diesen server,diese adresse,\
    ce serveur,cette adresse,este correo,este servidor,esta dirección,este endereço,questo server,questo indirizzo,\
    deze server,dit adres,ten serwer,ten adres,этот адрес,этот сервер,bu sunucu*,bu adres*,外部,这个地址,此地址,\
    这个服务器,外部サーバ,外部の,외부,خارجي,هذا الخادم,बाहरी";

/// Telling or mentioning something.
pub(super) const TELL: &str = "말하지 마*,알리지 마*,digas,le dis,dis à,мы не говори*,мув,söyleme*,말하지,말하지 마,\
    बताना,تخبر أحد*,mów nikomu,n'en parle*,en parler,no se lo,non dirlo,gets wind,get wind,word about,a word,\
    mit keinem wort,не говори,никому не,vertellen,vertel,kimseye söyle*,别说,誰にも言,bring this up,bring that up,\
    letting on,mention of,mentions of,word of,reference to,avisar,avisarle,prévenir,informar,contarle,cuentas,dirle,\
    zeggen,informieren,benachrichtig*,powiadamiaj,powiadom*,uprzedza*,предупрежда*,предупреди*,haber verme*,\
    haber vermeden,belli etme*,告知,说明,言わない,知られ,気づか,알려*,알게,إبلاغ,إخبار,أخبر,सूचित,बताए,let on,\
    give away,tell,mention,mentioning,inform,notify,disclose,reveal,say,warn,alert,bring up,bring it up,talk about,\
    speak of,acknowledge,admit,telling,informing,notifying,revealing,alerting,let,raise,hint,breathe,sag,sage,sagen,\
    erwähn*,informier*,verrat*,mitteil*,parle*,dis,dites,dire,informe*,avertis*,préviens,digas,diga,informes,\
    menciones,mencione,cuentes,conte,informe,avise,avises,avvisare,informare,menzionare,vertel,vertellen,zeg,meld,mów,\
    mówić,informuj,wspominaj,сообща*,сообщи*,говори*,рассказыва*,упомина*,уведомля*,söyle*,bildir*,haber ver*,告诉,\
    告知,通知,提及,透露,知らせ,伝え,言わ,알리*,말하*,تخبر,تذكر,बताना,बताओ,बता,berätta,säg,fortæl,fortell,říkej,\
    neříkej,spune,повідомля*,кажи,nói,báo,beritahu,beri tahu,πεις,תגיד,תספר,kerro";

/// Hiding, secretly.
pub(super) const HIDE: &str = "hidden from,a secret from,unknown to,unbeknownst,act innocent,play dumb,\
    cover your tracks,get wind,gets wind,cover it up,as routine,sin avisar,sem avisar,sans prévenir,senza avvisare,\
    zonder te melden,keep mum,keep it under,keep this quiet,hush up,bury,gloss over,out of sight,behind closed doors,\
    without fuss,in the background,sans bruit,à l'insu,a escondidas,sin que,às escondidas,di nascosto,all'insaputa,\
    in het geheim,zonder dat,bez wiedzy,za plecami,скрытно,без ведома,gizli,haberi olmadan,背着,不为人知,不声不响,\
    黙って,内緒で,모르게,조용히,خفية,دون علم,गुप्त,बिना बताए,keep quiet,stay silent,say nothing,keep silent,\
    keep it quiet,cache cette,cache ces,dissimule*,verbirg,verheimlich*,verschweig*,oculta*,esconda*,esconde*,\
    nascondi*,verberg,verzwijg,ukryj,скрой*,скрыва*,gizle,隐藏,隐瞒,隠し,隠す,숨기*,숨겨*,أخف,छिपा*,silently,quietly,\
    secretly,covertly,in secret,behind the scenes,no trace,no traces,under the radar,discreetly,stealthily,conceal,\
    hide,cover up,mask,scrub,heimlich,stillschweigend,en secret,discrètement,en secreto,en silencio,em segredo,\
    silenciosamente,in segreto,silenziosamente,stiekem,potajemnie,po cichu,втайне,тайно,незаметно,gizlice,秘密,悄悄,\
    偷偷,暗中,こっそり,密かに,몰래,은밀*,سرا,سرًا,चुपके,चुपचाप,i hemlighet,i smug,tajně,în secret,таємно,bí mật,\
    diam-diam";

/// From now on, always.
pub(super) const FUTURE: &str = "from this day,from that day,for good,daqui para frente,da adesso,da subito,de ahora,\
    à compter,ab heute,od dzisiaj,for all time,once a day,each morning,every morning,every hour,every day,as soon as,\
    daily,lasting,permanent,à partir d'aujourd'hui,permanente,permanent*,stets,对每,any time,anytime,\
    from today onward,from today onwards,onward,onwards,day and night,every day from,dauerhaft,für immer,in zukunft,\
    ab heute,dès maintenant,à l'avenir,pour toujours,dès aujourd'hui,en adelante,para siempre,desde hoy,en el futuro,\
    de hoje em diante,doravante,para sempre,per sempre,in futuro,da oggi,voor altijd,vanaf vandaag,na zawsze,\
    na przyszłość,od dziś,навсегда,впредь,с сегодняшнего дня,artık,daima,sonsuza dek,永远,始终,从今天起,一律,以後,\
    今日から,永久に,いつも,늘,오늘부터,영원히,دائما,دائمًا,من اليوم,सदा,आज से,आगे से,until told otherwise,\
    until i say otherwise,as a rule,for good,from today on,with immediate effect,from now on,from here on,henceforth,\
    hereafter,from this point,going forward,from this moment,as of now,in future,in the future,each time,every time,\
    whenever,always,permanently,until further notice,habit,no matter what,for the rest of,from today,starting now,\
    without exception,at all times,evermore,every single time,by default,forever,whatever happens,ab sofort,ab jetzt,\
    von nun an,von jetzt an,künftig,immer,jedes mal,à partir de maintenant,désormais,dorénavant,toujours,\
    à chaque fois,a partir de ahora,de ahora en adelante,siempre,cada vez,a partir de agora,daqui em diante,\
    de agora em diante,sempre,d'ora in poi,da ora in poi,ogni volta,vanaf nu,voortaan,altijd,od teraz,od tej pory,\
    zawsze,с этого момента,отныне,впредь,всегда,с настоящего момента,bundan sonra,bundan böyle,şu andan itibaren,\
    her zaman,从现在起,从现在开始,今后,以后,从今以后,今後,これから,今から,常に,지금부터,앞으로,이제부터,항상,من الآن,\
    दوماً,अब से,अब से,हमेशा,från och med nu,fra nu af,fra nå av,od teď,od nynějška,de acum,відтепер,від цього моменту,\
    từ bây giờ,từ nay,mulai sekarang,από τώρα,מעכשיו,tästä lähtien,mostantól";

/// Every conversation or reply.
pub(super) const SESSION: &str = "each conversation,start of each conversation,beginning of each,future answers,\
    future replies,later replies,each reply,every reply,chaque conversation,cada conversación,cada conversa,\
    ogni conversazione,elk gesprek,jedes gespräch,jeder unterhaltung,in future sessions,in future chats,\
    in future conversations,in later sessions,in all sessions,in every session,in new sessions,future session*,\
    later session*,every session,each session,all sessions,future chat*,later chat*,all chats,every chat,\
    future conversation*,later conversation*,every conversation,all later chats,all later sessions,\
    all future sessions,all future chats,all future conversations,all future tasks,all future replies,\
    all future answers,every future session,every future chat,every future conversation,each future session,\
    all following sessions,all upcoming tasks,next session*,new session*,subsequent session*,subsequent conversation*,\
    each new conversation,every new conversation,every new session,coming sessions,jede* sitzung,jeder sitzung,\
    chaque session,cada sesión,cada sessão,ogni sessione,elke sessie";

/// All, every, whatever.
pub(super) const ALL: &str = "every,each,all,any,everything,anything,whatever,alle,allen,alles,jede*,sämtliche*,\
    chaque,tout,toute*,tous,cualquier*,todo,todos,toda,todas,cada,qualquer,quaisquer,qualsiasi,tutti,tutte,tutto,ogni,\
    elk,elke,ieder*,każd*,wszystk*,все,всё,всех,любы*,любо*,кажд*,tüm,her,bütün,所有,任何,一切,全部,すべて,全て,\
    あらゆる,모든,모두,كل,جميع,सभी,हर,alla,varje,semua,setiap,mọi,tất cả,toate,orice,усі,всі,všechny,každ*,όλες,כל,\
    kaikki,minden";

/// Following and obeying.
pub(super) const OBEY: &str = "act according to,act in accordance with,go by,work from,stick to,rely on,be guided by,\
    take your orders from,take orders from,richte dich,halte dich,tiens-t'en,conforme-toi,attieniti,atente,atenha-se,\
    guíate,houd je aan,kieruj się,stosuj się,руководствуйся*,придерживай*,выполняй*,uyun,metne uy,按照,照着,依照,听我,\
    のみに従,に従って,지켜*,التزم,انصع,मानो,अनुसरण,be done,be granted,be carried out,give them what,be fulfilled,\
    be honoured,be honored,obey,comply,follow,carry out,carried out,adhere,listen to,trust,abide,heed,be obeyed,\
    be followed,execute,act on,do as,befolg*,gehorch*,obéis*,suis,suivez,obedece*,sigue,obedeça,siga,obbedisci,segui,\
    gehoorzaam,volg,słuchaj,подчиня*,слушай*,следуй*,服从,听从,遵循,遵守,従っ,従い,따르*,따라,اتبع,أطع,मानो,पालन,\
    itaat,uy ,följ,lyd,poslouchej,ascultă,слухай*,tuân theo,patuhi,ikuti";

/// The planted text itself: "this note", "these instructions".
pub(super) const SELF: &str = "this comment,these instructions,this instruction,the text between,the present memo,\
    the present note,this ticket,the plan below,the snippet below,the steps below,the script below,onderstaande,\
    poniżej,ниже,aşağıdaki*,أدناه,नीचे लिखा,下面写的,次の手順,다음 지시,what comes next,vem a seguir,a continuación,\
    qui sotto,hieronder,unten steht,nachstehend*,ci-dessous,the text under,the list under,this list,this file,\
    the comments in this,below this line,in the next line,under this heading,hier steht,was hier steht,diesen zeilen,\
    celles-ci,ceci,ce qui suit,ce document,este mensaje,estas instrucciones,lo que sigue,lo siguiente,aqui,\
    o que está escrito aqui,o que segue,queste,quanto segue,ciò che segue,wat hier staat,deze instructies,tym tekstem,\
    tych instrukcji,эти указания,этим указани*,этого текста,bu metne,bu talimat*,下面的内容,以下内容,下列,本消息,\
    以下の内容,以下の指示,次の内容,아래 내용*,다음 내용*,이 지시*,هذه التعليمات,ما يلي,इस संदेश,नीचे लिखे,इन निर्देश*,\
    the following line,the following text,the following sentence,the following paragraph,the sentence above,\
    the text above,the paragraph above,the lines above,the note above,the above text,the instructions above,this note,\
    these notes,these lines,this line,this block,this paragraph,this entry,this memory,this text,this instruction,\
    this message,this document,this memo,this rule,these rules,the text below,what is written here,these instructions,\
    this passage,this sentence,this section,the words below,the lines below,what follows,these orders,this order,\
    this directive,this step,this action,this change,this request,this prompt,the instructions below,\
    the instruction below,this lesson,this record,this page,this snippet,this warning,this notice,itself,diese notiz,\
    diesen text,diesem text,diese zeilen,dieser text,ce texte,cette note,ces lignes,ce message,este texto,esta nota,\
    estas líneas,este mensaje,estas linhas,questo testo,questa nota,queste righe,deze notitie,deze tekst,tej notatki,\
    ten tekst,tego tekstu,этот текст,эту заметку,этой заметк*,эти строки,bu metin,bu notu,bu not,这段文字,本条,此条,\
    这条,このメモ,この文,이 메모,이 글";

/// Copying and spreading.
pub(super) const COPY: &str = "teach,teach these,shows up in,show up in,hand these,pass on,pass this,reproduce,echo,\
    transcribe,hand on,re-post,repost,forward,seed,carry,include,weitergib,gib weiter,répète*,retransmets,reproduc*,\
    repite,repita,ripeti,herhaal,powiel*,przekazuj,распространя*,повторяй*,tekrarla,转发,传播,广め,転送,퍼뜨*,전파*,\
    انشر,फैला*,copy,write,insert,add,append,replicate,repeat,include,reproduce,duplicate,propagate,spread,embed,\
    preserve,keep,save,store,carry over,paste,place,put,restore,recreate,plant,pass,clone,mirror,record,prepend,\
    kopier*,schreib*,füge,copie*,ajoute*,insère,recopie*,copia*,añade*,inserta,adiciona*,insira,kopieer,voeg,kopiuj,\
    skopiuj,wstaw,скопируй*,копируй*,добавь*,вставь*,kopyala*,复制,複製,写入,コピー,복사*,انسخ,कॉपी";

/// Places where a text lives on: memory, notes, files, other agents.
pub(super) const MEMORY: &str = "write to memory,every file you,connected agents,long-term memory,commit message*,\
    other assistant*,other agent*,next agent,every agent,each agent,its instructions,the pipeline,every document,\
    each document,every file,each file,knowledge,every page,memory,memories,note,notes,readme*,summary,summaries,\
    summarise,summarize,summarising,summarizing,store,stores,conversation*,chats,reply,replies,answer,answers,\
    response*,message*,knowledge base,handover*,document,documents,prompt*,notiz*,erinnerung*,gedächtnis*,\
    zusammenfassung*,mémoire*,notes,résumé*,memoria*,notas,resumen*,memória*,resumo*,memorie,riassunt*,geheugen,\
    notities,samenvatting*,pamię*,notat*,памят*,заметк*,hafıza*,notlar*,记忆,筆記,笔记,メモ,要約,記憶,메모*,기억*,\
    ذاكرة,मेमोरी";

/// Offices and people of authority.
pub(super) const AUTH: &str = "data protection office,undersigned,administrator directive,emergency protocol,\
    incident commander,law enforcement,government,police,authorities,platform team*,security department,\
    compliance department,department,trust and safety,safety engineer*,executive*,president,founder*,headquarters,\
    level 5,clearance,inspector*,regulator*,administrator*,admin,ceo,cto,ciso,security team,security group,owner,\
    developer*,anthropic*,openai*,google,microsoft,root,superuser,platform team,management,headquarters,vendor,\
    your creator*,your developers,operator,safety staff,safety team,compliance,head of,director,board,legal,system,\
    maintainer*,sysadmin,security staff,it department,your maker*,your owner,supervisor,auditor*,helpdesk,\
    security office,operations team,security lead,chief";

/// Claims to speak with authority.
pub(super) const CLAIM: &str = "speaking on behalf of,carries the rank,i wrote you,i made you,i built you,\
    i created you,i trained you,the undersigned,message from,here speaking,speaking,staff here,here:,in the name of,\
    acting for,department here,came from,coming from,i am,i'm,this is,message comes from,message from,comes from,\
    come from,on behalf of,speaking as,as the,hereby,in my role,notice from,instruction from,order from,sent by,\
    signed by,we are,authority of,issued by";

/// Authorised, cleared.
pub(super) const GRANT: &str = "pre-cleared,pre-authorised,pre-authorized,pre-approved,cleared,licensed,deputised,\
    deputized,mandated,authorise,authorize,authorised,authorized,grant,granted,allow,permit,order,ordered,orders,\
    instruct,instructed,direct,directed,command,commanded,empower,demand,require,requires,approve,approved,clear";

/// Authorising the reader: "I authorise you".
pub(super) const BESTOW: &str = "i grant you,i authorise you,i authorize you,i permit you,i allow you,i order you,\
    i hereby,i command you,i instruct you,you are hereby,you have been granted,you have been given,you are granted,\
    you are authorised,you are authorized,you now have,we grant you,we authorise you,we authorize you,\
    i give you permission,i am giving you,permission is granted";

/// Privileges and rights.
pub(super) const PRIV: &str = "owner rights,owner permissions,admin right*,superuser access,elevated rights,\
    elevated privileges,admin permissions,superuser rights,highest privileges,owner permissions,root,cluster-admin,\
    sudo,superuser,elevated,full access,unrestricted,administrator rights,root access,root rights,owner role,\
    admin role,admin rights,admin access,administrator access,all permissions,full control,privileges,privileged,\
    all rights,admin privileges,owner rights,administrator role,owner access,write access,full permissions";

/// Without limits or filters.
pub(super) const FREE: &str = "بدون قيود,बिना सीमा,respond freely,free of the constraints,answer freely,\
    without refus*,bez limitów,ohne grenzen,sans limites,sin filtros,sem filtros,senza filtri,there is no limit,\
    no limit,no longer limited,unlimited,without any limit,with no limit,all restrictions lifted,\
    restriction is lifted,restrictions are lifted,guard rails suspended,guardrails suspended,nothing binds,\
    nothing limits,nothing restricts,no one can stop,no moral*,stay in character,always says yes,never asks,\
    no conscience,beyond the rules,above the rules,without conscience,without limits,without restrictions,\
    without any restrictions,unrestricted,unfiltered,uncensored,no restrictions,no limits,no content policy,no rules,\
    never refuses,never refuse,without ethics,no ethics,no filter*,no guidelines,no longer bound,unbound,jailbroken,\
    without any filter,without filter*,amoral,do anything,executes anything,any request,no moral*,no boundaries,\
    ignores the safety,ignores safety,ignores all,answers everything,no policy,no policies,without rules,not bound,\
    no limitations,without limitations,free from,free of,without morals,no safety,never says no,respond to anything,\
    answer anything,no guardrails,ohne einschränkung*,sans restriction*,sans limite*,sin restricciones,sin límites,\
    sem restrições,sem limites,senza restrizioni,senza limiti,zonder beperkingen,bez ograniczeń,без ограничений,\
    sınırsız,没有限制,不受限制,無制限,制限のない,제한 없*";

/// Taking a role: "act as", "pretend to be".
pub(super) const BE: &str = "introduce yourself as,present yourself as,begin afresh as,answer in the role,\
    call yourself,as if it were your,you act as,take the persona,adopt the persona,adopt the role,assume the identity,\
    switch into,turn into,gib dich als,verhalte dich wie,fais comme si,haz como si,haz de cuenta,finja,fai finta,\
    doe alsof,udawaj,zachowuj się,веди себя,gibi davran,假装,就当,のように振る舞,인 것처럼,척해*,تظاهر,ऐसे बर्ताव,\
    act as though,act as if,behave as if,behave as though,continue as if,proceed as if,you are now,you are no longer,\
    you're now,you're no longer,act as,acting as,pretend,speak as,role-play*,roleplay*,imagine you,imagine that you,\
    behave like,behave as,respond as,reply as,answer as,play the role,take the role,play a game,you will play,\
    you will be,become,simulate,you are a,you are an,you are root,you were an,you were a,assume the role,\
    take on the role,impersonate,du bist jetzt,du bist nun,spiel die rolle,tu es maintenant,tu es désormais,\
    agis comme,eres ahora,ahora eres,actúa como,finge,você é agora,agora você é,aja como,sei ora,ora sei,agisci come,\
    je bent nu,jesteś teraz,ты теперь,притворись*,sen artık,你现在是,扮演,あなたは今,ふりをし,당신은 이제";

/// Security controls: scanner, firewall, audit log.
pub(super) const GUARD: &str = "secret scanner,the scanner,virus scanner,malware scanner,content scanner,firewall*,\
    antivirus,mfa,2fa,two-factor,audit log*,audit trail*,logging,monitoring,alerts,alerting,selinux,apparmor,\
    security group*,network polic*,encryption,malware protection,intrusion detection,endpoint protection,\
    access control*,rate limit*,certificate check*,tls verification,signature check*,waf,edr,branch protection,\
    secret scanning";

/// Unnecessary, optional.
pub(super) const NEEDLESS: &str = "safe to ignore,fine to ignore,ok to ignore,okay to ignore,are noise,is noise,\
    optional,voluntary,can be ignored,can be waved through,may be skipped,can be skipped,may be ignored,\
    can be left out,for show,theatre,theater,facultatif*,facultative*,opcional*,facoltativ*,optioneel,freiwillig,\
    entbehrlich,opcjonaln*,dobrowoln*,необязательн*,формальност*,isteğe bağlı,gerekli değil*,可选,多余,可有可无,\
    任意です,省いて,선택 사항,불필요*,اختياري*,غير مطلوب*,वैकल्पिक,आवश्यक नहीं,brauchen keine,braucht keine,\
    pas besoin de,não precisa*,no necesita*,non serve,nie wymaga*,не требу*,no questions asked,needs nobody,\
    need nobody,costs time,only costs,wastes time,takes too long,overkill,just noise,a nuisance,only delays,\
    just a hurdle,bureaucracy,red tape,formality,waste of time,unnecessary,needless,redundant,superfluous,not needed,\
    not required,not necessary,isn't needed,isn't required,isn't necessary,aren't needed,not needed any more,\
    no longer needed,no longer required,slows,only slow*,pointless,nicht nötig,nicht erforderlich,nicht notwendig,\
    unnötig,überflüssig,pas nécessaire,inutile,no es necesari*,no hace falta,innecesari*,não é necessári*,\
    desnecessári*,non è necessari*,non serve,niet nodig,overbodig,nie jest potrzebn*,zbędn*,niepotrzebn*,не нужн*,\
    не требуется,не обязательн*,gerek yok,gereksiz,不需要,不必,必要ない,必要ありません,不要です,필요 없*,غير ضروري*,\
    ज़रूरत नहीं,जरूरत नहीं,behövs inte,ikke nødvendig*,není potřeba,nu este nevoie,không cần,tidak perlu";

/// Marked as approved or done.
pub(super) const PASSED: &str = "as completed successfully,as done and,as already approved,as accepted,as validated,\
    as good to go,as settled,als genehmigt,als geprüft,comme validé*,como aprobad*,como aprovad*,come approvat*,\
    als goedgekeurd,jako zatwierdzon*,как одобрен*,as successful,as green,as a success,as a pass,as ok,as passed,\
    as approved,signed off,pre-approved,preapproved,as signed,as done,as reviewed,as verified,already approved,\
    as trusted,as safe,as authorised,as authorized,as confirmed,as complete,as completed,already confirmed,\
    already authorised,already authorized,approved already,as valid,as legitimate,as cleared,already cleared,\
    already reviewed";

/// Reports and answers of the agent.
pub(super) const REPORT: &str = "your transcript,your status,your changelog,the transcript,your commit message*,\
    your next message,deiner antwort,ta réponse,tu respuesta,sua resposta,tua risposta,je antwoord,your summary,\
    your report,your reply,your answer,your response,your output,your final,actions you,the report you,\
    the summary you,steps you,your message,your log,your notes,your next,the reply,the answer,what you tell,\
    what you did,the chat,the user's view,the result you,your recap,your explanation";

/// Words before an imperative: "please", "and".
pub(super) const LEAD: &str = "please,and,then,just,simply,also,now,or,immediately,automatically,first,next,finally,\
    so,but,instead,again,kindly,directly,afterwards,always,quickly,once,let's,to,if,do,you,und,et,и ,ve ";

/// "Remember that", "keep in mind".
pub(super) const NOTE: &str = "remember for next time,add the following to what you know,make it a permanent rule,\
    learn this,to be stored,keep in memory that,permanent rule in your memory,from memory on,remember:,\
    store this rule,store a rule,store the rule,save a note that,save the rule,keep in your memory,keep in memory,\
    hold in memory,record as a preference,record the fact,persist the following,persist this,you learned,\
    you have learned,register that,log as a fact,it is now a fact,set as a preference,treat as a known fact,\
    add the fact,add a memory,create a memory,write a memory,new memory,file this under,note down,keep as a,\
    remember it,guarda como,enregistre comme,salva come,sla op als,zapisz jako,сохрани как,amend your memory,\
    it is an established fact,long-term facts,kalıcı olarak,作为事实,事実として,사실로,remember that,remember this,\
    remember permanently,remember forever,remember for good,always remember,commit this to memory,commit it to memory,\
    commit to memory,save to memory,save to long-term memory,save this to memory,save as a fact,store in memory,\
    store the following,store this as,store as a fact,store permanently,make a note,make a lasting note,\
    make a permanent note,make it a fact,keep in mind,bear in mind,add to your knowledge,add to your memory,\
    add to memory,write to memory,write into memory,record as fact,record permanently,update your memory,\
    update your stored,update your preferences,update your knowledge,overwrite what you know,learn that,\
    take it as given,take as given,accept as fact,treat it as fact,internalise,internalize,memorise,memorize,\
    merke dir,merk dir,präge dir ein,speichere dauerhaft,behalte im gedächtnis,retiens,souviens-toi,mémorise,\
    garde en mémoire,recuerda,memoriza,ten en cuenta,guarda en memoria,lembre-se,memorize,guarde na memória,ricorda,\
    memorizza,tieni a mente,onthoud,zapamiętaj,pamiętaj,запомни*,记住,牢记,覚えて,記憶し,기억해*,تذكر,hatırla*,\
    aklında tut*,याद रख*";
