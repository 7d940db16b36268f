import DequeModule
import EventLoop
import FunctionDispatch
import RealtimeDatabase
import Tree

/// The events of one namespace for one function, between outbox and workers. Belongs to the home loop.
///
/// Reads ahead, as far as its window in memory allows. Events behind a waiting one of their path leave the window, except for their sequence
/// numbers, so that a path whose events fail does not delay others.
final class FunctionQueue {
    let function: String
    unowned let owner: NamespaceDelivery
    private var lanes: [Path: EventLane] = [:]
    /// Lanes whose next event is in memory and can be started.
    var ready = Deque<EventLane>()
    /// Lanes whose next event must be read first.
    private var unloaded = Deque<EventLane>()
    private var waiting: [EventLane] = []
    private var nextWake = UInt64.max
    var running = 0
    var restingUntil: UInt64 = 0

    /// Events in memory, including those that are being read.
    private(set) var loadedCount = 0
    private(set) var loadedBytes = 0
    private(set) var heldCount = 0

    /// The sequence number up to which all events have been read.
    private var readThrough: UInt64
    /// The sequence number of the newest known event in the outbox.
    private var newest: UInt64
    private var isReading = false
    private lazy var timer = Timer(loop: owner.loop) { [unowned self] in wake() }

    /// - Parameter readThrough: a sequence number up to which the function has no events.
    init(function: String, readThrough: UInt64, owner: NamespaceDelivery) {
        self.function = function
        self.readThrough = readThrough
        newest = readThrough
        self.owner = owner
    }

    private var hasRoom: Bool {
        let settings = owner.settings
        return loadedCount < settings.loadedCountMax && loadedBytes < settings.loadedBytesMax
    }

    // MARK: New events

    /// Adds new events up to `newest`; `events` has the first ones.
    func announce(_ events: [OutboxEvent], newest: UInt64) {
        if !isReading, self.newest <= readThrough {
            for event in events where event.sequence > readThrough {
                guard hasRoom else { break }
                accept(event)
            }
        }
        self.newest = max(self.newest, newest)
        run()
    }

    private func accept(_ event: OutboxEvent) {
        readThrough = event.sequence
        if let lane = lanes[event.path] {
            if lane.holdsBack(beyond: owner.settings.loadedOfPathMax) {
                lane.held.append(event.sequence)
                heldCount += 1
            } else {
                lane.loaded.append(event)
                didLoad(event)
            }
            return
        }
        let lane = EventLane(path: event.path)
        lanes[event.path] = lane
        lane.loaded.append(event)
        didLoad(event)
        ready.append(lane)
    }

    private func didLoad(_ event: OutboxEvent) {
        loadedCount += 1
        loadedBytes += event.sizeInMemory
    }

    private func didUnload(_ event: OutboxEvent) {
        loadedCount -= 1
        loadedBytes -= event.sizeInMemory
    }

    // MARK: Progress

    /// Starts attempts and reads events, as far as possible.
    func run() {
        owner.startReady(self)
        fetchUnloaded()
        readAhead()
        if lanes.isEmpty, !isReading, newest <= readThrough { owner.queueDidEmpty(self) }
    }

    private func readAhead() {
        let settings = owner.settings
        // Reads when a quarter of the window is free, instead of single events.
        let isWorthIt = loadedCount * 4 <= settings.loadedCountMax * 3 && loadedBytes * 4 <= settings.loadedBytesMax * 3
        guard newest > readThrough, !isReading, isWorthIt, heldCount < settings.heldCountMax else { return }
        isReading = true
        let wanted = newest
        let (count, bytes) = (settings.loadedCountMax - loadedCount, settings.loadedBytesMax - loadedBytes)
        owner.readPage(of: function, after: readThrough, count: count, bytes: bytes) { [self] page in
            isReading = false
            for event in page.events where event.sequence > readThrough { accept(event) }
            readThrough = max(readThrough, page.through)
            // Announced events that are not in the outbox were rolled back.
            if !page.hasMore { readThrough = max(readThrough, wanted) }
            run()
        }
    }

    private func fetchUnloaded() {
        while hasRoom, let lane = unloaded.popFirst() {
            let sequences = Array(lane.held.prefix(owner.settings.loadedOfPathMax))
            lane.state = .fetching
            loadedCount += sequences.count
            owner.readEvents(of: function, sequences) { [self] fetched in
                loadedCount -= sequences.count
                for _ in 0..<fetched.readCount where lane.held.popFirst() != nil { heldCount -= 1 }
                for event in fetched.events {
                    lane.loaded.append(event)
                    didLoad(event)
                }
                goOn(lane)
                run()
            }
        }
    }

    /// Continues a lane: queues it for starting or reading, or removes it if it is empty.
    func goOn(_ lane: EventLane) {
        lane.state = .ready
        if !lane.loaded.isEmpty {
            ready.append(lane)
        } else if !lane.held.isEmpty {
            unloaded.append(lane)
        } else {
            lanes[lane.path] = nil
        }
    }

    /// Removes a lane's next event, which is settled.
    func removeNext(_ lane: EventLane) {
        if let event = lane.loaded.popFirst() { didUnload(event) }
        goOn(lane)
    }

    /// Forgets the events of a lane, or of all, up to a sequence, which are no longer in the outbox. An attempt that runs may end.
    func withdraw(at path: Path?, through sequence: UInt64) {
        if let path {
            if let lane = lanes[path] { withdraw(lane, through: sequence) }
        } else {
            for lane in lanes.values { withdraw(lane, through: sequence) }
        }
    }

    private func withdraw(_ lane: EventLane, through sequence: UInt64) {
        // The read of a lane that is being fetched finds nothing.
        guard lane.state != .fetching else { return }
        let running = lane.state == .running ? lane.loaded.popFirst() : nil
        for event in lane.loaded where event.sequence <= sequence { didUnload(event) }
        lane.loaded.removeAll { $0.sequence <= sequence }
        if let running { lane.loaded.prepend(running) }
        let heldBefore = lane.held.count
        lane.held.removeAll { $0 <= sequence }
        heldCount -= heldBefore - lane.held.count
    }

    // MARK: Waiting

    /// Delays a lane's next event. Its events leave the window until then.
    func wait(_ lane: EventLane, milliseconds: UInt64) {
        let until = owner.loop.nowMilliseconds + max(1, milliseconds)
        for event in lane.unload() {
            didUnload(event)
            heldCount += 1
        }
        lane.state = .waiting(untilMilliseconds: until)
        waiting.append(lane)
        wake(at: until)
    }

    /// Pauses the queue, because the function's pool takes no invocations.
    func rest(milliseconds: UInt64) {
        restingUntil = owner.loop.nowMilliseconds + max(1, milliseconds)
        wake(at: restingUntil)
    }

    private func wake(at milliseconds: UInt64) {
        guard milliseconds < nextWake else { return }
        nextWake = milliseconds
        let now = owner.loop.nowMilliseconds
        timer.start(afterMilliseconds: milliseconds > now ? milliseconds - now : 0)
    }

    private func wake() {
        let now = owner.loop.nowMilliseconds
        nextWake = .max
        var next = restingUntil > now ? restingUntil : UInt64.max
        waiting.removeAll { lane in
            guard case .waiting(let until) = lane.state, until > now else {
                goOn(lane)
                return true
            }
            next = min(next, until)
            return false
        }
        if next < .max { wake(at: next) }
        run()
    }

    /// Stops the timer. Nothing more is started.
    func stop() { timer.close() }
}

extension OutboxEvent {
    /// The approximate memory for an event.
    var sizeInMemory: Int { payload.count + 256 }
}
