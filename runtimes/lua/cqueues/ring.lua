-- One coroutine per place in a ring, in a controller of cqueues, each with a channel of one from which it takes tokens.

local cqueues = require "cqueues"
local condition = require "cqueues.condition"

local Channel = {}
Channel.__index = Channel

function Channel.new()
  return setmetatable({ changed = condition.new() }, Channel)
end

function Channel:send(message)
  while self.message do
    self.changed:wait()
  end
  self.message = message
  self.changed:signal()
end

function Channel:receive()
  while not self.message do
    self.changed:wait()
  end
  local message = self.message
  self.message = nil
  self.changed:signal()
  return message
end

local started = 0
local all_started = condition.new()
local noted = Channel.new()

local function task(tasks, number, own, following)
  started = started + 1
  if started == tasks then
    print("alive " .. tasks)
    all_started:signal()
  end
  while true do
    local hops = own:receive() -- a token is the number of hops that it has left
    if hops > 0 then
      following:send(hops - 1)
    else
      noted:send(number)
    end
  end
end

local function main(tasks, operations, tokens)
  local controller = cqueues.running()
  local channels = {}
  for i = 0, tasks - 1 do
    channels[i] = Channel.new()
  end
  for i = 0, tasks - 1 do
    controller:wrap(task, tasks, i, channels[i], channels[(i + 1) % tasks])
  end
  all_started:wait()
  print "ready"
  for token = 0, tokens - 1 do
    -- The first tokens make one hop more, where the operations cannot be shared evenly.
    channels[token * tasks // tokens]:send((operations + tokens - 1 - token) // tokens)
  end
  local sum = 0
  for _ = 1, tokens do
    sum = sum + noted:receive()
  end
  print("done " .. operations)
  print("check " .. sum)
  os.exit() -- the tasks end with the program
end

local function arguments()
  local words = #arg == 4 and arg[3] == "--tokens" and { arg[1], arg[2], arg[4] } or { arg[1], arg[2], "1", arg[3] }
  local numbers = {}
  for i, word in ipairs(words) do
    numbers[i] = tonumber(word:match "^%d+$")
  end
  local tasks, operations, tokens = table.unpack(numbers)
  local right = #words == 3 and #numbers == 3 and operations >= 1 and tokens >= 1 and tokens <= tasks // 2
  return right and tasks, operations, tokens
end

local tasks, operations, tokens = arguments()
if not tasks then
  io.stderr:write "usage: ring.lua <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token\n"
  os.exit(2)
end
io.stdout:setvbuf "line"
assert(cqueues.new():wrap(main, tasks, operations, tokens):loop())
