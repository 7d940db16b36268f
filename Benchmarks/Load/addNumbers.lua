-- The request, and one line of JSON at the end for the harness to read.
wrk.method = "POST"
wrk.body = '{"data":{"firstNumber":3,"secondNumber":4}}'
wrk.headers["Content-Type"] = "application/json"

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"refused":%d,"broken":%d}',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
