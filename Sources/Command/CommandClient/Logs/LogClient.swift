import AdminProtocol
import HearthBytes
import Glibc
public import HearthJSON

/// The log of a host from its admin API: lines of JSON, oldest first.
public final class LogClient {
    private let client: HostClient
    private let selection: LogSelection
    private var partial = ByteBuffer()
    /// The id of the last line passed on, or of the newest line at the start.
    private var last: Int?

    /// The delay before reconnecting to a host, at first and at most.
    private static let waitMilliseconds = (first: 100, most: 2000)

    /// Reads the lines of one selection. Use a separate client for each reader.
    public init(_ client: HostClient, _ selection: LogSelection) {
        self.client = client
        self.selection = selection
    }

    /// Passes on the stored lines.
    public func read(_ take: (Span<UInt8>, JSONValue) -> Void) throws(ClientFailure) {
        try receive(selection.query(), take)
    }

    /// Passes on the stored lines, then new ones, without end. Reconnects when the host restarts, without losing or repeating lines.
    ///
    /// - Parameter tell: gets a sentence when the host disconnects and when it is back.
    public func follow(tell: (String) -> Void, _ take: (Span<UInt8>, JSONValue) -> Void) throws(ClientFailure) {
        let start = try newestID()
        var isFirst = true
        var wait = Self.waitMilliseconds.first
        var isGone = false
        while true {
            var query = selection.query() + "&follow=true"
            if !isFirst { query += "&after=\(last ?? start)" }
            do throws(ClientFailure) {
                try receive(query) {
                    if isGone { tell("the host at \(client.url) is back") }
                    isGone = false
                    isFirst = false
                    wait = Self.waitMilliseconds.first
                } _: { take($0, $1) }
            } catch {
                guard error.isPassing else { throw error }
            }
            // A host that stops ends the stream properly. Before the first answer, the first lines are still to come.
            if !isGone { tell("the host at \(client.url) has disconnected; waiting for it") }
            isGone = true
            usleep(UInt32(wait * 1000))
            wait = min(wait * 2, Self.waitMilliseconds.most)
        }
    }

    private func newestID() throws(ClientFailure) -> Int {
        var newest = 0
        try receive("limit=1") { _, line in newest = line["id"]?.int ?? newest }
        last = nil
        return newest
    }

    private func receive(_ query: String, _ take: (Span<UInt8>, JSONValue) -> Void) throws(ClientFailure) {
        try receive(query, {}, take)
    }

    /// - Parameter began: called when the host has begun to answer.
    private func receive(
        _ query: String, _ began: () -> Void, _ take: (Span<UInt8>, JSONValue) -> Void
    ) throws(ClientFailure) {
        partial.clear()
        var hasBegun = false
        try client.download(HostRequest("GET", "\(AdminPath.root)/logs?\(query)")) { (bytes) throws(ClientFailure) in
            if !hasBegun { began() }
            hasBegun = true
            partial.append(bytes)
            while let end = Self.lineEnd(partial.bytes) {
                if end > 0 { handOn(partial.bytes.extracting(0..<end), take) }
                partial.consume(end + 1)
            }
        }
        if !hasBegun { began() }
    }

    private func handOn(_ line: Span<UInt8>, _ take: (Span<UInt8>, JSONValue) -> Void) {
        guard let value = try? JSONValue(parsing: line), value.object != nil else { return }
        if let id = value["id"]?.int {
            if let last, id <= last { return }
            last = id
        }
        take(line, value)
    }

    private static func lineEnd(_ bytes: Span<UInt8>) -> Int? {
        for index in 0..<bytes.count where bytes[index] == UInt8(ascii: "\n") { return index }
        return nil
    }
}

/// A selection of log lines; nil means any.
public struct LogSelection: Sendable {
    /// Names of functions.
    public var functions: [String] = []
    /// The least severity.
    public var level: String?
    /// The id of one invocation.
    public var invocation: String?
    /// The id of one trace.
    public var trace: String?
    /// A time, or a duration before now, in the host's format.
    public var since: String?
    /// A time, or a duration before now.
    public var until: String?
    /// The number of newest lines.
    public var limit = 35

    /// The newest 35 lines.
    public init() {}

    func query() -> String {
        let pairs: [(String, String?)] = [
            ("function", functions.isEmpty ? nil : functions.joined(separator: ",")), ("level", level), ("invocation", invocation),
            ("trace", trace), ("since", since), ("until", until), ("limit", "\(limit)"),
        ]
        return pairs.compactMap { name, value in value.map { "\(name)=\(PercentCoding.encoded($0))" } }.joined(separator: "&")
    }
}
