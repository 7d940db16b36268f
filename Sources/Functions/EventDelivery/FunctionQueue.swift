import EventLoop
import FunctionDispatch
import RealtimeDatabase
import Tree

/// The events of one namespace for one function, on their way from the outbox to the workers. Belongs to the home loop.
///
/// Reads ahead as far as its window goes. What cannot be delivered yet, since an earlier event of its path waits, leaves the
/// window and is known by its number only, so that one bad path does not hold up the others.
final class FunctionQueue {
    let function: String
    unowned let owner: NamespaceDelivery
    private var lanes: [Path: EventLane] = [:]
    /// Lanes whose next event is loaded and can be started.
    var ready = FIFO<EventLane>()
    /// Lanes whose next event must be read first.
    private var unloaded = FIFO<EventLane>()
    private var waiting: [EventLane] = []
    private var nextWake = UInt64.max
    var running = 0
    var restingUntil: UInt64 = 0

    /// Events in memory, those included that are being read.
    private(set) var loadedCount = 0
    private(set) var loadedBytes = 0
    private(set) var heldCount = 0

    /// Everything up to here has been read.
    private var readThrough: UInt64
    /// The newest event that is known to be in the outbox.
    private var newest: UInt64
    private var isReading = false
    private lazy var timer = Timer(loop: owner.loop) { [unowned self] in wake() }

    /// - Parameter readThrough: the function has no events up to this one.
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

    // MARK: What comes in

    /// There are new events up to `newest`; `events` are the first of them.
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

    // MARK: Going on

    /// Starts, reads and waits for what there is.
    func run() {
        owner.startReady(self)
        fetchUnloaded()
        readAhead()
        if lanes.isEmpty, !isReading, newest <= readThrough { owner.queueDidEmpty(self) }
    }

    private func readAhead() {
        let settings = owner.settings
        // A quarter of the window at a time, not each event when there is room for it.
        let isWorthIt = loadedCount * 4 <= settings.loadedCountMax * 3 && loadedBytes * 4 <= settings.loadedBytesMax * 3
        guard newest > readThrough, !isReading, isWorthIt, heldCount < settings.heldCountMax else { return }
        isReading = true
        let wanted = newest
        let (count, bytes) = (settings.loadedCountMax - loadedCount, settings.loadedBytesMax - loadedBytes)
        owner.readPage(of: function, after: readThrough, count: count, bytes: bytes) { [self] page in
            isReading = false
            for event in page.events where event.sequence > readThrough { accept(event) }
            readThrough = max(readThrough, page.through)
            // What was announced and is not there was taken back.
            if !page.hasMore { readThrough = max(readThrough, wanted) }
            run()
        }
    }

    private func fetchUnloaded() {
        while hasRoom, let lane = unloaded.popFirst() {
            let sequences = lane.held.prefix(owner.settings.loadedOfPathMax)
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

    /// The lane can do its next step.
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

    /// The lane's next event is done with.
    func removeNext(_ lane: EventLane) {
        if let event = lane.loaded.popFirst() { didUnload(event) }
        goOn(lane)
    }

    // MARK: Waiting

    /// The lane's next event is tried again in a while. Its window is for others until then.
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

    /// Nothing is started for a while: the function's pool takes nothing.
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

    /// Nothing more happens.
    func stop() { timer.close() }
}

extension OutboxEvent {
    /// About what it takes.
    var sizeInMemory: Int { payload.count + 256 }
}
