-- One coroutine per task, in a cqueues controller, each waiting for a condition of its own.

local cqueues = require "cqueues"
local condition = require "cqueues.condition"

local started, finished = 0, 0

local function task(tasks, woken)
  started = started + 1
  if started == tasks then
    print("alive " .. started - finished)
  end
  woken:wait()
  finished = finished + 1
end

local function main(tasks, seconds)
  local wake_at = cqueues.monotime() + seconds
  local controller = cqueues.new()
  local conditions = {}
  for i = 1, tasks do
    conditions[i] = condition.new()
    controller:wrap(task, tasks, conditions[i])
  end
  controller:wrap(function()
    cqueues.sleep(math.max(0, wake_at - cqueues.monotime()))
    for _, woken in ipairs(conditions) do
      woken:signal()
    end
  end)
  assert(controller:loop())
  print("done " .. finished)
end

io.stdout:setvbuf "line"
main(assert(tonumber(arg[1])), assert(tonumber(arg[2])))
