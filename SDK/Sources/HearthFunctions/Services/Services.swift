internal import CHearth
internal import HearthJSON

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
        let answer = await answer(service, method, try JSONEncoder().encode(payload))
        let value = try answer.value
        if answer.isOK { return value }
        throw HttpsError(
            HttpsError.Code(rawValue: value["code"]?.string ?? "") ?? .internal,
            value["message"]?.string ?? "The service \(service) failed.", details: value["details"])
    }

    /// The largest payload of any service, in bytes: what one message to the host holds.
    private static let payloadBytesMax = 64 << 20

    /// Calls a service with a payload that is JSON already, and waits for its answer.
    func answer(_ service: String, _ method: String, _ payload: [UInt8]) async -> ServiceOutcome {
        guard let attachment = Attachment.current else {
            return .failure(.unavailable, "No host offers the service \(service) here.")
        }
        guard payload.count <= Self.payloadBytesMax else {
            return .failure(.resourceExhausted, "The payload has more than \(Self.payloadBytesMax >> 20) MiB.")
        }
        return await withUnsafeContinuation { continuation in
            PendingCall(continuation, attachment).send(service, method, payload)
        }
    }
}

/// What a service answered.
struct ServiceOutcome: Sendable {
    let isOK: Bool
    /// JSON; empty stands for null.
    let body: [UInt8]

    var value: JSONValue {
        get throws { body.isEmpty ? .null : try JSONValue(parsing: body) }
    }

    /// What is refused before the host hears of it.
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
        let answer = ServiceOutcome(isOK: isOK != 0, body: Array(answer.buffer))
        call.attachment.attributing(call.invocation) { call.continuation.resume(returning: answer) }
    }
}
