import AdminProtocol
import EventLoop
import HearthBytes
import HearthJSON
import HTTP
import Logs

/// `logs`: lines of the log, those that are kept and, for whoever follows, those that come. Belongs to one loop.
final class LogAdministration {
    private let store: LogStore
    private let loop: EventLoop
    private var streams: [ObjectIdentifier: LogStream] = [:]
    private var isStopped = false

    init(store: LogStore, loop: EventLoop) {
        self.store = store
        self.loop = loop
    }

    func handle(_ call: AdminCall) throws(AdminError) {
        try call.allow(.get)
        guard call.segments.count == 1, call.verb == nil else { throw .noSuchResource }
        let query: LogQuery
        do throws(LogQueryError) {
            query = try LogQuery(call.parameters, now: WallClock.now().unixMicroseconds)
        } catch {
            throw AdminError(.invalidArgument, error.description)
        }
        if query.follows { return try follow(query, call.exchange) }
        let reference = LoopBound(call.exchange, loop: loop)
        Self.read(query, after: query.after, store, on: loop) { page in
            reference.value.respond(.ok, body: page.lines.span) { Self.writeFields(to: $0) }
        }
    }

    /// Ends every stream: their readers connect again.
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

    /// Reads a page beside the loop: what comes behind the line `after`, or the newest lines through the line `end`.
    static func read(
        _ query: LogQuery, after: Int64?, through end: Int64 = .max, _ store: LogStore, on loop: EventLoop,
        completion: @escaping (LogPage) -> Void
    ) {
        loop.offload {
            let segments = store.segments()
            guard let after else { return LogPage.newest(in: segments, query.filter, limit: query.limit, through: end) }
            return LogPage.following(after, in: segments, query.filter, limit: LogQuery.limitMax)
        } then: {
            completion($0)
        }
    }

    static func writeFields(to fields: ResponseHead) {
        fields.field("Content-Type", "application/x-ndjson; charset=utf-8")
        fields.field("Cache-Control", "no-store")
    }
}
