"""The gateway: an HTTP server between real clients and providers (`sendable serve`). The only network I/O of the project.

It needs the extra `sendable[gateway]`; `import sendable` imports nothing from here. What must not live here: any decision about a history.
"""
