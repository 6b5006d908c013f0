# Labels of running tools, and what the sandbox can do.
tool-read-file = Reading
tool-list-dir = Listing
tool-glob = Finding files
tool-grep = Searching
tool-git-view = Looking at git
tool-write-file = Writing
tool-edit-file = Editing
tool-bash = Running
tool-bg-start = Starting in the background
tool-bg-output = Looking at
tool-bg-stop = Stopping
tool-ask-user = Asking
tool-web-fetch = Fetching
tool-send-file = Sending
# Labels of calls that succeeded.
tool-read-file-done = Read
tool-list-dir-done = Listed
tool-glob-done = Found files
tool-grep-done = Searched
tool-git-view-done = Looked at git
tool-write-file-done = Wrote
tool-edit-file-done = Edited
tool-bash-done = Ran
tool-bg-start-done = Started in the background
tool-bg-output-done = Looked at
tool-bg-stop-done = Stopped
tool-ask-user-done = Asked
tool-web-fetch-done = Fetched
tool-send-file-done = Sent
# The plan tool by operation.
tool-plan-init = Beginning a plan
tool-plan-init-done = Began a plan
tool-plan-submit = Writing the plan
tool-plan-submit-done = Wrote the plan
tool-plan-add-tasks = Building the checklist
tool-plan-add-tasks-done = Built the checklist
tool-plan-start = Starting a task
tool-plan-start-done = Started
tool-plan-complete = Completing
tool-plan-complete-done = Completed
tool-plan-update = Updating the checklist
tool-plan-update-done = Updated the checklist
tool-plan-revise = Revising the checklist
tool-plan-revise-done = Revised the checklist
tool-plan-check-replace = Replacing a check
tool-plan-check-replace-done = Replaced a check
tool-plan-get = Looking at the plan
tool-plan-get-done = Looked at the plan
# What a number counts.
tool-count-lines = { $count ->
    [one] { $count } line
   *[other] { $count } lines
}
tool-count-entries = { $count ->
    [one] { $count } entry
   *[other] { $count } entries
}
tool-count-files = { $count ->
    [one] { $count } file
   *[other] { $count } files
}
tool-count-matches = { $count ->
    [one] { $count } match
   *[other] { $count } matches
}
tool-spawn-agent = Sub-agent
tool-spawn-agent-done = Sub-agent
