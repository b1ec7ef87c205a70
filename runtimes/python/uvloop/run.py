"""Runs a program of asyncio-create-task on uvloop instead of asyncio's own event loop."""

import runpy
import sys

import uvloop

del sys.argv[0]  # leaves the program's path and its arguments
program = runpy.run_path(sys.argv[0])
uvloop.run(program["main"]())
