# cli
cli-no-runtime = تعذّر بدء البرنامج: { $reason }.
cli-exported = { $rows ->
    [zero] لم يُكتب أي صف في { $path }.
    [one] كُتب صف واحد في { $path }.
    [two] كُتب صفّان في { $path }.
    [few] كُتبت { $rows } صفوف في { $path }.
    [many] كُتب { $rows } صفًا في { $path }.
   *[other] كُتب { $rows } صف في { $path }.
}
cli-exported-backup = البوت يعمل دون منفذ محلي، لذا كُتبت أحدث نسخة احتياطية { $backup } في { $path }؛ اضبط http.bind لتصدير الحالة الراهنة.
cli-export-running = البوت يعمل دون منفذ محلي ولا توجد نسخة احتياطية بعد؛ اضبط http.bind أو أوقف البوت ثم أعد التصدير.
cli-export-failed = لم يسلّم البوت العامل مخزنه ({ $reason })؛ تحقق من http.bind و http.token أو أوقف البوت.
cli-imported = { $rows ->
    [zero] لم يُستورد أي صف؛ حُفظ المخزن السابق بجانبه.
    [one] استُورد صف واحد؛ حُفظ المخزن السابق بجانبه.
    [two] استُورد صفّان؛ حُفظ المخزن السابق بجانبه.
    [few] استُوردت { $rows } صفوف؛ حُفظ المخزن السابق بجانبه.
    [many] استُورد { $rows } صفًا؛ حُفظ المخزن السابق بجانبه.
   *[other] استُورد { $rows } صف؛ حُفظ المخزن السابق بجانبه.
}
cli-import-staged = البوت يعمل؛ يسري الاستيراد عند التشغيل التالي.
cli-plan-none = لا توجد خطط.
cli-plan-unknown = لا توجد خطة للجلسة { $session }؛ انظر greenlight plan list.
cli-plan-which = { $count ->
    [zero] لا توجد خطط.
    [one] توجد خطة واحدة؛ سمّها عبر --session.
    [two] توجد خطتان؛ سمّ إحداهما عبر --session.
    [few] توجد { $count } خطط؛ سمّ إحداها عبر --session.
    [many] توجد { $count } خطة؛ سمّ إحداها عبر --session.
   *[other] توجد { $count } خطة؛ سمّ إحداها عبر --session.
}
cli-plan-line = { $session } · { $status } · { $done }/{ $total } · { $title }
cli-plan-corrupt = ملف الخطة { $path } تالف: { $reason }. لم يتغير شيء؛ أصلحه أو احذفه.
doctor-and = { " و " }
doctor-config = الإعدادات صحيحة.
doctor-token = الرمز يخص ‎@{ $name }‎.
doctor-token-refused = تيليجرام يرفض الرمز؛ احصل على رمز جديد من ‎@BotFather‎ واضبط telegram.token.
doctor-telegram-unreachable = لا تستجيب Bot API على { $url } ({ $reason })؛ تحقق من الشبكة ومن telegram.api_url.
doctor-owner = المالك هو { $id }.
doctor-no-owner = لم يُحدَّد مالك؛ يعرض التشغيل الأول رمزًا لمرة واحدة للمطالبة بالبوت.
doctor-model = مزوّد { $name } يستجيب.
doctor-model-demo = النموذج التجريبي المدمج مضبوط؛ وهو يتبع نصًا مكتوبًا فقط.
doctor-no-model = لم يُضبط أي نموذج؛ اضبط model.name، مثلًا openai/gpt-4.1.
doctor-model-refused = المزوّد يرفض المفتاح؛ تحقق من { $setting }.
doctor-model-unwell = مزوّد { $name } يجيب بالخطأ { $status }؛ أعد المحاولة لاحقًا.
doctor-model-unreachable = المزوّد لا يستجيب ({ $reason })؛ تحقق من { $setting }.
doctor-workspace = يمكن الكتابة في مجلد العمل { $path }.
doctor-workspace-read-only = مجلد العمل { $path } للقراءة فقط؛ يستطيع الوكيل النظر دون تغيير.
doctor-sandbox = تُنفَّذ الأوامر داخل صندوق Landlock المعزول.
doctor-sandbox-off = الصندوق المعزول يعمل لكن tools.sandbox معطّل.
doctor-no-sandbox = لا يدعم هذا النظام صندوق Landlock؛ لا يعمل أي أمر. استخدم Linux 6.2 أو أحدث مع تفعيل Landlock، أو اضبط tools.sandbox على "off".
doctor-no-sandbox-off = لا تستطيع هذه النواة عزل الأوامر و tools.sandbox معطّل: تعمل الأوامر بلا عزل، ولا تعمل أثناء التخطيط.
doctor-store = المخزن في { $path } سليم.
doctor-store-new = سيُنشأ مجلد البيانات { $path }.
doctor-store-running = المخزن في { $path } يستخدمه بوت يعمل.
doctor-store-quarantined = { $rows ->
    [zero] كان المخزن تالفًا ونُقل إلى { $path }؛ لم يُستعد أي صف من نسخة احتياطية.
    [one] كان المخزن تالفًا ونُقل إلى { $path }؛ استُعيد صف واحد من نسخة احتياطية.
    [two] كان المخزن تالفًا ونُقل إلى { $path }؛ استُعيد صفّان من نسخة احتياطية.
    [few] كان المخزن تالفًا ونُقل إلى { $path }؛ استُعيدت { $rows } صفوف من نسخة احتياطية.
    [many] كان المخزن تالفًا ونُقل إلى { $path }؛ استُعيد { $rows } صفًا من نسخة احتياطية.
   *[other] كان المخزن تالفًا ونُقل إلى { $path }؛ استُعيد { $rows } صف من نسخة احتياطية.
}
doctor-dead-letters = { $count ->
    [zero] لم يُترك أي تحديث: { $ids }.
    [one] تُرك تحديث واحد: { $ids }.
    [two] تُرك تحديثان: { $ids }.
    [few] تُركت { $count } تحديثات، أحدثها: { $ids }.
    [many] تُرك { $count } تحديثًا، أحدثها: { $ids }.
   *[other] تُرك { $count } تحديث، أحدثها: { $ids }.
}
doctor-clock = الساعة صحيحة.
doctor-clock-wrong = { $seconds ->
    [zero] الساعة صحيحة.
    [one] الساعة خاطئة بثانية واحدة؛ فعّل مزامنة الوقت.
    [two] الساعة خاطئة بثانيتين؛ فعّل مزامنة الوقت.
    [few] الساعة خاطئة بمقدار { $seconds } ثوانٍ؛ فعّل مزامنة الوقت.
    [many] الساعة خاطئة بمقدار { $seconds } ثانية؛ فعّل مزامنة الوقت.
   *[other] الساعة خاطئة بمقدار { $seconds } ثانية؛ فعّل مزامنة الوقت.
}
doctor-versions = greenlight { $version } على Linux { $kernel }.
doctor-programs-missing = برامج ناقصة: { $names }؛ ثبّتها.
cli-claim-code = لم يُحدَّد مالك. أرسل إلى البوت في محادثة خاصة خلال 10 دقائق: ‎/start { $code }
cli-playground-ready = ساحة التجربة مفتوحة على { $url } (للإيقاف: Ctrl-C)
cli-playground-failed = تعذّر بدء ساحة التجربة: { $reason }. جرّب ‎--port آخر.
cli-telegram-refused = يرفض Telegram رمز البوت. احصل على رمز جديد من ‎@BotFather‎ واضبط TELOXIDE_TOKEN.
config-no-model = لم يُحدَّد نموذج؛ اضبط GREENLIGHT_MODEL بصيغة <adapter>/<name> مثل openai/gpt-5 أو ollama/qwen3، أو جرّب greenlight playground.
cli-unknown-flag = لا يوجد خيار { $flag }؛ انظر greenlight --help.
cli-unknown-flag-near = لا يوجد خيار { $flag }؛ هل تقصد { $near }؟
cli-unknown-command = لا يوجد أمر { $name }؛ انظر greenlight --help.
cli-bad-value = لا تصلح القيمة «{ $value }» للخيار { $flag }؛ انظر greenlight --help.
cli-bad-choice = لا تصلح القيمة «{ $value }» للخيار { $flag }؛ المتاح: { $valid }.
cli-no-value = يحتاج الخيار { $flag } إلى قيمة؛ انظر greenlight --help.
cli-missing = ينقص { $name }؛ انظر greenlight --help.
cli-missing-command = ينقص أمر هنا؛ أضف ‎--help لعرض الخيارات.
cli-conflict = لا يجتمع { $one } مع { $other }؛ اترك أحدهما.
cli-http-bind = تعذّر الاستماع على { $address }: { $reason }. اختر http.bind آخر.
