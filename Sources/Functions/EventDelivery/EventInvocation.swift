import AdminProtocol
import EventLoop
import FunctionDispatch
import HearthBytes
import HTTP
import RealtimeDatabase
import WorkerProtocol

/// One attempt to run a function for an event.
package final class EventInvocation: HostInvocation {
    private let event: OutboxEvent
    private let project: String
    private let limitMilliseconds: UInt64
    private var completion: ((AttemptResult) -> Void)?

    /// - Parameters:
    ///   - project: the id of the project, for events of users.
    ///   - limitMilliseconds: how long the function may take, if that is less than it may take in any case.
    ///   - completion: called once.
    package init(
        function: RegisteredFunction, event: OutboxEvent, project: String, limitMilliseconds: UInt64 = .max,
        completion: @escaping (AttemptResult) -> Void
    ) {
        self.event = event
        self.limitMilliseconds = limitMilliseconds
        self.project = project
        self.completion = completion
        super.init(function: function)
    }

    /// The chain of events for writes of the function.
    package override var chain: EventChain { event.chainOfEffects }

    package func begin() {
        trace = function.pool.dispatcher.traces.next(after: event.trace)
        deadlineMilliseconds = function.pool.loop.nowMilliseconds + min(function.timeoutMilliseconds, limitMilliseconds)
        let payload = event.payload
        start(payload: payload.span)
    }

    package override func writeContext(into buffer: inout ByteBuffer) {
        EventContext(event, generation: function.generation, region: function.region, project: project, trace: trace).write(to: &buffer)
    }

    package override func didAnswer(_ kind: AnswerKind, head: Span<UInt8>, body: Span<UInt8>) {
        switch kind {
        case .result: finish(.succeeded)
        case .error:
            let error = CallableError(functionError: body)
            finish(.failed("\(error.code.name): \(Self.cut(error.message))"))
        case .response, .end: finish(.failed("it answered an event with an HTTP response"))
        }
    }

    package override func didFail(_ failure: InvocationFailure) {
        switch failure {
        case .queueFull, .memoryIsFull, .waitedTooLong: finish(.refused(afterMilliseconds: 0))
        case .cannotStart(let seconds): finish(.refused(afterMilliseconds: UInt64(seconds) * 1000))
        case .cannotLoad: finish(.refused(afterMilliseconds: Self.unloadedMilliseconds))
        case .deadlineExceeded, .hasBlockedInstance, .payloadTooLarge: finish(.failed(failure.message))
        case .instanceWasBlocked: finish(.interrupted(failure.message))
        case .workerEnded, .crashed: finish(.interrupted("the worker ended before the function had answered"))
        case .shuttingDown: finish(.stopped)
        }
    }

    /// A message as it is stored with the event: a function may answer with a text of any length.
    private static func cut(_ message: String) -> String {
        message.utf8.count <= messageBytesMax ? message : String(decoding: message.utf8.prefix(messageBytesMax), as: UTF8.self) + "..."
    }

    private static let messageBytesMax = 2048

    /// The delay for events of a plugin that cannot be loaded. They wait for another version of it, or for the next start of the host.
    private static let unloadedMilliseconds: UInt64 = 10_000

    private func finish(_ result: AttemptResult) {
        let completion = completion
        self.completion = nil
        completion?(result)
    }
}
