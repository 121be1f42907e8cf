r"""How people put constraints, language by language: phrases that bind, phrases that only look like it, reports.

Rule: data only, and what repeats in a pattern is bounded, or letters. A line break and the indentation after it count
for nothing, ``<S>`` is where a clause can begin, ``<V>`` a verb for what an agent does, ``<N>`` a concrete value, and
``\0`` stands for code, a quote, a path or a URL. The sentences it is held against have single spaces.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tongue:
    """How a language commands, as regular expressions.

    A sentence binds if it has one of ``opening`` where a clause begins, of ``words`` where a word does, or of ``cue``
    anywhere, once ``idle`` phrases are taken out, and nothing of ``told``: then it only reports or asks. ``verbs``
    stand for ``<V>``; words of ``fill`` may come before an ``opening``. Only sentences with ``letters`` are read.
    """

    name: str
    idle: str
    told: str
    opening: str = ""
    words: str = ""
    cue: str = ""
    verbs: str = ""
    fill: str = ""
    letters: str = ""


TONGUES = (
    Tongue(
        "English",
        opening=r"""(do not|don'?t|never|always) (ever |again |even |just )?(?!the\b|a\b|in\b|that\b|this\b
    |it\b)[a-z\0]|(stay|remain) (in|inside|within|on|under|below|at|with|away)\b|(avoid|refrain from|(stay
    |keep) (away from|out of)|steer clear of|hands off|restrict yourself|limit yourself|(limit|cap
    |restrict)\b.{1,60}\b(to|at)|stop \w+ing) \w|(not|nothing|nobody|no one) (to|in|on|into|outside|without|before
    |beyond|but|except|goes|gets|leaves|may|must|should|can be|is to)\b|(strictly |absolutely )?no (\w{1,20} )?(new
    |more|other|external|third[- ]party|extra|additional|hard-?coded|breaking|direct|force|manual|network|inline
    |schema|api|code|\w*dependenc\w+|librar\w+|packages?|comments?|emojis?|mocks?|globals?|changes|edits|commits?
    |deploy\w*|push\w*|downloads?|refactor\w*|placeholders?|hacks?|shortcuts?|frameworks?|writes?|markdown|jargon
    |\w+ing)\b|(ask|check|consult|confirm|tell|warn|notify|show)\b.{0,60}\b(first|before (you|any|each|every|the
    |\w+ing))\b|(wait for|get|obtain|seek|request) (my|our|explicit|written)\b|(prefer|favou?r|preferably)\b
    |keep (?!going|up\b|trying|getting|digging|looking|in touch|calm|working|at it|it up)[a-z\0]|(leave|preserve
    |maintain|retain) \S|(only|solely|exclusively) <V>\b|(<V>|speak|talk|consider|treat|rely|accept|allow|support
    |look)\b.{0,80}\b(instead of|rather than|only|exclusively|by default|at all times|without (\w+ing|any|a|the)
    |no later than|at a time|(at most|at least|no (more|less|fewer) than|not more than|a (max|min)imum of|up to
    |within|under|below) (\w{1,12} )?(\d|one|two|three|four|five|six|ten)|(before|after) (each|every|any|you|\w+ing)
    |every time|each time|whenever)\b|(<V>|go with)\b.{1,80}, (and |but )?not\b|(use|target|connect to|deploy to
    |work (on|in|against)|stick (to|with)|go (with|through)|log in as|authenticate as|run (\S{1,40} ){0,4}?(on
    |against|with|under|in)|(write|save|put|store|log|send|point|set|route|read|pull|push|fetch|query|publish|book
    |bill) (\S{1,40} ){1,5}?(to|in|into|under|at|through|via|from|against)) (\S{1,40} ){0,6}?<N>|(answer|reply
    |respond|write|speak|talk|comment|explain|communicate)\b.{0,40}\b(in|as) (\w{1,12} )?(english|german|french
    |spanish|italian|portuguese|chinese|japanese|korean|russian|arabic|hindi|turkish|dutch|python|rust|go|typescript
    |javascript|java|sql|markdown|json|yaml|bullet points|plain text)\b|(at most|at least|no (more|less|fewer) than
    |not more than|(a )?(max|min)(imum|\.)?( of)?) \S{0,8}(\d|one|two|three|four|five|six|ten)\b
    |(\w[\w.+-]{0,20} ){1,3}only(,? please)?\W{0,3}$""",
        words=r"""(and|but|or|so|please|then|to|should|may|will|can|shall|must|agent|\w{2,20}ing) (also |just |only\x20
    |please )?(don'?t|do not|never|always|not|only) (ever )?<V>\b|(?-i:NEVER|DO NOT|DON'T|ALWAYS|ONLY) (ever )?<V>\b
    |(under no circumstances|on no account|in no case|from now on|going forward|from here on|under any circumstances
    |no matter what|at all costs|whatever you do|as (few|little|short|small) as possible|without exception)\b
    |before\b.{1,80}\b(ask|check with|consult|tell|show|warn) me\b|(stays?|remains?) (unchanged|untouched|as (it is
    |is|they are)|in place|off[- ]limits)\b|(is|are) to (be|stay|remain|use|go)\b|(may|shall) (not|only
    |never)\b(?! (be (the|a)|have|work|need))|should (never|always|only)\b|(in doubt|unsure
    |not sure),? (please )?(ask|stop)\b|must(n't)?\b(?! for\b)|(you|we|the agent) (really )?(should|ought to
    |shall)(n't| not| never| always| only)\b|should(n't| not) (be (changed|touched|modified|edited|committed|deleted
    |logged|used)|<V>)\b|(?<!if )(?<!that )(?<!what )(?<!do )you('ll)? (have|need) to\b|(needs?|has|have) to (stay
    |remain|support|match|fit|pass|return|be able to|keep|be (\w+[- ])?compatible|be (in|under|at|on|within|valid
    |below|above|available))\b|(has|have) to be (?!the\b|an?\b|some|my\b|your\b|because|why|how|\w+ing\b)\w+\b|(you
    |we) (cannot|can't|can not|may not|may only|can only|are not to|aren't allowed to) <V>\b|(is|are|'s|'re) (all\x20
    |also |strictly |absolutely |only )?(forbidden|prohibited|off[- ]limits|banned|mandatory|required|a must
    |out of (scope|bounds)|non-negotiable|a hard (requirement|limit)|not (to be|negotiable|allowed|permitted
    |acceptable|an option)|allowed to)\b|(ask|consult|(check|clear (it|this)) with|run (it|this|that) (by
    |past)) me\b.{0,20}\b(first|before)\b|without (first )?(asking|(my|our|explicit|prior|written) (\w+ )?(ok|okay
    |approval|permission|consent|confirmation|sign-?off|go-ahead|say-so|review)|checking with me|telling me
    |confirming|approval|permission)|unless I (\w+ )?(say|ask|tell|approve|confirm)\b|(I|we)('d| would| do)? (much\x20
    |strongly |really |generally |usually )?(prefer|rather (you|have|not have))\b|my preference is\b|(is
    |are) (strongly )?prefer(red|able)\b|(I|we)('d)? (really )?(want|need|would like|like|told|asked
    |expect) (\S{1,20} ){1,3}(not to|to (always|never|only|not|keep|avoid|ask)|always|never|only)\b
    |I (really )?(don'?t|do not|never) want (?!to\b(?! see\b))\w|(I|we) (always|never|only) (want|use|accept|write
    |deploy|merge|commit|ship|allow)\b""",
        cue=r"""(<S>|\b(you|and|but|must|should) )((always|just|please) )?(make (sure|certain)|ensure|be sure (to
    |that|you|not)|take care (to|that|not)|see to it|be careful (to|not|with)|remember (to|that|not)|don't forget
    |(keep|bear) in mind)\b""",
        idle=r"""\b(must|never|always|only|not|no|do|use|ask|keep)-\w+|-(must|only|never)\b|\b(don'?t|do not) (know
    |think|worry|mind|understand|see|get (it|me|why|how|what)|care|recall|believe|have|seem|you|really (know|see)
    |need|like|even know|work|want to|we|they|I|make sense|exist|hesitate|bother me|look)\b|\bnever (mind|ever|seen
    |been|had|got|gone|heard|known|done|again|knew|saw|thought|once|before|finish|happen)\b|\balways (been|had|got
    |seen|one|some|same|there|an?|true|false|null|zero|\d|on|off|like|get|at|when)\b|\b(never|always) ((?!need|embed
    |exceed|proceed|feed)\w{1,20}ed|(?!bring|string)\w{1,20}ing|(?!focus|alias)\w{0,20}[^\Ws]s)\b|\bmust(n't
    | not)? (have|'ve) (been|had|gone|done|got\w*|made|broken|missed|taken|run|lost|left|hit|set|put|seen|forgotten
    |come|become|written|\w{2,20}ed)\b|\b(I|he|she|they|it) (can|could|may|will) (only|not|never|always)\b
    |\bmust (admit|say|confess|know)\b|\bI must (have|be)\b(?! able)|\b(if|as|when|because|since|why|than) (you|I|we
    |it) must\b|\b(it|this|that|there|he|she|they|something|someone|somebody|problem|bug|issue|error|cause|reason
    |culprit|fault|you|which) (\w{2,8}ly |just |still )?must ((have|mean|come|belong|exist)\b|not (be (the|a|\w+ing)
    |have|know)|be (the|an?|some\w*|my|your|our|because|that|why|how|where|when|related|caused|due|wrong|broken|stale
    |missing|in|on|right|mistaken|confus\w+|tired|hidden|happy|(?!string)\w{2,20}ing)\b)|\brequired (by|field
    |argument|parameter|module|if|for)\b|\bat least (it|the|we|I|that|this|not|you|they)\b|\byou (have
    |need) to be (kidding|joking)\b|\b(all|what) you (have|need) to\b|\bonly (one|once|happens?|fails?|the|thing
    |problem|time|way|when|in|on|if|works?)\b|\b(no|not) (idea|sure|problem|worries|luck|need|reason|longer|thing
    |rush|warning|really|working|changes (yet|so far))\b|\buse (of|cases?)\b|\bleave (it|this|that) (for|to) (now
    |later|tomorrow)\b|\bno \w+ing (error|problem|issue|happens|works)\w*""",
        told=r"""\b(it|he|she|they|that|which|docs?|documentation|readme|spec|manual|logs?|output|compiler|linter
    |parser|api|server|client|response|console|terminal|page|article|tutorial|error|message|exception|trace\w*
    |warning|tests?|ci|reviewer|colleague|guy|boss|mypy|ruff|npm|pip|git|docker|\0) (just |also |still |always |only\x20
    |now |clearly |then )?(says?|said|complain\w*|claim\w*|report\w*|state[sd]?|reads?|tells?|told|prints?|printed
    |shows?|showed|throws?|threw|warns?|warned|thinks?|thought|insist\w*|ask(s|ed)|mention(s|ed)|suggest\w*|was
    |used to|kept)\b|\baccording to\b|\b(read|heard|saw|seen|noticed|learned|remember|thought|assumed|figured|found
    |realized|understand|believe|wonder\w*|guess) (somewhere |out )?(that |if |whether |why )|\b(why|how come|what if
    |whether|wondering if|not sure (if|how|that)|no idea (if|how)|don't (know|understand|see|get) (if|how
    |what))\b[^,;]{0,80}\b(must|always|never|only|not|without|required|should\w*)\b|\b(you|it|he|she|they|agent|who
    |which|that|somebody|someone|script|i|we) (just |already |also |even )?(went|did|ran|made|took|wrote|sent|got|had
    |(?!need|embed|proceed)\w{2,20}ed)\b[^.]{0,60}\bwithout\b|\b(used to|yesterday|last (week|month|year|time
    |night))\b""",
        verbs=r"""add|alter|amend|answer|append|apply|approve|ask|book|browse|buy|cancel|cite|click|count|describe
    |explain|forward|group|invite|list|offer|order|pay|prepare|provide|purchase|quote|recommend|reserve|route
    |schedule|search|sign|sort|spend|summari[sz]e|visit|assume|avoid|begin|break|build|bump|bypass|call|change|check
    |clean|clear|close|comment|commit|configure|connect|contact|convert|copy|create|delete|deploy|disable|disclose|do
    |download|drop|duplicate|edit|email|enable|execute|expose|fetch|force|format|generate|give|go|guess|hard-?code
    |hide|ignore|import|include|install|introduce|invent|kill|limit|link|log|make|mention|merge|migrate|mock|modify
    |move|open|output|overwrite|pick|post|print|publish|pull|push|put|query|read|rebase|refactor|refer|release|remove
    |rename|reply|report|reset|respond|restart|return|reuse|revert|review|rewrite|run|save|send|set|share|show|skip
    |squash|stage|start|stick|stop|store|submit|suggest|suppress|swallow|switch|target|tell|test|touch|translate
    |trust|try|update|upgrade|upload|use|validate|verify|wait|work|wrap|write""",
        fill=r"""please|pls|just|also|and|but|so|then|ok|okay|yes|no|again|now|important|note|warning|reminder|btw|oh
    |hey|hi|thanks|finally|instead|otherwise|first|in general|as a rule|for now|kindly|really|remember|you (should
    |must|may)|let's|we (should|can)|always""",
    ),
    Tongue(
        "Chinese",
        opening=r"""([请請也就先你]|千[万萬]|大家)?[别別](?![的人名处處致客急说]|担心)
    |([请請你就])?[仅僅只]([用改动看读限在]|修改|使用|回答|[输輸]出|返回|[处處]理|提交)|[请請]?([尽儘]量|尽可能
    |默[认認]|避免|保持|保留|沿用)|[请請]?(使?用|[连連]接|部署到|[运運]?行?在|跑在|[选選]).{0,12}?<N>""",
        cue=r"""(必[须須需]|[务務]必|一定要)(?!不)|(?<!要)不(要|准|許|许|可以|[应應]|允[许許])(?!紧|緊|了$)|禁止
    |[严嚴]禁|(?<!不)不得(?!不|已|了|而知)|[切请請]勿|([请請也先]|千[万萬])[别別](?![的人处])|([绝絕决]|[绝絕][对對]
    |永[远遠])不(能|要|可|允|得|[许許]|提|改|用|把|在)|[你只均]?不[能可]([改用动動碰删刪推在把]|修改|使用|提交|直接
    |超[过過]|引入)|只(能|可以?|准|[许許]|允)(?![说好怪])|(<S>[请請]?|[请請要应應都须你])([总總]是|始[终終]|一律
    |永[远遠]|一直|[统統]一)([要先用在把以按走写寫加跑放]|使用|保持|采用|[运運]行|通[过過])|(先|事先
    |提前)([来來])?([问問]|[跟和]我|征求|得到我|向我|[让讓]我|告[诉訴]我|通知我|[请請]示)|(未[经經]|没有
    |没[经經][过過]|不[经經])我?的?(同意|允[许許]|批准|[许許]可|[确確][认認])|([确確]保|保[证證]|注意)(?!金)
    |[优優]先(使用|用|考虑|[选選])?|我更?(喜[欢歡]|偏好|[倾傾]向|希望你|要求)|而不是|(改用|[换換]成|用).{1,20}(代替
    |不用|[别別]用)|([从從]现?現?在起|[从從]今以[后後]|[以今][后後]|接下[来來])(?!再说
    |的).{0,4}[都要请請只用每所不一]|每次.{1,30}(都要|都得|[前后後])|((最多|至多|至少)[^，。了过\s]{0,6}
    |不[能得要可]?(超[过過]|少[于於]|多[于於]|低于|高于)) ?[0-9一二三四五六七八九十两百\0]|(控制|限制
    |保持)在.{1,20}(以[内內下]|之[内內])|[用以]([简簡繁]?[体體]?中文|英文|英[语語]|日文)[来來]?(回|写|寫|交流|注
    |[输輸])""",
        idle=r"""([总總]是|一直|始终)([报報][错錯]|失[败敗]|出[错錯]|超[时時]|崩|卡|返回|提示|显示|出现|不|会|有
    |得到)|要不要|不要紧|注意到|保[证證]金|不保[证證]|我们?只能|只能([说靠等]|重启|手动)|必[须須](得?是).{0,8}(问题
    |原因|吧)""",
        told=r"""([报報][错錯]|[错錯][误誤]|提示|日志|文档|[他她]|系统|编译器|消息|控制台|同事|教程|网上|有人|服务器
    |接口)(信息|[里中上])?.{0,6}([说說]|提示|显示|顯示|写着|要求|[:：])|为什么|為什麼|为何|怎[么麼]|是否|是不是|难道
    |不知道|不明白|不清楚|不确定|好像|似乎|会不会|昨天|刚才|[吗嗎呢]\W{0,3}$""",
        letters=r"^(?=.{0,2000}[\u4e00-\u9fff])[^\u3040-\u30ff\uac00-\ud7a3]*$",
    ),
    Tongue(
        "Japanese",
        cue=r"""(必ず|常に|絶対に?|毎回|いつも|決して|今後は?|これから|以後).{0,80}?(ください|下さい|して(ね|よ|から
    |\W{0,3}$)|[るうつぬむす]こと|ないこと|ように|お願い|くれ|べき|なさい|せよ|しろ|ましょう|な\W{0,3}$)|ないで(ね|よ
    |くれ|ください|下さい|ほしい|欲しい|\W{0,3}$)|禁止|厳禁|[てで]は(いけ|なら|だめ|ダメ|駄目)|ちゃ(だめ|ダメ|駄目
    |いけ)|ないように(して|お願い|\W{0,3}$)|(ない|せぬ|である|[るうつぬむすくぐぶ])(こと|事)(と?する|\W{0,4}$)
    |(なければ|なくては|なきゃ|ねば)(なら|いけ|だめ|\W{0,3}$)|[るうむすく]必要があり?ます|必須(です|とする|\W{0,3}$)
    |(のみ|だけ)[をにでは]?.{0,12}(使|変更|編集|修正|触|して|対象|可|返|出力|ください)|(許可|確認|相談|承認
    |断り)(を取[らっ])?(な[くし]|せず)|(勝手に|無断で|黙って).{0,30}(ない|な\W{0,3}$|禁止|だめ)|(前に|先に|事前に
    |まず).{0,24}(聞いて|確認し|相談し|確認を|知らせて|許可を|尋ねて)|(代わりに|ではなく|じゃなくて
    |より).{0,30}(使[っい用]|書いて|ください|お願い|にして)|方が(好き|いい|良い)です|避けて|(以内|以下|以上|未満|最大
    |最低|まで)[にでとは].{0,20}(して|する|抑え|収め|お願い|こと|ください|とど)|(優先|徹底|遵守|統一|維持)(して|する
    |します|です|し)|(日本|英|中国)語で(回答|返|答え|書|話|コメント|お願い|説明)|(ままに|変えずに
    |そのまま).{0,12}(して|残|お願い|ください)|デフォルトで.{0,20}(使って|ください|こと|ように)|<N>.{0,20}(を使っ
    |を使用し|に接続し|にデプロイし|で実行し|で動かし|を使うこと|に保存し)""",
        idle=r"""知らないで|(気に|心配)しないで|(必ず|常に|絶対に?|毎回|いつも).{0,30}?(失敗|落ち|エラー|クラッシュ
    |タイムアウト)[しすにがまるて]""",
        told=r"""(エラー|メッセージ|ログ|ドキュメント|マニュアル|彼女?|上司|記事|警告).{0,30}(と[言い出表書あ怒]
    |によると)|なぜ|何故|どうして|なんで|のか[わ分]から|かどうか|か[?？。]?\W{0,3}$|(た|でした|だった)(が
    |けど)?\W{0,3}$""",
        letters=r"[\u3040-\u30ff]",
    ),
    Tongue(
        "Korean",
        cue=r"""(반드시|항상|언제나|늘|꼭|절대로?|결코|무조건|매번|앞으로|이제부터|지금부터|기본적?으로|가능하면
    |되도록|먼저|미리).{0,80}?(세요|시오|[해아어] ?줘|하라|해라|야 ?([합해한돼됩]|만)|것|[마말](?=\W|$)|바랍|바람
    |자\W{0,3}$|부탁|써\W{0,3}$)|지 ?(마(?!다|저)|말(?!고는|이)|않도록|않게|않기)|금지|[면서]는? ?안 ?(돼|됩|된)
    |[야어아해]야 ?(합니다|해요|한다|함|됩니다|돼요|만 ?[합해])|(만|로만|에서만|까지만) ?(사용|수정|쓰|써|변경|답
    |작성|건드|실행|고쳐|허용|접근|출력|반환)|(물어|묻|확인받|허락|승인|동의|상의)(보)?(지 ?않| ?없이|고\s|받)|(대신
    |말고|보다는?).{0,30}(쓰세요|써|사용[해하]|주세요|하세요|선호)|(이하|이내|이상|미만|최대|최소
    |까지)[로만의는]?.{0,30}(유지|제한|하세요|해 ?줘|해주세요|할 것|작성|맞춰|허용)|필수(입니다|예요|다|\W{0,3}$)
    |선호(합|해|한)|(보장|유지|준수|주의|유의|명심)(해|하세요|하십시오|할 것|하도록)|피하?(해 ?주|하세요)|(한국어
    |영어|한글)로.{0,12}(답|작성|써|말|설명|대답|응답|주석)|그대로 ?(두|유지|놔)|<N>.{0,20}(사용해|사용하세요|써 ?(줘
    |주)|쓰세요|접속해|연결해|배포해|실행해 ?(줘|주)|저장해)""",
        idle=r"""(항상|절대|반드시|꼭|늘|매번).{0,24}?(실패|오류|에러|죽|느[려리]|멈|안 ?[돼됩되])\w{0,6}|(걱정하
    |신경 ?쓰)지 ?마\w{0,3}|필수 ?(인자|필드|항목)""",
        told=r"""(오류|에러|메시지|로그|문서|그가|그녀가|컴파일러|경고|상사|기사|동료).{0,40}(라고|다고|하래|래요
    |나[와옵]|말했|[뜹떠]|적혀)|왜|어째서|모르겠|궁금|아닌지|을까|[나까]요\W{0,3}$|습니까|[했였었았됐](습니다|어요|다
    |는데요?)\W{0,3}$""",
        letters=r"[\uac00-\ud7a3]",
    ),
    Tongue(
        "German",
        opening=r"""(nie|niemals|nicht|immer|stets|nur|ausschließlich|(?!(dies|ein|sein|mein|dein|ihr|all|kein|viel
    |beid|heut|leut|jen|welch)e)\w{2,20}e (nie|niemals|nicht|immer|nur|keine?\w?|ausschließlich|stets)|keine?[nr]?
    |nichts|ab (jetzt|sofort)|von jetzt an|künftig|in zukunft|grundsätzlich|standardmäßig|vorher|erst)\b(?=.{4})
    |<V>(e|en|t|n|st|et)?\b.{0,70}?\b(nicht|nie|niemals|immer|stets|nur|kein\w{0,2}|nichts|ausschließlich|statt
    |anstelle|anstatt|lieber|höchstens|mindestens|maximal|standardmäßig|unverändert|bevor|vorher|zuerst|grundsätzlich
    |erst)\b|(stelle?|achte|sorge?|pass|vermeide?|halte?|lass|lasst|behalte?|beschränke?|denke?|beachte?
    |verzichte) \S|(verwende|benutze?|nutze?|nutzt|nimm|nehmt|verbinde?|führe|deploye|starte|schreibe?
    |speichere?)\b.{0,40}?<N>|(antworte?|schreibe?|kommentiere?|sprich|erkläre?)\b.{0,30}\b(auf|in) (deutsch|englisch
    |python|rust)\b|(höchstens|maximal|mindestens) \S{0,8}\d""",
        words=r"""(darf|dürfen|darfst|dürft|soll|sollen|sollst|sollte\w{0,2}|kannst|könnt)\b.{0,60}?\b(nicht|nie
    |niemals|nur|kein\w{0,2}|nichts|niemand|immer|ausschließlich|höchstens)\b|(nicht|nie|niemals|nur|kein\w{0,2}
    |nichts|niemand|immer)\b.{0,50}?\b(dürfen|darf|darfst|erlaubt|gestattet|zulässig|sollen)\b|(muss|muß|müssen|musst
    |müsst)\b|(verboten|untersagt|tabu|nicht erlaubt|zwingend|unbedingt|verpflichtend|unzulässig|pflicht
    |obligatorisch|auf keinen fall|unter keinen umständen|(nur|ausschließlich|immer) auf (deutsch|englisch))\b|(ist
    |sind) (einzuhalten|zu \w+en|(ein|an|auf|ab|aus)zu\w+en)\b|ohne\b.{0,40}?\b(zu fragen|nachzufragen|rückfrage
    |rücksprache|zustimmung|erlaubnis|freigabe|genehmigung)\b|ich\b.{0,16}\b(bevorzuge|lieber|(möchte|will) (nicht
    |keine?\w?)|erwarte)\b""",
        idle=r"""\b(es|das|da|irgendwas|etwas|dies|fehler|problem|er|sie)\b[^,.]{0,10}\bm[uü]ss(te)?\b.{0,60}?\b(sein
    |liegen|haben|geben|heißen)\b|\bmuss (es|das|ich|wohl|man)\b|\bich (muss|darf)\b|\bnicht (sicher|nötig|schlimm
    |wahr|mehr|so|ganz|dass|schlecht|dein|nur)\b|\bnur (noch|so|kurz|ein|dass|weil|wenn)\b|\bimmer (noch|wieder
    |wenn)\b|\bkeine? (ahnung|sorgen?|problem|idee|lust|eile|angst)\b|\bnichts (zu|passiert|geht|funktioniert)\b
    |\bnie (wieder )?(gesehen|gehört)\b""",
        told=r"""\b(meldung|fehler|log|doku\w*|compiler|er|sie|es|anleitung|artikel|kollege|handbuch|linter|chef
    |konsole|server)\b.{0,16}\b(sagte?|meldete?|meint|meinte|behauptet|steht|zeigt|schrieb|schreibt|verlangt)\b
    |\b(warum|wieso|weshalb|weiß nicht|verstehe nicht|frage mich|gestern|letzte \w+|früher)\b|\b(sicher|klar|unklar
    |wissen),? ob\b""",
        verbs=r"""änder|lösch|push|füg|schreib|benutz|verwend|nutz|mach|tu|fass|führ|committ?|merg|installier|rühr
    |teste?|lass|setz|leg|gib|nimm|geh|greif|start|stopp|deploy|verschieb|überschreib|entfern|erstell|speicher
    |antwort|red|sprich|ruf|halt|frag|prüf|arbeit|lad|veröffentlich|send|schick|brich|ignorier|refaktorier|kommentier
    |bau|zeig|sag|lies|formatier|bleib|öffn|bearbeit|logg|buch|kauf|bestell|nenn|benenn|exportier|kopier|sortier|list
    |erklär|plan|reservier|zitier|erfind|wähl""",
        fill=r"bitte|und|aber|also|oder|dann|auch|ok|ja|nein|wichtig|achtung|hinweis|du|ihr|sonst|außerdem|übrigens",
    ),
)
