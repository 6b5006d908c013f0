# flow
flow-thinking = أفكّر
flow-tools = { $count ->
    [zero] بلا أدوات
    [one] أداة واحدة
    [two] أداتان
    [few] { $count } أدوات
    [many] { $count } أداة
   *[other] { $count } أداة
}
flow-duration-seconds = { $s } ث
flow-duration-minutes = { $m } د { $s } ث
flow-duration-hours = { $h } س { $m } د
flow-ctx = ctx { $used }/{ $window }
flow-finished = ✅ اكتمل
flow-failed = ❌ فشل
flow-timed-out = ⏱ انتهى الوقت
flow-stopped = ⏹ أُوقف
flow-interrupted = ⏸ انقطع
flow-continued = ⏬ التتمة أدناه
flow-log = السجل
flow-earlier = { $count ->
    [zero] … لا سطور سابقة
    [one] … سطر سابق واحد
    [two] … سطران سابقان
    [few] … { $count } سطور سابقة
    [many] … { $count } سطرًا سابقًا
   *[other] … { $count } سطر سابق
}
flow-more = { $count ->
    [zero] … لا مزيد
    [one] … واحد آخر
    [two] … اثنان آخران
    [few] … { $count } أخرى
    [many] … { $count } أخرى
   *[other] … { $count } أخرى
}
flow-checklist = قائمة المهام
flow-criteria = تكتمل حين
flow-blocked = متوقفة: { $count }
flow-recheck = للتحقق مجددًا: { $count }
flow-missing = ينقص
flow-face-discussing = 📝 نناقش الخطة
flow-face-editing = ✍️ الخطة قيد التحرير
flow-face-ready = 👀 جاهزة للمراجعة
flow-face-not-ready = ⚠️ غير جاهزة
flow-face-seeding = ⏳ تُبنى قائمة المهام…
flow-face-seed-failed = ⚠️ لم تُبنَ قائمة المهام: اضغط «إعادة المحاولة» أو أرسل /execute
flow-face-partial-seed = ⚠️ قائمة المهام ناقصة: أرسل /discard ثم وافق من جديد
flow-face-corrupt = ⚠️ تعذّرت قراءة ملف الخطة: أرسل /discard
flow-plan-document = الخطة كاملة في المستند أعلاه.
flow-reason-question = أنتظر جوابك.
flow-reason-blocked = عائق: { $why }
flow-reason-budget = بلغ الحد: { $budget }
flow-reason-left = ما بقي:
flow-button-stop = ⏹ إيقاف
flow-button-approve = ✅ موافقة
flow-button-approve-later = ⏳ الموافقة بعد هذا الدور
flow-button-discard = 🗑 إلغاء الخطة
flow-button-retry = 🔁 إعادة المحاولة
flow-button-discard-confirm = 🗑 إلغاء؟ أُنجز { $done }/{ $total }
flow-button-keep = ↩️ إبقاء
flow-topic-gone = ⚠️ لم يعد الموضوع موجودًا، فجاءت الرسالة إلى هنا.
flow-answer-document = الجواب كامل في المستند.
flow-answer-empty = لم يقدّم النموذج جوابًا. لم يُفقد شيء: أعد السؤال أو غيّر النموذج بالأمر /model.
flow-face-done = 🏁 اكتملت
