# cli
cli-no-runtime = Программа не запустилась: { $reason }.
cli-exported = { $rows ->
    [one] Записана { $rows } строка в { $path }.
    [few] Записаны { $rows } строки в { $path }.
    [many] Записано { $rows } строк в { $path }.
   *[other] Записано { $rows } строки в { $path }.
}
cli-exported-backup = Бот работает без локального порта, поэтому в { $path } записана его последняя резервная копия { $backup }; задайте http.bind, чтобы выгрузить текущее состояние.
cli-export-running = Бот работает без локального порта, а резервной копии ещё нет; задайте http.bind или остановите бота и повторите.
cli-export-failed = Работающий бот не отдал хранилище ({ $reason }); проверьте http.bind и http.token или остановите бота.
cli-imported = { $rows ->
    [one] Загружена { $rows } строка; прежнее хранилище сохранено рядом.
    [few] Загружены { $rows } строки; прежнее хранилище сохранено рядом.
    [many] Загружено { $rows } строк; прежнее хранилище сохранено рядом.
   *[other] Загружено { $rows } строки; прежнее хранилище сохранено рядом.
}
cli-import-staged = Бот работает; загрузка вступит в силу при следующем запуске.
cli-plan-none = Планов нет.
cli-plan-unknown = Для сессии { $session } плана нет; смотрите greenlight plan list.
cli-plan-which = { $count ->
    [one] Есть { $count } план; назовите его через --session.
    [few] Есть { $count } плана; назовите один через --session.
    [many] Есть { $count } планов; назовите один через --session.
   *[other] Есть { $count } плана; назовите один через --session.
}
cli-plan-line = { $session } · { $status } · { $done }/{ $total } · { $title }
cli-plan-corrupt = Файл плана { $path } повреждён: { $reason }. Ничего не изменено; исправьте или удалите его.
doctor-and = { " и " }
doctor-config = Настройки верны.
doctor-token = Токен принадлежит @{ $name }.
doctor-token-refused = Telegram не принимает токен; получите новый у @BotFather и задайте telegram.token.
doctor-telegram-unreachable = Bot API по адресу { $url } не отвечает ({ $reason }); проверьте сеть и telegram.api_url.
doctor-owner = Владелец: { $id }.
doctor-no-owner = Владелец не задан; первый запуск покажет одноразовый код, чтобы им стать.
doctor-model = Поставщик модели { $name } отвечает.
doctor-model-demo = Настроена встроенная демонстрационная модель; она лишь следует сценарию.
doctor-no-model = Модель не настроена; задайте model.name, например openai/gpt-4.1.
doctor-model-refused = Поставщик не принимает ключ; проверьте { $setting }.
doctor-model-unwell = Поставщик модели { $name } отвечает ошибкой { $status }; попробуйте позже.
doctor-model-unreachable = Поставщик не отвечает ({ $reason }); проверьте { $setting }.
doctor-workspace = В рабочий каталог { $path } можно писать.
doctor-workspace-read-only = Рабочий каталог { $path } только для чтения; агент может смотреть, но не менять.
doctor-sandbox = Команды выполняются в песочнице Landlock.
doctor-sandbox-off = Песочница работает, но tools.sandbox выключен.
doctor-no-sandbox = В этом ядре нет песочницы Landlock; команды не выполняются. Нужен Linux 6.2 или новее с Landlock, либо задайте tools.sandbox = "off".
doctor-no-sandbox-off = Это ядро не может изолировать команды, а tools.sandbox выключен: команды идут без песочницы, а при планировании не выполняются.
doctor-store = Хранилище в { $path } исправно.
doctor-store-new = Каталог данных { $path } будет создан.
doctor-store-running = Хранилище в { $path } занято работающим ботом.
doctor-store-quarantined = { $rows ->
    [one] Хранилище было повреждено и перенесено в { $path }; из копии восстановлена { $rows } строка.
    [few] Хранилище было повреждено и перенесено в { $path }; из копии восстановлены { $rows } строки.
    [many] Хранилище было повреждено и перенесено в { $path }; из копии восстановлено { $rows } строк.
   *[other] Хранилище было повреждено и перенесено в { $path }; из копии восстановлено { $rows } строки.
}
doctor-dead-letters = { $count ->
    [one] Не удалось обработать { $count } обновление: { $ids }.
    [few] Не удалось обработать { $count } обновления, последние: { $ids }.
    [many] Не удалось обработать { $count } обновлений, последние: { $ids }.
   *[other] Не удалось обработать { $count } обновления, последние: { $ids }.
}
doctor-clock = Часы идут верно.
doctor-clock-wrong = { $seconds ->
    [one] Часы расходятся на { $seconds } секунду; включите синхронизацию времени.
    [few] Часы расходятся на { $seconds } секунды; включите синхронизацию времени.
    [many] Часы расходятся на { $seconds } секунд; включите синхронизацию времени.
   *[other] Часы расходятся на { $seconds } секунды; включите синхронизацию времени.
}
doctor-versions = greenlight { $version }, Linux { $kernel }.
doctor-programs-missing = Не хватает программ: { $names }; установите их.
cli-claim-code = Владелец не задан. Отправьте боту в личный чат в течение 10 минут: /start { $code }
cli-playground-ready = Площадка открыта: { $url } (остановить: Ctrl-C)
cli-playground-failed = Площадка не запустилась: { $reason }. Попробуйте другой --port.
cli-telegram-refused = Telegram не принимает токен бота. Получите новый у @BotFather и задайте TELOXIDE_TOKEN.
config-no-model = Модель не задана; укажите GREENLIGHT_MODEL в виде <adapter>/<name>, например openai/gpt-5 или ollama/qwen3, или попробуйте greenlight playground.
cli-unknown-flag = Флага { $flag } нет; см. greenlight --help.
cli-unknown-flag-near = Флага { $flag } нет; может быть, { $near }?
cli-unknown-command = Команды { $name } нет; см. greenlight --help.
cli-bad-value = У { $flag } не может быть значения «{ $value }»; см. greenlight --help.
cli-bad-choice = У { $flag } не может быть значения «{ $value }»; возможны: { $valid }.
cli-no-value = Для { $flag } нужно значение; см. greenlight --help.
cli-missing = Не указано: { $name }; см. greenlight --help.
cli-missing-command = Здесь нужна команда; добавьте --help, чтобы увидеть выбор.
cli-conflict = { $one } и { $other } исключают друг друга; оставьте что-то одно.
cli-http-bind = Не удалось слушать { $address }: { $reason }. Укажите другой http.bind.
