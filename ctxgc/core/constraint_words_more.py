r"""More languages: see ``constraint_words``, whose rule this keeps."""

from __future__ import annotations

from ctxgc.core.constraint_words import Tongue

MORE = (
    Tongue(
        "French",
        opening=r"""(ne |n')((le|la|les|l'|y|en|me|lui|rien|se) ?)?(\w+|\0+)(-\w+)? (\S{1,40} ){0,3}?(pas|jamais|rien
    |plus|aucune?|que|personne)\b|ne (pas|jamais|rien) \w|rien ne (doit|peut)|<V>\b.{0,80}?\b(toujours|uniquement
    |seulement|exclusivement|plutôt que|au lieu d|à la place d|par défaut|au (plus|moins)|maximum|jamais|avant (de
    |chaque|toute?)|systématiquement|et non|pas plus de|que des?|d'abord|moins de)|(toujours|jamais|pas (de|d'|plus
    |touche)|uniquement|seulement|aucune?|désormais|dorénavant|à partir de maintenant|surtout|rien)\b(?=.{4})
    |(demande|préviens|consulte)z?(-moi)?\b.{0,40}\b(avant|d'abord)|((évite|veille|garde|conserve|laisse|préfère
    |respecte|limite)[zr]?|assure-toi|assurez-vous|pense[zr]? à|(fais|faites) attention|n'oublie[zr]? pas|prends soin
    |contente-toi|tiens-t'en|abstiens-toi)\b|(utilise[zr]?|emploie|connecte-toi|déploie|lance[zr]?|exécute[zr]?
    |enregistre|écris|prends)\b.{0,50}?<N>|(réponds|répondez|écris|écrivez|commente|rédige
    |parle)\b.{0,40}\ben (français|anglais|allemand|python|rust)\b|(au plus|au maximum|maximum|au moins) \S{0,6}(\d
    |un|deux|trois|dix)""",
        words=r"""il (ne )?faut\b|(tu|vous) (dois|devez)\b|(tu|vous|on|nous) (ne )?(doi[ts]|dev\w{2,5}|peux
    |pouvez) (pas|jamais|toujours|uniquement|seulement|que|rien|absolument)\b|(doit|doivent|devra|devront) (pas
    |jamais|toujours|\w+(er|ir|re))\b|(interdit|proscrit)e?s?\b|obligatoires?\b|(interdiction|prière de|impératif
    |exigée?s?|défense de|hors limites|en aucun cas|sous aucun prétexte)\b|sans (me |m'|mon |ma |d'abord )(demander
    |consulter|avertir|prévenir|accord|permission|validation|autorisation|avoir|en parler)|(je|nous) (préf\w+
    |veux que|voudrais que|ne veux (pas|aucun)|souhaite que|tiens à)""",
        idle=r"""\b(ça|ca|c'|ce|cela|il|elle|erreur|problème|bug) (ne )?(doit|devait) (\w+ )?(être|venir|avoir
    |manquer|y avoir)\b|<S>(pas de (problème|soucis?|chance|réponse|panique)|pas (du tout|sûr|mal|encore|vraiment
    |grave)|rien (à|ne (marche|va|change|fonctionne)|de)|aucune? (idée|erreur|problème|souci)|jamais (vu|eu))\b
    |\bne (t'|vous |te )?(inquiète|inquiétez|sai[st]|comprends|vois|marche|fonctionne|trouve|passe|suis|peux|crois
    |pense|change|semble|démarre)\b|\bn'(est|ai|a|arrive|y|ont|était|existe|inquiète)\b|\btoujours (pas|l[ea] même
    |en (cours|panne|échec))\b|\bil faut (dire|croire|voir|bien|que je)\b""",
        told=r"""\b(erreur|message|logs?|doc|documentation|il|elle|compilateur|collègue|on|article|serveur|ils
    |tuto\w*|console) (me |m'|nous |d'erreur )?(dit|disait|indique|affiche|prétend|raconte|demande|exige|a dit
    |explique|se plaint)\b|\b(pourquoi|je ne sais pas si|est-ce qu|je me demande|hier|la semaine dernière)""",
        verbs=r"""(utilis|modifi|touch|lanc|exécut|demand|vérifi|test|comment|laiss|gard|ajout|supprim|cré|install
    |pouss|committ?|valid|cherch|regard|mont|travaill|not|stock|enregistr|formatt?|document|déplo[yi]|emplo[yi]
    |renvo[yi]|appell|pass|nomm|limit|donn|import|retourn|affich|montr|propos|renomm|achèt|réserv|envo[yi]|export
    |list|expliqu|résum|class|tri|laiss|cherch|gén[èé]r|cit)(e|es|ez|er|ons)|écri\w{1,4}|répond\w{1,2}|fai(s|tes|re)
    |met\w{1,4}|pren\w{1,4}|lis|dis|sers-toi|reste[zr]?|relis|demande-moi|ouvre[zs]?""",
        fill=r"""et|mais|donc|alors|aussi|ou|merci de|merci|s'il (te|vous) plaît|stp|svp|ok|oui|non|attention
    |important|note|de plus|sinon|par contre|veuillez|il faut|en général|surtout|tu peux""",
    ),
    Tongue(
        "Spanish, Portuguese, Italian",
        opening=r"""(no|nunca|jamás) ((me|lo|la|los|las|le|se|te) )?((us|toqu|cambi|modifiqu|ejecut|instal|borr|hag
    |pong|escrib|sub|agregu|elimin|añad|cre|public|publiqu|envi|envíe?|actualic|renombr|coment|comm?ite|pushe|copi
    |dej|d|digas?|abr|mezcl|introduzc)([ae]n?s?|éis|áis)|\w{2,20}(es|as) (\w+ ){0,3}(el|la|los|las|nada|ni|en|de|del
    |al|con|sin|mi|mis|un|una|ning\w+|más|nunca|por|para|ese|esa|este|esta)|\w{2,20}(ar|[^aeiou\W]ir)(l[oae]s?|me)?
    |(hac|pon|romp|met|tra|respond|corr|le|deb)er(l[oae]s?)?)\b|(não|nao|nunca|jamais) ((me|o|a|os|as|se) )?((us|grav
    |salv|guard|mand|log|vaz|fech|par|pul|test|mostr|conect|baix|mov|mescl|repit|respond|peg|peç|tir|compartilh|toqu
    |alter|apagu|rod|modifiqu|instal|delet|comm?it|mud|cri|edit|envi|publiqu|remov|quebr|execut|coloqu|troqu|ignor
    |copi|renomei|reinici|atualiz|import|ger|cham|invent|deix|tent|ultrapass|pass|suponh|introduz|reescrev|mex|faç
    |escrev|adicion|exclu|inclu|sub|abr|assum|expon?h?)(a|e|am|em)|faz|\w{1,20}(ar|er|ir))\b|non ((mi|lo|la|li|le|ci
    |si) )?(\w{1,20}([aei]r[el]|rre|[aei]r[lm][oaei])|\w{2,20}(ate|ete|ite)|us[ia]|tocchi|modifichi|faccia)\b|(<V>
    |n[oã]o? \w+)\b.{0,80}?\b(siempre|sempre|s[oó]lo|só|solamente|somente|soltanto|únicamente|apenas|nunca|mai
    |(en vez|en lugar|em vez|ao invés|no lugar|invece|al posto|prima|antes) d\w+|invece che|(como|no
    |al) m[áa]ss?i[mx]o|como mucho|máximo|(al|por lo|pelo) menos|no mínimo|almeno|(más|menos|mais|più|meno) d\w
    |por defecto|por padrão|di default|primero|primeiro|prima|[ye] n[oã]on?)\b|(mai|nada de|ning[uú]na?|nenhuma?
    |nessun[oa]?|niente|en ningún caso|bajo ningún concepto|em hipótese alguma|de jeito nenhum|sob nenhuma
    |in nessun caso|per nessun motivo)\b(?=.{4})|(me )?(pregúnta|pregunta|pergunte|consúlta|consulte|avísa|avise
    |confirme|fale comigo|chied[ie]|consulta|avvisa)\w{0,3}\b.{0,40}\b(antes|primero|primeiro|prima)\b|(evit[aeo]n?
    |evitate|evitare|asegúrate|asegúrese|certifique-se|garanta|garantir|assicurat[ie]\w{0,3}|procura|mant[eé]n
    |mantenha|mantieni|mantenete|conserv[ae]|dej[ae]|deixe|lasci[ao]|lasciate|preserve|respet[ae]|respeite|rispetta
    |limít\w+|limitati|limit[ae]|recuerda|lembre-se|ricorda\w{0,2}|ten cuidado|tome cuidado|fai attenzione|cuid[ae]
    |prefira|preferisci|attieniti|não esqueça)\b|(us[ae]|usate|utili[cz]z?[ae]|conéctate|conecte-se|collegati
    |connettiti|desplieg[ae]|ejecut[ae]|execute|esegui|rode|lan[zc]i?a|guard[ae]|salv[aei])\b.{0,50}?<N>|(respond[ae]
    |rispondi|contesta|escrib[ae]|escreva|scrivi|comm?ent[ae]|habla|fale|parla|spiega)\b.{0,40}\b(en|em|in) (español
    |espanhol|ingl[eéê]s\w?|franc[eé]s\w?|portugu[eê]s|italiano|python|rust)\b|(como máximo|como mucho|máximo|massimo
    |mínimo|al menos|no máximo|pelo menos|no mínimo|al massimo|almeno) \S{0,6}(\d|un|dos|dois|due|tr[eê]s?|die[zc]i?
    |dez)""",
        words=r"""(debe[ns]?|debéis|deberás?|deberán|deve|devi|devem|devono|dovete|deverá|deverão|dovrà|(tienes
    |tenéis|tiene|hay|tem|têm) que|precisam?|bisogna|occorre|(es|é|è) (preciso|necess?[aá]rio)|(no|não|non) (se\x20
    |si )?(puedes?|permite|toca|pode|podem|puoi|potete|può|tocca)|s[oóò] pode|puoi solo|solo puedes)\b|(prohibid
    |proibid|proibit|vietat|vedad)[oaie]s?\b|ob\w{0,3}gat[oóò]ri[oae]?s?\b|impresc?indi\w+|(no|não|non) (está|é|è
    |están|son|sono) (permiti|permess|consentit|ammess)\w+|(siempre|sempre|s[oó]lo|só|somente|apenas|únicamente
    |soltanto|solo) (<V>|\w{1,20}(are|ere|ire))\b|(a partir d[ei] (ahora|agora)|de ahora en adelante|daqui (em diante
    |p(a)?ra frente)|d'ora in (poi|avanti)|da ora in poi)\b|(sin|sem|senza) (antes |prima |a |il |la |me )?(pregunt
    |pergunt|chied|consult|avv?is|pedir|permi|mi\b|minha|mio|mia|autoriza)\w*|(prefiero|preferi(mos|ría|amo|rei)
    |prefiro|preferisco|quiero que|quero que|voglio che|gustaría que|gostaria que|vorrei che|(no|não|non) (quiero
    |quero|voglio|quer(emos|íamos)) (?!saber|sapere|ser\b|essere|ir\b|pensar)\w+)\b""",
        idle=r"""\b(no|nunca|não|non) (s[eéo]|sei|entiend\w+|entend\w+|capisco|hay|há|c'è|funziona\w*|funciona\w*
    |pasas?|passa|pued[eo]|pode|posso|v[ei]\w?[eo]|es|está|é|è|eres|tiene\w?|tengo|tem|tenho|ho|va|vai|sale|responde
    |compila|carga|carrega|abre|sabes|recuerdo|lembro|ricordo|creo|crees|acho|credo|(te|se|ti) preoccupar\w*
    |te preocupes|se preocupe|importa|había|existe|aparece|termina|consigo|riesco|saber|sapere|avere|essere
    |(ti )?preoccuparti|es|las|los|más|mas|antes|des)\b|\bde[bv](e|em|en|ono) (de |(ser|essere) (un|una|um|uma|el|il
    |lo|la|o|a|por|per|colpa|culpa|cosa|coisa|que|algo|isso|stat\w)\b|(haber|haver|esserci)\b|est[aá]r (rot|mal|caíd
    |quebrad|relacionad|a[hl][ií]|\w+ndo|en (el|la) (cach|red)|n[ao] (cach|rede))\w*|(ter|aver) (\w+[aiu][dt]o)\b)
    |\b(hay|tiene|tem|bisogna) (que )?(ver|decir|dire|vedere)\b|\b(tengo|tenemos|tenho|temos) que\b|\bprecisa (ver
    |de ajuda)\b|\bs[ie]e?mpre (fall\w*|falh\w*|d[aá]|se|sale|igual|lo (mismo|stesso)|o mesmo|a mesma|la stessa
    |uguale|que|cai|trava|quebra)\b|\bs[oóò](lo)? (fall\w*|falh\w*|pasa|acontece|hay|tem|quería|queria|um?|uma|una
    |che|per)\b|<S>(nada de (nada|eso|mais|errado)|niente (di|da|paura)|nessun (problema|errore)|nessuna (idea
    |fretta)|mai (visto|successo|avuto))\b""",
        told=r"""\b(error|erro|errore|mensaje|mensagem|messaggio|logs?|document\w+|docs?|él|ella|ele|ela|lui|lei
    |compila\w+|compañero|coll?ega|art[ií]c?[uo]?lo|artigo|servidor|server|consol[ae]|jefe|chefe|capo|que|che
    |linter) (me |nos |mi |ci |d[ei] errore? |de erro |también |também |anche )?(dic[ei]\w{0,2}|dijo|diceva|ha detto
    |diz|dizia|disse|indica|m[uo]e?stra|aff?irma|pide|pede|chiede|richiede|exige|se queja|reclama|si lamenta|menciona
    |advierte|avv?isa|avverte)\b|\b(por qu[eé]|perché (non|il|la|deve|si|devo|sempre)|n[oã]o? (sé|sei) (si|se|por)
    |non so (se|perché)|me preguntoo?|me pergunto|mi chiedo|ayer|ontem|ieri|semana pass?ada|settimana scorsa)\b
    |^\W{0,3}¿""",
        verbs=r"""(us|utili[cz]z?|e[jx]ecut|modific|modifiqu|to[cq]u?|cambi|alter|edit|traba[lj]h?|lavor|lan[cz]i?
    |test|p[re]{2}gunt|pergunt|contest|comm?ent|guard|salv|cre|agreg|borr|apag|reserv|compr|compil|list|explic|spieg
    |nombr|nome|renombr|orden|envi|propon|cit|mand|install?|revis|controll?|document|mostr|muestr|formate|formatt
    |valid|llam|ch?i?am|limit|import|verific|consult|actuali[cz]|atuali[cz]|aggiorn|committ?|mud|rod|gener|de[ij]x?
    |prueb)(a|e|i|ar|are|ate)|haz|haga|pon|ponga|escrib[ae]|escreva|scriv[ie]\w{0,2}|pid[ea]|peça|chied[ie]\w{0,2}
    |respond[ae]|rispond[ie]|añade|adicione|aggiungi|suba?|sube|carica|devuelve|retorne|incluy[ae]|inclua|includi
    |esegu[ie]|fai|fate|fare|metti|mettere|faça|faz|fazer|coloque|corre|rode|mantén|mexa|cancell[ai]|gere|lascia
    |prova""",
        fill=r"""por favor|per favore|per piacere|y|e|pero|mas|ma|o|ou|entonces|então|allora|quindi|también|também
    |anche|ok|sí|sì|sim|importante|nota|atenci?ón|atenção|attenzione|ojo|además|além disso|inoltre|recuerda|lembre-se
    |ricorda|mi raccomando|e[nm] ge[nr]\w+|in generale|puedes|pode|puoi|que""",
    ),
    Tongue(
        "Russian",
        opening=r"""(всегда|никогда|только|исключительно|никаких|ничего|никому)\b(?=.{4})|(спрашивай|спроси|уточни
    |предупреди|согласуй|посоветуйся)\w{0,2}\b.{0,50}\b(прежде|перед|сначала|до|заранее|меня)\b|\w{2,20}(й|йте|и|ите
    |ь|ьте)(сь|ся)?\b.{0,80}?\b(вместо|а не|только|всегда|не (более|больше|менее)|максимум|минимум|по умолчанию
    |хотя бы|никогда|исключительно|перед|прежде чем|на русском|на английском|по-русски|каждый раз)\b|(не (более
    |больше|менее)|максимум|минимум) \S{0,6}(\d|одн|дв|тр|пят|десят)|(используй|запускай|запусти|подключайся
    |подключись|разворачивай|сохраняй|бери|работай)(те)?\b.{0,50}?<N>""",
        words=r"""(нельзя|запрещ\w{2,5}|недопустимы?о?|не допускается|не разрешается|обязательн\w|обязательны
    |обязан\w?|ни в коем случае|ни при каких|впредь|отныне|с этого момента|необходимо|требуется|должен|должн[аоы])\b
    |не (надо|нужно|стоит|следует|смей\w{0,2})\b|не (\w{2,20}(ай|яй|уй|юй)|пиши|делай|удали|пуши|коммить|мержи|ходи
    |лезь|клади|ставь|лей|забудь|прав[ьи]?|шли|ищи|бери|вноси|заводи|выноси|храни|выводи|переводи|стирай)(те)?(сь)?\b
    |(всегда|никогда не|только|сначала|сперва) (\w+ )?\w{2,20}(ай|яй|уй|юй|йте|ите|ши|жи|вь|ись)(те)?(сь|ся)?\b
    |(убеди(сь|тесь)|следи\w{0,2}|проследи\w{0,2}|помни\w{0,2}|учти|учтите|избегай\w{0,2}|сохран(и|яй)\w{0,2}
    |оставь\w{0,2}|предпочита\w{1,2}|держи(те)?|придерживай\w{1,4}|соблюдай\w{0,2}|старайся|ограничься
    |предпочтительно|я бы предпоч[её]л\w?)\b|без (моего|моей|нашего|явного|предварительного)? ?(разрешения|согласия
    |спроса|подтверждения|одобрения|ведома|согласования)|не (спросив|посоветовавшись|предупредив)\b|(перед|прежде
    |до)\b.{1,60}\b(спрашивай|спроси|предупре\w+|согласу\w+|согласов\w+|уточн\w+|показывай|покажи|пиши мне)\w{0,2}\b
    |(хочу|хотел бы|прошу)\b.{0,20}\b(чтобы|не)\b""",
        idle=r"""\bдолжно быть\b(?=,| (дело|проблема|это|в|из-за|ошибка|кеш))|\bне (надо же|волнуй\w*|переживай\w*
    |беспокой\w*)\b|\b(всегда|никогда не|обязательно) (\w+ )?(пада\w+|крашит\w*|работа(ет|ют|л\w*)|видел\w?|был\w?
    |проход\w+|выда[её]т|ломает\w*|заканчивает\w*)|\bне (случай|мой|твой|свой|самый|такой|какой|другой)\w{0,3}\b
    |\bя (\w+ )?(должен|должна)\b|<S>(только (что|вот|один|одна|если|когда|на|в)|ничего (не|страшного)
    |никогда (не )?(такого|видел\w?|слышал\w?))\b|\bне обязательно\b|\b(проблема|дело|ошибка
    |причина) должн\w+ быть\b""",
        told=r"""\b(ошибк[ае]|сообщение|логи?|логах|документаци[яи]|он|она|они|компилятор|коллега|стать[яе]|сервер
    |консоль|начальник|линтер) (\w+ )?(говорит|сказал\w?|пишет|написано|утверждает|требует|жалуется|сообщает
    |выводит)\b|\b(почему|зачем|не знаю|не понимаю|непонятно|интересно|вчера|на прошлой неделе
    |раньше)\b(?!.{0,6}этого)""",
        fill=r"""пожалуйста|и|но|а|или|тогда|также|ещё|еще|ок|да|нет|важно|внимание|кстати|просто|лучше|сначала|затем
    |в общем|напоминаю""",
        letters=r"[\u0400-\u04ff]",
    ),
    Tongue(
        "Arabic",
        opening=r"""(من فضلك |رجاءً? |يرجى )?[وف]?(لا ت(?!عمل|وجد|ظهر|زال|قلق|توقف)\w{2,15}|عدم \w|أبداً? لا
    |دائماً? \w|لا شيء|فقط \w)|و?(استخدم|اكتب|أجب|شغّ?ل|نفّ?ذ|عدّ?ل|اعمل|أعد|احفظ)\s.{0,80}?(فقط|دائما|بدلا|عوضا
    |على الأقل|على الأكثر|كحد أقصى|قبل|بالعربية|بالإنجليزية|باللغة|<N>)""",
        cue=r"""(^|[\s،؛,])[وف]?(يجب|ينبغي|يتعين|عليك|يلزم|ممنوع|يُ?منع|محظور|يُ?حظر|لا يجوز|لا يُ?سمح|لا بد|إياك
    |إلزامي|احرص|تأكدي?|تجنب|احذر|أفضّ?ل|حافظ|اترك|من الآن فصاعد)|يرجى عدم|(من فضلك|رجاء|أرجو) (لا|عدم|ألا)|(بدون|دون
    |من غير) (إذن|موافق|سؤال|استشار|تأكيد|الرجوع|أن تسأل|علم)|(اسألني|اسأل|استشرني|أخبرني|راجعني)\s.{0,40}(قبل
    |أولا)""",
        idle=r"يجب أن [يت]كون (السبب|المشكلة|الخطأ)|دائماً? [يت](فشل|تعطل|توقف|عطي|ظهر)\w*|لا يوجد",
        told=r"""(الخطأ|الرسالة|رسالة|السجل|الوثائق|الخادم|المترجم) (\w+ )?[يت](قول|ظهر|ذكر)|لماذا|لا (أعرف|أفهم
    |أدري)|(^|\s)هل\s|أمس""",
        letters=r"[\u0600-\u06ff]",
    ),
    Tongue(
        "Hindi",
        cue=r"""(हमेशा|सदैव|ज़रूर|जरूर|अवश्य|केवल|सिर्फ़|सिर्फ|कभी|कृपया|पहले|अब से|आगे से|डिफ़ॉल्ट|कम से कम|अधिकतम
    |की जगह|के बजाय|हर बार).{0,100}?(कर(ें|ो|ना|िए)|कीजिए|दें|दो|दीजिए|रख(ें|ो|ना)|लें|लो|लेना|लिख(ें|ो|ना)|चला(एँ|एं
    |ओ|ना)|पूछ(ें|ो|ना)|बना(एँ|एं)|बदलें|हटा(एँ|एं)|मत|डालें|जाए|भेजें|\S{0,12}(एँ|एं|ें|ओ|ो|िए|ना) ?[।.!]?$)|मत (कर
    |हटा|बदल|छू|चला|लिख|जोड़|बना|दे|डाल|भेज|भूल|रख|लगा|छेड़|मिटा|बोल|पूछ|खोल)|(कर|हटा|बदल|छू|चला|लिख|जोड़|बना|डाल|भेज
    |मिटा|दे)ना मत|(^|\s)न (कर|हटा|बदल|छु|लिख|चला|जोड़|डाल|भेज|बना|द)(ें|एँ|एं)|नहीं (कर|हो|बदल|हटा|जोड़|छू)ना|(ना|ने
    |नी) चाहिए|(अनिवार्य|ज़रूरी|जरूरी|आवश्यक|वर्जित|निषिद्ध|प्रतिबंधित|मना) है|(सुनिश्चित|ध्यान) (करें|रखें|रखना|दें)
    |(पूछे|इजाज़त|अनुमति|मंज़ूरी|सहमति) (के )?बिना|बिना (मुझसे )?(पूछे|अनुमति|इजाज़त|मेरी)|(पसंद|चाहता|चाहती) (करता\x20
    |करती )?(हूँ|हूं)|<N>.{0,20}(इस्तेमाल|उपयोग|प्रयोग) (करें|करो|करना)""",
        idle=r"चिंता मत|(करना|जानना|देखना|पूछना) (चाहता|चाहती)",
        told=r"""(एरर|त्रुटि|संदेश|लॉग|दस्तावेज़|उसने|वह|सर्वर).{0,30}(कहत|कहा|लिखा|दिखा|बताया|बताता)|क्यों|पता नहीं
    |(^|\s)क्या\s|(था|थी|थे|गया|गई|गए|(हो|रह|जा)त?[ाीे] हैं?)[।.]?\W{0,3}$""",
        letters=r"[\u0900-\u097f]",
    ),
    Tongue(
        "Turkish",
        words=r"""\w{1,30}m[ae]y[ıi]n([ıi]z)?\b|(etme|yapma|silme|dokunma|değiştirme|kullanma|ekleme|yazma|çalıştırma
    |gönderme|yükleme|bozma|kurma|açma|unutma|paylaşma|oluşturma|pushlama|geçme|taşıma|varsayma)\W{0,3}$|(?!temeli
    |kademeli|eylemli|anlamlı)\w{2,30}(malı|meli)(s[ıi]n|s[ıi]n[ıi]z|y[ıi]z|d[ıi]r|l[ae]r)?\b|(asla|her zaman|daima
    |mutlaka|kesinlikle|sakın|sadece|yalnızca|hiçbir zaman|bundan (sonra|böyle)|artık|önce|varsayılan olarak|lütfen
    |hep|en fazla|en az|yerine|değil)\b.{0,100}?\b(\w{2,30}([ıiuü]n([ıiuü]z)?|m[ae])|kullan|çalıştır|yaz|yap|et|sor
    |tut|bırak|ver|dene|koş|cevapla|yanıtla|ekle|sakla|koru|al|dön|değiştir|düzenle|ol|kal|bildir|danış|göster
    |listele|açıkla|kaydet|bağlan|çevir|seç|başlat|iste|özetle|doğrula|temizle|paylaş|gönder|sun|oku|aç|kur|bekle
    |hazırla)\W{0,3}$|(yasak|zorunlu|mecburi|şart)(tır|dur|dir)?\b|(zorundas\w+|gerekir|gerekmektedir|gerekiyor
    |emin ol\w{0,2}|dikkat edi?[tn]|tercih ed\w+|kaçın\w{0,2}|özen göster|istemiyorum)\b|(sormadan|danışmadan|(izin
    |onay) almadan|(onayım|iznim) olmadan|haber vermeden)\b|bana (sor|danış|haber ver)\w{0,5}\b""",
        cue=r"<N>.{0,40}\b(kullan|çalıştır|bağlan|kaydet)([ıi]n)?\W{0,3}$",
        idle=r"\b(merak etme|endişelenme|boş ver)\w{0,5}\b",
        told=r"""\b(hata|mesajı?|log|belge|dokümantasyon|derleyici|sunucu|arkadaşım|o)\b.{0,60}\b(diyor|dedi|yazıyor
    |söylüyor|söyledi|istiyor|gösteriyor|diye)\b|\b(neden|niye|niçin|acaba|bilmiyorum|anlamıyorum|dün|geçen hafta)\b
    |\b(?!istemiyorum|gerekiyor|tercih|ediyorum)\w{1,30}([ıiuü]yor|[dt][ıiuü]|m[ıiuü]ş)(um|uz|l[ae]r|m|k
    |sun)?\W{0,3}$""",
        letters=r"""[ğışçöüİĞŞ]|\b(asla|her|daima|mutlaka|kesinlikle|sadece|bundan|etme|yapma|silme|dokunma|kullanma
    |yazma|zorunlu|gerekir|emin|tercih|bana|sormadan|kullan|istemiyorum|hep|izin)\b""",
    ),
)
