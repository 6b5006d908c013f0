# flow
flow-thinking = Thinking
flow-tools = { $count ->
    [one] { $count } tool
   *[other] { $count } tools
}
flow-duration-seconds = { $s } s
flow-duration-minutes = { $m } min { $s } s
flow-duration-hours = { $h } h { $m } min
flow-ctx = ctx { $used }/{ $window }
flow-finished = ✅ Finished
flow-failed = ❌ Failed
flow-timed-out = ⏱ Timed out
flow-stopped = ⏹ Stopped
flow-interrupted = ⏸ Interrupted
flow-continued = ⏬ Continued below
flow-log = Log
flow-earlier = { $count ->
    [one] … { $count } earlier line
   *[other] … { $count } earlier lines
}
flow-more = { $count ->
    [one] … { $count } more
   *[other] … { $count } more
}
flow-checklist = Checklist
flow-criteria = Done when
flow-blocked = { $count } blocked
flow-recheck = { $count } to re-check
flow-missing = Missing
flow-face-discussing = 📝 Discussing the plan
flow-face-editing = ✍️ Editing the plan
flow-face-ready = 👀 Ready for review
flow-face-not-ready = ⚠️ Not ready
flow-face-seeding = ⏳ Building the checklist…
flow-face-seed-failed = ⚠️ The checklist was not built: tap Retry or send /execute
flow-face-partial-seed = ⚠️ The checklist is incomplete: send /discard and approve again
flow-face-corrupt = ⚠️ The plan file cannot be read: send /discard
flow-plan-document = The whole plan is in the document above.
flow-reason-question = Waiting for your answer.
flow-reason-blocked = Blocked: { $why }
flow-reason-budget = Limit reached: { $budget }
flow-reason-left = Left open:
flow-button-stop = ⏹ Stop
flow-button-approve = ✅ Approve
flow-button-approve-later = ⏳ Approve after this turn
flow-button-discard = 🗑 Discard
flow-button-retry = 🔁 Retry
flow-button-discard-confirm = 🗑 Discard { $done }/{ $total } done?
flow-button-keep = ↩️ Keep
flow-topic-gone = ⚠️ The topic is gone, so this comes here.
flow-answer-document = The whole answer is in the document.
flow-answer-empty = The model gave no answer. Nothing was lost: ask again or change the model with /model.
flow-face-done = 🏁 Done
