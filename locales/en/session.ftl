# session
approvals-shown = 🔐 Approvals: { $level }

    • ask: I ask before every change and command
    • auto: I ask only before what may destroy data
    • yolo: I never ask, and no plan waits for you

    Change it with /approvals and the word.
approvals-unknown = There is no level “{ $level }”. Use /approvals ask, auto or yolo.
approvals-set = 🔐 Approvals are now: { $level }.
budget-calls = tool calls
budget-day-tokens = tokens a day
budget-empty = empty replies of the model
budget-identical = identical calls in a row
budget-malformed = malformed calls in a row
budget-requests = model requests
budget-tokens = tokens a turn
button-always = ♾️ Always in this session
button-approve = ✅ Allow
button-deny = 🚫 Deny
card-always = ♾️ Allowed, from now on without asking in this session.
card-answered = ✔️ { $answer }
card-approved = ✅ Allowed.
card-cancelled = ⏹ The turn was stopped; nothing was run.
card-denied = 🚫 Denied; nothing was run.
card-expired = ⌛ Expired without an answer, which counts as denied.
card-foot = 📂 { $cwd }
card-restarted = ⌛ Expired at a restart; nothing was run.
card-title = 🔐 { $class } · { $tool }
card-undelivered = ⌛ Could not be delivered; nothing was run.
class-channel = Send a file to this chat?
class-destructive = ⚠️ Run this? It may destroy data
class-exec = Run this command?
class-network = Use the network?
class-plan = Begin a plan?
class-read = Read this?
class-spawn = Start a helper agent?
class-write = Change this file?
command-busy = A turn is running. Wait for its end or send /stop first.
command-owner-only = Only the owner may do that.
compact-begun = Summing the conversation up…
compact-done = Done: the conversation is summed up.
compact-failed = ❌ The conversation could not be summed up; nothing was changed. Try /compact again later.
compact-nothing = There is nothing to sum up yet.
discard-done = 🗑 Discarded. There is no plan now; writing is possible again.
discard-set-aside = 🗑 The unreadable plan file was put aside. There is no plan now.
end-blocked = ⛔ Blocked: { $why }
end-budget = ⛔ The limit of the turn is reached: { $budget }. What was done stays; send a message to go on.
end-incomplete = ⚠️ Not finished. Left open:
    { $left }
end-no-answer = The model gave no answer. Nothing was lost: ask again or choose another model with /model.
end-plan-not-ready = ⚠️ The plan is not ready. Missing: { $items }
end-plan-ready = 👀 The plan is ready for your review.
end-question = ❓ I wait for your answer.
end-timed-out = ⏱ The turn took too long and was ended. What was done stays; send a message to go on.
execute-busy = A turn is running, so nothing can be approved now. Wait for its end, then tap Approve or send /execute.
goal-cleared = The goal is cleared.
goal-none = There is no goal. Set one with /goal and a text.
goal-set = 🎯 The goal is set.
goal-shown = 🎯 { $goal }
language-set = 🌐 I answer in { $language } now.
language-shown = 🌐 { $language }

    { $known }
    /language auto · as your app
language-unknown = There is no language “{ $language }”. Send one of these:
    { $known }
model-set = The model is now { $model }.
model-shown = 🧠 Models:
    { $models }
    Choose with /model and a number.
model-unknown = There is no model “{ $model }”. /model lists them.
model-cut = ❌ The model's reply broke off ({ $reason }). Nothing was lost: send the message again.
new-done = 🆕 A fresh session. The old one is kept; /sessions lists it.
new-done-dropped = 🆕 A fresh session. The old one is kept; /sessions lists it. { $count } waiting messages were not read; send them again if you still need them.
new-plan-live = A plan is live in this session. Finish it or /discard it first.
plan-corrupt = ⚠️ The plan file of this session cannot be read, so nothing is written. /discard puts it aside and frees the session.
plan-diff-none = Nothing has changed since you last saw the plan.
plan-edit-how = Edit the document and send it back as a reply to one of my messages: it becomes the next revision.
plan-edit-only-editing = There is no plan being written.
plan-edit-taken = ✍️ Your text is the plan now. Read it below, then Approve.
plan-live-active = An approved plan is being worked on. /show_plan shows it, /discard ends it.
plan-live-editing = A plan is waiting for you. /show_plan shows it, Approve or /execute starts it, /discard ends it.
plan-mode-on = 📝 Plan mode is on: I read and discuss, and write nothing until you approve a plan. Tell me what you want to build. /discard leaves plan mode.
plan-none = none
plan-off = Planning is switched off in the configuration (plan.enabled).
plan-reopened = ⚠️ The plan's text was changed after the approval, so nothing runs. Read it again and approve it.
plan-running = running
plan-save-failed = ❌ The plan could not be saved; nothing was changed. Check the disk, then try again.
plan-status-head = 📋 { $title } · v{ $version } · { $done }/{ $total }
plan-status-more = { $count ->
    [one] … { $count } more task
   *[other] … { $count } more tasks
}
plans-none = No plan has been finished in this session yet.
plans-shown = { $plans }
project-bad = “{ $path }” is no directory that I may work in. Give an absolute path.
project-plan-live = A plan is live in this project. Finish it or /discard it first.
project-set = 📂 I work in { $path } now.
project-shown = 📂 { $path }
question-hint = Tap an option, or type your answer.
queue-full = I already have { $count } messages waiting, so this one was not taken. Send it again later.
sessions-shown = Sessions of this chat:
    { $sessions }
show-plan-none = There is no plan. /plan begins one.
show-plan-preinit = 📝 Plan mode is on, but no plan has been written yet. Tell me what you want to build, or /discard.
status-approvals = 🔐 Approvals: { $level }
status-discarding = 🗑 Discarding the plan
status-idle = 💤 Idle
status-model = 🧠 { $model }
status-no-model = no model configured
status-plan = 📋 Plan: { $plan }
status-project = 📂 { $path }
status-queue = { $count ->
    [0] 📨 Nothing is waiting
    [one] 📨 { $count } message is waiting
   *[other] 📨 { $count } messages are waiting
}
status-running = ⚙️ Running for { $time } · requests: { $requests } · calls: { $calls }
status-sandbox-missing = ⚠️ This kernel cannot confine commands (Landlock, Linux 6.2): none run. Set tools.sandbox to "off" to run them without a sandbox.
status-sandbox-off = ⚠️ tools.sandbox is off: commands run without a sandbox
status-sandbox-on = 🛡 Commands run in a kernel sandbox
stop-done = ⏹ Stopped.
stop-not-yours = That turn belongs to somebody else; only they or the owner can stop it.
stop-nothing = Nothing is running.
session-store-failed = ❌ I cannot write to my data directory, so nothing new was started. Check the disk space and permissions; what was accepted is kept.
tap-always = Allowed from now on
tap-approved = Allowed
tap-approved-plan = Approved
tap-busy = A turn is running. Approve after it has ended.
tap-confirm-discard = Tap once more to discard
tap-denied = Denied
tap-discarded = Discarded
tap-expired = This button is no longer valid.
tap-kept = Kept
tap-not-yours = This is for somebody else.
tap-nothing-runs = Nothing is running.
tap-owner-only = Only the owner may do that.
tap-stopped = Stopping
tap-superseded = This is an older version. Use the newest message.
tap-taken = Taken
tool-other = Tool
tool-plan-file = the plan
tool-plan = Plan
turn-compacted = The conversation was summed up to make room.
turn-crash-loop = ❌ The program stopped three times at this point of the turn, so I do not try again. What was done stays; send a message to go on.
turn-fallback = Another model takes over ({ $reason })
turn-retry = Trying again { $try }/{ $tries } ({ $reason })
turn-submission-refused = ❌ The plan was refused twice: { $error }
usage-shown = 🔢 Tokens of this session: { $input } read ({ $cached } from the cache), { $output } written. Today: { $today }.
card-asker = 👤 { $name } asks for this.
card-asker-private = 👤 { $name } asks for this in a private chat with me.
card-expires = ⏳ Counts as denied after { $minutes } min.
card-waiting = waiting for the owner's approval
language-name = English
question-hint-text = Type your answer.
status-demo = a script, no language model
outbox-again = 🔁 This may be a repeat: the first try could have arrived.
session-store-back = ✅ My data directory takes writes again. What waited goes on now.
session-store-full = ❌ The disk of my data directory is full, so nothing new is started. What was accepted is kept, and I go on by myself when there is room again.
session-store-read-only = ❌ My data directory is read-only, so nothing new is started. What was accepted is kept, and I go on by myself when I can write again.
store-import-refused = ⚠️ A staged import was not whole, so it was set aside and nothing was changed.
store-imported = 📦 A staged import has replaced my store: { $rows } rows.
store-lost = ⚠️ My database was damaged and no whole backup was found, so I began with an empty one. The damaged files are kept as { $aside }.
store-restored = ⚠️ My database was damaged. I restored the backup { $backup } with { $rows } rows; what came after it may be missing. The damaged files are kept as { $aside }.
voice-kept = 🎙 Your voice note is kept as a file. I cannot listen to it: no transcription is configured. Please write what matters.
agent-steps = { $count ->
    [one] { $count } step
   *[other] { $count } steps
}
end-left = Still open:
    { $left }
plan-lost = ⚠️ The plan file was lost and could not be restored; there is no plan now.
plan-restored = ⚠️ The plan file was lost, so I restored the checklist from its last state; its checks must pass again.
