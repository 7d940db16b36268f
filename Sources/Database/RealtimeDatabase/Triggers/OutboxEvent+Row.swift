import HearthBytes
import HTTP
import Tree

/// The row of an event: first the fields that its delivery changes, finally the payload. The key of the row determines namespace, function and
/// sequence.
extension OutboxEvent {
    /// Version 1 had no trace.
    private static let rowVersion: UInt64 = 2

    func row() -> [UInt8] {
        var writer = RowWriter()
        write(to: &writer)
        return writer.buffer.array()
    }

    func write(to writer: inout RowWriter) {
        writer.append(Self.rowVersion)
        writer.append(progress.attempts)
        writer.append(progress.interruptions)
        writer.append(time: progress.since)
        writer.append(time: progress.notBefore)
        writer.append(progress.lastError)
        writer.append(id)
        writer.append(UInt64(kind.rawValue))
        writer.append(path.count)
        for segment in path.segments { writer.append(segment) }
        writer.append(params.count)
        for parameter in params {
            writer.append(parameter.name)
            writer.append(parameter.value)
        }
        writer.append(time: time)
        writer.append(UInt64(origin.kind.rawValue))
        writer.append(origin.id)
        writer.append(chain.depth)
        writer.append(chain.links.count)
        for link in chain.links {
            writer.append(link.event)
            writer.append(link.function)
            writer.append(link.path)
        }
        writer.append(trace)
        writer.append(payload)
    }

    init(row: Span<UInt8>, key: EventKey, namespace: String) throws(RowError) {
        var reader = RowReader(row)
        try self.init(&reader, key: key, namespace: namespace)
        guard reader.isAtEnd else { throw RowError() }
    }

    init(_ reader: inout RowReader, key: EventKey, namespace: String) throws(RowError) {
        let version = try reader.number()
        guard (1...Self.rowVersion).contains(version) else { throw RowError() }
        sequence = key.sequence
        function = key.function
        self.namespace = namespace
        progress = try DeliveryProgress(&reader)
        id = try reader.text()
        kind = try reader.choice(TriggerKind.self)
        var segments: [String] = []
        for _ in 0..<(try reader.count()) {
            let segment = try reader.text()
            guard Path.isValid(key: segment) else { throw RowError() }
            segments.append(segment)
        }
        path = Path(segments)
        params = []
        for _ in 0..<(try reader.count()) { params.append(EventParameter(name: try reader.text(), value: try reader.text())) }
        time = try reader.time()
        origin = EventOrigin(try reader.choice(EventOrigin.Kind.self), id: try reader.optionalText())
        let depth = try reader.smallNumber()
        var links: [EventChain.Link] = []
        for _ in 0..<(try reader.count()) {
            links.append(EventChain.Link(event: try reader.text(), function: try reader.text(), path: try reader.text()))
        }
        chain = EventChain(depth: depth, links: links)
        trace = version == 1 ? nil : try reader.trace()
        payload = try reader.array()
    }
}

extension RowWriter {
    /// Appends 0 without a trace. Otherwise appends 1, or 3 if it is sampled, the ids of trace and span, and the tracestate.
    fileprivate mutating func append(_ trace: TraceContext?) {
        guard let trace else { return append(0) }
        append(trace.isSampled ? 3 : 1)
        for number in [trace.id.high, trace.id.low, trace.span] { append(number) }
        append(trace.state ?? [])
    }
}

extension RowReader {
    fileprivate mutating func trace() throws(RowError) -> TraceContext? {
        let flags = try number()
        guard flags != 0 else { return nil }
        guard flags == 1 || flags == 3, let id = TraceID(high: try number(), low: try number()) else { throw RowError() }
        let span = try number()
        let state = try array()
        guard span != 0 else { throw RowError() }
        return TraceContext(id: id, span: span, isSampled: flags == 3, state: state.isEmpty ? nil : state)
    }
}

extension DeliveryProgress {
    init(_ reader: inout RowReader) throws(RowError) {
        self.init(since: 0)
        attempts = try reader.smallNumber()
        interruptions = try reader.smallNumber()
        since = try reader.time()
        notBefore = try reader.time()
        lastError = try reader.optionalText()
    }
}

/// The row of a dead letter: reason, time, function, and the event as in the outbox.
extension DeadLetter {
    func row() -> [UInt8] {
        var writer = RowWriter()
        writer.append(UInt64(reason.rawValue))
        writer.append(time: time)
        writer.append(event.function)
        event.write(to: &writer)
        return writer.buffer.array()
    }

    init(row: Span<UInt8>, sequence: UInt64, namespace: String) throws(RowError) {
        var reader = RowReader(row)
        reason = try reader.choice(Reason.self)
        time = try reader.time()
        let key = EventKey(function: try reader.text(), sequence: sequence)
        event = try OutboxEvent(&reader, key: key, namespace: namespace)
        guard reader.isAtEnd else { throw RowError() }
    }
}
