import HearthFunctions

/// Functions that misbehave, each in one way, for the tests of the host. None belongs on a host that serves anybody.
let functions = Functions(params: [StringParam("GREETING", default: "hello")]) {
    // Functions that end the process, or should.
    OnCall("trap") { (request: CallableRequest<JSONValue>) in Faults.outOfRange() }
    OnCall("abortNow") { (request: CallableRequest<JSONValue>) in Faults.abortNow() }
    OnCall("segfault") { (request: CallableRequest<JSONValue>) in Faults.segfault() }
    OnCall("crashes") { (request: CallableRequest<String>) in await Crashes.crash(request.data) }
    OnCall("exitZero") { (request: CallableRequest<JSONValue>) in Faults.exitZero() }
    OnCall("spin") { (request: CallableRequest<JSONValue>) in Faults.spin() }
    OnCall("allocateForever") { (request: CallableRequest<JSONValue>) in Faults.allocateForever() }
    OnCall("closeDescriptors") { (request: CallableRequest<JSONValue>) in Faults.closeDescriptors() }

    // Functions that answer wrongly, late or never.
    OnCall("throwPlain") { (request: CallableRequest<JSONValue>) throws -> JSONValue in throw PlainError() }
    OnCall("returnNaN") { (request: CallableRequest<JSONValue>) in Double.nan }
    OnCall("returnLate", options: Options(timeoutSeconds: 1), Waiting.returnLate)
    OnCall("sleepUntilCancelled", options: Options(timeoutSeconds: 1), Waiting.sleepUntilCancelled)
    OnCall("sleep") { (request: CallableRequest<Waiting.Milliseconds>) in
        try await Task.sleep(for: .milliseconds(request.data.ms))
        return "slept"
    }

    // Output.
    OnCall("printMuch", Output.printMuch)
    OnCall("printLine") { (request: CallableRequest<String>) in Output.line(request.data) }
    OnCall("logLine") { (request: CallableRequest<String>) in
        logger.info("\(request.data)", metadata: ["length": "\(request.data.utf8.count)"])
    }

    // The surroundings.
    OnCall("getEnv") { (request: CallableRequest<Surroundings.Variable>) in Surroundings.variable(request.data) }
    OnCall("whoAmI") { (request: CallableRequest<JSONValue>) in Surroundings.process() }
    OnCall("version") { (request: CallableRequest<JSONValue>) in faultsVersion }

    OnRequest("httpEcho") { request in try Plain.echo(request) }
    OnRequest("httpDecode") { request in Response(text: "\(try request.decode(Waiting.Milliseconds.self).ms)") }
    OnRequest("httpThrows") { _ in throw PlainError() }
    OnRequest("httpStream", Plain.stream)
    OnRequest("httpNeverEnds", options: Options(timeoutSeconds: 1), Plain.neverEnds)
}

/// Distinguishes builds of this plugin: a test changes it and builds again.
let faultsVersion = 1

struct PlainError: Error {}
