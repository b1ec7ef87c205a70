"""Runs a server of asyncio-create-task as it is, but on uvloop instead of asyncio's own loop."""

import asyncio
import runpy
import sys

import uvloop

asyncio.events.new_event_loop = uvloop.new_event_loop  # which asyncio.run calls
del sys.argv[0]  # the server's own path is next
runpy.run_path(sys.argv[0], run_name="__main__")
