use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// Language of the client, and a sentence that asks for a plan.
const PLAN: &[(&str, &str)] = &[
    ("en", "Make a plan for moving the session store to sled."),
    ("en", "create a plan to split the parser"),
    ("en", "Please create plan before touching the API"),
    ("en", "MAKE PLAN: new settings loader"),
    ("en", "Let's plan this properly."),
    ("en", "Let’s plan this properly, with a curly apostrophe."),
    ("en", "plan mode please"),
    ("en", "Switch to plan mode, I want to review it first"),
    ("en", "plan how we'll migrate the database"),
    ("en", "Plan how we’ll roll out the new bot"),
    ("en", "We should plan out the refactoring of the outbox"),
    ("en", "plan to implement webhooks"),
    ("en", "I'm planning to implement retries, help me"),
    (
        "en",
        "I am planning to refactor the splitter, write it up first",
    ),
    ("en", "Do some planning for the new module"),
    ("en", "Start planning the release script"),
    ("en", "planning: add topic support"),
    ("en", "can you come up with a plan for the flaky tests?"),
    ("en", "I need a plan before we rewrite the API"),
    ("en", "give me a plan and wait for my OK"),
    ("en", "Draft a plan, then implement it"),
    ("en", "write a plan and fix the bug after I approve"),
    ("en", "plan first, code later"),
    ("en", "Design first: how would you add quotas?"),
    ("en", "propose an approach for the cache"),
    ("en", "Don't change anything yet, what would you change?"),
    ("en", "make a plan for the travel booking module"),
    ("en", "Make a plan to add a hotel search API to our app"),
    ("en", "plan   this\nfeature carefully"),
    (
        "en",
        "We used to have a \"quick fix\" here. Make a plan to remove it.",
    ),
    ("ru", "Составь план рефакторинга модуля"),
    ("ru", "сделай план и жди одобрения"),
    ("ru", "Давай спланируем это"),
    ("ru", "Включи режим плана"),
    ("ru", "Нужен план миграции базы"),
    ("ru", "Спланируй переход на вебхуки"),
    ("ru", "Сначала план, потом код"),
    ("ru", "распиши план работ по боту"),
    ("en", "Составь план внедрения кэша"),
    ("ar", "ضع خطة لإعادة هيكلة الوحدة"),
    ("ar", "أنشئ خطة لتنفيذ الميزة"),
    ("ar", "دعنا نخطط لهذا"),
    ("ar", "شغل وضع التخطيط"),
    ("ar", "أريد خطة قبل تغيير الكود"),
    ("ar", "اِقترح خطّة للمشروع ثم ضَع خُطّة كاملة"),
    ("es", "haz un plan para migrar la base"),
    ("es", "Planifica el módulo nuevo"),
    ("pt", "faça um plano para o módulo"),
    ("pt-BR", "Planeje a migração"),
    ("fr", "Fais un plan pour ce module"),
    ("fr", "Planifions la migration"),
    ("de", "Erstelle einen Plan für die Migration"),
    ("de", "Planmodus bitte"),
    ("id", "buatkan rencana untuk modul ini"),
    ("de", "Make a plan for the parser"),
    ("ru", "make a plan for the parser"),
];

/// Sentences that must not switch plan mode on.
const NO_PLAN: &[(&str, &str)] = &[
    ("en", "I'm planning to visit Rome in May"),
    ("en", "We are planning a trip to Japan"),
    ("en", "planning my vacation, any tips?"),
    ("en", "make a plan for our holiday in Spain"),
    ("en", "Plan for dinner tonight: pasta"),
    ("en", "create a plan for my wedding"),
    ("en", "planning on going to the beach this weekend"),
    ("en", "Help me plan out my workout and diet"),
    ("en", "let's plan the birthday party"),
    ("en", "plan this trip for me"),
    ("en", "I was planning to ask you about logs"),
    ("en", "Are you planning to restart the server?"),
    ("en", "Fix the crash in the planning module"),
    ("en", "The planning page returns 500"),
    ("en", "Add a test for the sprint planning view"),
    ("en", "rename the query planning function"),
    ("en", "Show the pricing plan for teams"),
    ("en", "the plan for free users is broken, fix it"),
    ("en", "What's the plan for today?"),
    ("en", "Fix `make a plan` in the help text"),
    ("en", "The button says \"Make a plan\" but should say Start"),
    ("en", "The label “create a plan” is cut off"),
    ("en", "He wrote 'make a plan', why?"),
    ("en", "> make a plan\nwhat did you mean by that?"),
    ("en", "```\nlet's plan this\n```\nexplain this output"),
    ("en", "open planning.rs and explain it"),
    ("en", "look at docs/planning/overview.md"),
    ("en", "see https://example.org/make-a-plan"),
    ("en", "fix the planning-tool crash"),
    ("en", "fix planning_board.py"),
    ("en", "don't make a plan, just do it"),
    ("en", "No need to make a plan here"),
    ("en", "Do not plan, implement it now"),
    ("en", "skip planning and run the tests"),
    ("en", "leave plan mode"),
    ("en", "What is plan mode?"),
    ("en", "how does plan mode work"),
    ("en", "implement retries, design first is not needed"),
    ("en", "Fix the login bug and ship it"),
    ("en", "explain how auth works"),
    ("en", "execute the approved steps"),
    ("en", "The airplane icon is wrong"),
    ("en", "explanation of plants"),
    ("en", "/plan make a plan"),
    ("en", "  /status planning"),
    ("en", "[System: make a plan]"),
    ("en", ""),
    ("en", "   "),
    ("en", "hello"),
    ("en", "do it"),
    ("en", "ok, go ahead"),
    ("ru", "Составь план поездки в Рим"),
    ("ru", "Планирую отпуск в мае"),
    ("ru", "Не делай план, просто исправь"),
    ("ru", "Исправь баг в модуле планировщика"),
    ("ru", "Что такое режим плана?"),
    ("ru", "Надпись «составь план» обрезана"),
    ("ru", "Какой у нас тарифный план?"),
    ("ru", "Почини тесты"),
    ("ar", "ضع خطة لرحلة إلى روما"),
    ("ar", "لا تضع خطة، نفذ الآن"),
    ("ar", "ما هو وضع التخطيط؟"),
    ("ar", "أصلح الخطأ في الكود"),
    ("ar", "أريد خطة لحفلة عيد ميلاد"),
    ("es", "haz un plan para el viaje a Roma"),
    ("es", "arregla el error"),
    ("fr", "planifie mes vacances"),
    ("fr", "corrige le bug"),
    ("de", "Plane die Reise nach Rom"),
    ("de", "behebe den Fehler"),
    ("pt", "faça um plano para a viagem"),
    ("id", "buat rencana liburan"),
    ("id", "perbaiki bug ini"),
];

/// Families other than plan that a sentence hints at.
const FAMILIES: &[(&str, &str, &[Family])] = &[
    ("en", "read the file Cargo.toml", &[Family::Read]),
    ("en", "What’s in the config?", &[Family::Read]),
    ("en", "show me the file with settings", &[Family::Read]),
    ("en", "find the retry loop", &[Family::Search]),
    ("en", "where is the token parsed?", &[Family::Search]),
    ("en", "grep for unwrap", &[Family::Search]),
    ("en", "create a file named notes", &[Family::Write]),
    ("en", "write to file out", &[Family::Write]),
    ("en", "Update the file with the new name", &[Family::Edit]),
    ("en", "run the command again", &[Family::Bash]),
    ("en", "do it in the terminal", &[Family::Bash]),
    ("en", "search the web for the release date", &[Family::Web]),
    ("en", "google it", &[Family::Web]),
    (
        "en",
        "find online and look for a fix",
        &[Family::Search, Family::Web],
    ),
    (
        "en",
        "read the file, edit the file, then run the command",
        &[Family::Read, Family::Edit, Family::Bash],
    ),
    ("en", "findings are unrelated", &[]),
    ("en", "`find` is a program", &[]),
    ("en", "the googleplex", &[]),
    ("ru", "найди функцию разбора", &[Family::Search]),
    ("ru", "прочитай файл настроек", &[Family::Read]),
    ("ru", "Создай файл заметок", &[Family::Write]),
    ("ru", "выполни команду ещё раз", &[Family::Bash]),
    ("ru", "поищи в интернете", &[Family::Search, Family::Web]),
    ("ar", "ابحث عن الدالة", &[Family::Search]),
    ("ar", "اقرأ الملف", &[Family::Read]),
    ("ar", "عدّل الملف", &[Family::Edit]),
    ("ar", "نفّذ الأمر", &[Family::Bash]),
    ("es", "busca la función", &[Family::Search]),
    ("en", "busca la función", &[]),
    ("de", "finde die Stelle", &[Family::Search]),
    ("en", "lies die Datei", &[Family::Read]),
    ("fr", "cherche sur internet", &[Family::Search, Family::Web]),
    ("id", "cari fungsi itu", &[Family::Search]),
];

#[test]
fn the_corpus_is_read_as_a_person_means_it() {
    assert!(PLAN.len() + NO_PLAN.len() + FAMILIES.len() >= 120);
    let mut misread = Vec::new();
    for (language, sentence) in PLAN {
        if !analyze(sentence, Some(language)).plan_phrase {
            misread.push(format!("{language}: {sentence} -> no plan"));
        }
    }
    for (language, sentence) in NO_PLAN {
        if analyze(sentence, Some(language)).plan_phrase {
            misread.push(format!("{language}: {sentence} -> plan"));
        }
    }
    for (language, sentence, expected) in FAMILIES {
        let found = analyze(sentence, Some(language)).families;
        if found != *expected {
            misread.push(format!("{language}: {sentence} -> {found:?}"));
        }
    }
    assert_eq!(misread, Vec::<String>::new());
}

#[test]
fn work_to_be_done_at_once_sets_plan_mode_only_if_it_says_plan() {
    assert!(!analyze("propose an approach and implement it", None).plan_phrase);
    assert!(analyze("make a plan and implement it", None).plan_phrase);
}

#[test]
fn hints_come_in_a_fixed_order_and_name_live_operations_only() {
    let hints = analyze("make a plan, find the bug, then run the command", None);
    assert_eq!(hints.families, [Family::Plan, Family::Search, Family::Bash]);
    let text = hint_text(&hints);
    let at = |needle: &str| text.find(needle).unwrap();
    assert!(at("design track") < at("grep") && at("grep") < at("bash"));
    for dead in ["create\"", "finalize", "add_task,"] {
        assert!(!text.contains(dead), "{dead}");
    }
    assert_eq!(hint_text(&Hints::default()), "");
}

#[test]
fn without_a_language_the_script_decides() {
    assert!(analyze("Спланируй переход", None).plan_phrase);
    assert_eq!(analyze("найди это", None).families, [Family::Search]);
    assert_eq!(analyze("find it", None).families, [Family::Search]);
    assert_eq!(analyze("find it", Some("xx")).families, [Family::Search]);
}

#[test]
fn every_data_file_is_well_formed() {
    let known: BTreeSet<&str> = lexicon::headings().collect();
    let mut names = BTreeSet::new();
    for (name, data) in lexicon::sources() {
        names.insert(name);
        let headings: Vec<&str> = data.lines().filter(|line| line.starts_with('[')).collect();
        let distinct: BTreeSet<&str> = headings.iter().copied().collect();
        assert_eq!(headings.len(), distinct.len(), "{name}");
        assert_eq!(distinct, known, "{name}");
        for heading in &headings {
            let lines: Vec<&str> = lexicon::lines(data, heading).collect();
            let distinct: BTreeSet<&str> = lines.iter().copied().collect();
            assert!(!lines.is_empty(), "{name} {heading}");
            assert_eq!(lines.len(), distinct.len(), "{name} {heading}");
        }
    }
    assert!(["en", "ru", "ar"].iter().all(|name| names.contains(name)));
}

#[test]
fn every_phrase_of_a_family_is_found_in_its_own_language() {
    let families = [
        ("[read]", Family::Read),
        ("[search]", Family::Search),
        ("[write]", Family::Write),
        ("[edit]", Family::Edit),
        ("[bash]", Family::Bash),
        ("[web]", Family::Web),
    ];
    for (name, data) in lexicon::sources() {
        for (heading, family) in families {
            for line in lexicon::lines(data, heading) {
                let phrase = line.trim_end_matches('*');
                let hints = analyze(phrase, Some(name));
                assert!(
                    hints.families.contains(&family),
                    "{name} {heading} {phrase}"
                );
            }
        }
    }
}

#[test]
fn a_very_long_message_is_read_at_its_beginning() {
    let long = format!("make a plan {}", "é ".repeat(MAX_BYTES));
    assert!(analyze(&long, None).plan_phrase);
    let late = format!("{} make a plan", "é ".repeat(MAX_BYTES));
    assert!(!analyze(&late, None).plan_phrase);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(?s).{0,80}", language in "[a-z-]{0,6}") {
        let hints = analyze(&text, Some(&language));
        prop_assert_eq!(hints.plan_phrase, hints.families.contains(&Family::Plan));
    }
}
