internal import CHearth
internal import JSON

/// What the host offers beside calling functions: the database, messaging, and what comes later.
///
///     let answer = try await services.call("database", "get", ["path": "/rooms/blue"] as JSONValue)
public let services = Services()

/// The one way to every service of the host: a service's name, a method's name and a value, for a value.
public struct Services: Sendable {
    /// Calls a service and waits for its answer.
    ///
    /// - Throws: `HttpsError` with the code that the service gives: `unavailable` where the host does not offer it.
    public func call(_ service: String, _ method: String, _ payload: some Encodable) async throws -> JSONValue {
        guard let attachment = Attachment.current else {
            throw HttpsError(.unavailable, "No host offers the service \(service) here.")
        }
        let payload = try JSONEncoder().encode(payload)
        let answer = await withUnsafeContinuation { continuation in
            PendingCall(continuation, attachment).send(service, method, payload)
        }
        let value = try JSONValue(parsing: answer.body.isEmpty ? Array("null".utf8) : answer.body)
        if answer.isOK { return value }
        throw HttpsError(
            HttpsError.Code(rawValue: value["code"]?.string ?? "") ?? .internal,
            value["message"]?.string ?? "The service \(service) failed.", details: value["details"])
    }
}

/// A service call that the host has not answered yet.
private final class PendingCall: Sendable {
    struct Answer: Sendable {
        let isOK: Bool
        let body: [UInt8]
    }

    private let continuation: UnsafeContinuation<Answer, Never>
    private let attachment: Attachment
    private let invocation: UInt64

    init(_ continuation: UnsafeContinuation<Answer, Never>, _ attachment: Attachment) {
        self.continuation = continuation
        self.attachment = attachment
        self.invocation = attachment.attributed
    }

    func send(_ service: String, _ method: String, _ payload: [UInt8]) {
        let context = Unmanaged.passRetained(self).toOpaque()
        Array(service.utf8).withUnsafeBytes { service in
            Array(method.utf8).withUnsafeBytes { method in
                payload.withUnsafeBytes { payload in
                    attachment.host.callService(
                        invocation, service: service, method: method, payload: payload, completion: PendingCall.complete,
                        context: context)
                }
            }
        }
    }

    private static let complete: hearth_completion = { context, isOK, answer in
        guard let context else { return }
        let call = Unmanaged<PendingCall>.fromOpaque(context).takeRetainedValue()
        let answer = Answer(isOK: isOK != 0, body: Array(answer.buffer))
        call.attachment.attributing(call.invocation) { call.continuation.resume(returning: answer) }
    }
}
