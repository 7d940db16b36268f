import DequeModule
import EventLoop
import HearthJSON
import SQLite
import Store

/// A message to many devices that has not been distributed completely.
struct FanOut {
    let stored: StoredMessage
    /// The last device that was handled.
    var cursor: Int64
}

extension MessagingWriter {
    /// The time limit for a step of a fan-out.
    private static let sliceNanoseconds: UInt64 = 3_000_000
    private static let candidatesMax = 64

    /// Accepts a message to many devices. It is distributed in steps. If the host ends before, the next host continues.
    func beginFanOut(_ stored: StoredMessage, _ store: MessagingStore) throws(SQLiteError) {
        try store.add(stored, body: JSONValue.object(stored.message.fields).serialized(), remaining: 0)
        try store.setFanOut(stored.id, cursor: 0)
        fanOuts.append(FanOut(stored: stored, cursor: 0))
        scheduleFanOut()
    }

    /// Continues the unfinished fan-outs in the store.
    func resumeFanOuts(_ store: MessagingStore) throws(SQLiteError) {
        fanOuts = []
        for (id, cursor) in try store.fanOuts() {
            if let stored = try store.message(id) {
                fanOuts.append(FanOut(stored: stored, cursor: cursor))
            } else {
                try store.removeFanOut(id)
            }
        }
        scheduleFanOut()
    }

    /// Schedules the next step. There is one step in a turn of the loop, so that other requests are handled in between.
    private func scheduleFanOut() {
        guard !fanOuts.isEmpty, !isFanningOut else { return }
        isFanningOut = true
        // The delay is not 0, because the timer would fire repeatedly within a turn. If the disk is full, the next attempt is made later.
        fanOutTimer.start(afterMilliseconds: hasTrouble ? 1000 : 1)
    }

    func fanOutStep() {
        isFanningOut = false
        guard !fanOuts.isEmpty else { return }
        inTurn({ _ in }) { store throws(SQLiteError) in
            guard !fanOuts.isEmpty else { return }
            // Fan-outs take turns, so that a large topic does not delay a small one.
            let job = fanOuts.removeFirst()
            if let rest = try slice(job, store) { fanOuts.append(rest) }
        }
        scheduleFanOut()
    }

    /// Handles devices for a limited time. Returns the rest of the fan-out; nil if it is complete.
    private func slice(_ job: FanOut, _ store: MessagingStore) throws(SQLiteError) -> FanOut? {
        let deadline = EventLoop.monotonicNanoseconds() + Self.sliceNanoseconds
        let now = clock.now
        var job = job
        var added = 0
        var isDone = false
        while !isDone, EventLoop.monotonicNanoseconds() < deadline {
            let (receivers, next) = try candidates(job, store)
            for id in receivers {
                guard let device = try store.device(id: id), device.project == job.stored.project else { continue }
                guard Self.fits(job.stored.message, device) else { continue }
                added += try place(job.stored, device, store, now: now)
            }
            if let next { job.cursor = next } else { isDone = true }
        }
        fresh[job.stored.id] = job.stored
        try store.addRemaining(job.stored.id, added)
        if isDone { try store.removeFanOut(job.stored.id) } else { try store.setFanOut(job.stored.id, cursor: job.cursor) }
        return isDone ? nil : job
    }

    /// The next receivers, and the cursor for continuing after them; nil if there are no more.
    private func candidates(_ job: FanOut, _ store: MessagingStore) throws(SQLiteError) -> (receivers: [Int64], next: Int64?) {
        switch job.stored.message.target {
        case .topic(let topic):
            guard let id = try store.topicID(topic.text, project: job.stored.project) else { return ([], nil) }
            let found = try store.subscribers(id, after: job.cursor, limit: Self.candidatesMax)
            return (found, found.count < Self.candidatesMax ? nil : found.last)
        case .condition(let condition): return try candidates(condition, job, store)
        case .fid, .token: return ([], nil)
        }
    }

    /// Merges the device lists of all topics. Handles devices only up to the end of the shortest list, since longer lists are incomplete there.
    private func candidates(
        _ condition: TopicCondition, _ job: FanOut, _ store: MessagingStore
    ) throws(SQLiteError) -> (receivers: [Int64], next: Int64?) {
        var masks: [Int64: UInt32] = [:]
        var reach: Int64?
        func add(_ list: [Int64], bit: UInt32) {
            for id in list { masks[id, default: 0] |= bit }
            guard list.count >= Self.candidatesMax, let last = list.last else { return }
            reach = min(reach ?? last, last)
        }
        for (index, topic) in condition.topics.enumerated() {
            guard let id = try store.topicID(topic, project: job.stored.project) else { continue }
            add(try store.subscribers(id, after: job.cursor, limit: Self.candidatesMax), bit: 1 << UInt32(index))
        }
        if condition.holdsForNone { add(try store.subscribers(after: job.cursor, limit: Self.candidatesMax), bit: 0) }
        let bound = reach ?? .max
        let receivers = masks.filter { $0.key <= bound && condition.holds(for: $0.value) }.keys.sorted()
        return (receivers, reach)
    }
}
