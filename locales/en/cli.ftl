# cli
cli-no-runtime = The program could not start: { $reason }.
cli-exported = { $rows ->
    [one] Wrote { $rows } row to { $path }.
   *[other] Wrote { $rows } rows to { $path }.
}
cli-exported-backup = The bot is running without a local port, so its newest backup { $backup } was written to { $path }; set http.bind to export the present state.
cli-export-running = The bot is running without a local port and has no backup yet; set http.bind or stop the bot, then export again.
cli-export-failed = The running bot did not hand over its store ({ $reason }); check http.bind and http.token, or stop the bot.
cli-imported = { $rows ->
    [one] Imported { $rows } row; the replaced store was kept next to it.
   *[other] Imported { $rows } rows; the replaced store was kept next to it.
}
cli-import-staged = The bot is running; the import takes effect at its next start.
cli-plan-none = There are no plans.
cli-plan-unknown = There is no plan for session { $session }; see greenlight plan list.
cli-plan-which = { $count ->
    [one] There is { $count } plan; name it with --session.
   *[other] There are { $count } plans; name one with --session.
}
cli-plan-line = { $session } · { $status } · { $done }/{ $total } · { $title }
cli-plan-corrupt = The plan file { $path } is damaged: { $reason }. Nothing was changed; mend or remove it.
doctor-and = { " and " }
doctor-config = The settings are valid.
doctor-token = The token belongs to @{ $name }.
doctor-token-refused = Telegram refuses the token; get a new one from @BotFather and set telegram.token.
doctor-telegram-unreachable = The Bot API at { $url } does not answer ({ $reason }); check the network and telegram.api_url.
doctor-owner = The owner is { $id }.
doctor-no-owner = No owner is set; the first start prints a one-time code to claim the bot.
doctor-model = The provider of { $name } answers.
doctor-model-demo = The built-in demo model is configured; it only follows a script.
doctor-no-model = No model is configured; set model.name, for example openai/gpt-4.1.
doctor-model-refused = The provider refuses the key; check { $setting }.
doctor-model-unwell = The provider of { $name } answers with error { $status }; try again later.
doctor-model-unreachable = The provider does not answer ({ $reason }); check { $setting }.
doctor-workspace = The workspace { $path } can be written.
doctor-workspace-read-only = The workspace { $path } is read-only; the agent can look but not change anything.
doctor-sandbox = Commands run in a Landlock sandbox.
doctor-sandbox-off = The sandbox works but tools.sandbox is off.
doctor-no-sandbox = This kernel has no Landlock sandbox; no commands run. Use Linux 6.2 or newer with Landlock enabled, or set tools.sandbox to "off".
doctor-no-sandbox-off = This kernel cannot confine commands and tools.sandbox is off: commands run without a sandbox, and none run while planning.
doctor-store = The store in { $path } is sound.
doctor-store-new = The data directory { $path } will be created.
doctor-store-running = The store in { $path } is in use by a running bot.
doctor-store-quarantined = { $rows ->
    [one] The store was damaged and moved to { $path }; { $rows } row was restored from a backup.
   *[other] The store was damaged and moved to { $path }; { $rows } rows were restored from a backup.
}
doctor-dead-letters = { $count ->
    [one] { $count } update was given up on: { $ids }.
   *[other] { $count } updates were given up on, the newest: { $ids }.
}
doctor-clock = The clock is right.
doctor-clock-wrong = { $seconds ->
    [one] The clock is wrong by { $seconds } second; turn on time synchronisation.
   *[other] The clock is wrong by { $seconds } seconds; turn on time synchronisation.
}
doctor-versions = greenlight { $version } on Linux { $kernel }.
doctor-programs-missing = Programs are missing: { $names }; install them.
cli-claim-code = No owner is set. Send this to the bot in a private chat within 10 minutes: /start { $code }
cli-playground-ready = The playground is open at { $url } (stop with Ctrl-C)
cli-playground-failed = The playground could not start: { $reason }. Try another --port.
cli-telegram-refused = Telegram refuses the bot token. Get a new one from @BotFather and set TELOXIDE_TOKEN.
config-no-model = No model is set; set GREENLIGHT_MODEL to <adapter>/<name>, such as openai/gpt-5 or ollama/qwen3, or try greenlight playground.
cli-unknown-flag = There is no flag { $flag }; see greenlight --help.
cli-unknown-flag-near = There is no flag { $flag }; did you mean { $near }?
cli-unknown-command = There is no command { $name }; see greenlight --help.
cli-bad-value = { $flag } cannot be “{ $value }”; see greenlight --help.
cli-bad-choice = { $flag } cannot be “{ $value }”; it must be one of { $valid }.
cli-no-value = { $flag } needs a value; see greenlight --help.
cli-missing = { $name } is missing; see greenlight --help.
cli-missing-command = A command is missing here; add --help to see the choice.
cli-conflict = { $one } and { $other } exclude each other; leave one of them out.
cli-http-bind = Cannot listen on { $address }: { $reason }. Choose another http.bind.
