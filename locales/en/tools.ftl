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
sandbox-available = Commands are confined by the kernel (Landlock, version { $abi }).
sandbox-unavailable = Commands cannot be confined on this system: { $reason }. While a plan is made no command runs.
tool-spawn-agent = Sub-agent
