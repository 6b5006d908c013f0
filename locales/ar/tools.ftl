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
sandbox-available = النواة تقيّد الأوامر (Landlock، الإصدار { $abi }).
sandbox-unavailable = لا يمكن تقييد الأوامر على هذا النظام: { $reason }. أثناء إعداد الخطة لا يُنفَّذ أي أمر.
tool-spawn-agent = وكيل مساعد
