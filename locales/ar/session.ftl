# session
approvals-shown = 🔐 الموافقات: { $level }

    • ask: أسأل قبل كل كتابة وكل أمر
    • auto: أسأل فقط قبل ما قد يُتلف بيانات
    • yolo: لا أسأل أبدًا، ولا خطة تنتظرك

    للتغيير أرسل /approvals ثم الكلمة.
approvals-unknown = لا يوجد مستوى «{ $level }». استخدم /approvals ask أو auto أو yolo.
approvals-set = 🔐 الموافقات الآن: { $level }.
budget-calls = استدعاءات الأدوات
budget-day-tokens = الرموز في اليوم
budget-empty = ردود النموذج الفارغة
budget-identical = استدعاءات متطابقة متتالية
budget-malformed = استدعاءات غير سليمة متتالية
budget-requests = طلبات النموذج
budget-tokens = الرموز في الدور
button-always = ♾️ دائمًا في هذه الجلسة
button-approve = ✅ اسمح
button-deny = 🚫 ارفض
card-always = ♾️ سُمح به، ولن أسأل عنه في هذه الجلسة.
card-answered = ✔️ { $answer }
card-approved = ✅ سُمح به.
card-cancelled = ⏹ أُوقف الدور؛ لم يُنفَّذ شيء.
card-denied = 🚫 رُفض؛ لم يُنفَّذ شيء.
card-expired = ⌛ انتهت المهلة بلا إجابة، ويُعد ذلك رفضًا.
card-foot = 📂 { $cwd }
card-restarted = ⌛ انتهت عند إعادة التشغيل؛ لم يُنفَّذ شيء.
card-title = 🔐 { $class } · { $tool }
card-undelivered = ⌛ تعذّر التسليم؛ لم يُنفَّذ شيء.
class-channel = إرسال ملف إلى هذه المحادثة؟
class-destructive = ⚠️ تنفيذ هذا؟ قد يُتلف بيانات
class-exec = تنفيذ هذا الأمر؟
class-network = استخدام الشبكة؟
class-plan = بدء خطة؟
class-read = قراءة هذا؟
class-spawn = تشغيل وكيل مساعد؟
class-write = تغيير هذا الملف؟
command-busy = هناك دور قيد التنفيذ. انتظر نهايته أو أرسل /stop أولًا.
command-owner-only = هذا للمالك فقط.
compact-begun = ألخّص المحادثة…
compact-done = تم: لُخّصت المحادثة.
compact-failed = ❌ تعذّر تلخيص المحادثة ولم يتغيّر شيء. أعد المحاولة لاحقًا بالأمر /compact.
compact-nothing = لا شيء لتلخيصه بعد.
discard-done = 🗑 حُذفت. لا توجد خطة الآن؛ والكتابة ممكنة من جديد.
discard-set-aside = 🗑 وُضع ملف الخطة غير المقروء جانبًا. لا توجد خطة الآن.
end-blocked = ⛔ عائق: { $why }
end-budget = ⛔ بلغ الدور حدّه: { $budget }. ما أُنجز باقٍ؛ أرسل رسالة للمتابعة.
end-incomplete = ⚠️ لم يكتمل. بقي:
    { $left }
end-no-answer = لم يُجب النموذج. لم يضع شيء: اسأل مجددًا أو اختر نموذجًا آخر عبر /model.
end-plan-not-ready = ⚠️ الخطة غير جاهزة. ينقصها: { $items }
end-plan-ready = 👀 الخطة جاهزة لمراجعتك.
end-question = ❓ أنتظر إجابتك.
end-timed-out = ⏱ طال الدور فأُنهي. ما أُنجز باقٍ؛ أرسل رسالة للمتابعة.
execute-busy = هناك دور قيد التنفيذ، فلا موافقة الآن. انتظر نهايته ثم اضغط «موافقة» أو أرسل /execute.
goal-cleared = مُسح الهدف.
goal-none = لا يوجد هدف. حدّده بـ /goal ثم النص.
goal-set = 🎯 حُدّد الهدف.
goal-shown = 🎯 { $goal }
language-set = 🌐 أجيب الآن بـ{ $language }.
language-shown = 🌐 { $language }

    { $known }
    /language auto · كما في تطبيقك
language-unknown = لا توجد لغة «{ $language }». أرسل إحدى هذه:
    { $known }
model-set = النموذج الآن: { $model }.
model-shown = 🧠 النماذج:
    { $models }
    اختر بـ /model ثم الرقم.
model-unknown = لا يوجد نموذج «{ $model }». القائمة في /model.
model-cut = ❌ انقطع رد النموذج ({ $reason }). لم يضع شيء: أرسل الرسالة مجددًا.
new-done = 🆕 جلسة جديدة. السابقة محفوظة في /sessions.
new-done-dropped = 🆕 جلسة جديدة. السابقة محفوظة في /sessions. رسائل منتظرة لم تُقرأ: { $count }؛ أعد إرسالها إن كنت لا تزال تحتاجها.
new-plan-live = في هذه الجلسة خطة قائمة. أنهِها أو احذفها بـ /discard أولًا.
plan-corrupt = ⚠️ تعذّرت قراءة ملف خطة هذه الجلسة، فلا يُكتب شيء. الأمر /discard يضعه جانبًا ويحرّر الجلسة.
plan-diff-none = لم يتغير شيء منذ رأيت الخطة آخر مرة.
plan-edit-how = حرّر المستند وأرسله ردًا على إحدى رسائلي: يصبح المراجعة التالية.
plan-edit-only-editing = لا توجد خطة قيد الكتابة.
plan-edit-taken = ✍️ نصك هو الخطة الآن. اقرأها أدناه ثم وافق.
plan-live-active = العمل جارٍ على خطة موافق عليها. /show_plan يعرضها و/discard ينهيها.
plan-live-editing = هناك خطة تنتظرك. /show_plan يعرضها، و«موافقة» أو /execute يبدؤها، و/discard يحذفها.
plan-mode-on = 📝 وضع الخطة مفعّل: أقرأ وأناقش ولا أكتب شيئًا حتى توافق على خطة. أخبرني بما تريد بناءه. /discard يخرج من الوضع.
plan-none = لا توجد
plan-off = التخطيط معطّل في الإعدادات (plan.enabled).
plan-reopened = ⚠️ تغيّر نص الخطة بعد الموافقة، فلا يُنفَّذ شيء. اقرأها ووافق من جديد.
plan-running = قيد التنفيذ
plan-save-failed = ❌ تعذّر حفظ الخطة؛ لم يتغير شيء. افحص القرص ثم أعد المحاولة.
plan-status-head = 📋 { $title } · v{ $version } · { $done }/{ $total }
plan-status-more = { $count ->
    [zero] … لا مهام أخرى
    [one] … مهمة أخرى واحدة
    [two] … مهمتان أخريان
    [few] … { $count } مهام أخرى
    [many] … { $count } مهمة أخرى
   *[other] … { $count } مهمة أخرى
}
plans-none = لم تكتمل أي خطة في هذه الجلسة بعد.
plans-shown = { $plans }
project-bad = «{ $path }» ليس مجلدًا يمكنني العمل فيه. أعطِ مسارًا مطلقًا.
project-plan-live = في هذا المشروع خطة قائمة. أنهِها أو احذفها بـ /discard أولًا.
project-set = 📂 أعمل الآن في { $path }.
project-shown = 📂 { $path }
question-hint = اضغط خيارًا أو اكتب إجابتك.
queue-full = لدي بالفعل { $count } رسالة منتظرة، فلم تُقبل هذه. أرسلها لاحقًا.
sessions-shown = جلسات هذه المحادثة:
    { $sessions }
show-plan-none = لا توجد خطة. ابدأ بـ /plan.
show-plan-preinit = 📝 وضع الخطة مفعّل، لكن لم تُكتب خطة بعد. أخبرني بما تريد بناءه، أو /discard.
status-approvals = 🔐 الموافقات: { $level }
status-discarding = 🗑 جارٍ حذف الخطة
status-idle = 💤 خامل
status-model = 🧠 { $model }
status-no-model = لا نموذج مهيأ
status-plan = 📋 الخطة: { $plan }
status-project = 📂 { $path }
status-queue = { $count ->
    [zero] 📨 لا شيء ينتظر
    [one] 📨 رسالة واحدة تنتظر
    [two] 📨 رسالتان تنتظران
    [few] 📨 { $count } رسائل تنتظر
    [many] 📨 { $count } رسالة تنتظر
   *[other] 📨 { $count } رسالة تنتظر
}
status-running = ⚙️ يعمل منذ { $time } · الطلبات: { $requests } · الاستدعاءات: { $calls }
status-sandbox-missing = ⚠️ لا تستطيع هذه النواة عزل الأوامر (Landlock، ‏Linux 6.2): لا يعمل أي أمر. اضبط tools.sandbox على "off" لتشغيلها بلا عزل.
status-sandbox-off = ⚠️ ‏tools.sandbox معطّل: تعمل الأوامر بلا عزل
status-sandbox-on = 🛡 تعمل الأوامر داخل عزل النواة
stop-done = ⏹ أُوقف.
stop-not-yours = هذا الدور لغيرك؛ يوقفه صاحبه أو المالك.
stop-nothing = لا شيء قيد التنفيذ.
session-store-failed = ❌ لا أستطيع الكتابة في مجلد البيانات، فلم يبدأ شيء جديد. افحص المساحة والأذونات؛ ما قُبل محفوظ.
tap-always = سُمح من الآن فصاعدًا
tap-approved = سُمح
tap-approved-plan = تمت الموافقة
tap-busy = هناك دور قيد التنفيذ. وافق بعد انتهائه.
tap-confirm-discard = اضغط مرة أخرى للحذف
tap-denied = رُفض
tap-discarded = حُذفت
tap-expired = لم يعد هذا الزر صالحًا.
tap-kept = أُبقيت
tap-not-yours = هذا لشخص آخر.
tap-nothing-runs = لا شيء قيد التنفيذ.
tap-owner-only = هذا للمالك فقط.
tap-stopped = جارٍ الإيقاف
tap-superseded = هذه نسخة أقدم. استخدم أحدث رسالة.
tap-taken = أُخذت
tool-other = أداة
tool-plan-file = الخطة
tool-plan = الخطة
turn-compacted = لُخّصت المحادثة لإفساح المجال.
turn-crash-loop = ❌ توقف البرنامج ثلاث مرات عند هذه النقطة، فلن أحاول مجددًا. ما أُنجز باقٍ؛ أرسل رسالة للمتابعة.
turn-fallback = يتولى نموذج آخر ({ $reason })
turn-retry = محاولة جديدة { $try }/{ $tries } ({ $reason })
turn-submission-refused = ❌ رُفضت الخطة مرتين: { $error }
usage-shown = 🔢 رموز هذه الجلسة: قُرئ { $input } (من الذاكرة المؤقتة { $cached })، وكُتب { $output }. اليوم: { $today }.
card-asker = 👤 الطلب من { $name }.
card-asker-private = 👤 الطلب من { $name } في محادثة خاصة معي.
card-expires = ⏳ يُعد مرفوضًا بعد { $minutes } د.
card-waiting = بانتظار موافقة المالك
language-name = العربية
question-hint-text = اكتب إجابتك.
status-demo = نص معدّ، لا نموذج لغوي
outbox-again = 🔁 قد تكون هذه الرسالة مكررة: ربما وصلت المحاولة الأولى.
session-store-back = ✅ عاد مجلد البيانات يقبل الكتابة. ما كان منتظرًا يتابع الآن.
session-store-full = ❌ القرص الذي فيه مجلد البيانات ممتلئ، فلا يبدأ شيء جديد. ما قُبل محفوظ، وسأتابع بنفسي حين تتوفر مساحة.
session-store-read-only = ❌ مجلد البيانات للقراءة فقط، فلا يبدأ شيء جديد. ما قُبل محفوظ، وسأتابع بنفسي حين تعود الكتابة ممكنة.
store-import-refused = ⚠️ الاستيراد المُعد لم يكن كاملًا، فوُضع جانبًا ولم يتغير شيء.
store-imported = 📦 حلّ الاستيراد المُعد محل المخزن، عدد الصفوف: { $rows }.
store-lost = ⚠️ تلفت قاعدة البيانات ولم توجد نسخة احتياطية سليمة، فبدأتُ بقاعدة فارغة. الملفات التالفة محفوظة باسم { $aside }.
store-restored = ⚠️ تلفت قاعدة البيانات. استعدتُ النسخة { $backup } وعدد صفوفها { $rows }، وقد يغيب ما جاء بعدها. الملفات التالفة محفوظة باسم { $aside }.
voice-kept = 🎙 حُفظت رسالتك الصوتية كملف. لا أستطيع الاستماع إليها لأن تحويل الكلام إلى نص غير مُعدّ. اكتب لي المهم من فضلك.
agent-steps = { $count ->
    [zero] بلا خطوات
    [one] خطوة واحدة
    [two] خطوتان
    [few] { $count } خطوات
    [many] { $count } خطوة
   *[other] { $count } خطوة
}
end-left = ما زال مفتوحًا:
    { $left }
plan-lost = ⚠️ فُقد ملف الخطة وتعذّرت استعادته؛ لا توجد خطة الآن.
plan-restored = ⚠️ فُقد ملف الخطة، فاستعدت قائمة المهام من آخر حالة لها؛ ويجب أن تنجح فحوصها من جديد.
