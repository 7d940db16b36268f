import AdminProtocol
import Configuration
import HearthJSON
import Testing

@testable import Deployment
@testable import FunctionDispatch

/// Functions in the form that plans take, without a library.
struct PlanFixture {
    var configuration: Configuration
    var running: [FunctionVersion.Key: FunctionOptions] = [:]
    var state = DeployedState()

    init() throws {
        configuration = try Configuration(parsing: Array(#"{"project": "demo-hearth"}"#.utf8), file: "functions.json", mode: .development)
    }

    func function(
        _ name: String, plugin: String = "P", artifact: String = "a", overrides: JSONObject = [:], environment: [String: String] = [:]
    ) throws -> ResolvedFunction {
        let manifest = try PluginManifest(
            parsing: Array(#"{"specVersion":"v1alpha1","endpoints":{"\#(name)":{"entryPoint":"\#(name)","callableTrigger":{}}}}"#.utf8),
            source: "libP.so")
        let version = FunctionVersion(
            number: 0, plugin: plugin, artifact: artifact, file: "libP.so", isIsolated: true, overrides: overrides, defaults: [:],
            host: OperatorOptions.File(configuration)[name], environment: environment, time: "", origin: .deploy, deployment: 0)
        let outcome = VersionResolver(configuration: configuration, address: "127.0.0.1:5001").resolve([
            VersionResolver.Candidate(name: name, version: version, manifest: manifest)
        ])
        return try #require(outcome.functions.first, "\(outcome.refusals)")
    }

    func plan() -> DeploymentPlan {
        DeploymentPlan(
            state, origin: .deploy, time: "2026-01-01T00:00:00.000Z", options: { [running] in running[$0] }, mustWait: { !$0.isIsolated })
    }

    /// Makes a plan the state.
    mutating func carryOut(_ plan: DeploymentPlan) -> DeploymentPlan {
        var plan = plan
        _ = plan.conclude(origin: "deploy")
        state = plan.target
        for function in plan.created { running[function.key] = function.options }
        return plan
    }

    mutating func deploy(_ functions: ResolvedFunction..., isForced: Bool = false) -> [FunctionChange] {
        var plan = plan()
        for function in functions { plan.propose(function, isForced: isForced) }
        return carryOut(plan).changes
    }
}

@Suite("Plans of deployments")
struct DeploymentPlanTests {
    @Test("each change has its reason")
    func reasons() throws {
        var fixture = try PlanFixture()
        var changes = fixture.deploy(try fixture.function("one"))
        #expect(changes.map(\.reason) == ["new function"])
        #expect(changes.map(\.toVersion) == [1])
        changes = fixture.deploy(try fixture.function("one"))
        #expect(changes.map(\.action) == [.unchanged])
        #expect(changes.map(\.reason) == ["library, options and environment are those of version 1"])
        changes = fixture.deploy(try fixture.function("one", artifact: "b"))
        #expect(changes.map(\.reason) == ["library changed"])
        changes = fixture.deploy(try fixture.function("one", artifact: "b", overrides: ["timeoutSeconds": 30, "memory": "1GiB"]))
        #expect(changes.map(\.reason) == ["options changed: memory 256MiB -> 1024MiB, timeoutSeconds 60 -> 30"])
        changes = fixture.deploy(
            try fixture.function("one", artifact: "b", overrides: ["timeoutSeconds": 30, "memory": "1GiB"], environment: ["B": "1", "A": "2"]))
        #expect(changes.map(\.reason) == ["environment changed: A, B"])
        #expect(fixture.state.revision == 4)
        #expect(fixture.state.deployments.map(\.deployment) == [1, 2, 3, 4])
    }

    @Test("an option that says what is so anyway changes nothing")
    func sameOptions() throws {
        var fixture = try PlanFixture()
        _ = fixture.deploy(try fixture.function("one"))
        let changes = fixture.deploy(try fixture.function("one", overrides: ["timeoutSeconds": 60]))
        #expect(changes.map(\.action) == [.unchanged])
        #expect(fixture.state.revision == 1)
    }

    @Test("what equals a version that gets some of the calls is left alone")
    func split() throws {
        var fixture = try PlanFixture()
        _ = fixture.deploy(try fixture.function("one"))
        _ = fixture.deploy(try fixture.function("one", artifact: "b"))
        var plan = fixture.plan()
        plan.direct("one", [1: 30, 2: 70], reason: "split")
        _ = fixture.carryOut(plan)
        let changes = fixture.deploy(try fixture.function("one"))
        #expect(changes.map(\.reason) == ["library, options and environment are those of version 1, which gets 30 % of the calls"])
        #expect(fixture.state.functions["one"]?.traffic == [1: 30, 2: 70])
        #expect(fixture.state.functions["one"]?.before == 2)
    }

    @Test("numbers are never used again")
    func numbers() throws {
        var fixture = try PlanFixture()
        for artifact in ["a", "b", "c"] { _ = fixture.deploy(try fixture.function("one", artifact: artifact)) }
        var plan = fixture.plan()
        plan.remove("one", reason: "deleted by name")
        #expect(fixture.carryOut(plan).changes.map(\.action) == [.delete])
        #expect(fixture.state.functions.isEmpty)
        #expect(fixture.deploy(try fixture.function("one")).map(\.toVersion) == [4])
    }

    @Test("the newest versions are kept, those with calls, and the one that had all of them before")
    func retention() throws {
        var fixture = try PlanFixture()
        for number in 1...20 { _ = fixture.deploy(try fixture.function("one", artifact: "\(number)")) }
        #expect(fixture.state.functions["one"]?.versions.map(\.number) == Array(11...20))
        var plan = fixture.plan()
        plan.direct("one", [11: 100], reason: "rolled back")
        _ = fixture.carryOut(plan)
        for number in 21...40 { _ = fixture.deploy(try fixture.function("one", artifact: "\(number)")) }
        #expect(fixture.state.functions["one"]?.versions.map(\.number) == Array(31...40))
        #expect(fixture.state.functions["one"]?.before == 39)
    }

    @Test("the list of deployments has an end")
    func history() throws {
        var fixture = try PlanFixture()
        for number in 1...120 { _ = fixture.deploy(try fixture.function("one", artifact: "\(number)")) }
        #expect(fixture.state.deployments.count == DeployedState.deploymentsMax)
        #expect(fixture.state.deployments.last?.deployment == 120)
    }

    @Test("a state is read as it was written")
    func codable() throws {
        var fixture = try PlanFixture()
        _ = fixture.deploy(try fixture.function("one", overrides: ["labels": ["a": "b"]], environment: ["A": "1"]), try fixture.function("two"))
        var plan = fixture.plan()
        plan.remember(LocalSight(artifact: "a", file: "f", isIsolated: false, environment: ["A": "1"], functions: ["one"]), of: "P")
        plan.direct("one", [1: 100], reason: "x")
        _ = fixture.carryOut(plan)
        let bytes = try JSONEncoder().encode(fixture.state)
        #expect(try JSONDecoder().decode(DeployedState.self, from: bytes) == fixture.state)
    }
}

@Suite("Chance of a split")
struct TrafficDiceTests {
    @Test("a share is a share")
    func shares() {
        var dice = TrafficDice()
        let count = (0..<100_000).count { _ in dice.roll(below: 10) }
        // Ten standard deviations.
        #expect(abs(count - 10_000) < 950)
        #expect((0..<1000).allSatisfy { _ in !dice.roll(below: 0) })
        #expect((0..<1000).allSatisfy { _ in dice.roll(below: 100) })
    }
}
