import Testing

@testable import HearthFunctions

private let nothing: @Sendable (CallableRequest<JSONValue>) -> JSONValue = { _ in .null }

extension SDK {
    @Suite struct Problems {
        @Test(arguments: [
            (Options(timeoutSeconds: 3601), "timeoutSeconds is 3601, but must be from 0 to 3600"),
            (Options(timeoutSeconds: -1), "timeoutSeconds is -1, but must be from 0 to 3600"),
            (Options(concurrency: 0), "concurrency is 0, but must be from 1 to 1000"),
            (Options(concurrency: 1001), "concurrency is 1001, but must be from 1 to 1000"),
            (Options(cpu: 0.5, concurrency: 2), "concurrency is 2, but above 1 only works with a cpu of 1 or more"),
            (Options(cpu: 3), "cpu is 3.0, but must be from 0.08 to 1, or 2, 4, 6 or 8"),
            (Options(cpu: 0.05), "cpu is 0.05, but must be from 0.08 to 1, or 2, 4, 6 or 8"),
            (Options(memory: .gib2, cpu: 0.5), "cpu is 0.5, but more than 1 GiB of memory needs at least 1"),
            (Options(memory: .gib1, cpu: 0.1), "cpu is 0.1, but more than 512 MiB of memory needs at least 0.5"),
            (Options(memory: .gib1, cpu: 4), "cpu is 4.0, which needs at least 2048 MiB of memory"),
            (Options(minInstances: -1), "minInstances is -1, but must not be negative"),
            (Options(maxInstances: 0), "maxInstances is 0, but must be 1 or more"),
            (Options(minInstances: 3, maxInstances: 2), "maxInstances is 2, but minInstances is 3"),
            (Options(heartbeatSeconds: -1), "heartbeatSeconds is -1.0, but must be from 0 to 3600"),
            (Options(heartbeatSeconds: 3601), "heartbeatSeconds is 3601.0, but must be from 0 to 3600"),
            (Options(region: []), "region must not be empty"),
            (Options(secrets: ["A B"]), "the secret \"A B\" must be named in letters, digits, dashes and underscores"),
            (Options(labels: ["Team": "x"]), "the label \"Team\" must be 1 to 63 lower-case letters, digits, dashes and underscores"),
            (Options(labels: ["1a": "x"]), "the label \"1a\" must be 1 to 63 lower-case letters, digits, dashes and underscores"),
            (Options(labels: ["deployment-x": "x"]), "the label \"deployment-x\" begins with a reserved word"),
            (Options(labels: ["a": "B"]), "the label \"a\" has the value \"B\", which is not allowed in labels"),
        ] as [(Options, String)])
        func eachOptionHasItsBounds(_ options: Options, _ problem: String) {
            let functions = Functions(defaults: options) { OnCall("f", nothing) }
            #expect(functions.problems == ["Function \"f\": \(problem)."])
        }

        @Test(arguments: [
            Options(timeoutSeconds: 0), Options(cpu: 0.08), Options(memory: .gib2, cpu: 4), Options(cpu: 1, concurrency: 1000),
            Options(minInstances: 2, maxInstances: 2), Options(labels: ["a": "", "b_c-1": "0"]),
        ])
        func theBoundsThemselvesAreFine(_ options: Options) {
            #expect(Functions(defaults: options) { OnCall("f", nothing) }.problems.isEmpty)
        }

        @Test(arguments: ["", "1a", "_a", "a b", "a.b", "ä", String(repeating: "a", count: 64)])
        func namesThatNoURLCarries(_ name: String) {
            let problem = "Function \"\(name)\": its name must be a letter, then at most 62 letters, digits, dashes and underscores."
            #expect(Functions { OnCall(name, nothing) }.problems == [problem])
        }

        @Test func namesAreUniqueAndThereIsOne() {
            let twins = Functions {
                OnCall("a-b", nothing)
                Group("a") { OnCall("b", nothing) }
            }
            #expect(twins.problems == ["Two functions have the name \"a-b\"."])
            #expect(Functions { if false { OnCall("never", nothing) } }.problems == ["The plugin defines no functions."])
        }

        @Test func firstGenerationTakesOneCallAtATime() {
            let functions = Functions { OnCall("f", options: Options(concurrency: 2), generation: .first, nothing) }
            #expect(
                functions.problems == [
                    "Function \"f\": concurrency is 2, but a first-generation function takes one call at a time."
                ])
        }

        @Test func parametersAreNamedLikeVariables() {
            let functions = Functions(params: [StringParam("GREETING_2"), IntParam("lower")]) { OnCall("f", nothing) }
            #expect(
                functions.problems == [
                    "The parameter \"lower\" must be named in capital letters, digits and underscores."
                ])
        }

        @Test func aPluginWithProblemsDoesNotLoad() {
            #expect(FakeHost(Functions { OnCall("f", options: Options(timeoutSeconds: -1), nothing) }) == nil)
        }

        @Test func aHostOfAnotherVersionIsRefused() {
            #expect(FakeHost(Functions { OnCall("f", nothing) }, version: 2) == nil)
            // A host of a later version has a longer table; one that is too short lacks functions that are called.
            #expect(FakeHost(Functions { OnCall("f", nothing) }, size: 1000) != nil)
            #expect(FakeHost(Functions { OnCall("f", nothing) }, size: 64) == nil)
        }
    }
}
