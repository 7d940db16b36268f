import AdminProtocol
import EventLoop
import FunctionDispatch
import HearthJSON

/// The service `cache` for functions: values in the host's memory that all workers of a plugin share. `docs/services.md` describes its methods,
/// payloads and answers. Belongs to the dispatcher's loop.
package final class CacheCalls: Service {
    package let name = "cache"
    private let loop: EventLoop
    private let bytesMax: Int
    private let valueBytesMax: Int
    private var caches: [String: PluginCache] = [:]
    private lazy var timer = Timer(loop: loop) { [unowned self] in sweep() }
    private var isStopped = false

    private static let keyBytesMax = 512
    /// The longest time of a value, 30 days.
    private static let secondsMax = 2_592_000.0
    private static let sweepMilliseconds: UInt64 = 1000
    /// Values of a plugin that are looked at in one sweep, so that it does not delay calls.
    private static let sweepCount = 1000

    /// - Parameters:
    ///   - bytesMax: the memory of the values of one plugin.
    ///   - valueBytesMax: the largest value, as JSON.
    package init(bytesMax: Int, valueBytesMax: Int, loop: EventLoop) {
        self.loop = loop
        self.bytesMax = bytesMax
        self.valueBytesMax = valueBytesMax
    }

    /// The figures by plugin.
    package var figures: [(plugin: String, figures: CacheFigures)] {
        caches.map { ($0.key, $0.value.figures) }.sorted { $0.plugin < $1.plugin }
    }

    package func keepOnly(plugins: Set<String>) { caches = caches.filter { plugins.contains($0.key) } }

    package func hostStops() {
        isStopped = true
        timer.close()
    }

    package func handle(_ call: ServiceCall, completion: @escaping (ServiceAnswer) -> Void) {
        do throws(CacheRefusal) {
            // Parsing takes the time of the loop, and memory that is not counted.
            guard call.payload.count <= 2 * valueBytesMax + 4096 else { throw .tooLarge(valueBytesMax, bytesMax) }
            let request = try CacheRequest(call.payload, keyBytesMax: Self.keyBytesMax, secondsMax: Self.secondsMax)
            var cache = caches.removeValue(forKey: call.artifact.name) ?? PluginCache(bytesMax: bytesMax)
            defer { caches[call.artifact.name] = cache }
            completion(.success(try perform(call.method, request, &cache)))
        } catch {
            completion(error.answer)
        }
        if !isStopped, !timer.isRunning { timer.start(afterMilliseconds: Self.sweepMilliseconds) }
    }

    private func perform(_ method: String, _ request: CacheRequest, _ cache: inout PluginCache) throws(CacheRefusal) -> JSONValue {
        let now = loop.nowMilliseconds
        switch method {
        case "get":
            guard let bytes = cache.get(request.key, now: now), let value = try? JSONValue(parsing: bytes) else { return [:] }
            return ["value": value]
        case "set":
            try set(request, &cache, now: now)
            return .null
        case "setIfAbsent":
            if cache.contains(request.key, now: now) { return ["stored": false] }
            try set(request, &cache, now: now)
            return ["stored": true]
        case "delete": return ["deleted": .bool(cache.delete(request.key, now: now))]
        case "increment": return ["value": .int(try increment(request, &cache, now: now))]
        default:
            throw CacheRefusal(
                .unimplemented, "unknown-method", "cache has no method \"\(method)\"; it has get, set, setIfAbsent, delete, increment")
        }
    }

    private func set(_ request: CacheRequest, _ cache: inout PluginCache, now: UInt64) throws(CacheRefusal) {
        guard let value = request.value else { throw .invalid("\"value\" is missing") }
        let bytes = value.serialized()
        guard bytes.count <= valueBytesMax, cache.fits(request.key, bytes) else {
            throw .tooLarge(valueBytesMax, bytesMax)
        }
        cache.set(request.key, bytes, end: request.end(now: now))
    }

    /// Adds to an integer, which is 0 where there is none. An existing one keeps its end.
    private func increment(_ request: CacheRequest, _ cache: inout PluginCache, now: UInt64) throws(CacheRefusal) -> Int64 {
        let end = cache.end(of: request.key, now: now)
        var number: Int64 = 0
        if let bytes = cache.get(request.key, now: now) {
            guard case .int(let stored)? = try? JSONValue(parsing: bytes) else {
                throw CacheRefusal(.failedPrecondition, "not-a-number", "the value is not an integer")
            }
            number = stored
        }
        let (sum, overflows) = number.addingReportingOverflow(request.by)
        guard !overflows else { throw CacheRefusal(.failedPrecondition, "not-a-number", "the sum is not an integer of 64 bits") }
        let bytes = JSONValue.int(sum).serialized()
        guard cache.fits(request.key, bytes) else { throw CacheRefusal(.resourceExhausted, "too-large", "there is no room for a number") }
        cache.set(request.key, bytes, end: end ?? request.end(now: now))
        return sum
    }

    private func sweep() {
        let now = loop.nowMilliseconds
        for plugin in Array(caches.keys) { caches[plugin]?.sweep(Self.sweepCount, now: now) }
        if !isStopped, caches.values.contains(where: { !$0.isEmpty }) { timer.start(afterMilliseconds: Self.sweepMilliseconds) }
    }
}

/// The parsed payload of a call.
private struct CacheRequest {
    var key = ""
    var value: JSONValue?
    var seconds: Double?
    var by: Int64 = 1

    init(_ payload: [UInt8], keyBytesMax: Int, secondsMax: Double) throws(CacheRefusal) {
        guard let members = (try? JSONValue(parsing: payload))?.object else { throw .invalid("the payload is not a JSON object") }
        for (name, member) in members {
            switch name {
            case "key":
                guard let text = member.string, (1...keyBytesMax).contains(text.utf8.count) else {
                    throw .invalid("\"key\" must be a string of 1 to \(keyBytesMax) bytes")
                }
                key = text
            case "value": value = member
            case "ttlSeconds":
                guard let number = member.double, number > 0, number <= secondsMax else {
                    throw .invalid("\"ttlSeconds\" must be a number above 0 and up to \(Int(secondsMax))")
                }
                seconds = number
            case "by":
                guard case .int(let number) = member else { throw .invalid("\"by\" must be an integer") }
                by = number
            default: throw .invalid("there is no member \"\(name)\"")
            }
        }
        guard !key.isEmpty else { throw .invalid("\"key\" is missing") }
    }

    func end(now: UInt64) -> UInt64 { seconds.map { now + UInt64(($0 * 1000).rounded(.up)) } ?? .max }
}
