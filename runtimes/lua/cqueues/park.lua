-- One coroutine per task, in a controller of cqueues, each waiting for one message.

local cqueues = require "cqueues"
local condition = require "cqueues.condition"

local started, finished = 0, 0

local function task(tasks, mailbox)
  started = started + 1
  if started == tasks then
    print("alive " .. started - finished)
  end
  mailbox:wait()
  finished = finished + 1
end

local function main(tasks, seconds)
  local due = cqueues.monotime() + seconds
  local controller = cqueues.new()
  local mailboxes = {}
  for i = 1, tasks do
    mailboxes[i] = condition.new()
    controller:wrap(task, tasks, mailboxes[i])
  end
  controller:wrap(function()
    cqueues.sleep(math.max(0, due - cqueues.monotime()))
    for _, mailbox in ipairs(mailboxes) do
      mailbox:signal()
    end
  end)
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
  io.stderr:write "usage: park.lua <tasks> <seconds>: whole numbers, at least one task\n"
  os.exit(2)
end
io.stdout:setvbuf "line"
main(tasks, seconds)
