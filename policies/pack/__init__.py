"""The rules as a policy pack of the Pulumi engine: a server of the engine's protocol `Analyzer`.

The policy SDK is not used to run the rules. It turns one unknown value into an advisory violation in place of the
whole rule, so that a mandatory one passes, and it reads all properties again for each rule (docs/decisions/0009). Here
one request is one evaluation of all rules, by the same checker as everywhere else. Importing this starts no server.
"""
