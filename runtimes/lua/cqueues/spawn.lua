-- One coroutine per operation, in a cqueues controller, with a promise of its result.

local cqueues = require "cqueues"
local promise = require "cqueues.promise"

local function task(number)
  return number
end

local function main(tasks, operations)
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

io.stdout:setvbuf "line"
local tasks, operations = assert(tonumber(arg[1])), assert(tonumber(arg[2]))
assert(cqueues.new():wrap(main, tasks, operations):loop())
