internal import CHearth
internal import HearthBytes
internal import HearthJSON

extension Invocation {
    /// Answers a callable with its result.
    func answer<Output: Encodable>(_ output: Output) {
        do {
            try attachment.withOutput { buffer in
                try JSONEncoder.callable.encode(output, into: &buffer)
                guard takeAnswer() else { return }
                buffer.withUnsafeBytes { host.respond(id, HEARTH_RESULT, body: $0) }
            }
        } catch {
            fail(error)
        }
    }

    /// Answers a callable that returns nothing: the client gets null.
    func answerNothing() {
        let null: StaticString = "null"
        guard takeAnswer() else { return }
        host.respond(id, HEARTH_RESULT, body: UnsafeRawBufferPointer(start: null.utf8Start, count: null.utf8CodeUnitCount))
    }

    /// Answers with a failure. An error that is no `HttpsError` is logged, and the client gets `INTERNAL`.
    func fail(_ error: any Error) {
        if let error = error as? HttpsError {
            do {
                return try send(error)
            } catch let inner {
                host.log(id, HEARTH_ERROR_LEVEL, "The details of an error cannot be written as JSON: \(inner)")
            }
        } else if error is CancellationError, isCancelled {
            return send(plain: HttpsError(.cancelled, "CANCELLED"))
        } else {
            host.log(id, HEARTH_ERROR_LEVEL, "Unhandled error: \(error)")
        }
        send(plain: HttpsError(.internal, "INTERNAL"))
    }

    /// Answers an event with a failure. No client sees it, so that the host's log and its list of failed events say all of it.
    func failEvent(_ error: any Error) {
        if error is HttpsError || (error is CancellationError && isCancelled) { return fail(error) }
        send(plain: HttpsError(.unknown, "\(error)"))
    }

    private func send(_ error: HttpsError) throws {
        try attachment.withOutput { buffer in
            error.writeStart(to: &buffer)
            if let details = error.details {
                buffer.append(",\"details\":")
                try JSONEncoder.callable.encode(details, into: &buffer)
            }
            finish(&buffer)
        }
    }

    private func send(plain error: HttpsError) {
        attachment.withOutput { buffer in
            error.writeStart(to: &buffer)
            finish(&buffer)
        }
    }

    private func finish(_ buffer: inout ByteBuffer) {
        buffer.append(UInt8(ascii: "}"))
        guard takeAnswer() else { return }
        buffer.withUnsafeBytes { host.respond(id, HEARTH_ERROR, body: $0) }
    }
}

extension HttpsError {
    /// Writes all but the details and the closing brace.
    fileprivate func writeStart(to buffer: inout ByteBuffer) {
        buffer.append("{\"code\":\"")
        buffer.append(code.rawValue)
        buffer.append("\",\"message\":")
        JSONValue.string(message).write(to: &buffer)
    }
}

extension JSONEncoder {
    /// Writes results of callables. A `Double` beyond 2^53 keeps an exponent, because the host takes digits alone
    /// for an integer and wraps it.
    static let callable = JSONEncoder(largeDoubles: .exponent)
}
