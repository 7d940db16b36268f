import Synchronization

/// Collects spans of all threads until they are exported. Each loop adds to a part of its own, so that no loop waits for another one.
public final class SpanCollector: Sendable {
    private let parts: [Part]

    private final class Part: Sendable {
        let content = Mutex(Content())
    }

    private struct Content {
        var spans: [TraceSpan] = []
        var dropped = 0
    }

    /// The most spans of a part. Further ones are dropped until the next export.
    public static let partMax = 4096

    /// - Parameter count: the number of loops.
    public init(parts count: Int) { parts = (0..<max(1, count)).map { _ in Part() } }

    /// Adds a span, unless too many wait.
    ///
    /// - Parameter part: the number of the loop.
    public func add(_ span: TraceSpan, part: Int) {
        parts[part % parts.count].content.withLock { content in
            if content.spans.count < Self.partMax { content.spans.append(span) } else { content.dropped += 1 }
        }
    }

    /// Removes and returns all spans, and the number of those that were dropped since the last call.
    func take() -> (spans: [TraceSpan], dropped: Int) {
        var (spans, dropped): ([TraceSpan], Int) = ([], 0)
        for part in parts {
            let taken = part.content.withLock { content in
                defer { content = Content() }
                return content
            }
            if spans.isEmpty { spans = taken.spans } else { spans += taken.spans }
            dropped += taken.dropped
        }
        return (spans, dropped)
    }
}
