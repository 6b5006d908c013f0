# telegram

# Who is served, and what reaches the bot.
access-token-shape = The bot token does not look like one. Copy it from @BotFather as digits, a colon and letters.
access-api-url = { $url } is not the address of a Bot API server. Use an http or https address.
access-tls = Secure connections cannot be set up on this machine.
access-stopped = Stopped before Telegram answered.
access-token-refused = Telegram refuses the bot token. Nothing was lost; set a valid token and start again.
access-refused = This bot works for its owner only and does not serve you.
access-claimed = You are the owner of this bot now. Send /help to see what it can do.
access-claim-wrong = This code is wrong. Look at the terminal where the bot was started.
access-tap-expired = This button has expired. Use the newest message.
access-tap-refused = This button is not for you.
access-backlog-skipped =
    { $count ->
        [one] One message was older than a day and was not answered.
       *[other] { $count } messages were older than a day and were not answered.
    }
access-file-too-big = The file { $name } is larger than 20 MB and cannot be received. Send a smaller one.
access-file-failed = The file { $name } could not be received. Send it again.

# One line for each command.
command-plan = Plan before anything is built
command-show-plan = Show the current plan
command-plan-status = Tasks of the plan and their state
command-execute = Approve the plan
command-discard = Drop the plan
command-plans = Earlier plans
command-stop = Stop what is running
command-status = What is going on right now
command-new = Start a fresh session
command-sessions = List of sessions
command-usage = Tokens used
command-compact = Shorten the conversation's memory
command-model = Show or choose the model
command-approvals = How much to ask before acting
command-project = Show or choose the project directory
command-language = Choose the language
command-goal = Show or set the goal
command-help = What this bot can do
command-start = Greeting and first steps
command-unknown = There is no command { $command }. Send /help for the list.

# /help.
help-intro = I work on the project on my owner's machine: I read it, plan, change files and run commands, and I ask before anything risky. Write what you need in your own words.
help-footer = While I work you can keep writing; I take it into account. /stop ends the work at once.
help-line = { $command } — { $what }
help-plans = Plans
help-work = Work
help-settings = Settings
