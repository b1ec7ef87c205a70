-- One coroutine per node of a tree, in a cqueues controller, with a promise of the sum of its ten children.

local cqueues = require "cqueues"
local promise = require "cqueues.promise"

local function node(first, leaves)
  if leaves == 1 then
    return first
  end
  local size = leaves // 10
  local children = {}
  for i = 0, 9 do
    children[i] = promise.new(node, first + i * size, size)
  end
  local sum = 0
  for i = 0, 9 do
    sum = sum + children[i]:get()
  end
  return sum
end

local function main(tasks, operations)
  print "ready"
  local sum = 0
  for _ = 1, operations // tasks do
    sum = sum + promise.new(node, 0, tasks):get()
  end
  print("done " .. operations)
  print("check " .. sum)
end

io.stdout:setvbuf "line"
local tasks, operations = assert(tonumber(arg[1])), assert(tonumber(arg[2]))
assert(cqueues.new():wrap(main, tasks, operations):loop())
