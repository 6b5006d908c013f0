# Labels of running tools, and what the sandbox can do.
tool-read-file = قراءة
tool-list-dir = عرض المجلد
tool-glob = البحث عن ملفات
tool-grep = بحث
tool-git-view = عرض git
tool-write-file = كتابة
tool-edit-file = تعديل
tool-bash = تنفيذ
tool-bg-start = تشغيل في الخلفية
tool-bg-output = متابعة
tool-bg-stop = إيقاف
tool-ask-user = سؤال
tool-web-fetch = جلب صفحة
tool-send-file = إرسال
# Labels of calls that succeeded.
tool-read-file-done = قُرئ
tool-list-dir-done = عُرض المجلد
tool-glob-done = وُجدت ملفات
tool-grep-done = بُحث عن
tool-git-view-done = عُرض git
tool-write-file-done = كُتب
tool-edit-file-done = عُدّل
tool-bash-done = نُفّذ
tool-bg-start-done = شُغّل في الخلفية
tool-bg-output-done = رُوجع
tool-bg-stop-done = أُوقف
tool-ask-user-done = سُئل
tool-web-fetch-done = جُلبت الصفحة
tool-send-file-done = أُرسل
# The plan tool by operation.
tool-plan-init = بدء خطة
tool-plan-init-done = بدأت خطة
tool-plan-submit = كتابة الخطة
tool-plan-submit-done = كُتبت الخطة
tool-plan-add-tasks = بناء قائمة المهام
tool-plan-add-tasks-done = بُنيت قائمة المهام
tool-plan-start = بدء مهمة
tool-plan-start-done = بدأت
tool-plan-complete = إنهاء
tool-plan-complete-done = اكتملت
tool-plan-update = تحديث قائمة المهام
tool-plan-update-done = حُدّثت قائمة المهام
tool-plan-revise = مراجعة قائمة المهام
tool-plan-revise-done = رُوجعت قائمة المهام
tool-plan-check-replace = استبدال فحص
tool-plan-check-replace-done = استُبدل فحص
tool-plan-get = عرض الخطة
tool-plan-get-done = عُرضت الخطة
# What a number counts.
tool-count-lines = { $count ->
    [zero] بلا سطور
    [one] سطر واحد
    [two] سطران
    [few] { $count } سطور
    [many] { $count } سطرًا
   *[other] { $count } سطر
}
tool-count-entries = { $count ->
    [zero] بلا عناصر
    [one] عنصر واحد
    [two] عنصران
    [few] { $count } عناصر
    [many] { $count } عنصرًا
   *[other] { $count } عنصر
}
tool-count-files = { $count ->
    [zero] بلا ملفات
    [one] ملف واحد
    [two] ملفان
    [few] { $count } ملفات
    [many] { $count } ملفًا
   *[other] { $count } ملف
}
tool-count-matches = { $count ->
    [zero] بلا نتائج
    [one] نتيجة واحدة
    [two] نتيجتان
    [few] { $count } نتائج
    [many] { $count } نتيجة
   *[other] { $count } نتيجة
}
tool-spawn-agent = وكيل مساعد
tool-spawn-agent-done = وكيل مساعد
