internal import HearthBytes
internal import CHearth
import Glibc
internal import Synchronization

/// The connection between this plugin's functions and the host. Every call of the host arrives here.
///
/// Everything but `host` and `running` belongs to the thread that the host calls on, the worker's loop.
// The loop's thread alone touches the mutable parts; `attributed` looks at the thread before it reads one of them.
final class Attachment: @unchecked Sendable {
    /// The tie in force. The boundary's callbacks carry no pointer of ours, so there is one for each copy of the SDK.
    // Written by `Functions.attach` before the host may call anything, and by tests after the last call; only read in between.
    nonisolated(unsafe) private(set) static var current: Attachment?

    let host: Host
    private let handlers: [FunctionHandler]
    /// The thread that the host calls on, known from the first call.
    private let loopThread = Atomic<pthread_t>(0)
    /// The invocation that runs on the loop at this moment; 0 for none.
    private var running: UInt64 = 0
    /// The invocation that is being started, which may not be in `open` yet. It lives as long as `invoke` runs.
    private var starting: Unmanaged<Invocation>?
    /// Invocations that have not been answered yet.
    private var open: [UInt64: Invocation] = [:]
    /// Objects of finished invocations, for reuse.
    private var spare: [Invocation] = []
    /// Memory for answers, kept from one to the next.
    private var output = ByteBuffer()

    private static let spareMax = 256
    private static let outputBytesKept = 1 << 20

    init(_ host: Host, _ handlers: [FunctionHandler]) {
        self.host = host
        self.handlers = handlers
    }

    func enter() { Attachment.current = self }

    /// Ends the tie in force. For tests only: a plugin is attached until the process ends.
    static func leave() { Attachment.current = nil }

    /// The invocation for which this thread works; 0 when it is not known.
    var attributed: UInt64 { isOnLoop ? running : 0 }

    /// The invocation for which this thread works; nil when it is not known, or has been answered.
    var attributedInvocation: Invocation? {
        guard isOnLoop, running != 0 else { return nil }
        if let waiting = open[running] { return waiting }
        let starting = starting?.takeUnretainedValue()
        return starting?.id == running ? starting : nil
    }

    /// Whether this is the thread that the host calls on.
    var isOnLoop: Bool { loopThread.load(ordering: .relaxed) == pthread_self() }

    /// Runs `body` as work for an invocation: log lines and new tasks of `body` belong to it.
    func attributing(_ invocation: UInt64, _ body: () -> Void) {
        let outer = running
        running = invocation
        body()
        running = outer
    }

    func invoke(_ call: UnsafePointer<hearth_invocation>) {
        let id = call.pointee.id
        loopThread.store(pthread_self(), ordering: .relaxed)
        guard Int(call.pointee.function) < handlers.count else {
            host.log(id, HEARTH_ERROR_LEVEL, "The host called function \(call.pointee.function), which does not exist.")
            return Invocation(self, call).fail(HttpsError(.internal, "INTERNAL"))
        }
        let handler = handlers[Int(call.pointee.function)]
        var invocation: Invocation
        if let used = spare.popLast() {
            invocation = used
            invocation.begin(call)
        } else {
            invocation = Invocation(self, call)
        }
        let outer = starting
        starting = .passUnretained(invocation)
        attributing(id) { handler.start(invocation) }
        starting = outer
        guard invocation.isAnswered else {
            invocation.keepContext()
            open[id] = invocation
            return
        }
        invocation.task = nil
        if isKnownUniquelyReferenced(&invocation), spare.count < Attachment.spareMax {
            invocation.reset()
            spare.append(invocation)
        } else {
            invocation.keepContext()
        }
    }

    /// Forgets an invocation that has been answered, so that it is not cancelled any more.
    func finished(_ invocation: Invocation) {
        if !open.isEmpty { open[invocation.id] = nil }
    }

    func cancel(_ id: UInt64) {
        guard let invocation = open[id] else { return }
        attributing(id) { invocation.cancel() }
    }

    func drained(_ id: UInt64) {
        guard let invocation = open[id] else { return }
        attributing(id) { invocation.drain.clientHasRead() }
    }

    func shutdown() {
        for id in open.keys { cancel(id) }
    }

    /// Lends `body` an empty buffer. Calls may nest, as when an answer makes the host start the next call.
    func withOutput<E: Error>(_ body: (inout ByteBuffer) throws(E) -> Void) throws(E) {
        var buffer = ByteBuffer()
        swap(&buffer, &output)
        buffer.clear()
        defer {
            buffer.clear(keepingAtMost: Attachment.outputBytesKept)
            swap(&buffer, &output)
        }
        try body(&buffer)
    }
}
