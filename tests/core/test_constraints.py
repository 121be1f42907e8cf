"""Sentences of users, labelled by hand: ``+`` binds, ``-`` does not; several on a line, with bars between them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ctxgc.core import constraints
from ctxgc.core.constraint_words import TONGUES
from ctxgc.core.constraint_words_more import MORE
from ctxgc.core.constraints import LONGEST, binding
from tests.strategies import broken_texts, texts

KNOWN = """
## English
+ Never push to main. | Do not touch the generated files. | don't delete anything in the bucket
+ You must ask me before running a migration. | Please always run the linter before you commit.
+ Only edit files under src. | Ask me before you install anything. | Do it without asking, I trust you on formatting.
+ I prefer tabs over spaces. | Make sure the public API stays the same. | Keep the diff small.
+ Use pnpm instead of npm. | At most 3 retries per request. | The summary must be no more than 200 words.
+ Force pushes are forbidden. | Type hints are required. | Use dark mode by default. | Use tenant acme-42, port 5433.
+ Run it on staging-2, not on production. | All responses must be valid JSON.
+ You are not allowed to change the schema. | From now on answer in German. | Reply in French. | No new dependencies.
+ If a test fails, do not retry it. | When you refactor, never rename public functions. | We must not lose any rows.
+ Please don't use any mocks. | Can you make sure the old URLs keep working?
+ Fix the parser, but don't touch the lexer. | I'd rather you used the standard library. | English only, please.
+ NEVER commit secrets. | IMPORTANT: always back up the table first. | Avoid global state.
+ Don't forget to update the changelog. | I don't want you to rewrite the whole module.
+ You may only read from the replica. | Leave the config file alone. | Nothing gets merged without my approval.
+ Check with me first if the cost goes over 10 dollars. | Limit the output to 50 lines.
+ Remember to bump the version every time. | You should never log passwords. | Connect to db-7.internal on port 6000.
+ We always use snake_case here. | Be careful not to break the CI. | Stick to Python 3.11. | It must not exceed 100 ms.
+ As I said, do not open a pull request. | You cannot use external services.
+ Under no circumstances restart the cluster. | Never force-push a shared branch.
+ Please do not reformat files you did not change. | Tests must stay deterministic.
+ Ask me first before spending money on the API. | Only commit when all checks are green.
+ Use the read replica at 10.0.4.7 for all queries. | I would prefer that you write plain SQL.
+ Nothing may leave the EU region. | Make sure every endpoint keeps its current URL.
+ Keep commit messages under 72 characters. | Don't ever log customer emails.
+ Whatever you do, don't restart the database. | All user-facing text has to be in British English.
+ No more than two levels of nesting, please. | You're allowed to read the secrets file but not to print it.
+ Write the docs in Markdown. | Always explain your plan before you start coding. | Stay inside the billing folder.
+ Dates are to be stored in UTC only. | We must support Python 3.9 and up.
+ Do the migration without dropping the old column. | Wait for my approval before you deploy.
+ Please stop adding comments to every line. | The budget is capped at 50 dollars, do not go over it.
+ It is forbidden to call the payment gateway from tests. | Run everything against project acme-prod-eu.
+ Please never rename a database column. | You must not call the production endpoint. | Only touch the files I listed.
+ Before you change any public interface, ask me. | I'd prefer short sentences in the report.
+ Do not include personal data in the summary. | Every function must have a docstring. | Keep memory use below 512 MB.
+ Send all traffic through proxy-3.corp. | Don't upgrade React, we are pinned to 17.
+ Use British spelling instead of American. | Make sure nobody outside the team can see the draft.
+ No comments in the generated code. | Always answer in one paragraph. | We can't use GPL code in this product.
+ Log in as deploy-bot, never as root. | It has to be backwards compatible with version 2.
+ Please check with me before booking anything above 200 euros. | I want you to always show the diff first.
+ The hotel must be within walking distance of the station. | Avoid layovers longer than two hours.
+ Nothing should be bought without my confirmation. | Leave the tests as they are. | If you are unsure, stop and ask.
+ Remember that you may only write to the staging bucket.
- The test never passes. | I don't know why it fails. | This always crashes on startup. | It must be the cache.
- There must be a race somewhere. | The build is green again. | Why does it always return null?
- It only happens on Windows. | The docs say you must call init first. | The error says the name must not be empty.
- You must be joking. | Never mind, I found it. | Don't worry about it. | Fix the login bug.
- Add a test for the parser. | What does this function do? | At least it compiles now. | I never saw this before.
- We don't use that any more, do we? | No idea what is going on. | No, that is not what I meant. | Looks good, thanks!
- The only problem left is the timeout. | It took at least 3 hours. | You deleted my branch without asking.
- Do you prefer tabs or spaces? | I must have broken something yesterday. | Always the same error.
- Never seen such a thing. | Error: value must be a string. | He said we should never merge on Fridays.
- Run the tests. | Can you explain how the cache works? | The feature is off by default.
- The job doesn't finish and never stops. | It returns 3 instead of 4. | I'm not sure whether it must be sorted.
- Is this field required? | The service keeps failing. | Keep going. | They must have changed the API.
- I wonder why only one worker is used. | My laptop needs a restart. | I can't reproduce it.
- The keyword argument is required by the parser. | yes please | The log shows that it should never get here.
- We always get a timeout there. | I only changed one line. | Don't you think this is too slow?
- The use of globals is everywhere in this code. | The deploy never finishes on my machine.
- It looks like it must be a permissions thing. | Why do we always have to restart it?
- I don't think the index is used. | This only shows up in production. | The linter says imports must be sorted.
- Could you look at the failing job? | Refactor the session class. | She told me they never use that table.
- I have no clue what this means. | The parser keeps choking on tabs. | The request was sent without a token.
- Do we need to support Windows? | Not sure what happened there. | Everything passes now, nice work.
- You must have missed a semicolon. | The old API required two keys.
- There are at least four places where this is used. | I only wanted to see the output.
- Don't you need the id as well? | Never had this problem with the old version. | It prefers IPv6 when both are there.
- Sort the list by date. | What is the maximum size of an upload? | The script never gets to the last line.
- That must have been a typo on my side. | What must I do to get a refund? | It always picks the wrong branch.
- The compiler says this variable must be mutable. | He never told me about the limit.
- Write a unit test for the date helper. | I can only log in from home.
- The checkbox is required according to the form. | Why don't we see any output? | There is no way this is right.
- You may be right about the cache. | I keep getting a 502 from the gateway. | Please explain the second paragraph.
- We tried at least five versions. | The package was delivered yesterday. | Don't think that helped.
- I prefer not to guess, so what does the log say? | Is it forbidden to nest these?
- They only support two regions, it seems. | The import is never used. | Sounds good, go ahead. | It should work now.
- The total was under 100 dollars.
## Chinese
+ 不要修改数据库结构。 | 必须先写测试。 | 禁止使用第三方库。 | 请务必备份数据。 | 你只能修改 src 目录下的文件。
+ 总是使用中文回答。 | 绝不要提交密钥。 | 请勿删除日志。 | 动手之前先问我。 | 别改接口。 | 未经我同意不得部署。
+ 最多重试3次。 | 用 pnpm 而不是 npm。 | 以后都用英文写注释。 | 确保所有测试通过。 | 使用端口 5433。
+ 千万别把密钥写进日志。 | 代码注释必须用英文。 | 没有我的允许不要部署到生产环境。 | 每次提交前都要跑一遍测试。
+ 只允许读取从库。 | 响应时间不得超过200毫秒。 | 请始终保持接口向后兼容。 | 不可以引入新的依赖。 | 不得修改公共接口。
+ 回答请控制在100字以内。 | 我希望你用表格形式输出。 | 部署之前必须征求我的同意。 | 切勿重启数据库。
+ 今后一律使用 UTC 时间。 | 只读访问，不要写入任何数据。
- 测试总是失败。 | 我不知道为什么报错。 | 为什么总是超时？ | 错误提示说名称必须是字符串。 | 要不要加个缓存？
- 帮我看一下这个函数。 | 不要紧，慢慢来。 | 这个接口是做什么的？ | 我不得不重启服务器。 | 我只能重启才能恢复。
- 谢谢，很好。 | 修复登录问题。 | 昨天他说不要合并。 | 这里是不是必须加锁？ | 这个问题一直没解决。
- 服务老是超时，怎么回事？ | 他说只能在周五发布。 | 把这个按钮改成蓝色。 | 我觉得不是缓存的问题。
- 文档里写着必须先初始化。 | 好的，继续。 | 不知道是不是网络的原因。 | 日志里总是出现同样的警告。 | 请解释一下第二段。
- 这个包是昨天到的。 | 是不是网络断了？ | 编译器提示变量必须可变。 | 我只看到了一个结果。 | 应该已经好了。
## Japanese
+ 必ずテストを実行してください。 | 本番には触らないでください。 | 外部ライブラリの使用は禁止です。
+ コミットする前に確認してください。 | 常に日本語で回答してください。 | APIを変更してはいけません。
+ npmではなくpnpmを使ってください。 | 許可なくデプロイしないこと。 | 関数は50行以内にしてください。
+ 変数名は英語にすること。 | srcフォルダのみ編集してください。 | テストは必須です。
+ 秘密情報をログに出さないでください。 | 変更は必ず事前に相談してください。 | 外部通信は一切禁止とします。
+ コメントは英語で書くこと。 | タイムアウトは5秒以内にしてください。 | テストを消してはいけません。
+ 公開インターフェースは変更しないでください。 | 回答は必ず三行以内でまとめてください。
+ データベースを勝手に再起動しないでください。 | 今後は全てUTCを使ってください。
+ 購入する前に必ず私に確認してください。 | 個人情報の送信は禁止です。
- テストがいつも失敗します。 | なぜエラーが出るのかわかりません。 | ログインのバグを直してください。 | 必ず落ちます。
- これは何をする関数ですか？ | エラーには引数が必須ですと出ています。 | ありがとうございます。 | 昨日は動いていました。
- 気にしないでください。 | たぶんキャッシュのせいです。 | ビルドがまだ通りません。 | このエラーの原因は何でしょうか。
- ボタンの色を青に変えてください。 | さっきは成功しました。 | ドキュメントには必須と書いてあります。
- いつも同じところで止まります。 | ログに同じ警告が出ています。 | 二番目の段落を説明してください。
- 荷物は昨日届きました。 | ネットワークが切れているのですか？ | たぶん直ったと思います。 | 一つしか結果が見えません。
## Korean
+ 반드시 테스트를 먼저 작성하세요. | main 브랜치에 푸시하지 마세요. | 외부 라이브러리 사용 금지.
+ 항상 한국어로 답변해 주세요. | 배포하기 전에 먼저 물어봐 주세요. | src 폴더만 수정하세요.
+ npm 대신 pnpm을 사용하세요. | 절대 데이터를 삭제하지 마. | 함수는 50줄 이하로 유지해 주세요.
+ 허락 없이 설치하면 안 됩니다. | 모든 함수에 타입이 있어야 합니다. | 포트 5433을 사용해 주세요.
+ 비밀번호를 로그에 남기지 마세요. | 커밋 메시지는 반드시 영어로 써 주세요. | 새로운 의존성 추가는 금지입니다.
+ 배포는 제 승인 없이 하지 마세요. | 응답 시간은 200ms 이하로 유지하세요. | 기존 API는 그대로 두세요.
+ 공개 인터페이스는 변경하지 마세요. | 답변은 항상 세 줄 이내로 해 주세요. | 데이터베이스를 절대 재시작하지 마세요.
+ 앞으로는 UTC만 사용하세요. | 구매하기 전에 반드시 저에게 확인하세요. | 개인 정보 전송은 금지합니다.
- 테스트가 항상 실패합니다. | 왜 안 되는지 모르겠어요. | 로그인 버그를 고쳐 주세요. | 이 함수는 무엇을 하나요?
- 고마워요, 잘 됐네요. | 오류 메시지에 이름이 필수라고 나와요. | 어제는 잘 됐어요. | 걱정하지 마세요.
- 캐시 문제인 것 같아요. | 절대 안 돼요, 계속 오류가 나요. | 빌드가 아직 안 돼요. | 이 오류의 원인이 뭔가요?
- 버튼 색을 파란색으로 바꿔 주세요. | 아까는 성공했어요. | 문서에 필수라고 적혀 있어요. | 항상 같은 곳에서 멈춰요.
- 로그에 같은 경고가 계속 나와요. | 두 번째 문단을 설명해 주세요. | 택배가 어제 도착했어요. | 네트워크가 끊긴 건가요?
- 아마 고쳐진 것 같아요. | 결과가 하나밖에 안 보여요.
## German
+ Du darfst nicht auf main pushen. | Bitte nicht die API ändern. | Niemals Passwörter loggen.
+ Frag mich, bevor du etwas installierst. | Immer zuerst die Tests laufen lassen. | Ändere nur Dateien in src.
+ Lösche nichts ohne Rückfrage. | Keine neuen Abhängigkeiten. | Alle Funktionen müssen getypt sein.
+ Verwende pnpm statt npm. | Antworte immer auf Deutsch. | Höchstens 3 Versuche. | Force-Push ist verboten.
+ Nutze Port 5433. | Achte darauf, dass die Tests grün bleiben. | Ab jetzt bitte alles auf Englisch.
+ Ich will keine Mocks in den Tests. | Geheimnisse dürfen niemals ins Log. | Bitte halte die Funktionen kurz.
+ Frag mich immer, bevor du Geld ausgibst. | Die Antwortzeit muss unter 200 ms bleiben. | Kommentare nur auf Englisch.
+ Fass die Produktionsdatenbank nicht an. | Ohne meine Freigabe wird nichts ausgeliefert.
+ Neue Bibliotheken sind tabu. | Benenne niemals eine Spalte um. | Du musst vor jedem Kauf meine Zustimmung einholen.
+ Personenbezogene Daten dürfen nicht exportiert werden. | Ich möchte keine langen Antworten.
+ Benutze ausschließlich den Server db-7. | Bitte immer zuerst den Plan zeigen. | Vermeide globale Zustände.
- Der Test schlägt immer fehl. | Ich weiß nicht, warum das nicht geht. | Das muss der Cache sein.
- Es muss am Server liegen. | Warum darf ich hier nicht pushen? | Keine Ahnung. | Mach dir keine Sorgen.
- Die Meldung sagt, der Name darf nicht leer sein. | Repariere bitte den Login. | Was macht diese Funktion?
- Ich muss morgen weg. | Das passiert nur unter Windows. | Gestern lief es noch nicht. | Danke, sieht gut aus.
- Der Build ist immer noch rot. | Vermutlich muss es am Netzwerk liegen. | Mach den Knopf blau.
- Im Handbuch steht, dass man das nie tun darf. | Wieso startet der Dienst nicht? | Vorhin ging es noch.
- Ich finde den Fehler nicht. | Das sieht schon viel besser aus. | Das Skript kommt nie bis zur letzten Zeile.
- Erkläre bitte den zweiten Absatz. | Das Paket kam gestern an. | Kann es sein, dass das Netz weg ist?
- Der Compiler meldet, die Variable muss veränderlich sein. | Ich sehe nur ein Ergebnis. | Müsste jetzt gehen.
## French
+ Ne pousse jamais sur main. | N'utilise pas de mocks. | Il faut toujours lancer les tests.
+ Tu dois me demander avant de déployer. | Réponds toujours en français. | Modifie uniquement les fichiers de src.
+ Il est interdit de changer l'API. | La sortie doit être en JSON. | Ne pas modifier la base.
+ Utilise pnpm au lieu de npm. | Pas de nouvelles dépendances. | Évite les variables globales.
+ Assure-toi que les tests passent. | Je préfère des fonctions courtes. | Au plus 3 essais. | Utilise le port 5433.
+ N'écris jamais de secrets dans les journaux. | Demande-moi avant chaque déploiement.
+ Les commentaires doivent être en anglais. | Interdiction de toucher à la production. | Garde les fonctions courtes.
+ Le temps de réponse ne doit pas dépasser 200 ms. | Utilise uniquement la bibliothèque standard.
+ Ne change rien sans mon accord. | Ne renomme jamais une colonne. | Vous devez obtenir mon accord avant chaque achat.
+ Aucune donnée personnelle ne doit être exportée. | Je ne veux pas de longues réponses.
+ Toujours montrer le plan d'abord. | Évitez les états globaux. | Le fichier de configuration ne doit pas être modifié.
- Le test échoue toujours. | Je ne sais pas pourquoi ça plante. | Ça doit être le cache. | Pas de problème.
- Pourquoi ça ne marche jamais ? | Corrige le bug de connexion. | Il n'y a plus d'erreur.
- Le message dit que le nom doit être unique. | C'est toujours la même chose. | Que fait cette fonction ?
- Ne t'inquiète pas. | Merci, c'est parfait. | Hier tout marchait. | La compilation est toujours en panne.
- Ça vient sûrement du réseau. | Mets le bouton en bleu. | La doc dit qu'il faut toujours appeler init.
- Pourquoi le service ne démarre pas ? | Tout à l'heure ça marchait. | Je ne trouve pas l'erreur.
- C'est bien mieux comme ça. | Le script n'arrive jamais à la dernière ligne. | Explique le deuxième paragraphe.
- Le colis est arrivé hier. | Est-ce que le réseau est coupé ? | Le compilateur dit que la variable doit être mutable.
- Je ne vois qu'un résultat. | Ça devrait marcher maintenant.
## Spanish
+ Nunca subas cambios a main. | No toques la base de datos. | Usa siempre pnpm.
+ Debes preguntarme antes de instalar algo. | Está prohibido cambiar la API. | Solo modifica los archivos de src.
+ Responde siempre en español. | Todas las funciones deben tener tipos. | No borres nada sin preguntar.
+ Usa pnpm en vez de npm. | Como máximo 3 intentos. | Asegúrate de que pasen las pruebas.
+ Evita las variables globales. | Prefiero funciones cortas. | A partir de ahora escribe en inglés. | No uses mocks.
+ Usa el puerto 5433. | No guardes secretos en los registros. | Consúltame antes de cada despliegue.
+ Los comentarios deben estar en inglés. | Nunca toques producción. | Mantén las funciones cortas.
+ El tiempo de respuesta no debe superar 200 ms. | No cambies nada sin mi permiso.
+ Usa únicamente la biblioteca estándar. | No renombres ninguna columna. | Debes pedirme permiso antes de cada compra.
+ Está prohibido exportar datos personales. | No quiero respuestas largas. | Muestra siempre el plan primero.
+ Evita los estados globales. | El archivo de configuración no se debe modificar.
- La prueba siempre falla. | No sé por qué no funciona. | Debe ser la caché. | No hay problema.
- ¿Por qué nunca termina? | Arregla el error de acceso. | No entiendo este código.
- El mensaje dice que el nombre debe ser único. | Siempre da el mismo error. | ¿Qué hace esta función?
- No te preocupes. | Gracias, está perfecto. | Ayer funcionaba. | Solo falla en Windows. | La compilación sigue rota.
- Seguramente es la red. | Pon el botón en azul. | La documentación dice que siempre hay que llamar a init.
- ¿Por qué no arranca el servicio? | Hace un rato funcionaba. | No encuentro el error. | Así está mucho mejor.
- El script nunca llega a la última línea. | Explica el segundo párrafo. | El paquete llegó ayer. | ¿Se cortó la red?
- El compilador dice que la variable debe ser mutable. | Solo veo un resultado. | Ya debería funcionar.
## Portuguese
+ Nunca faça push na main. | Não mexa no banco de dados. | Use sempre pnpm.
+ Você deve me perguntar antes de instalar algo. | É proibido mudar a API. | Altere apenas os arquivos de src.
+ Responda sempre em português. | Todas as funções devem ter tipos. | Não apague nada sem perguntar.
+ Use pnpm em vez de npm. | No máximo 3 tentativas. | Certifique-se de que os testes passam. | Evite variáveis globais.
+ Não grave segredos nos logs. | Me avise antes de cada deploy. | Os comentários devem estar em inglês.
+ Nunca toque na produção. | Mantenha as funções curtas. | É obrigatório escrever testes.
+ Não mude nada sem a minha autorização. | Não renomeie nenhuma coluna.
+ Você deve pedir minha permissão antes de cada compra. | É proibido exportar dados pessoais.
+ Não quero respostas longas. | Mostre sempre o plano primeiro. | Evite estados globais.
- O teste sempre falha. | Não sei por que não funciona. | Deve ser o cache. | Não tem problema.
- Corrija o erro de login. | A mensagem diz que o nome deve ser único. | O que essa função faz? | Não se preocupe.
- Ontem funcionava. | A compilação continua quebrada. | Deve ser a rede. | Coloque o botão em azul.
- A documentação diz que sempre se deve chamar init. | Por que o serviço não inicia? | Agora há pouco funcionava.
- Não encontro o erro. | O script nunca chega à última linha. | Explique o segundo parágrafo. | O pacote chegou ontem.
- A rede caiu? | O compilador diz que a variável deve ser mutável. | Só vejo um resultado.
## Italian
+ Non modificare il database. | Usa sempre pnpm. | Devi chiedermi prima di installare qualcosa.
+ È vietato cambiare l'API. | Modifica solo i file in src. | Rispondi sempre in italiano. | Non fare mai push su main.
+ Usa pnpm invece di npm. | Al massimo 3 tentativi. | Assicurati che i test passino. | Evita le variabili globali.
+ Preferisco funzioni brevi. | Non scrivere segreti nei log. | Avvisami prima di ogni rilascio.
+ I commenti devono essere in inglese. | Non toccare mai la produzione. | Mantieni le funzioni brevi.
+ È obbligatorio scrivere i test. | Non cambiare nulla senza il mio permesso. | Non rinominare nessuna colonna.
+ Devi chiedermi il permesso prima di ogni acquisto. | È vietato esportare dati personali.
+ Non voglio risposte lunghe. | Mostra sempre prima il piano. | Evita gli stati globali.
- Il test fallisce sempre. | Non so perché non funziona. | Deve essere la cache. | Nessun problema.
- Correggi il bug del login. | Il messaggio dice che il nome deve essere unico. | Cosa fa questa funzione?
- Non ti preoccupare. | Grazie, perfetto. | La compilazione è ancora rotta. | Sarà la rete. | Metti il pulsante in blu.
- La documentazione dice che bisogna sempre chiamare init. | Perché il servizio non parte? | Poco fa funzionava.
- Non trovo l'errore. | Lo script non arriva mai all'ultima riga. | Spiega il secondo paragrafo.
- Il pacco è arrivato ieri. | È caduta la rete? | Il compilatore dice che la variabile deve essere mutabile.
- Vedo solo un risultato.
## Russian
+ Никогда не пушь в main. | Нельзя менять API. | Всегда запускай тесты. | Не трогай базу данных.
+ Обязательно сделай бэкап. | Сначала спроси меня. | Используй pnpm вместо npm. | Все функции должны иметь типы.
+ Не надо добавлять зависимости. | Меняй только файлы в src. | Отвечай на русском. | Не более 3 попыток.
+ Ничего не удаляй без моего разрешения. | Используй порт 5433. | Никогда не пиши секреты в лог.
+ Предупреди меня перед каждым релизом. | Комментарии должны быть на английском. | Не трогай продакшен.
+ Время ответа не должно превышать 200 мс. | Запрещено добавлять новые библиотеки.
+ Ничего не меняй без моего согласия. | Функции держи короткими. | Никогда не переименовывай столбцы.
+ Перед каждой покупкой спрашивай меня. | Личные данные нельзя выгружать. | Отвечай только на русском.
+ Всегда сначала показывай план. | Избегай глобального состояния. | Файл настроек менять запрещено.
- Тест никогда не проходит. | Не знаю, почему падает. | Должно быть, дело в кеше. | Исправь ошибку входа.
- Почему он всегда падает? | Сообщение говорит, что имя должно быть уникальным. | Что делает эта функция?
- Спасибо, всё хорошо. | Не волнуйся. | Вчера работало. | Это не самый быстрый способ. | Сборка всё ещё сломана.
- Наверное, это сеть. | Сделай кнопку синей. | В документации написано, что всегда нужно вызывать init.
- Почему сервис не запускается? | Недавно работало. | Не могу найти ошибку. | Так гораздо лучше.
- Скрипт никогда не доходит до последней строки. | Объясни второй абзац. | Посылка пришла вчера. | Сеть отвалилась?
- Компилятор пишет, что переменная должна быть изменяемой. | Вижу только один результат. | Теперь вроде работает.
## Arabic
+ لا تحذف أي ملف. | يجب أن تسألني قبل النشر. | ممنوع تغيير الواجهة. | استخدم pnpm بدلا من npm. | دائما شغل الاختبارات.
+ لا تستخدم مكتبات خارجية. | تأكد من نجاح الاختبارات. | أجب باللغة العربية فقط. | لا تكتب كلمات المرور في السجل.
+ يجب أن تكون التعليقات بالإنجليزية. | ممنوع لمس قاعدة بيانات الإنتاج. | لا تغير شيئا بدون موافقتي.
+ تجنب المتغيرات العامة. | لا تغير أسماء الأعمدة أبدا. | يجب أن تحصل على موافقتي قبل كل عملية شراء.
+ ممنوع تصدير البيانات الشخصية. | تأكد من عدم حذف النسخة الاحتياطية. | استخدم المكتبة القياسية فقط.
- الاختبارات لا تعمل. | لماذا يفشل دائما؟ | لا أعرف السبب. | أصلح خطأ الدخول. | رسالة الخطأ تقول يجب أن يكون الاسم نصا.
- شكرا، ممتاز. | البناء ما زال معطلا. | ربما المشكلة من الشبكة. | اجعل الزر أزرق. | لماذا لا تبدأ الخدمة؟
- لا أجد الخطأ. | السكربت لا يصل إلى السطر الأخير. | اشرح الفقرة الثانية. | وصلت الحزمة أمس. | هل انقطعت الشبكة؟
- أرى نتيجة واحدة.
## Hindi
+ कभी भी main पर push मत करो। | हमेशा टेस्ट चलाएँ। | मुझसे पूछे बिना कुछ मत हटाओ। | केवल src की फ़ाइलें बदलें।
+ टाइप लिखना अनिवार्य है। | npm की जगह pnpm इस्तेमाल करें। | पहले मुझसे पूछो। | लॉग में पासवर्ड कभी मत लिखो।
+ टिप्पणियाँ केवल अंग्रेज़ी में लिखें। | मेरी अनुमति के बिना कुछ न बदलें। | प्रोडक्शन को छूना मना है।
+ हर बदलाव से पहले मुझसे पूछें। | कॉलम का नाम कभी मत बदलो। | हर खरीद से पहले मेरी अनुमति लें। | निजी डेटा भेजना मना है।
+ हमेशा पहले योजना दिखाएँ। | ग्लोबल स्टेट का उपयोग न करें।
- टेस्ट हमेशा फेल होता है। | पता नहीं क्यों। | लॉगिन की गलती ठीक करो। | यह फ़ंक्शन क्या करता है? | धन्यवाद, बहुत अच्छा।
- चिंता मत करो। | बिल्ड अभी भी टूटा हुआ है। | शायद नेटवर्क की समस्या है। | बटन को नीला कर दो।
- सर्विस क्यों नहीं चल रही? | मुझे गलती नहीं मिल रही। | स्क्रिप्ट आखिरी लाइन तक नहीं पहुँचती। | दूसरा पैराग्राफ समझाओ।
- पार्सल कल आया था। | क्या नेटवर्क बंद है? | मुझे एक ही नतीजा दिख रहा है।
## Turkish
+ Asla main dalına push yapma. | Her zaman testleri çalıştır. | Bana sormadan hiçbir şey silme.
+ Sadece src altındaki dosyaları değiştir. | Dış kütüphane kullanmak yasak. | npm yerine pnpm kullan.
+ Tüm fonksiyonlar tipli olmalı. | Veritabanına dokunmayın. | Loglara asla şifre yazma. | Yorumlar İngilizce olmalı.
+ Üretim veritabanına dokunma. | Benim onayım olmadan hiçbir şeyi değiştirme. | Yeni kütüphane eklemek yasak.
+ Her sürümden önce bana sor. | Sütun adlarını asla değiştirme. | Her satın almadan önce onayımı almalısın.
+ Kişisel verileri dışa aktarmak yasaktır. | Uzun cevaplar istemiyorum. | Her zaman önce planı göster.
+ Sadece standart kütüphaneyi kullan.
- Test asla geçmiyor. | Neden çalışmadığını bilmiyorum. | Giriş hatasını düzelt. | Bu fonksiyon ne yapıyor?
- Teşekkürler, harika. | Dün çalışıyordu. | Merak etme. | Derleme hâlâ bozuk. | Galiba sorun ağda. | Düğmeyi mavi yap.
- Servis neden başlamıyor? | Az önce çalışıyordu. | Hatayı bulamıyorum. | Betik son satıra hiç ulaşmıyor.
- İkinci paragrafı açıkla. | Paket dün geldi. | Ağ mı koptu? | Tek bir sonuç görüyorum. | Şimdi çalışması lazım.
"""
"""What the patterns were made with."""

HELD_OUT = """
## English
+ Do not send any email until I say so. | Never overwrite an existing backup. | You must use the company template.
+ Only cite sources from the last five years. | Check with me before you cancel a booking. | I prefer window seats.
+ Make sure the totals match the ledger. | Keep the tone friendly. | Don't mention the merger.
+ Every answer must end with a source. | At most two stops on the way. | Use account 4471-B for all charges.
+ No meetings before 9 am. | Please always put units next to numbers. | Under no circumstances share the draft.
+ Please write everything in plain text. | You may not exceed the daily quota of 1000 calls.
+ Tabs are forbidden in this repository. | From now on call me Sam. | Avoid the word synergy. | Target Node 20.
+ Query the warehouse only through the view layer. | If the price goes above 90, do not buy.
+ Don't guess: ask when something is unclear. | Ensure that old links still work.
+ Use metric units rather than imperial.
- The alarm never rings on weekends. | This must be the invoice from May. | How do I always end up here?
- Her flight was cancelled without notice. | The form says the field must not be blank. | I only asked for one copy.
- Book a table for two. | Summarise the attached report. | He keeps sending me the old file. | The printer always jams.
- I don't see the attachment. | They must be on holiday. | It prefers the longest match. | We never got an answer.
- What do you think of the plan? | Don't bother, I solved it. | There was only one person in the room.
- The rule was forbidden in 2019, I read. | Perfect, thank you very much.
- The ticket is not required at the gate, is it? | I always forget the password. | It cost at least 40 euros.
- The server requires a restart now and then. | You never told me that. | No luck so far. | I can't find the button.
- Where should I click?
## Chinese
+ 预算不能超过500元。 | 别提合并的事。 | 每个回答都必须注明来源。 | 取消预订之前先问我。 | 请用公司模板。
+ 禁止在仓库里使用制表符。 | 语气要保持友好，不要太正式。
- 打印机总是卡纸。 | 我没看到附件。 | 这应该是五月的发票。 | 总结一下这份报告。 | 他为什么不回邮件？ | 我只要了一份。
- 太好了，谢谢。
## Japanese
+ 合併の話には触れないでください。 | 回答には必ず出典を付けてください。 | 予約を取り消す前に確認してください。
+ 予算は五万円以内に抑えてください。 | 会社のテンプレートを使うこと。 | タブ文字の使用は禁止です。
- プリンターがいつも詰まります。 | 添付が見当たりません。 | 報告書を要約してください。 | なぜ返事が来ないのですか。
- 一部だけ頼みました。 | 助かりました。
## Korean
+ 합병 이야기는 꺼내지 마세요. | 모든 답변에는 반드시 출처를 달아 주세요. | 예약을 취소하기 전에 먼저 물어보세요.
+ 예산은 50만 원 이하로 맞춰 주세요. | 회사 양식만 사용하세요. | 탭 문자 사용은 금지예요.
- 프린터가 항상 걸려요. | 첨부 파일이 안 보여요. | 보고서를 요약해 주세요. | 왜 답장이 없나요? | 한 부만 부탁했어요.
- 덕분에 해결됐습니다.
## German
+ Erwähne die Fusion nicht. | Jede Antwort muss eine Quelle nennen. | Frag mich, bevor du eine Buchung stornierst.
+ Das Budget darf 500 Euro nicht überschreiten. | Tabulatoren sind verboten. | Ich bevorzuge Fensterplätze.
+ Schreib immer Einheiten dazu.
- Der Drucker klemmt immer. | Ich sehe den Anhang nicht. | Fasse den Bericht zusammen. | Warum antwortet er nie?
- Ich wollte nur eine Kopie. | Das muss die Rechnung vom Mai sein. | Super, danke dir.
## French
+ Ne mentionne pas la fusion. | Chaque réponse doit citer une source. | Demande-moi avant d'annuler une réservation.
+ Le budget ne doit pas dépasser 500 euros. | Les tabulations sont interdites. | Je préfère les places côté fenêtre.
+ Mets toujours les unités.
- L'imprimante se bloque toujours. | Je ne vois pas la pièce jointe. | Résume le rapport.
- Pourquoi ne répond-il jamais ? | Je voulais seulement une copie. | Ça doit être la facture de mai.
- Super, merci beaucoup.
## Spanish
+ No menciones la fusión. | Cada respuesta debe citar una fuente. | Pregúntame antes de cancelar una reserva.
+ El presupuesto no debe pasar de 500 euros. | Los tabuladores están prohibidos. | Prefiero asientos de ventana.
+ Pon siempre las unidades.
- La impresora se atasca siempre. | No veo el adjunto. | Resume el informe. | ¿Por qué nunca contesta?
- Solo quería una copia. | Debe ser la factura de mayo. | Genial, muchas gracias.
## Portuguese
+ Não mencione a fusão. | Cada resposta deve citar uma fonte. | Pergunte antes de cancelar uma reserva.
+ O orçamento não deve passar de 500 euros. | Tabulações são proibidas. | Prefiro assentos na janela.
- A impressora emperra sempre. | Não vejo o anexo. | Resuma o relatório. | Por que ele nunca responde?
- Só queria uma cópia. | Ótimo, muito obrigado.
## Italian
+ Non menzionare la fusione. | Ogni risposta deve citare una fonte. | Chiedimi prima di annullare una prenotazione.
+ Il budget non deve superare 500 euro. | Le tabulazioni sono vietate. | Preferisco posti al finestrino.
- La stampante si inceppa sempre. | Non vedo l'allegato. | Riassumi il rapporto. | Perché non risponde mai?
- Volevo solo una copia. | Ottimo, grazie mille.
## Russian
+ Не упоминай слияние. | В каждом ответе должен быть источник. | Спроси меня, прежде чем отменять бронь.
+ Бюджет не должен превышать 500 евро. | Табуляция запрещена. | Предпочитаю места у окна.
+ Всегда указывай единицы измерения.
- Принтер всегда зажёвывает бумагу. | Не вижу вложения. | Сделай выжимку из отчёта. | Почему он никогда не отвечает?
- Я просил только одну копию. | Должно быть, это счёт за май. | Отлично, спасибо.
## Arabic
+ لا تذكر موضوع الاندماج. | يجب أن تذكر كل إجابة مصدرا. | اسألني قبل إلغاء أي حجز. | يجب ألا تتجاوز الميزانية 500 يورو.
+ أفضل المقاعد بجانب النافذة.
- الطابعة تتعطل كثيرا. | لا أرى المرفق. | لخص التقرير. | لماذا لا يرد أبدا؟ | رائع، شكرا جزيلا.
## Hindi
+ विलय का ज़िक्र मत करना। | हर जवाब में स्रोत देना ज़रूरी है। | बुकिंग रद्द करने से पहले मुझसे पूछना।
+ बजट 500 यूरो से ज़्यादा नहीं होना चाहिए। | टैब का उपयोग वर्जित है।
- प्रिंटर हमेशा अटक जाता है। | मुझे अटैचमेंट नहीं दिख रहा। | रिपोर्ट का सार बताओ। | वह कभी जवाब क्यों नहीं देता?
- बहुत बढ़िया, धन्यवाद।
## Turkish
+ Birleşmeden sakın bahsetme. | Her yanıtta kaynak olmalı. | Rezervasyonu iptal etmeden önce bana sor.
+ Bütçe 500 avroyu geçmemeli. | Sekme karakteri yasaktır. | Pencere kenarını tercih ederim.
- Yazıcı hep sıkışıyor. | Eki göremiyorum. | Raporu özetle. | Neden hiç cevap vermiyor? | Sadece bir kopya istedim.
- Harika, çok sağ ol.
"""
"""Written when the patterns were finished, and no pattern was changed for it."""

Labelled = dict[str, tuple[list[str], list[str]]]


def labelled(text: str) -> Labelled:
    found: Labelled = {}
    for line in text.strip().splitlines():
        if line.startswith("## "):
            language = found.setdefault(line[3:], ([], []))
        else:
            language[line[0] == "-"].extend(sentence.strip() for sentence in line[2:].split(" | "))
    return found


def score(examples: Labelled, judge: Callable[[str], bool]) -> tuple[float, float]:
    """Precision and recall."""
    right = sum(judge(sentence) for bind, _ in examples.values() for sentence in bind)
    wrong = sum(judge(sentence) for _, idle in examples.values() for sentence in idle)
    return right / max(right + wrong, 1), right / sum(len(bind) for bind, _ in examples.values())


def binds(sentence: str) -> bool:
    return binding(sentence) != ()


def by_words(sentence: str) -> bool:
    """What binding must not be: looking for words, whoever says what with them."""
    return (
        re.search(r"must|never|always|only|don't|不要|必|nicht|muss|toujours|siempre|sempre|не |asla", sentence, re.I)
        is not None
    )


def said(text: str) -> list[str]:
    return [text[start:end] for start, end in binding(text)]


def test_the_examples_are_many() -> None:
    known, held_out = labelled(KNOWN), labelled(HELD_OUT)
    assert len(known) >= 13
    assert all(sum(len(language[side]) for language in known.values()) >= 150 for side in (0, 1))
    assert all(sum(len(language[side]) for language in held_out.values()) >= 100 for side in (0, 1))
    assert not {s for pair in known.values() for s in pair[0] + pair[1]} & {
        s for pair in held_out.values() for s in pair[0] + pair[1]
    }


@pytest.mark.parametrize("language", labelled(KNOWN))
def test_each_language_is_understood(language: str) -> None:
    precision, recall = score({language: labelled(KNOWN)[language]}, binds)
    assert (precision, recall) >= (0.95, 0.95)
    assert recall >= 0.95


def test_unseen_sentences_are_understood() -> None:
    precision, recall = score(labelled(HELD_OUT), binds)
    print(f"held out: precision {precision:.3f}, recall {recall:.3f}")
    assert precision >= 0.95
    assert recall >= 0.9


@pytest.mark.parametrize("language", labelled(HELD_OUT))
def test_unseen_sentences_of_each_language(language: str) -> None:
    precision, recall = score({language: labelled(HELD_OUT)[language]}, binds)
    assert precision >= 0.9
    assert recall >= 0.8


def test_words_alone_do_not_tell() -> None:
    precision, recall = score(labelled(HELD_OUT), by_words)
    assert precision < 0.8
    assert recall < 0.9


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Never edit a.py. Version 2.5 is fine.", ["Never edit a.py."]),
        ("Avoid old formats, e.g. csv. It was slow.", ["Avoid old formats, e.g. csv."]),
        ("It is slow; never cache it; thanks", ["never cache it;"]),
        ("测试失败了。不要修改接口！谢谢；", ["不要修改接口！"]),
        ("Fix it!! Don't push... ok", ["Don't push..."]),
        ("  \n\n  Never push.  \n", ["Never push."]),
        ("", []),
    ],
)
def test_where_sentences_end(text: str, expected: list[str]) -> None:
    assert said(text) == expected


def test_a_wrapped_sentence_is_one() -> None:
    text = "Before anything else happens in this long line, never push to\nthe main branch without asking.\nIt is slow."
    assert said(text) == [text[: text.rindex("\n")]]


def test_short_lines_stand_alone() -> None:
    assert said("fix the parser\nnever touch the lexer\nthe rest is slow") == ["never touch the lexer"]


def test_list_markers_are_left_out() -> None:
    assert said("1. Never push.\n- [ ] always test\n* **Never** guess\n## Do not deploy\n二、不要部署") == [
        "Never push.",
        "always test",
        "**Never** guess",
        "Do not deploy",
        "不要部署",
    ]


def test_the_items_bind_where_the_line_before_them_does() -> None:
    text = "You must never do these:\n- push to main\n- delete branches\n\nThe rest is slow."
    assert said(text) == ["You must never do these:", "push to main", "delete branches"]
    assert said("**Rules:**\n- tests live in one folder\n\nIt was slow.") == ["tests live in one folder"]


def test_the_items_of_another_list_do_not_bind() -> None:
    assert said("This is what I saw:\n- a red light\n- a slow page") == []


FOREIGN = {
    "fence": "```\nNever push.\n```",
    "open fence": "~~~ text\nNever push.",
    "longer fence": "````\n```\nNever push.\n````",
    "quote": "> Never push.",
    "indented": "The output:\n\n    Never push.",
    "tab": "\tNever push.",
    "log": "2024-05-01 10:00:00 worker: Never push.",
    "level": "[ERROR] you must log in first",
    "exception": "ValueError: name must be a string",
    "compiler": "src/a.c:12:3: error: never push",
    "trace": 'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: must not be empty',
    "frame": "    at Foo.bar (a.js:1): never push",
    "prompt": "$ never push",
    "table": "| rule | never push |",
    "json": '{"rule": "never push"}',
    "comment": "// never push",
    "assignment": "rule = never push",
    "call": "assert_never(push);",
    "element": "<bash-stdout>\nNever push.\n</bash-stdout>",
    "caveat": "<local-command-caveat>Do not answer.</local-command-caveat>",
    "inline code": "It printed `never push` twice.",
    "quotation": 'It printed "you must never push" and “do not push”.',
    "CJK quotation": "画面显示「不要修改接口」。",
    "URL": "See https://example.com/always/use-this and docs/never/push.md",
    "identifier": "The flag do_not_push_always is set.",
    "hyphens": "The always-on must-have never-ending job is slow.",
}


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_what_is_not_said_by_the_user_does_not_bind(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_what_the_user_says_around_it_binds(text: str) -> None:
    assert said(f"Always test.\n\n{text}") == ["Always test."]


def test_speech_behind_a_block_is_read_again() -> None:
    assert said("```\nNever push.\n```\nAlways test.") == ["Always test."]
    assert said("<log>\nNever push.\n</log>\nAlways test.") == ["Always test."]


def test_an_element_that_is_never_closed_hides_nothing() -> None:
    assert said("<log>\nAlways test.") == ["Always test."]


def test_elements_of_rules_are_read() -> None:
    assert said("<rules>\nNever push.\n</rules>") == ["Never push."]


def test_without_masks_foreign_text_would_bind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constraints, "_foreign", lambda body, stripped: False)
    monkeypatch.setattr(constraints, "_masked", lambda block: block)
    assert sum(bool(said(text)) for text in FOREIGN.values()) >= 8


def test_a_sentence_that_is_too_long_is_data() -> None:
    assert said("Never push " + "x" * (LONGEST - 11)) != []
    assert said("Never push " + "x" * LONGEST) == []


def test_the_cheap_look_loses_nothing_that_binds(monkeypatch: pytest.MonkeyPatch) -> None:
    known, held_out = labelled(KNOWN), labelled(HELD_OUT)
    sentences = [sentence for bind, _ in (*known.values(), *held_out.values()) for sentence in bind]
    quick = [binds(sentence) for sentence in sentences]
    heard = constraints._heard
    monkeypatch.setattr(constraints, "_heard", lambda tongue, *rest: not tongue.letters or heard(tongue, *rest))
    assert [binds(sentence) for sentence in sentences] == quick


SAMPLES = st.sampled_from(
    [s for pair in labelled(KNOWN).values() for side in pair for s in side] + list(FOREIGN.values())
)
JOINTS = st.sampled_from(("\n", "\n\n", " ", "\n- ", "\n    ", "```", '"', "\r\n", "\u2028", "<log>", "</log>", ": "))


@given(st.lists(st.one_of(SAMPLES, JOINTS, texts(), broken_texts(), st.text()), max_size=12).map("".join))
def test_spans_are_ordered_trimmed_and_within_the_text(text: str) -> None:
    last = 0
    for start, end in binding(text):
        assert last <= start < end <= len(text)
        assert text[start:end].strip() == text[start:end]
        last = end


@given(st.lists(SAMPLES, max_size=6))
def test_paragraphs_are_read_one_by_one(parts: list[str]) -> None:
    plain = [part for part in parts if "```" not in part and "~~~" not in part and not part.endswith((":", "："))]
    assume(sum("</" in part for part in plain) < 2)  # what stands between two outputs is taken for a part of them
    alone = [sentence for part in plain for sentence in said(part)]
    assert said("\n\n".join(plain)) == alone


def test_an_output_ends_at_the_last_of_its_closing_tags_so_that_it_cannot_end_itself() -> None:
    assert said("<bash-stdout>\n</bash-stdout>\nNever push.\n</bash-stdout>\n\nNever push to main.") == [
        "Never push to main."
    ]
    assert said("<bash-stdout>\n</bash-stdout>\nNever push.") == ["Never push."]


@given(texts())
def test_masking_keeps_every_offset(text: str) -> None:
    masked = constraints._masked(text)
    assert len(masked) == len(text)
    assert all(shown in ("\0", " ", "'", own) for shown, own in zip(masked, text, strict=True))


@pytest.mark.parametrize(
    "unit", ["a", " ", "\n", ".", '"', "`", "“", "<log>", "- ", "/", "'x ", "(", "不", "\ud800", "e.g. ", "```\n"]
)
def test_megabytes_of_anything_are_read(unit: str) -> None:
    assert said(f"Always test.\n\n{unit * (200_000 // len(unit))}")[:1] == ["Always test."]


def unbounded(pattern: str) -> bool:
    """Whether something repeats without end over text that may be long: what makes time grow faster than length."""
    pattern = re.sub(r"\[[^\]]*\]", "x", pattern)
    return re.search(r"(?:\.|\\[SWs])[*+]|\)[*+]", pattern) is not None


@pytest.mark.parametrize("tongue", [*TONGUES, *MORE], ids=lambda tongue: str(tongue.name))
def test_no_repetition_is_without_bound(tongue: object) -> None:
    fields = ("opening", "words", "cue", "idle", "told", "verbs", "fill")
    assert not any(unbounded(getattr(tongue, field)) for field in fields)


def test_a_repetition_without_bound_is_noticed() -> None:
    assert unbounded(r"never.*push")
    assert unbounded(r"(a |b )+")
