public import HearthBytes
import Glibc

/// Writes a JSON text of any size to a location in the database, in requests of bounded size, several at a time.
///
/// Each request writes locations that no other request writes, so their order does not matter and a request may be repeated. Temporary
/// failures are retried; a later attempt can skip what was written.
public struct ImportRun {
    /// A connection with its current batch.
    private struct Lane {
        let client: HostClient
        var batch: ImportBatch?
        /// Whether the batch was sent and its answer is awaited.
        var isSent = false
    }

    private let client: HostClient
    private let target: DatabaseTarget
    private let options: ImportOptions
    private let report: (ImportProgress) -> Void
    private var lanes: [Lane]
    private var next = 0
    private var progress = ImportProgress()

    /// - Parameter report: called after each answer.
    public init(
        _ client: HostClient, into target: DatabaseTarget, options: ImportOptions = ImportOptions(),
        report: @escaping (ImportProgress) -> Void = { _ in }
    ) {
        self.client = client
        self.target = target
        self.options = options
        self.report = report
        lanes = (0..<max(1, options.requestsMax)).map { _ in Lane(client: client.another()) }
    }

    /// Reads the text with `read`, which appends some of it or nothing at its end, and writes all of it.
    ///
    /// - Throws: `ImportFailure`.
    /// - Returns: the progress at the end.
    public mutating func run(
        limits: JSONSplitLimits = JSONSplitLimits(), _ read: (inout ByteBuffer) throws(ClientFailure) -> Void
    ) throws(ImportFailure) -> ImportProgress {
        do throws(ClientFailure) {
            var splitter = JSONSplitter(limits: limits)
            var batch = ImportBatch(from: 0)
            var buffer = ByteBuffer()
            var isAtEnd = false
            while !isAtEnd {
                buffer.clear()
                try read(&buffer)
                isAtEnd = buffer.isEmpty
                if isAtEnd { splitter.finish() } else { splitter.append(buffer.bytes) }
                while let piece = try Self.next(&splitter) { try take(piece, &batch) }
            }
            if !batch.isEmpty { try send(batch) }
            try settleAll()
            try setPriorities(splitter.priorities)
            progress.bytes = splitter.bytesRead
            return progress
        } catch {
            throw ImportFailure(reason: error, writtenBytes: writtenBytes, source: refused)
        }
    }

    private static func next(_ splitter: inout JSONSplitter) throws(ClientFailure) -> JSONPiece? {
        do throws(JSONSplitError) {
            return try splitter.next()
        } catch {
            throw ClientFailure(.invalidInput, "\(error)")
        }
    }

    private mutating func take(_ piece: JSONPiece, _ batch: inout ImportBatch) throws(ClientFailure) {
        guard piece.end > options.resumesAt else {
            progress.bytes = piece.end
            batch = ImportBatch(from: piece.end)
            return
        }
        if piece.path.isEmpty { return try put(piece.value, target) }
        batch.append(piece)
        guard batch.body.count >= options.batchBytes else { return }
        try send(batch)
        batch = ImportBatch(from: piece.end)
    }

    // MARK: Lanes

    /// Sends a batch on the lane that has waited longest for its answer.
    private mutating func send(_ batch: ImportBatch) throws(ClientFailure) {
        try settle(next)
        lanes[next].batch = batch
        do throws(ClientFailure) {
            try lanes[next].client.start(request(batch))
            lanes[next].isSent = true
        } catch {
            guard error.isPassing else { throw error }
            // `settle` sends it again.
            lanes[next].isSent = false
        }
        next = (next + 1) % lanes.count
    }

    private mutating func settleAll() throws(ClientFailure) {
        for _ in lanes.indices {
            try settle(next)
            next = (next + 1) % lanes.count
        }
    }

    /// Waits until the batch of this lane is written.
    private mutating func settle(_ index: Int) throws(ClientFailure) {
        guard let batch = lanes[index].batch else { return }
        let client = lanes[index].client
        let request = request(batch)
        var isSent = lanes[index].isSent
        try retrying { () throws(ClientFailure) in
            let answer = isSent ? try Self.finish(client, &isSent) : try client.send(request)
            guard answer.status < 400 else { throw client.refusal(answer) }
        }
        lanes[index].batch = nil
        progress.values += batch.count
        progress.requests += 1
        progress.bytes = writtenBytes(after: batch)
        report(progress)
    }

    private static func finish(_ client: HostClient, _ isSent: inout Bool) throws(ClientFailure) -> HostAnswer {
        isSent = false
        return try client.finish()
    }

    private func request(_ batch: ImportBatch) -> HostRequest {
        HostRequest("PATCH", target.target(query), headers: [("Content-Type", "application/json")], body: .bytes(batch.closed))
    }

    private var query: [(name: String, value: String)] {
        [("print", "silent"), ("writeSizeLimit", "unlimited")] + (options.raisesTriggers ? [] : [("disableTriggers", "true")])
    }

    private func retrying(_ attempt: () throws(ClientFailure) -> Void) throws(ClientFailure) {
        var retries = 0
        while true {
            do throws(ClientFailure) {
                return try attempt()
            } catch {
                guard error.isPassing, retries < options.retriesMax else { throw error }
                usleep(useconds_t(min(5_000_000, 100_000 << retries)))
                retries += 1
            }
        }
    }

    /// The offset up to which everything is written: lanes are used in turn, so the next one has the oldest batch.
    private func writtenBytes(after batch: ImportBatch) -> Int {
        lanes.compactMap(\.batch).map(\.source.lowerBound).min() ?? batch.source.upperBound
    }

    private var writtenBytes: Int { lanes.compactMap(\.batch).map(\.source.lowerBound).min() ?? progress.bytes }

    private var refused: Range<Int>? { lanes[next].batch?.source }

    // MARK: Single values

    private func put(_ value: [UInt8], _ place: DatabaseTarget) throws(ClientFailure) {
        try retrying { () throws(ClientFailure) in
            let headers = [(name: "Content-Type", value: "application/json")]
            _ = try client.ask(HostRequest("PUT", place.target(query), headers: headers, body: .bytes(value)))
        }
    }

    /// Sets priorities, which require their nodes to have children already.
    private mutating func setPriorities(_ priorities: [JSONPiece]) throws(ClientFailure) {
        for piece in priorities {
            try put(piece.value, target.appending(piece.keys + [".priority"]))
            progress.values += 1
            progress.requests += 1
            report(progress)
        }
    }
}
