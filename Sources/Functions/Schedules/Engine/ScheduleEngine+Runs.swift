import Configuration
import EventDelivery
import EventLoop
import HearthBytes
import Logging
import RealtimeDatabase
import Store

/// Plans runs and begins them.
extension ScheduleEngine {
    /// A due time of the last minute is late, not missed: it runs in any case.
    private static var lateSeconds: Int64 { 60 }
    /// The most runs that are caught up with `schedules.missed` `all`.
    private static var caughtUpMax: Int { 1000 }
    /// Due times are counted up to this number.
    private static var countedMax: Int { 100 }
    /// The most lines about missed due times; one more tells the number of the others.
    private static var linesMax: Int { 20 }

    // MARK: Planning

    /// Plans the next run of each of these schedules, some in each turn.
    func plan(_ entries: [ScheduleEntry]) {
        unplanned += entries
        planSome()
    }

    private func planSome() {
        guard !isPlanning else { return }
        var skipped: [DueRun] = []
        for entry in unplanned.suffix(Self.turnMax) { if let due = plan(entry) { skipped.append(due) } }
        unplanned.removeLast(min(Self.turnMax, unplanned.count))
        if !skipped.isEmpty { note(skipped) }
        arm()
        guard !unplanned.isEmpty else { return tellOthers() }
        isPlanning = true
        let reference = LoopBound(self, loop: loop)
        loop.post {
            reference.value.isPlanning = false
            reference.value.planSome()
        }
    }

    /// Gives a schedule its place in the heap.
    ///
    /// - Returns: a due time to be noted as skipped.
    private func plan(_ entry: ScheduleEntry) -> DueRun? {
        entry.next = nil
        guard entry.isActive, entry.open == nil, let declaration = entry.function?.declaration else { return nil }
        let now = clock() / 1000
        guard let first = declaration.schedule.next(after: entry.base, in: declaration.zone) else { return nil }
        if first > now { return expect(entry, first) }
        let (newest, hasMore) = declaration.newest(1, after: entry.base, through: now)
        let last = newest.last ?? first
        let isLate = last > now - Self.lateSeconds
        entry.decided = last
        if isLate, !hasMore { return expect(entry, last) }
        tellMissed(entry, declaration, first: first, last: last, now: now, isLate: isLate)
        switch settings.missed {
        case .once: return expect(entry, last)
        case .all:
            let (times, _) = declaration.newest(Self.caughtUpMax, after: entry.base, through: now)
            entry.decided = times.first ?? last
            return expect(entry, times.first ?? last)
        case .skip:
            if isLate { return expect(entry, last) }
            let skipped = declaration.schedule.isInterval ? now : last
            entry.row.due = skipped
            if let next = declaration.schedule.next(after: entry.base, in: declaration.zone) { _ = expect(entry, next) }
            return DueRun(name: entry.name, due: skipped)
        }
    }

    private func expect(_ entry: ScheduleEntry, _ due: Int64) -> DueRun? {
        entry.next = due
        heap.add(entry, at: due)
        return nil
    }

    /// Stores that due times were skipped. If that fails, they are skipped again after the next start.
    private func note(_ skipped: [DueRun]) {
        storage.perform(on: loop) { store throws(StoreError) in
            for due in skipped { try store.skip(due) }
        } completion: { _ in
        }
    }

    // MARK: Missed due times

    private func tellMissed(_ entry: ScheduleEntry, _ declaration: ScheduleDeclaration, first: Int64, last: Int64, now: Int64, isLate: Bool) {
        guard last > entry.toldThrough else { return }
        let (times, hasMore) = declaration.newest(Self.countedMax, after: max(entry.base, entry.toldThrough), through: now)
        entry.toldThrough = last
        let ownRuns = settings.missed == .all || (settings.missed == .skip && !isLate) ? 0 : 1
        if settings.missed != .all { counts.missed += times.count - ownRuns }
        toldCount += 1
        guard toldCount <= Self.linesMax else { return }
        let does =
            switch settings.missed {
            case .once: "the function runs once for them"
            case .all: "the function runs for each of them"
            case .skip: isLate ? "the function runs for the last one only" : "the function does not run for them"
            }
        log.warning(
            "due times have passed while the host was down or the function still ran; \(does)",
            metadata: [
                "function": "\(entry.name)", "count": "\(times.count)\(hasMore ? " or more" : "")",
                "first": "\(declaration.zone.text(ofMoment: first))", "last": "\(declaration.zone.text(ofMoment: last))",
                "setting": "schedules.missed \(settings.missed.rawValue)",
            ])
    }

    private func tellOthers() {
        if toldCount > Self.linesMax {
            log.warning(
                "due times of more functions have passed while the host was down or the functions still ran",
                metadata: ["functions": "\(toldCount - Self.linesMax)", "setting": "schedules.missed \(settings.missed.rawValue)"])
        }
        toldCount = 0
    }

    // MARK: Beginning

    /// Begins the runs that are due.
    func wake() {
        guard !isStopped else { return }
        let now = clock()
        var (due, late): ([DueRun], [ScheduleEntry]) = ([], [])
        while due.count < Self.turnMax, let first = heap.first, first * 1000 <= now, let (time, entry) = heap.removeFirst() {
            // Its place may be an old one.
            guard entry.next == time, entry.isActive, entry.open == nil else { continue }
            entry.next = nil
            // The clock has jumped, or the machine has slept: then this is not the only due time that has passed.
            if time < now / 1000 - Self.lateSeconds, entry.decided != time {
                late.append(entry)
                continue
            }
            entry.open = time
            due.append(DueRun(name: entry.name, due: time))
        }
        if heap.count > 2 * entries.count + 64 { heap.keep { time, entry in entry.next == time } }
        if !due.isEmpty { begin(due) }
        if late.isEmpty { arm() } else { plan(late) }
    }

    private func begin(_ runs: [DueRun]) {
        let reference = LoopBound(self, loop: loop)
        let now = clock()
        storage.perform(on: loop, { store throws(StoreError) in try store.begin(runs, now: now) }) { result in
            reference.value.didBegin(runs, result)
        }
    }

    private func didBegin(_ runs: [DueRun], _ result: Result<Set<DueRun>, StoreError>) {
        var again: [ScheduleEntry] = []
        for run in runs {
            guard let entry = entries[run.name] else { continue }
            switch result {
            case .success(let begun):
                entry.row.due = max(entry.row.due ?? run.due, run.due)
                if begun.contains(run) {
                    counts.begun += 1
                    continue
                }
                // It was begun or skipped before, and the stored state is newer than the one in memory.
                entry.open = nil
                again.append(entry)
            case .failure:
                entry.open = nil
                entry.next = run.due
                heap.add(entry, at: run.due)
            }
        }
        if case .failure = result { return wakeLater() }
        if !again.isEmpty { plan(again) }
    }

    // MARK: Ending

    /// Notes the end of a run, which is durable, and plans the next one.
    func didSettle(_ event: OutboxEvent, error: String?) {
        guard let entry = entries[event.function] else { return }
        let now = clock()
        entry.row.ended = now
        entry.row.error = error
        store(RunEnd(name: entry.name, time: now, error: error))
        guard let due = entry.open, event.id == DueRun(name: entry.name, due: due).eventID else { return }
        // The run may end before it is known here that it has begun.
        entry.row.due = max(entry.row.due ?? due, due)
        entry.open = nil
        plan([entry])
    }

    /// Stores the end of a run. If that fails, it is missing in lists after the next start.
    private func store(_ end: RunEnd) {
        storage.perform(on: loop, { store throws(StoreError) in try store.end(end) }) { _ in }
    }
}
