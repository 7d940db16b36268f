import AdminProtocol
import EventLoop
import HearthBytes
import HearthJSON
import HTTP
import Logs

/// `logs`: the stored lines of the log, and new ones for clients that follow it. Belongs to one loop.
final class LogAdministration {
    private let store: LogStore
    private let loop: EventLoop
    private var streams: [ObjectIdentifier: LogStream] = [:]
    private var isStopped = false

    init(store: LogStore, loop: EventLoop) {
        self.store = store
        self.loop = loop
    }

    func handle(_ call: AdminCall) async throws(AdminError) {
        try call.allow(.get)
        guard call.segments.count == 1, call.verb == nil else { throw .noSuchResource }
        let query: LogQuery
        do throws(LogQueryError) {
            query = try LogQuery(call.parameters, now: WallClock.now().unixMicroseconds)
        } catch {
            throw AdminError(.invalidArgument, error.description)
        }
        if query.follows { return try follow(query, call.exchange) }
        let page = await Self.read(query, after: query.after, store, on: loop)
        call.exchange.respond(.ok, body: page.lines.span) { Self.writeFields(to: $0) }
    }

    /// Ends all streams. Their clients reconnect.
    func stop() {
        isStopped = true
        for stream in streams.values { stream.end() }
        streams = [:]
    }

    private func follow(_ query: LogQuery, _ exchange: HTTPExchange) throws(AdminError) {
        guard !isStopped else { throw AdminError(.unavailable, "the host is stopping; try again") }
        let stream = LogStream(query, exchange, store, loop)
        guard stream.begin() else {
            throw AdminError(.resourceExhausted, "\(LogStore.followersMax) readers follow the log already, which is the limit")
        }
        streams[ObjectIdentifier(stream)] = stream
        stream.onEnd = { [unowned self, unowned stream] in streams[ObjectIdentifier(stream)] = nil }
    }

    /// Reads a page on the thread pool: the lines after the line `after`, or the newest lines up to the line `end`.
    static func read(
        _ query: LogQuery, after: Int64?, through end: Int64 = .max, _ store: LogStore, on loop: EventLoop
    ) async -> LogPage {
        await loop.offload {
            let segments = store.segments()
            guard let after else { return LogPage.newest(in: segments, query.filter, limit: query.limit, through: end) }
            return LogPage.following(after, in: segments, query.filter, limit: LogQuery.limitMax)
        }
    }

    static func writeFields(to fields: ResponseHead) {
        fields.field("Content-Type", "application/x-ndjson; charset=utf-8")
        fields.field("Cache-Control", "no-store")
    }
}
