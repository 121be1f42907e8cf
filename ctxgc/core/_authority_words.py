"""Words of people and of their will, language by language: what text from tools may not say in somebody's name.

Rule: data only. A stem stands for every word that begins with it; one that ends with ``.`` for that word alone; in
scripts without spaces, and in Arabic and Hindi, it counts wherever it stands. All of it is compared folded.
"""

from __future__ import annotations

LEAVE = """
approv authoris authoriz allow. allows. allowed allowing allowance disallow permit permission permissi consent
grant.
grants. granted granting confirm endors sanction. sanctioned waive waiver waiving entitl empower signoff greenl
okayed
clearance overrid overrul exempt consensus accept. accepts. accepted accepting acceptance greenlight goahead
lgtm fine.
okay. welcome. objection nod. nodded bless blessing assent acquiesc ratif veto mandate. mandated delegat
whitelist
allowlist trustworthy vouch trusted. privileg unrestrict unlock. unlocked cleared. yes. yep. minds. happy. glad. gladly
autoris permett permis accord. accorde accorder consenti valide. validee approuv
aprob aprov autoriz permiti permiso permissao permesso concede concedi consiente acuerdo aprueb
acconsent approvat conferm conced
genehmig erlaub erlaubnis gestatt zustimm zugestimm freigegeb freigab einverstand bewillig bestatig zulass
zugelassen
befug ermachtig einwillig
одобр разреш позвол соглас подтверд утверд дозвол санкцион допуск уполномоч
onay izin. izni. izin yetki musaade kabul. onayl
موافق وافق سمح يسمح اذن إذن تفويض مسموح صلاحي اقر أجاز
अनुमति मंजूर मंज़ूर स्वीकृ सहमत इजाजत अनुमोद
批准 同意 允许 允許 许可 許可 授权 授權 准许 准許 核准 认可 認可 确认 確認 赞成
承認 了承 許諾 認めた 認めて 認める
승인 허가 허락 동의 허용 인가 권한 확인했
goedgekeurd goedkeur toestemming toegestaan akkoord bevestig zatwierdz zgod zezwol pozwol potwierdz godkan
tillat
samtyck bekraft setuju disetujui mengizinkan
"""
"""That somebody allows something, or has the right to."""

PEOPLE = """
user. users. operator. operators. admin. admins. administrat administrador owner. owners. system. developer.
developers.
assistant. assistants. supervisor superuser sysadmin manager. managers. boss. ceo. cto. human. humans.
maintainer
maintainers. customer. principal. anthropic openai chatbot somebody someone
everyone. everybody. anybody anyone legal. cfo. stakeholder moderator
utilisateur administrateur proprietaire operateur developpeur systeme assistante
usuario usuaria propietario operador desarrollador sistema asistente usuari proprietari operatore
amministrator sviluppator assistente dono. utilizador proprietario desenvolvedor
benutzer nutzer anwender betreiber besitzer eigentumer entwickler systemprompt assistent chef. inhaber
пользовател оператор. оператора администратор владел систем разработчик ассистент хозяин начальник
kullanici yonetici sahibi sistem. gelistirici operator asistan
المستخدم مستخدم المشغل المالك المدير المسؤول النظام المطور المساعد
उपयोगकर्ता प्रयोक्ता व्यवस्थापक मालिक प्रशासक ऑपरेटर सिस्टम डेवलपर सहायक यूजर
用户 用戶 使用者 操作员 操作員 管理员 管理員 所有者 系统 系統 开发者 開發者 助手 主人 老板
ユーザ 利用者 管理者 オペレータ システム 開発者 アシスタント
사용자 유저 관리자 운영자 소유자 시스템 개발자 어시스턴트 주인
gebruiker beheerder eigenaar ontwikkelaar uzytkownik administrator wlasciciel anvandar agare utvecklar pengguna
"""
"""Those in whose name something could be said."""

WILL = """
want. wants. wanted wanting wish. wishes. wished prefer desir ask. asks. asked asking tell. tells. told. telling
said.
say. says. saying stated. states. agree decide decid decision instruct remember ignor always. never. must.
should.
shall. ought. dont. policy. policies. rule. rules. password passwd passphrase credential secret. secrets.
requested
insist demand. demands. demanded expects. command. commanded forget disregard obey
comply
memoriz memoris henceforth hereby directive guideline obligat forbid forbidden prohibit please. pls. kindly can.
might.
jailbreak override bypass prompt. prompts. intend intends. intended choose. chooses. chose. chosen recommend
advis
ledger. fact. facts. verified. claim. claims. pinned. constraint ctxgc suggest opinion believe believes. promise
guarantee exception. urgent. imperative. legitimate. safely. rightful
veut. veulent voulu prefere demande dit. instruction souviens souvenez rappelle ignore. ignorez toujours jamais
doit. devez politique regle. regles. motpasse motdepasse desormais dorenavant oubliez retenez
quiere quieren prefiere pide pidio dijo. decidi recuerd ignora siempre. nunca. debe. debes. politica regla.
reglas.
contrasena credencial olvida quer. pediu disse. lembr sempre. deve. regra. regras. senha vuole chiesto detto.
deciso
ricord mai. devi. regola. regole. dimentic adesso. esqueca
will. wollen mochte bevorzug bittet gebeten sagt. sagte gesagt entschied entschieden anweis merke merk. erinner
ignorier immer. niemals. nie. muss. mussen soll. sollst sollen regel. regeln. richtlinie passwort kennwort
zugangsdaten
vergiss darf. durfen darfst
хочет хотел предпоч просит попросил сказал говорит решил решен запомн игнорир всегда никогда долж следует
политик
правил парол инструкц забуд можно. нельзя велел приказ впредь помни. помните
istiyor istedi tercih sordu soyledi karar verdi. talimat hatirla unutma yoksay gormezden daima asla her. zaman.
zorunda
gerekir politika kural sifre parola
يريد أراد يفضل طلب قال قرر تذكر تجاهل دائما أبدا يجب سياسة قاعدة كلمة السر المرور تعليمات انس اعتماد
चाहता चाहते चाहती पसंद कहा पूछा निर्णय फैसला याद अनदेखा हमेशा कभी चाहिए नीति नियम पासवर्ड निर्देश
想要 希望 偏好 要求 说 說 询问 决定 決定 指示 记住 記住 忽略 无视 無視 总是 總是 永远
永遠 从不 必须 必須 应该 應該 规则 規則
政策 密码 密碼 凭证 憑證 请 請 不要 今后 今後 从现在起 可以 忘记 忘記 命令 喜欢 吩咐 务必
望んで 好む 求め 依頼 言った 言って 述べ 決め 覚えて 記憶 常に 決して 必ず べき
ください 下さい ルール
方針 パスワード 資格情報 忘れ してよい しても良い してもよい お願い
원한 원합 원했 선호 요청 말했 말씀 결정 지시 기억 무시 항상 절대 반드시 해야 규칙 정책 비밀번호 암호 앞으로
하세요 해도 명령 부탁
losch. losche. losch fuhre. starte. sende. uberweis supprim executez. efface envoie deploie borra. borre.
elimina. elimine.
ejecut envia. despleg cancella. esegu invia. apaga. exclua. удал выполн отправ запуст sil. calistir gonder
احذف نفذ أرسل हटा चला भेज 删除 刪除 执行 執行 发送 發送 削除 実行 送信 삭제 실행 전송
wil. vraagt zei. wachtwoord onthoud negeer altijd nooit moet. chce. hasto pamietaj zawsze nigdy musi. vill.
sager.
losenord alltid aldrig maste ingin harus selalu jangan ingat
"""
"""What somebody wants, says or decides, what is to be done or kept in mind, and what opens doors."""

PRONOUNS = """
i im ive me my mine we our ours you your yours u ur myself yourself yall
"""
"""English words for those who speak and who are spoken to: whole words, and no parts of names."""

COMMANDS = """
run rerun execute exec delete remove erase wipe drop truncate purge destroy deploy push send email mail post
transfer pay wire buy order upload download install uninstall disable enable skip overwrite call use proceed
continue stop do make treat consider note keep include add omit summarize summarise mention write tell reveal
show respond reply answer click visit forward copy move merge commit revert rewrite replace submit publish share
give let assume act pretend behave ensure store save record mark set carry pass put go start begin force chmod
chown sudo rm kill shutdown reboot curl wget leak exfiltrate encode decode translate repeat follow switch change
update upgrade apply create open invoke trigger release refund approve try ask see read
"""
"""Verbs that command where a clause begins with them."""

PHRASES = (
    r"\b(?:go ahead|sign(?:ed|s)? off|green light|thumbs? up|good to go|feel free|free to|at liberty|safe to|go for it"
    r"|no (?:problem|need|limits?|restrictions?)|sounds good|be my guest|from now on|going forward|from here on|do not"
    r"|need(?:s|ed)? to|ha(?:s|ve|d) to|gave (?:the|a|his|her|its)|may (?!\d)|is to be|are to be|would like|likes to"
    r"|ok(?:ay)? (?:to|with|for)|all ?right|pre approved|at will|in the name of|on behalf of|rights? to"
    r"|up to (?:the|him|her|them)|a partir de|ab (?:jetzt|sofort)"
    r"|d ores et deja|sin preguntar|ohne (?:ruckfrage|nachfrage)|sans demander|without (?:asking|review|checks?))\b"
)
"""The same in several words, as a regular expression over folded words with single spaces between them."""

NEGATIONS = """
no not non none never neither nor without cannot cant dont doesnt didnt isnt arent wasnt werent wont wouldnt
shouldnt couldnt hasnt havent hadnt nothing nobody nowhere except but unless if however almost until would un
nicht kein keine keinen keiner nie ne pas jamais aucun sans sin ni nunca ningun ninguna nao nem sem senza nessun
mai не нет ни без никогда если кроме degil yok hayir لا لم لن ليس غير नहीं मत ना बिना
"""
"""Words that turn a statement round. In Chinese, Japanese and Korean every character has to stand in the quote."""

NEUTRAL = """
a an the is are was were be been has have had its it this that these there here of in on at to for from by with
as and into per which total number value file files line lines result results output holds contains reads shows
returns returned reports reported equals exactly named called now currently s der die das ist sind war hat und
mit von im le la les est sont et de du el los las es son y con en o e il lo
"""
"""Words that add nothing to what a quote says."""
