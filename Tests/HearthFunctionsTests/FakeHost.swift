import CHearth
import Foundation
import Testing

@testable import HearthFunctions

/// A host in the test's own process: it calls functions through the table of `hearth.h` on the test's thread, runs what they
/// schedule there, and notes what they answer. What it lends during a call is overwritten right after it.
final class FakeHost: @unchecked Sendable {
    struct Answer: Equatable {
        var kind: UInt32
        var head: String
        var body: String
    }

    struct Line: Equatable {
        var invocation: UInt64
        var level: UInt32
        var message: String
        var fields: String
    }

    private struct Job {
        var due: ContinuousClock.Instant
        var run: () -> Void
    }

    private let lock = NSCondition()
    private var jobs: [Job] = []
    private let memory: UnsafeMutableRawPointer
    private let plugin: UnsafePointer<hearth_plugin>
    private var lastID: UInt64 = 0
    let manifest: JSONValue

    var answers: [UInt64: [Answer]] = [:]
    var chunks: [UInt64: [String]] = [:]
    var heads: [UInt64: String] = [:]
    var lines: [Line] = []
    var serviceCalls: [String] = []
    /// The result of `send_chunk` from the chunk of this number on; before it is CONTINUE.
    var flowAfter: (chunks: Int, flow: hearth_flow) = (.max, HEARTH_CONTINUE)
    /// The answer of services once `serviceAnswers` is empty.
    var serviceAnswer: (isOK: Bool, body: String) = (false, #"{"code":"unavailable","message":"no such service"}"#)
    /// The answers to the next service calls, in order.
    var serviceAnswers: [(isOK: Bool, body: String)] = []
    /// Whether service calls wait for `answerHeldCall`.
    var holdsServiceCalls = false
    private var heldCalls: [() -> Void] = []
    /// Runs within `respond`, as when an answer lets the host go on to the next request.
    var onRespond: ((UInt64) -> Void)?

    init?(_ functions: Functions, version: UInt32 = UInt32(HEARTH_ABI_MAJOR), size: Int = MemoryLayout<hearth_host>.size) {
        memory = .allocate(byteCount: MemoryLayout<hearth_host>.stride + MemoryLayout<UnsafeRawPointer>.size, alignment: 8)
        memory.bindMemory(to: hearth_host.self, capacity: 1).initialize(to: fakeTable(version, size))
        guard let table = functions.attach(to: UnsafeRawPointer(memory)) else { return nil }
        plugin = table.assumingMemoryBound(to: hearth_plugin.self)
        let text = UnsafeRawBufferPointer(start: plugin.pointee.manifest.data, count: plugin.pointee.manifest.size)
        manifest = (try? JSONValue(parsing: Array(text))) ?? .null
        (memory + MemoryLayout<hearth_host>.stride).storeBytes(of: Unmanaged.passUnretained(self).toOpaque(), as: UnsafeRawPointer.self)
    }

    /// Starts a call and returns its id.
    func start(_ name: String, _ payload: String = "null", context: String = "{}", deadline: UInt64 = 0) -> UInt64 {
        let names = manifest["endpoints"]?.object?.keys.map { $0 } ?? []
        lastID += 1
        let id = lastID
        guard let function = names.firstIndex(of: name) else {
            Issue.record("there is no function \(name)")
            return id
        }
        var lent = [Array(payload.utf8), Array(context.utf8), Array(name.utf8)]
        lent.withUnsafeMutableBufferPointer { lent in
            func bytes(_ index: Int) -> hearth_bytes {
                lent[index].withUnsafeBytes { hearth_bytes(data: $0.baseAddress, size: $0.count) }
            }
            var call = hearth_invocation(
                id: id, function: UInt32(function), context_format: 0, name: bytes(2), deadline_ns: deadline, context: bytes(1),
                payload: bytes(0))
            plugin.pointee.invoke(&call)
            for index in lent.indices { for byte in lent[index].indices { lent[index][byte] = 0xEE } }
        }
        return id
    }

    /// Makes a call and waits for its answer.
    func call(_ name: String, _ payload: String = "null", context: String = "{}") -> Answer? {
        let id = start(name, payload, context: context)
        return answer(of: id)
    }

    /// Runs what was scheduled until the call has been answered. Nil, and a failed test, after two minutes:
    /// tests beside this one may keep all of Swift's threads busy for long.
    func answer(of id: UInt64) -> Answer? {
        run { answers[id] != nil }
        #expect(answers[id]?.count == 1, "each call is answered once")
        return answers[id]?.first
    }

    func cancel(_ id: UInt64) { plugin.pointee.cancel(id) }
    func drained(_ id: UInt64) { plugin.pointee.drained(id) }
    func shutdown() { plugin.pointee.shutdown() }

    /// Answers a service call, or keeps it for later.
    func serve(_ answer: @escaping () -> Void) {
        if holdsServiceCalls { heldCalls.append(answer) } else { schedule(after: 0, answer) }
    }

    /// Answers the oldest service call that waits.
    func answerHeldCall() { schedule(after: 0, heldCalls.removeFirst()) }

    /// Runs jobs until `isDone`.
    func run(until isDone: () -> Bool) {
        let limit = ContinuousClock.now + .seconds(120)
        while !isDone() {
            guard ContinuousClock.now < limit else {
                Issue.record("nothing happened for two minutes")
                return
            }
            for job in takeDue() { job() }
        }
    }

    private func takeDue() -> [() -> Void] {
        lock.lock()
        defer { lock.unlock() }
        let now = ContinuousClock.now
        let due = jobs.filter { $0.due <= now }
        jobs.removeAll { $0.due <= now }
        if due.isEmpty { _ = lock.wait(until: Date(timeIntervalSinceNow: 0.002)) }
        return due.map(\.run)
    }

    func schedule(after nanoseconds: UInt64, _ run: @escaping () -> Void) {
        lock.lock()
        jobs.append(Job(due: .now + .nanoseconds(Int64(nanoseconds)), run: run))
        lock.signal()
        lock.unlock()
    }
}

/// All suites of this target: one after the other, since the boundary has one host at a time in a process.
@Suite(.serialized) enum SDK {}

extension FakeHost.Answer {
    static func result(_ body: String) -> Self { Self(kind: HEARTH_RESULT.rawValue, head: "", body: body) }
    static func error(_ body: String) -> Self { Self(kind: HEARTH_ERROR.rawValue, head: "", body: body) }
    static let internalError = error(#"{"code":"internal","message":"INTERNAL"}"#)
}
