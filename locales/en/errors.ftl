# errors

# A model that cannot be reached, or that refuses.
model-unavailable = The model did not answer ({ $reason }). Nothing was lost; send your message again in a while.
model-context-too-long = The conversation no longer fits the model's window. It is saved; use /compact or start afresh with /new.
model-auth = The model's provider refused the key or the account. Mend the setting { $setting } and try again.
model-rejected = The model's provider refused the request ({ $reason }). Nothing was changed; check the model's settings.
model-garbage = The model's reply could not be understood ({ $reason }). Nothing was done with it; try again.
model-base-url = The address in { $setting } is not a web address. Write one that starts with http:// or https://.
model-no-key = No key is set for the model. Set { $setting } in the configuration.
model-client = The connection for the model { $name } could not be set up. Check the certificates of this machine.
model-unsupported = The model { $name } is not available in this build. Choose another one in the configuration.
