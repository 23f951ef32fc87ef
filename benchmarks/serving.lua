-- Posts the bodies of a file to /api/predict, in an order of its own for each thread of wrk, and
-- prints what was measured as JSON.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"

local bodies, at = {}, 0

function init(arguments)
  for line in io.lines(arguments[1]) do
    bodies[#bodies + 1] = wrk.format(nil, "/api/predict", nil, line)
  end
end

function request()
  at = at % #bodies + 1
  return bodies[at]
end

function done(summary, latency, requests)
  local errors = summary.errors
  print(string.format(
    '{"requests": %d, "seconds": %.3f, "errors": %d, "median_ms": %.2f, "p90_ms": %.2f, ' ..
    '"p99_ms": %.2f, "longest_ms": %.2f}',
    summary.requests, summary.duration / 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(90) / 1e3, latency:percentile(99) / 1e3,
    latency.max / 1e3))
end
