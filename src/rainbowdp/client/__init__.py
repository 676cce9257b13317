"""``rb.connect``: questions to a service that holds the data, with the face of a session.

Nothing here reads data or pays: the service does both, and says what an answer cost. The client
makes sure of what the service cannot: that a question over a network that loses replies is paid
once, and that a token goes to the service alone.
"""
