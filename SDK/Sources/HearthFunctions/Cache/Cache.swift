internal import HearthJSON

/// Values in the host's memory that all workers of the plugin share.
///
///     if let rates = try await cache.get("rates", as: Rates.self) { return rates }
///     let rates = try await fetchRates()
///     try await cache.set("rates", rates, ttlSeconds: 600)
///     return rates
///
/// Each plugin has a cache of its own. It is bounded (`cache.bytes` in `functions.json`, 16 MiB by default): values that were not used for the
/// longest time are removed for newer ones. It is empty after a restart or an upgrade of the host. So it is for what can be fetched or computed
/// again, and for counters that may be lost, such as those of a rate limit.
public let cache = Cache()

/// A cache of values by keys of 1 to 512 bytes.
public struct Cache: Sendable {
    init() {}

    /// The value of a key; nil if there is none, or its time is over.
    ///
    /// - Throws: `typeMismatch` if it is not of the requested type.
    public func get<T: Decodable>(_ key: String, as type: T.Type = T.self) async throws(CacheError) -> T? {
        let answer = try await call("get", ["key": .string(key)])
        guard let value = answer["value"] else { return nil }
        do {
            return try JSONDecoder().decode(type, from: value.serialized())
        } catch {
            throw CacheError(.typeMismatch, "The value of \"\(key)\" is not of the type \(type).")
        }
    }

    /// Sets a value.
    ///
    /// - Parameters:
    ///   - key: 1 to 512 bytes.
    ///   - value: the value, which is kept as JSON.
    ///   - ttlSeconds: how long it is kept, up to 30 days; nil for as long as there is room.
    public func set(_ key: String, _ value: some Encodable, ttlSeconds: Double? = nil) async throws(CacheError) {
        _ = try await call("set", try payload(key, value, ttlSeconds))
    }

    /// Sets a value if there is none. Of several callers, one succeeds.
    ///
    /// - Returns: whether the value was set.
    public func setIfAbsent(_ key: String, _ value: some Encodable, ttlSeconds: Double? = nil) async throws(CacheError) -> Bool {
        try await call("setIfAbsent", try payload(key, value, ttlSeconds))["stored"]?.bool ?? false
    }

    /// Removes a value.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public func delete(_ key: String) async throws(CacheError) -> Bool {
        try await call("delete", ["key": .string(key)])["deleted"]?.bool ?? false
    }

    /// Adds to an integer, in one step. A missing one counts as 0.
    ///
    /// - Parameters:
    ///   - key: 1 to 512 bytes.
    ///   - number: what is added; it may be negative.
    ///   - ttlSeconds: how long a new number is kept. An existing one keeps its time.
    /// - Returns: the sum.
    /// - Throws: `notANumber` if there is another value, or the sum has more than 64 bits.
    @discardableResult
    public func increment(_ key: String, by number: Int = 1, ttlSeconds: Double? = nil) async throws(CacheError) -> Int {
        var members: JSONObject = ["key": .string(key), "by": .int(Int64(number))]
        members["ttlSeconds"] = ttlSeconds.map { .double($0) }
        return try await call("increment", .object(members))["value"]?.int ?? 0
    }

    private func payload(_ key: String, _ value: some Encodable, _ ttlSeconds: Double?) throws(CacheError) -> JSONValue {
        var members: JSONObject = ["key": .string(key)]
        do {
            members["value"] = try JSONValue(parsing: try JSONEncoder().encode(value))
        } catch {
            throw CacheError(.invalidArgument, "The value cannot be written as JSON.")
        }
        members["ttlSeconds"] = ttlSeconds.map { .double($0) }
        return .object(members)
    }

    private func call(_ method: String, _ payload: JSONValue) async throws(CacheError) -> JSONValue {
        let answer = await services.answer("cache", method, payload.serialized())
        let value = (try? answer.value) ?? .null
        if answer.isOK { return value }
        let code = value["details"]?["reason"]?.string.flatMap(CacheError.Code.init) ?? .unavailable
        throw CacheError(code, value["message"]?.string ?? "The service cache failed.")
    }
}

/// The reason why the cache refused a call.
public struct CacheError: Error, Sendable, CustomStringConvertible {
    /// The kind of refusal.
    public enum Code: String, Sendable, CaseIterable {
        /// The key, the value or the time is not valid.
        case invalidArgument = "invalid-argument"
        /// The value is larger than `cache.valueBytes`, or than the cache.
        case tooLarge = "too-large"
        /// The value is not an integer, or the sum has more than 64 bits.
        case notANumber = "not-a-number"
        /// The value is not of the requested type.
        case typeMismatch = "type-mismatch"
        /// The host offers no cache, or is stopping.
        case unavailable
    }

    /// The kind of refusal.
    public var code: Code
    /// A sentence for the log.
    public var message: String

    /// An error, for tests of a plugin.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// "too-large: a value may have 1048576 bytes"
    public var description: String { "\(code.rawValue): \(message)" }
}
