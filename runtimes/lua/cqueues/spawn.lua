-- One coroutine per operation, in a controller of cqueues, with a promise of its result.

local cqueues = require "cqueues"
local promise = require "cqueues.promise"

local function task(number)
  return number
end

local function rounds(tasks, operations)
  print "ready"
  local sum = 0
  for first = 0, operations - 1, tasks do
    local promises = {}
    for number = first, math.min(first + tasks, operations) - 1 do
      promises[#promises + 1] = promise.new(task, number)
    end
    for _, result in ipairs(promises) do
      sum = sum + result:get()
    end
  end
  print("done " .. operations)
  print("check " .. sum)
end

local function arguments()
  local tasks, operations = (arg[1] or ""):match "^%d+$", (arg[2] or ""):match "^%d+$"
  tasks, operations = tonumber(tasks), tonumber(operations)
  return #arg == 2 and tasks and tasks >= 1 and operations and operations >= 1 and tasks, operations
end

local tasks, operations = arguments()
if not tasks then
  io.stderr:write "usage: spawn.lua <tasks> <operations>: whole numbers, at least one of each\n"
  os.exit(2)
end
io.stdout:setvbuf "line"
assert(cqueues.new():wrap(rounds, tasks, operations):loop())
