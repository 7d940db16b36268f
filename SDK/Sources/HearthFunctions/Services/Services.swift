internal import CHearth
internal import HearthJSON
package import Synchronization

/// The services of the host: the database, messaging and others.
///
///     let answer = try await services.call("database", "get", ["path": "/rooms/blue"] as JSONValue)
public let services = Services()

/// The one way to every service of the host: a service's name, a method's name and a value, for a value.
public struct Services: Sendable {
    /// Calls a service and waits for its answer.
    ///
    /// - Throws: `HttpsError` with the code that the service gives: `unavailable` where the host does not offer it.
    public func call(_ service: String, _ method: String, _ payload: some Encodable) async throws -> JSONValue {
        let answer = await answer(service, method, try JSONEncoder().encode(payload))
        let value = try answer.value
        if answer.isOK { return value }
        throw HttpsError(
            HttpsError.Code(rawValue: value["code"]?.string ?? "") ?? .internal,
            value["message"]?.string ?? "The service \(service) failed.", details: value["details"])
    }

    /// The largest payload of any service, in bytes: the size of one message to the host.
    private static let payloadBytesMax = 64 << 20

    /// Calls a service with a payload that is JSON already, and waits for its answer.
    func answer(_ service: String, _ method: String, _ payload: [UInt8]) async -> ServiceOutcome {
        guard let attachment = Attachment.current else {
            if let backend = ServiceBackends.current.withLock({ $0 }) { return await backend.answer(service, method, payload) }
            return .failure(.unavailable, "No host offers the service \(service) here.")
        }
        guard payload.count <= Self.payloadBytesMax else {
            return .failure(.resourceExhausted, "The payload has more than \(Self.payloadBytesMax >> 20) MiB.")
        }
        return await withUnsafeContinuation { continuation in
            PendingCall(continuation, attachment).send(service, method, payload)
        }
    }

    /// Calls a service that may wait for long. When the task is cancelled, another call is made that ends the wait.
    ///
    /// - Parameter end: the method and the payload of that call.
    func answer(
        _ service: String, _ method: String, _ payload: [UInt8], whenCancelled end: (method: String, payload: [UInt8])
    ) async -> ServiceOutcome {
        // A backend waits within the task, and sees that it is cancelled.
        guard let attachment = Attachment.current else { return await answer(service, method, payload) }
        let ending = WaitEnding(attachment, service, end)
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let call = PendingCall(continuation, attachment)
                let isSent = ending.begin { call.send(service, method, payload) }
                if !isSent { continuation.resume(returning: .failure(.cancelled, "The task is cancelled.")) }
            }
        } onCancel: {
            ending.cancel()
        }
    }
}

/// Answers service calls where there is no host, as in the body of a test.
package protocol ServiceBackend: Sendable {
    /// Answers one call.
    func answer(_ service: String, _ method: String, _ payload: [UInt8]) async -> ServiceOutcome
}

/// The backend in force; none as a rule.
package enum ServiceBackends {
    package static let current = Mutex<(any ServiceBackend)?>(nil)
}

/// The answer of a service.
package struct ServiceOutcome: Sendable {
    /// Whether the call succeeded.
    package let isOK: Bool
    /// JSON; empty stands for null.
    package let body: [UInt8]

    package init(isOK: Bool, body: [UInt8]) {
        self.isOK = isOK
        self.body = body
    }

    var value: JSONValue {
        get throws { body.isEmpty ? .null : try JSONValue(parsing: body) }
    }

    /// A refusal that is decided without asking the host.
    fileprivate static func failure(_ code: HttpsError.Code, _ message: String) -> ServiceOutcome {
        let error: JSONValue = ["code": .string(code.rawValue), "message": .string(message)]
        return ServiceOutcome(isOK: false, body: error.serialized())
    }
}

/// A service call that the host has not answered yet.
private final class PendingCall: Sendable {
    private let continuation: UnsafeContinuation<ServiceOutcome, Never>
    private let attachment: Attachment
    private let invocation: UInt64

    init(_ continuation: UnsafeContinuation<ServiceOutcome, Never>, _ attachment: Attachment) {
        self.continuation = continuation
        self.attachment = attachment
        self.invocation = attachment.attributed
    }

    func send(_ service: String, _ method: String, _ payload: [UInt8]) {
        let context = Unmanaged.passRetained(self).toOpaque()
        attachment.host.callService(invocation, service, method, payload, completion: PendingCall.complete, context: context)
    }

    private static let complete: hearth_completion = { context, isOK, answer in
        guard let context else { return }
        let call = Unmanaged<PendingCall>.fromOpaque(context).takeRetainedValue()
        let answer = ServiceOutcome(isOK: isOK != 0, body: Array(answer.buffer))
        call.attachment.attributing(call.invocation) { call.continuation.resume(returning: answer) }
    }
}

/// Ends the wait of a service call when its task is cancelled.
private final class WaitEnding: Sendable {
    private enum State {
        case new
        /// The call was made for this invocation.
        case waiting(invocation: UInt64)
        case cancelled
    }

    private let state = Mutex(State.new)
    private let attachment: Attachment
    private let service: String
    private let end: (method: String, payload: [UInt8])

    init(_ attachment: Attachment, _ service: String, _ end: (method: String, payload: [UInt8])) {
        self.attachment = attachment
        self.service = service
        self.end = end
    }

    /// Makes the call, unless the task is cancelled.
    ///
    /// - Returns: whether the call was made.
    func begin(_ send: () -> Void) -> Bool {
        // The call is made under the lock, so that the one that ends it comes after it.
        state.withLock { state in
            if case .cancelled = state { return false }
            send()
            state = .waiting(invocation: attachment.attributed)
            return true
        }
    }

    func cancel() {
        state.withLock { state in
            if case .waiting(let invocation) = state {
                attachment.host.callService(invocation, service, end.method, end.payload, completion: { _, _, _ in }, context: nil)
            }
            state = .cancelled
        }
    }
}

extension Host {
    fileprivate func callService(
        _ invocation: UInt64, _ service: String, _ method: String, _ payload: [UInt8], completion: @escaping hearth_completion,
        context: UnsafeMutableRawPointer?
    ) {
        Array(service.utf8).withUnsafeBytes { service in
            Array(method.utf8).withUnsafeBytes { method in
                payload.withUnsafeBytes { payload in
                    callService(invocation, service: service, method: method, payload: payload, completion: completion, context: context)
                }
            }
        }
    }
}
