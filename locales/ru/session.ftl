# session
approvals-shown = 🔐 Разрешения: { $level }

    • ask: спрашиваю перед каждой записью и командой
    • auto: спрашиваю, только если можно потерять данные
    • yolo: не спрашиваю никогда, и планы вас не ждут

    Изменить: /approvals и слово.
approvals-unknown = Уровня «{ $level }» нет. Есть /approvals ask, auto и yolo.
approvals-set = 🔐 Разрешения теперь: { $level }.
budget-calls = вызовы инструментов
budget-day-tokens = токены за день
budget-empty = пустые ответы модели
budget-identical = одинаковые вызовы подряд
budget-malformed = испорченные вызовы подряд
budget-requests = запросы к модели
budget-tokens = токены за ход
button-always = ♾️ Всегда в этой сессии
button-approve = ✅ Разрешить
button-deny = 🚫 Отклонить
card-always = ♾️ Разрешено, дальше в этой сессии без вопросов.
card-answered = ✔️ { $answer }
card-approved = ✅ Разрешено.
card-cancelled = ⏹ Ход остановлен; ничего не запущено.
card-denied = 🚫 Отклонено; ничего не запущено.
card-expired = ⌛ Истекло без ответа, это считается отказом.
card-foot = 📂 { $cwd }
card-restarted = ⌛ Истекло при перезапуске; ничего не запущено.
card-title = 🔐 { $class } · { $tool }
card-undelivered = ⌛ Не удалось доставить; ничего не запущено.
class-channel = Отправить файл в этот чат?
class-destructive = ⚠️ Выполнить? Может уничтожить данные
class-exec = Выполнить команду?
class-network = Обратиться к сети?
class-plan = Начать план?
class-read = Прочитать?
class-spawn = Запустить агента-помощника?
class-write = Изменить файл?
command-busy = Идёт ход. Дождитесь конца или отправьте /stop.
command-owner-only = Это может только владелец.
compact-begun = Подвожу итог разговора…
compact-done = Готово: итог разговора подведён.
compact-failed = ❌ Не удалось подвести итог разговора; ничего не изменилось. Повторите /compact позже.
compact-nothing = Пока нечего сокращать.
discard-done = 🗑 Удалено. Плана больше нет; писать снова можно.
discard-set-aside = 🗑 Нечитаемый файл плана отложен. Плана больше нет.
end-blocked = ⛔ Препятствие: { $why }
end-budget = ⛔ Достигнут предел хода: { $budget }. Сделанное сохранено; напишите, чтобы продолжить.
end-incomplete = ⚠️ Не закончено. Осталось:
    { $left }
end-no-answer = Модель не дала ответа. Ничего не потеряно: спросите снова или выберите другую модель: /model.
end-plan-not-ready = ⚠️ План не готов. Не хватает: { $items }
end-plan-ready = 👀 План готов к проверке.
end-question = ❓ Жду вашего ответа.
end-timed-out = ⏱ Ход длился слишком долго и завершён. Сделанное сохранено; напишите, чтобы продолжить.
execute-busy = Идёт ход, сейчас утвердить нельзя. Дождитесь конца, затем нажмите «Утвердить» или отправьте /execute.
goal-cleared = Цель снята.
goal-none = Цели нет. Задайте её: /goal и текст.
goal-set = 🎯 Цель задана.
goal-shown = 🎯 { $goal }
language-set = 🌐 Теперь отвечаю на языке: { $language }.
language-shown = 🌐 { $language }

    { $known }
    /language auto · как в приложении
language-unknown = Языка «{ $language }» нет. Есть такие:
    { $known }
model-set = Модель теперь: { $model }.
model-shown = 🧠 Модели:
    { $models }
    Выбор: /model и номер.
model-unknown = Модели «{ $model }» нет. Список: /model.
model-cut = ❌ Ответ модели оборвался ({ $reason }). Ничего не потеряно: отправьте сообщение снова.
new-done = 🆕 Новая сессия. Прежняя сохранена: /sessions.
new-done-dropped = 🆕 Новая сессия. Прежняя сохранена: /sessions. Непрочитанных сообщений: { $count }; отправьте их снова, если они ещё нужны.
new-plan-live = В этой сессии есть план. Сначала завершите его или удалите: /discard.
plan-corrupt = ⚠️ Файл плана этой сессии не читается, поэтому ничего не пишется. /discard отложит его и освободит сессию.
plan-diff-none = С прошлого показа план не изменился.
plan-edit-how = Отредактируйте документ и пришлите его ответом на моё сообщение: это будет следующая редакция.
plan-edit-only-editing = Сейчас план не пишется.
plan-edit-taken = ✍️ Ваш текст теперь план. Прочтите его ниже и утвердите.
plan-live-active = Идёт работа по утверждённому плану. /show_plan покажет его, /discard удалит.
plan-live-editing = План ждёт вас. /show_plan покажет его, «Утвердить» или /execute запустит, /discard удалит.
plan-mode-on = 📝 Режим плана включён: читаю и обсуждаю, ничего не пишу, пока вы не утвердите план. Расскажите, что нужно построить. /discard выключает режим.
plan-none = нет
plan-off = Планирование выключено в настройках (plan.enabled).
plan-reopened = ⚠️ Текст плана изменился после утверждения, поэтому ничего не запущено. Прочтите и утвердите снова.
plan-running = выполняется
plan-save-failed = ❌ План не удалось сохранить; ничего не изменено. Проверьте диск и повторите.
plan-status-head = 📋 { $title } · v{ $version } · { $done }/{ $total }
plan-status-more = { $count ->
    [one] … ещё { $count } задача
    [few] … ещё { $count } задачи
    [many] … ещё { $count } задач
   *[other] … ещё { $count } задачи
}
plans-none = В этой сессии ещё нет завершённых планов.
plans-shown = { $plans }
project-bad = «{ $path }» — не каталог, в котором мне можно работать. Укажите абсолютный путь.
project-plan-live = В этом проекте есть план. Сначала завершите его или удалите: /discard.
project-set = 📂 Теперь работаю в { $path }.
project-shown = 📂 { $path }
question-hint = Нажмите вариант или напишите ответ.
queue-full = В очереди уже { $count } сообщений, это не принято. Отправьте его позже.
sessions-shown = Сессии этого чата:
    { $sessions }
show-plan-none = Плана нет. Начать: /plan.
show-plan-preinit = 📝 Режим плана включён, но план ещё не написан. Расскажите, что нужно, или /discard.
status-approvals = 🔐 Разрешения: { $level }
status-discarding = 🗑 Удаляю план
status-idle = 💤 Ничего не выполняется
status-model = 🧠 { $model }
status-no-model = модель не настроена
status-plan = 📋 План: { $plan }
status-project = 📂 { $path }
status-queue = { $count ->
    [0] 📨 Очередь пуста
    [one] 📨 Ждёт { $count } сообщение
    [few] 📨 Ждут { $count } сообщения
    [many] 📨 Ждут { $count } сообщений
   *[other] 📨 Ждут { $count } сообщения
}
status-running = ⚙️ Идёт { $time } · запросов: { $requests } · вызовов: { $calls }
status-sandbox-missing = ⚠️ Это ядро не может изолировать команды (Landlock, Linux 6.2): они не выполняются. Чтобы выполнять их без песочницы, задайте tools.sandbox = "off".
status-sandbox-off = ⚠️ tools.sandbox выключен: команды идут без песочницы
status-sandbox-on = 🛡 Команды выполняются в песочнице ядра
stop-done = ⏹ Остановлено.
stop-not-yours = Этот ход не ваш; остановить его может его автор или владелец.
stop-nothing = Ничего не выполняется.
session-store-failed = ❌ Не могу писать в каталог данных, поэтому ничего нового не начато. Проверьте место и права; принятое сохранено.
tap-always = Впредь разрешено
tap-approved = Разрешено
tap-approved-plan = Утверждено
tap-busy = Идёт ход. Утвердите, когда он закончится.
tap-confirm-discard = Нажмите ещё раз, чтобы удалить
tap-denied = Отклонено
tap-discarded = Удалено
tap-expired = Эта кнопка больше не действует.
tap-kept = Оставлено
tap-not-yours = Это не вам.
tap-nothing-runs = Ничего не выполняется.
tap-owner-only = Это может только владелец.
tap-stopped = Останавливаю
tap-superseded = Это старая версия. Откройте последнее сообщение.
tap-taken = Принято
tool-other = Инструмент
tool-plan-file = план
tool-plan = План
turn-compacted = Разговор сокращён, чтобы освободить место.
turn-crash-loop = ❌ Программа трижды остановилась на этом месте, больше не пробую. Сделанное сохранено; напишите, чтобы продолжить.
turn-fallback = Продолжает другая модель ({ $reason })
turn-retry = Пробую снова { $try }/{ $tries } ({ $reason })
turn-submission-refused = ❌ План отклонён дважды: { $error }
usage-shown = 🔢 Токены сессии: прочитано { $input } (из кеша { $cached }), написано { $output }. Сегодня: { $today }.
card-asker = 👤 Об этом просит { $name }.
card-asker-private = 👤 Об этом просит { $name } в личном чате со мной.
card-expires = ⏳ Через { $minutes } мин считается отказом.
card-waiting = ждёт разрешения владельца
language-name = Русский
question-hint-text = Напишите ответ.
status-demo = сценарий, не языковая модель
outbox-again = 🔁 Возможно, это повтор: первая попытка могла дойти.
session-store-back = ✅ Каталог данных снова доступен для записи. Отложенное продолжается.
session-store-full = ❌ На диске с каталогом данных нет места, поэтому ничего нового не начинается. Принятое сохранено; когда место появится, я продолжу сам.
session-store-read-only = ❌ Каталог данных доступен только для чтения, поэтому ничего нового не начинается. Принятое сохранено; когда запись станет возможна, я продолжу сам.
store-import-refused = ⚠️ Подготовленный импорт был неполным; он отложен, ничего не изменено.
store-imported = 📦 Подготовленный импорт заменил хранилище, строк: { $rows }.
store-lost = ⚠️ База данных повреждена, целой копии не нашлось, поэтому начата пустая. Повреждённые файлы сохранены как { $aside }.
store-restored = ⚠️ База данных повреждена. Восстановлена копия { $backup }, строк: { $rows }; более позднее могло пропасть. Повреждённые файлы сохранены как { $aside }.
voice-kept = 🎙 Голосовое сообщение сохранено как файл. Прослушать его я не могу: расшифровка не настроена. Напишите, пожалуйста, главное текстом.
agent-steps = { $count ->
    [one] { $count } шаг
    [few] { $count } шага
    [many] { $count } шагов
   *[other] { $count } шага
}
end-left = Осталось:
    { $left }
plan-lost = ⚠️ Файл плана пропал, и восстановить его не удалось; плана сейчас нет.
plan-restored = ⚠️ Файл плана пропал, поэтому я восстановил список задач по последнему состоянию; проверки нужно пройти заново.
