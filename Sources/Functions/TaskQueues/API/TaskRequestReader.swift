import HearthBytes
import HearthJSON
import Logs
import RealtimeDatabase

/// Reads the body of a request to create a task: `{"task": {"name", "scheduleTime", "dispatchDeadline", "httpRequest": {"url", "body", "headers"}}}`.
package enum TaskRequestReader {
    /// The largest body: a task as large as one may be, in base64, with room for what is around it.
    static let bodyBytesMax = (1 << 20) * 4 / 3 + (128 << 10)
    /// The most header fields of a task.
    private static let headersMax = 100

    /// The task for a queue.
    package static func task(_ body: Span<UInt8>, at path: TaskPath) throws(TaskError) -> NewTask {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: body, limits: JSONLimits(depthMax: 20))
        } catch {
            throw .invalid("Invalid JSON payload received. \(error.explanation(in: body))")
        }
        guard let members = value["task"]?.object else { throw .invalid("The request has no object \"task\".") }
        guard let request = members["httpRequest"]?.object else { throw .invalid("The task has no object \"httpRequest\".") }
        var task = NewTask(queue: path.queue, payload: try payload(request))
        task.id = try id(members["name"], at: path)
        task.headers = try headers(request["headers"])
        if let time = try text(members["scheduleTime"], "scheduleTime") {
            guard let microseconds = WallClock.microseconds(rfc3339: time) else { throw .invalid("scheduleTime is not a time of RFC 3339.") }
            task.due = (microseconds + 999) / 1000
        }
        if let deadline = try text(members["dispatchDeadline"], "dispatchDeadline") {
            guard let seconds = seconds(deadline) else { throw .invalid("dispatchDeadline is not a duration such as \"30s\".") }
            task.limitMilliseconds = Int64(seconds * 1000)
        }
        return task
    }

    private static func text(_ value: JSONValue?, _ name: String) throws(TaskError) -> String? {
        guard let value, !value.isNull else { return nil }
        guard let text = value.string else { throw .invalid("\(name) is not a string.") }
        return text
    }

    private static func id(_ name: JSONValue?, at path: TaskPath) throws(TaskError) -> String? {
        guard let name = try text(name, "The name of the task"), !name.isEmpty else { return nil }
        // Clients of an emulator put a slash in front.
        guard let id = path.id(inName: name.hasPrefix("/") ? String(name.dropFirst()) : name) else {
            throw .invalid("The name of the task must begin with \(path.name(of: "")).")
        }
        guard TaskService.isID(id) else {
            throw .invalid("The task id \"\(id.prefix(100))\" must be 1 to 500 letters, digits, hyphens and underscores.")
        }
        return id
    }

    /// The value of `data` in the body of the HTTP request.
    private static func payload(_ request: JSONObject) throws(TaskError) -> [UInt8] {
        if let method = try text(request["httpMethod"], "httpMethod"), method != "POST", method != "HTTP_METHOD_UNSPECIFIED" {
            throw .invalid("The httpMethod is \(method.prefix(20)), but functions with task queues take POST only.")
        }
        guard let encoded = try text(request["body"], "The body") else { throw .invalid("The httpRequest has no body.") }
        guard let bytes = bytes(base64: encoded) else { throw .invalid("The body is not base64.") }
        return try data(in: bytes)
    }

    /// The value of `data` in `{"data": ...}`.
    static func data(in bytes: [UInt8]) throws(TaskError) -> [UInt8] {
        var found: Range<Int>?
        var isObject = false
        do throws(JSONError) {
            isObject = try JSONScan.members(of: bytes.span) { name, range, _ in if name.equals("data") { found = range } }.kind == .object
        } catch {
            throw .invalid("The body of the task is not JSON: \(error.explanation(in: bytes.span))")
        }
        guard isObject, let found else {
            throw .invalid("The body of the task must be an object {\"data\": ...}, since a function with a task queue gets the value of \"data\".")
        }
        return Array(bytes[found])
    }

    static func bytes(base64 text: String) -> [UInt8]? {
        var letters = Array(text.utf8)
        while letters.last == UInt8(ascii: "=") { letters.removeLast() }
        for index in letters.indices {
            switch letters[index] {
            case UInt8(ascii: "+"): letters[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): letters[index] = UInt8(ascii: "_")
            default: break
            }
        }
        return Base64URL.bytes(letters[...])
    }

    /// The header fields that reach the function, with names in lower case. Those that describe the request itself are left out.
    package static func headers(_ value: JSONValue?) throws(TaskError) -> [EventParameter] {
        guard let value, !value.isNull else { return [] }
        guard let members = value.object else { throw .invalid("headers is not an object.") }
        guard members.count <= headersMax else { throw .invalid("A task has at most \(headersMax) header fields.") }
        var headers: [EventParameter] = []
        for (name, value) in members {
            guard let text = value.string else { throw .invalid("The header field \(name.prefix(100)) is not a string.") }
            guard !name.isEmpty, name.utf8.allSatisfy(isNameByte), text.utf8.allSatisfy({ $0 >= 32 && $0 != 127 || $0 == 9 }) else {
                throw .invalid("The header field \"\(name.prefix(100))\" is not valid.")
            }
            let lower = name.lowercased()
            if own.contains(lower) || ownPrefixes.contains(where: { lower.hasPrefix($0) }) { continue }
            headers.append(EventParameter(name: lower, value: text))
        }
        return headers
    }

    private static let own: Set<String> = ["authorization", "content-length", "content-type", "host", "user-agent"]
    private static let ownPrefixes = ["x-google-", "x-appengine-", "x-cloudtasks-"]

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// The seconds of a duration such as `30s` or `1.5s`.
    static func seconds(_ text: String) -> Double? {
        guard text.utf8.last == UInt8(ascii: "s"), (2...20).contains(text.utf8.count) else { return nil }
        let number = text.dropLast()
        guard number.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") }) else { return nil }
        // Within the range of whole milliseconds; limits of their own follow.
        guard let seconds = Double(number), seconds < 1e10 else { return nil }
        return seconds
    }
}
