# telegram

# Who is served, and what reaches the bot.
access-token-shape = Токен бота выглядит неверно. Скопируйте его у @BotFather: цифры, двоеточие и буквы.
access-api-url = { $url } — не адрес сервера Bot API. Нужен адрес http или https.
access-tls = На этой машине не удаётся настроить защищённые соединения.
access-stopped = Остановлено до ответа Telegram.
access-token-refused = Telegram не принимает токен бота. Ничего не потеряно; задайте верный токен и запустите снова.
access-refused = Этот бот работает только для своего владельца и не обслуживает вас.
access-claimed = Теперь вы владелец этого бота. Отправьте /help, чтобы узнать, что он умеет.
access-claim-wrong = Код неверный. Посмотрите в терминал, где запущен бот.
access-tap-expired = Срок этой кнопки истёк. Используйте последнее сообщение.
access-tap-refused = Эта кнопка не для вас.
access-backlog-skipped =
    { $count ->
        [one] { $count } сообщение старше суток осталось без ответа.
        [few] { $count } сообщения старше суток остались без ответа.
        [many] { $count } сообщений старше суток остались без ответа.
       *[other] { $count } сообщения старше суток остались без ответа.
    }
access-file-too-big = Файл { $name } больше 20 МБ, получить его нельзя. Отправьте файл поменьше.
access-file-failed = Файл { $name } не удалось получить. Отправьте его ещё раз.

# One line for each command.
command-plan = Составить план, прежде чем что-то делать
command-show-plan = Показать текущий план
command-plan-status = Задачи плана и их состояние
command-execute = Утвердить план
command-discard = Удалить план
command-plans = Прежние планы
command-stop = Остановить работу
command-status = Что происходит сейчас
command-new = Начать новую сессию
command-sessions = Список сессий
command-usage = Израсходованные токены
command-compact = Сжать память беседы
command-model = Показать или выбрать модель
command-approvals = О чём спрашивать перед действием
command-project = Показать или выбрать каталог проекта
command-language = Выбрать язык
command-goal = Показать или задать цель
command-help = Что умеет бот
command-start = Приветствие и первые шаги
command-unknown = Команды { $command } нет. Список — /help.

# /help.
help-intro = Я работаю над проектом на машине владельца: читаю, планирую, меняю файлы и запускаю команды, а перед рискованным спрашиваю. Напишите своими словами, что нужно.
help-footer = Пока я работаю, можно писать дальше: я это учту. /stop сразу прекращает работу.
help-line = { $command } — { $what }
help-plans = Планы
help-work = Работа
help-settings = Настройки
