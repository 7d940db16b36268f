import CLibuv

/// Limits how much of a turn is spent on streams that give way to others (``Stream/yielding``).
///
/// When thousands of clients reconnect at once, each needs little, but together they hold up everything else on the loop. So once reads of such
/// streams have taken some milliseconds of a turn, the others wait in a queue, without being watched, and some of them continue in each following
/// turn, in order. All other streams are read in every turn.
struct YieldingReads {
    private var newcomers = Waiting()
    private var others = Waiting()
    /// The time of this turn's first read; 0 for none.
    private var began: UInt64 = 0
    /// The number of waiting streams that continue in the next turn.
    private var allowance = 32

    /// The time of a turn for such reads.
    private static let turnNanoseconds: UInt64 = 2_000_000
    private static let allowances = 4...256

    private struct Waiting {
        private var streams: [Stream] = []
        private var first = 0

        var isEmpty: Bool { first == streams.count }

        mutating func append(_ stream: Stream) { streams.append(stream) }

        /// Lets as many streams continue as still want to read.
        ///
        /// - Returns: the number of streams.
        mutating func go(on count: Int) -> Int {
            var gone = 0
            while gone < count, !isEmpty {
                let stream = streams[first]
                first += 1
                if stream.continueReading() { gone += 1 }
            }
            if first > 1024 || isEmpty {
                streams.removeFirst(first)
                first = 0
            }
            return gone
        }
    }

    private var isEmpty: Bool { newcomers.isEmpty && others.isEmpty }

    /// Whether the stream may be read now. Otherwise it waits for its turn.
    mutating func admits(_ stream: Stream) -> Bool {
        if stream.isNext {
            stream.isNext = false
            note()
            return true
        }
        if isEmpty, note() { return true }
        if stream.yielding == .asNewcomer { newcomers.append(stream) } else { others.append(stream) }
        return false
    }

    /// - Returns: whether there is time left in this turn.
    @discardableResult
    private mutating func note() -> Bool {
        let now = uv_hrtime()
        if began == 0 { began = now }
        return now - began < Self.turnNanoseconds
    }

    /// Lets streams continue that have waited longest: as many as a turn has time for, judged by the last one. Newcomers may ask for anything, so
    /// most of them come before the others.
    ///
    /// - Returns: whether streams are waiting, so that the loop may not sleep.
    mutating func endTurn() -> Bool {
        defer { began = 0 }
        guard !isEmpty else { return false }
        if began != 0 {
            let isLong = uv_hrtime() - began > Self.turnNanoseconds
            allowance = min(max(isLong ? allowance / 2 : allowance + 8, Self.allowances.lowerBound), Self.allowances.upperBound)
        }
        let gone = others.go(on: newcomers.isEmpty ? allowance : allowance / 4)
        let new = newcomers.go(on: allowance - gone)
        if gone + new < allowance { _ = others.go(on: allowance - gone - new) }
        return !isEmpty
    }
}
