"""Serving hosts over HTTP: the address, the door that everyone passes, and the server behind it.

The protocol is the SDK's (`server.sdk`), the answers are the face's. Only `serve --http` imports what is heavy here.
"""
