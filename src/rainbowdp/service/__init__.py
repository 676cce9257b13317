"""The service: one process holds the data and the ledger, and people only ask.

==============  ===================================================================
`config`        what ``service.toml`` says
`datasets`      what may be asked of each dataset, and its ledger
`schema`        requests and replies, as OpenAPI and JSON Schema publish them
`people`        who asks: roles, tokens, the directory
`routes`        one module for each resource
`problems`      what is refused, as RFC 9457 has it
`app`           all of it together
`serving`       the process: start, stop, several of them
==============  ===================================================================
"""
