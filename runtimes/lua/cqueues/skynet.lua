-- One coroutine per node of a tree, in a controller of cqueues, with a promise of its sum.

local cqueues = require "cqueues"
local promise = require "cqueues.promise"

-- The sum of so many leaves from a number on.
local function node(first, leaves)
  if leaves == 1 then
    return first
  end
  local share = leaves // 10
  local children = {}
  for i = 0, 9 do
    children[i] = promise.new(node, first + i * share, share)
  end
  local sum = 0
  for i = 0, 9 do
    sum = sum + children[i]:get()
  end
  return sum
end

local function trees(tasks, operations)
  print "ready"
  local sum = 0
  for _ = 1, operations // tasks do
    sum = sum + promise.new(node, 0, tasks):get()
  end
  print("done " .. operations)
  print("check " .. sum)
end

local function arguments()
  local tasks, operations = (arg[1] or ""):match "^10*$", (arg[2] or ""):match "^%d+$"
  tasks, operations = tonumber(tasks), tonumber(operations)
  return #arg == 2 and tasks and operations and operations >= 1 and operations % tasks == 0 and tasks, operations
end

local tasks, operations = arguments()
if not tasks then
  io.stderr:write "usage: skynet.lua <tasks> <operations>: tasks a power of ten, operations a multiple of them\n"
  os.exit(2)
end
io.stdout:setvbuf "line"
assert(cqueues.new():wrap(trees, tasks, operations):loop())
