# telegram

# Who is served, and what reaches the bot.
access-token-shape = لا يبدو رمز البوت صحيحًا. انسخه من @BotFather: أرقام ثم نقطتان ثم أحرف.
access-api-url = { $url } ليس عنوان خادم Bot API. استخدم عنوان http أو https.
access-tls = لا يمكن إعداد الاتصالات الآمنة على هذا الجهاز.
access-stopped = توقف قبل أن يجيب Telegram.
access-token-refused = يرفض Telegram رمز البوت. لم يُفقد شيء؛ عيّن رمزًا صالحًا ثم ابدأ من جديد.
access-refused = هذا البوت يعمل لمالكه فقط ولا يخدمك.
access-claimed = أنت الآن مالك هذا البوت. أرسل /help لترى ما يستطيع فعله.
access-claim-wrong = الرمز غير صحيح. انظر إلى الطرفية التي شُغّل فيها البوت.
access-tap-expired = انتهت صلاحية هذا الزر. استخدم أحدث رسالة.
access-tap-refused = هذا الزر ليس لك.
access-backlog-skipped =
    { $count ->
        [zero] لم تُترك أي رسالة دون رد.
        [one] رسالة واحدة أقدم من يوم بقيت دون رد.
        [two] رسالتان أقدم من يوم بقيتا دون رد.
        [few] { $count } رسائل أقدم من يوم بقيت دون رد.
        [many] { $count } رسالة أقدم من يوم بقيت دون رد.
       *[other] { $count } رسالة أقدم من يوم بقيت دون رد.
    }
access-file-too-big = الملف { $name } أكبر من 20 ميغابايت ولا يمكن استلامه. أرسل ملفًا أصغر.
access-file-failed = تعذّر استلام الملف { $name }. أرسله مرة أخرى.

# One line for each command.
command-plan = التخطيط قبل تنفيذ أي شيء
command-show-plan = عرض الخطة الحالية
command-plan-status = مهام الخطة وحالتها
command-execute = الموافقة على الخطة
command-discard = إلغاء الخطة
command-plans = الخطط السابقة
command-stop = إيقاف العمل الجاري
command-status = ما الذي يحدث الآن
command-new = بدء جلسة جديدة
command-sessions = قائمة الجلسات
command-usage = الرموز المستهلكة
command-compact = اختصار ذاكرة المحادثة
command-model = عرض النموذج أو اختياره
command-approvals = مقدار السؤال قبل التنفيذ
command-project = عرض مجلد المشروع أو اختياره
command-language = اختيار اللغة
command-goal = عرض الهدف أو تحديده
command-help = ما يستطيع البوت فعله
command-start = الترحيب والخطوات الأولى
command-unknown = لا يوجد أمر { $command }. أرسل /help لعرض القائمة.

# /help.
help-intro = أعمل على المشروع في جهاز المالك: أقرأ وأخطط وأغيّر الملفات وأشغّل الأوامر، وأسأل قبل أي خطوة خطرة. اكتب ما تريده بكلماتك.
help-footer = يمكنك متابعة الكتابة أثناء عملي وسآخذها في الحسبان. الأمر /stop يوقف العمل فورًا.
help-line = { $what }: { $command }
help-plans = الخطط
help-work = العمل
help-settings = الإعدادات
