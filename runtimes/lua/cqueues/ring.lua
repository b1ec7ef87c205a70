-- A ring of coroutines in a cqueues controller: each receives tokens from its own channel and sends them to the next
-- one's. A token is the number of hops that it has left.

local cqueues = require "cqueues"
local condition = require "cqueues.condition"

-- A channel of capacity 1: cqueues has none.
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
local results = Channel.new()

local function task(tasks, number, channel, next_channel)
  started = started + 1
  if started == tasks then
    print("alive " .. tasks)
    all_started:signal()
  end
  while true do
    local hops = channel:receive()
    if hops > 0 then
      next_channel:send(hops - 1)
    else
      results:send(number)
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
    local hops = operations // tokens + (token < operations % tokens and 1 or 0)
    channels[token * tasks // tokens]:send(hops)
  end
  local sum = 0
  for _ = 1, tokens do
    sum = sum + results:receive()
  end
  print("done " .. operations)
  print("check " .. sum)
  os.exit() -- ends the tasks
end

io.stdout:setvbuf "line"
local tasks, operations, tokens = assert(tonumber(arg[1])), assert(tonumber(arg[2])), tonumber(arg[4] or 1)
assert(cqueues.new():wrap(main, tasks, operations, tokens):loop())
