# Labels of running tools, and what the sandbox can do.
tool-read-file = Чтение
tool-list-dir = Список
tool-glob = Поиск файлов
tool-grep = Поиск
tool-git-view = Просмотр git
tool-write-file = Запись
tool-edit-file = Правка
tool-bash = Выполнение
tool-bg-start = Запуск в фоне
tool-bg-output = Проверка
tool-bg-stop = Остановка
tool-ask-user = Вопрос
tool-web-fetch = Загрузка страницы
tool-send-file = Отправка
sandbox-available = Команды ограничены ядром (Landlock, версия { $abi }).
sandbox-unavailable = В этой системе команды нельзя ограничить: { $reason }. Пока составляется план, команды не выполняются.
tool-spawn-agent = Помощник
