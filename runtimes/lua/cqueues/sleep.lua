-- One coroutine per task, in a controller of cqueues.

local cqueues = require "cqueues"

local started, finished = 0, 0

local function task(tasks, seconds)
  started = started + 1
  if started == tasks then
    print("alive " .. started - finished)
  end
  cqueues.sleep(seconds)
  finished = finished + 1
end

local function main(tasks, seconds)
  local controller = cqueues.new()
  for _ = 1, tasks do
    controller:wrap(task, tasks, seconds)
  end
  assert(controller:loop())
  print("done " .. finished)
end

local function arguments()
  local tasks, seconds = (arg[1] or ""):match "^%d+$", (arg[2] or ""):match "^%d+$"
  tasks, seconds = tonumber(tasks), tonumber(seconds)
  return #arg == 2 and tasks and tasks >= 1 and seconds and tasks, seconds
end

local tasks, seconds = arguments()
if not tasks then
  io.stderr:write "usage: sleep.lua <tasks> <seconds>: whole numbers, at least one task\n"
  os.exit(2)
end
io.stdout:setvbuf "line"
main(tasks, seconds)
