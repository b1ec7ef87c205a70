-- One coroutine per task, in a cqueues controller.

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

io.stdout:setvbuf "line"
main(assert(tonumber(arg[1])), assert(tonumber(arg[2])))
