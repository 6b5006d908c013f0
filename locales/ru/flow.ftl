# flow
flow-thinking = Думаю
flow-tools = { $count ->
    [one] { $count } инструмент
    [few] { $count } инструмента
    [many] { $count } инструментов
   *[other] { $count } инструментов
}
flow-duration-seconds = { $s } с
flow-duration-minutes = { $m } мин { $s } с
flow-duration-hours = { $h } ч { $m } мин
flow-ctx = ctx { $used }/{ $window }
flow-finished = ✅ Готово
flow-failed = ❌ Ошибка
flow-timed-out = ⏱ Время вышло
flow-stopped = ⏹ Остановлено
flow-interrupted = ⏸ Прервано
flow-continued = ⏬ Продолжение ниже
flow-log = Журнал
flow-earlier = { $count ->
    [one] … ещё { $count } строка выше
    [few] … ещё { $count } строки выше
    [many] … ещё { $count } строк выше
   *[other] … ещё { $count } строк выше
}
flow-more = { $count ->
    [one] … ещё { $count }
    [few] … ещё { $count }
    [many] … ещё { $count }
   *[other] … ещё { $count }
}
flow-checklist = Список задач
flow-criteria = Готово, когда
flow-blocked = заблокировано: { $count }
flow-recheck = перепроверить: { $count }
flow-missing = Не хватает
flow-face-discussing = 📝 Обсуждаем план
flow-face-editing = ✍️ План редактируется
flow-face-ready = 👀 Готов к проверке
flow-face-not-ready = ⚠️ Не готов
flow-face-seeding = ⏳ Составляется список задач…
flow-face-seed-failed = ⚠️ Список задач не составлен: нажмите «Повторить» или отправьте /execute
flow-face-partial-seed = ⚠️ Список задач неполон: отправьте /discard и утвердите план заново
flow-face-corrupt = ⚠️ Файл плана не читается: отправьте /discard
flow-plan-document = План целиком — в документе выше.
flow-reason-question = Жду вашего ответа.
flow-reason-blocked = Препятствие: { $why }
flow-reason-budget = Достигнут предел: { $budget }
flow-reason-left = Осталось:
flow-button-stop = ⏹ Стоп
flow-button-approve = ✅ Утвердить
flow-button-approve-later = ⏳ Утвердить после хода
flow-button-discard = 🗑 Удалить
flow-button-retry = 🔁 Повторить
flow-button-discard-confirm = 🗑 Удалить? Сделано { $done }/{ $total }
flow-button-keep = ↩️ Оставить
flow-topic-gone = ⚠️ Темы больше нет, поэтому сообщение пришло сюда.
flow-answer-document = Ответ целиком — в документе.
flow-answer-empty = Модель не дала ответа. Ничего не потеряно: спросите ещё раз или смените модель командой /model.
flow-face-done = 🏁 Выполнен
