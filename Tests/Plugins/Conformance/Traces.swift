import HearthFunctions

/// Functions that say where in a trace they are, and hand it on: each in its answer, its log and in what it writes.
@FunctionsBuilder var traces: [FunctionDefinition] {
    OnCall("traced") { (request: CallableRequest<String>) async throws -> JSONValue in
        logger.info("called \(request.data)")
        try await database.reference("relay/\(request.data)/step1").setValue(parent(request.traceparent))
        return ["traceparent": parent(request.traceparent), "tracestate": .string(request.rawRequest.tracestate ?? "")]
    }
    OnValueCreated("passOn", ref: "/relay/{id}/{step}") { event in
        let step = event.params["step"] ?? ""
        print("passed \(event.params["id"] ?? "") \(step)")
        let next = ["step1": "step2", "step2": "step3", "step3": "end"][step]
        if let next { try await event.ref.parent?.child(next).setValue(parent(event.traceparent)) }
    }
    OnRequest("tracedRequest") { request in
        Response(text: request.traceparent ?? "")
    }
}

private func parent(_ text: String?) -> JSONValue { .string(text ?? "") }
