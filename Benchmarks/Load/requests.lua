-- Requests out of a file, one after the other and then from the beginning: wrk -s requests.lua URL -- FILE FIRST.
-- In the file a line with a length stands before each. Where a request has ten #, each sending has another number.
-- One line of JSON at the end is for the harness.
local requests, place, number = {}, 0, 0

function init(arguments)
  local file = assert(io.open(arguments[1], "rb"))
  for line in function() return file:read("*l") end do
    local text = file:read(tonumber(line))
    local from, to = text:find("##########", 1, true)
    requests[#requests + 1] = from and { text:sub(1, from - 1), text:sub(to + 1) } or text
  end
  file:close()
  number = tonumber(arguments[2])
end

function request()
  place = place % #requests + 1
  local text = requests[place]
  if type(text) == "string" then return text end
  number = number + 1
  return text[1] .. number .. text[2]
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"longest":%d,"refused":%d,"broken":%d}',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), latency.max, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
