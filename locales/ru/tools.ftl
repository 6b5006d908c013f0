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
# Labels of calls that succeeded.
tool-read-file-done = Прочитано
tool-list-dir-done = Просмотрено
tool-glob-done = Найдены файлы
tool-grep-done = Найдено
tool-git-view-done = Просмотрен git
tool-write-file-done = Записано
tool-edit-file-done = Исправлено
tool-bash-done = Выполнено
tool-bg-start-done = Запущено в фоне
tool-bg-output-done = Проверено
tool-bg-stop-done = Остановлено
tool-ask-user-done = Спрошено
tool-web-fetch-done = Загружено
tool-send-file-done = Отправлено
# The plan tool by operation.
tool-plan-init = Начало плана
tool-plan-init-done = План начат
tool-plan-submit = Запись плана
tool-plan-submit-done = План записан
tool-plan-add-tasks = Составление списка задач
tool-plan-add-tasks-done = Список задач составлен
tool-plan-start = Начало задачи
tool-plan-start-done = Начато
tool-plan-complete = Завершение
tool-plan-complete-done = Завершено
tool-plan-update = Обновление списка задач
tool-plan-update-done = Список задач обновлён
tool-plan-revise = Пересмотр списка задач
tool-plan-revise-done = Список задач пересмотрен
tool-plan-check-replace = Замена проверки
tool-plan-check-replace-done = Проверка заменена
tool-plan-get = Просмотр плана
tool-plan-get-done = План просмотрен
# What a number counts.
tool-count-lines = { $count ->
    [one] { $count } строка
    [few] { $count } строки
    [many] { $count } строк
   *[other] { $count } строки
}
tool-count-entries = { $count ->
    [one] { $count } элемент
    [few] { $count } элемента
    [many] { $count } элементов
   *[other] { $count } элемента
}
tool-count-files = { $count ->
    [one] { $count } файл
    [few] { $count } файла
    [many] { $count } файлов
   *[other] { $count } файла
}
tool-count-matches = { $count ->
    [one] { $count } совпадение
    [few] { $count } совпадения
    [many] { $count } совпадений
   *[other] { $count } совпадения
}
tool-spawn-agent = Помощник
tool-spawn-agent-done = Помощник
