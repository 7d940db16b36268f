import AdminProtocol
import Configuration
import EventLoop
import FunctionDispatch
import HearthBytes
import HTTP
import Synchronization
import WorkerProtocol

/// The functions that sign-ups, sign-ins and messages wait for. Can be used from every loop.
package final class BlockingFunctions: Sendable {
    /// The end of a call.
    package enum Outcome: Sendable {
        /// The function's answer, in JSON; empty for none.
        case answered([UInt8])
        /// The function has refused: the status in capitals, and the text.
        case refused(status: String, message: String)
        /// The function did not answer in time.
        case late
        /// The function could not run, or crashed.
        case failed(String)
        /// There is no such function any more.
        case missing
    }

    private struct State {
        /// The functions' options by type of event; nil before all functions are known.
        var triggers: [String: BlockingTrigger]?
        var waiting: [CheckedContinuation<Bool, Never>] = []
        var isStopped = false
    }

    private let home: EventLoop
    private let state = Mutex(State())
    private let functions: LoopBound<Table>
    private let waitingMilliseconds: UInt64

    /// The functions that can run, by type of event. Belongs to the home loop.
    private final class Table {
        var functions: [String: RegisteredFunction] = [:]
        var dice = TrafficDice()
        /// Ends the time in which callers wait for functions.
        var timer: Timer?
    }

    /// - Parameter waitingMilliseconds: how long callers wait until the functions are known.
    package init(home: EventLoop, waitingMilliseconds: UInt64 = 30_000) {
        self.home = home
        self.waitingMilliseconds = waitingMilliseconds
        functions = LoopBound(Table(), loop: home)
    }

    /// Sets the functions. On the home loop.
    ///
    /// - Parameter isComplete: whether all functions are known; otherwise callers wait.
    /// - Returns: a sentence for each function that is left out, because another one has its event.
    package func use(_ publication: Publication, isComplete: Bool) -> [String] {
        var (triggers, problems): ([String: BlockingTrigger], [String]) = ([:], [])
        functions.value.functions = [:]
        for function in publication.functions.sorted(by: { $0.name < $1.name }) {
            guard case .blocking(let trigger) = function.trigger else { continue }
            if let other = functions.value.functions[trigger.eventType] {
                problems.append("\(function.name): \(other.name) runs on \(trigger.eventType) already, and only one function can")
                continue
            }
            functions.value.functions[trigger.eventType] = function
            triggers[trigger.eventType] = trigger
        }
        // Without a function that was deployed and cannot be loaded, nobody signs in: it may be there to refuse.
        for (_, stored) in publication.waitingTriggers where triggers[stored.eventType] == nil && stored.isBlocking {
            triggers[stored.eventType] = BlockingTrigger(eventType: stored.eventType, credentials: [])
        }
        let found = triggers
        let waiting = state.withLock { state in
            guard isComplete || state.triggers != nil else { return [CheckedContinuation<Bool, Never>]() }
            state.triggers = found
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: true) }
        return problems
    }

    /// Refuses the callers that wait for functions, because the host is stopping. On the home loop.
    package func stop() {
        functions.value.timer = nil
        state.withLock { $0.isStopped = true }
        refuseWaiting()
    }

    private func refuseWaiting() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: false) }
    }

    /// Refuses those that wait now after some time, as users' operations that wait for functions are.
    private func limitWaiting() {
        home.post { [self] in
            guard state.withLock({ !$0.isStopped && !$0.waiting.isEmpty }) else { return }
            let timer = Timer(loop: home) { [weak self] in self?.refuseWaiting() }
            timer.start(afterMilliseconds: waitingMilliseconds)
            functions.value.timer = timer
        }
    }

    /// The triggers by type of event; nil if they are not known, and the host stops, too many callers wait, or that takes too long.
    package func triggers() async -> [String: BlockingTrigger]? {
        if let known = state.withLock({ $0.triggers }) { return known }
        let isKnown = await withCheckedContinuation { continuation in
            var isFirst = false
            let answer = state.withLock { state -> Bool? in
                if state.triggers != nil { return true }
                if state.isStopped || state.waiting.count >= Self.waitingMax { return false }
                state.waiting.append(continuation)
                isFirst = state.waiting.count == 1
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
            if isFirst { limitWaiting() }
        }
        return isKnown ? state.withLock { $0.triggers } : nil
    }

    private static let waitingMax = 1000

    /// Calls the function for `eventType`.
    ///
    /// - Parameters:
    ///   - event: the members of `event` of the context, an object in JSON.
    ///   - payload: the user's record, or `null`.
    package func call(_ eventType: String, event: [UInt8], payload: [UInt8]) async -> Outcome {
        await withCheckedContinuation { continuation in
            home.post { [self] in
                guard let function = functions.value.functions[eventType] else {
                    let isWaiting = state.withLock { $0.triggers?[eventType] != nil }
                    return continuation.resume(returning: isWaiting ? .failed("the function cannot be loaded") : .missing)
                }
                let chosen = functions.value.dice.choose(function)
                BlockingInvocation(function: chosen, event: event) { continuation.resume(returning: $0) }.begin(payload)
            }
        }
    }
}

/// One call of a blocking function. Belongs to the home loop.
private final class BlockingInvocation: HostInvocation {
    private static let limitMilliseconds: UInt64 = 7000
    private let event: [UInt8]
    private var completion: ((BlockingFunctions.Outcome) -> Void)?

    init(function: RegisteredFunction, event: [UInt8], completion: @escaping (BlockingFunctions.Outcome) -> Void) {
        self.event = event
        self.completion = completion
        super.init(function: function)
    }

    func begin(_ payload: [UInt8]) {
        trace = function.pool.dispatcher.traces.next(after: nil)
        let limit = function.timeoutMilliseconds
        deadlineMilliseconds = function.pool.loop.nowMilliseconds + (limit == 0 ? Self.limitMilliseconds : min(limit, Self.limitMilliseconds))
        start(payload: payload.span)
    }

    override func writeContext(into buffer: inout ByteBuffer) {
        buffer.append("{\"event\":")
        buffer.append(event)
        if let trace { buffer.append(trace) }
        buffer.append("}")
    }

    override func didAnswer(_ kind: AnswerKind, head: Span<UInt8>, body: Span<UInt8>) {
        switch kind {
        case .result: finish(.answered(body.array()))
        case .error:
            let error = CallableError(functionError: body)
            finish(.refused(status: "\(error.code.status)", message: error.message))
        case .response, .end: finish(.failed("it answered with an HTTP response"))
        }
    }

    override func didFail(_ failure: InvocationFailure) {
        switch failure {
        case .deadlineExceeded: finish(.late)
        default: finish(.failed(failure.message))
        }
    }

    private func finish(_ outcome: BlockingFunctions.Outcome) {
        let completion = completion
        self.completion = nil
        completion?(outcome)
    }
}

extension EventTrigger {
    /// Whether it is the stored form of a blocking trigger.
    fileprivate var isBlocking: Bool { eventType.hasPrefix("providers/cloud.auth/eventTypes/user.before") }
}
