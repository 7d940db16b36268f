import AdminProtocol
import HearthJSON
import Testing

@Suite("Requests and answers of the admin API")
struct MessageTests {
    private static let hash = String(repeating: "a0", count: 32)

    private static func request(_ more: JSONObject = [:], plugin: JSONObject = [:]) -> JSONValue {
        var entry: JSONObject = ["artifact": .string(hash)]
        for (name, value) in plugin { entry[name] = value }
        var object: JSONObject = ["plugins": ["P": .object(entry)]]
        for (name, value) in more { object[name] = value }
        return .object(object)
    }

    @Test("a deployment arrives as it was sent")
    func deployments() throws {
        let plugin = DeploymentRequest.Plugin(
            name: "P", artifact: Self.hash, file: "libP.so", environment: ["A": "1"], functions: ["a": ["concurrency": 1]],
            defaults: ["region": "x"], manifest: ["functions": []])
        var sent = DeploymentRequest(
            plugins: [plugin], names: ["a", "b-c"], validateOnly: true, removes: true, force: true, expectedRevision: 7)
        sent.only = try FunctionFilter(only: ["functions:P", "functions:P:a"], plugins: ["P"])
        #expect(try DeploymentRequest(parsing: sent.json) == sent)
    }

    @Test("what is left out of a deployment has its default")
    func defaults() throws {
        let request = try DeploymentRequest(parsing: Self.request())
        #expect(request.plugins.map(\.file) == ["libP.so"])
        #expect(request.only == nil && request.names == nil && request.expectedRevision == nil)
        #expect(request.plugins.allSatisfy { $0.manifest == JSONValue?.none })
        #expect(!request.validateOnly && !request.removes && !request.force)
    }

    @Test("a deployment that makes no sense is refused with a reason", arguments: [
        ("{}", "plugins must be an object"), ("[]", "the body must be an object"),
        (#"{"plugins": {"-": {}}}"#, "a plugin's name must have"), (#"{"plugins": {"P": {"artifact": "x"}}}"#, "must be the SHA-256"),
    ])
    func refusals(text: String, reason: String) throws {
        let body = try JSONValue(parsing: text)
        #expect { try DeploymentRequest(parsing: body) } throws: { ($0 as? AdminError)?.message.contains(reason) == true }
    }

    @Test("a member of the wrong type is refused with its name", arguments: [
        ("only", 1), ("only", [1]), ("names", "a"), ("names", [[]]), ("removes", 1), ("force", "yes"), ("expectedRevision", "1"),
        ("only", ["functions:Q:a"]), ("only", ["functions::a"]),
    ] as [(String, JSONValue)])
    func types(name: String, value: JSONValue) {
        #expect { try DeploymentRequest(parsing: Self.request([(name, value)].reduce(into: [:]) { $0[$1.0] = $1.1 })) } throws: { error in
            (error as? AdminError)?.status == 400 && (error as? AdminError)?.message.hasPrefix(name) == true
        }
    }

    @Test("the shares of versions are in the order of versions, and any object of numbers")
    func shares() throws {
        let request = try SplitRequest(parsing: ["versions": ["10": 60, "9": 40]])
        #expect(request.versions.percents == [10: 60, 9: 40])
        #expect(request.json.description == #"{"versions":{"9":40,"10":60}}"#)
        #expect(request.versions.largestFirst.map(\.version) == [10, 9])
        for body in [["versions": ["a": 1]], ["versions": ["1": "2"]], [:], ["versions": []]] as [JSONValue] {
            #expect(throws: AdminError.self) { try SplitRequest(parsing: body) }
        }
    }

    @Test("unknown members are ignored, absent ones are nil, and nil ones are not sent")
    func members() throws {
        let entry = try #require(FunctionEntry(["name": "a", "plugin": "P", "traffic": ["5": 100], "new": [1]]))
        #expect(entry.traffic?.percents == [5: 100] && entry.url == nil)
        #expect(entry.json == ["name": "a", "plugin": "P", "traffic": ["5": 100]])
        #expect(FunctionEntry(["name": "a"]) == nil)
        #expect(RollbackRequest(to: nil).json == [:])
        #expect(try RollbackRequest(parsing: .null).to == nil)
        #expect(try RollbackRequest(parsing: ["to": 3]).to == 3)
        #expect(throws: AdminError.self) { try RollbackRequest(parsing: ["to": "3"]) }
        #expect(DeploymentRefusalDetails(refusals: ["a"], absent: []).json == ["refusals": ["a"]])
    }

    @Test("the outcome of an event by hand says null after a success")
    func events() throws {
        #expect(SyntheticEventAnswer(event: "e", error: nil).json == ["event": "e", "error": .null])
        #expect(try #require(SyntheticEventAnswer(["event": "e", "error": "no"])).error == "no")
        #expect(try SyntheticEvent(parsing: .null).authType == "admin")
        var event = SyntheticEvent()
        event.params = ["id": "1"]
        event.authId = "u"
        let read = try SyntheticEvent(parsing: event.json)
        #expect(read.params == event.params && read.authId == "u" && read.before == .null)
        #expect(throws: AdminError.self) { try SyntheticEvent(parsing: [1]) }
    }

    @Test("a refusal has the status of its code, unless it says otherwise")
    func errors() {
        #expect(AdminError(.notFound, "none").status == 404)
        #expect(AdminError(.unimplemented, "no", status: 405).status == 405)
        #expect(AdminError(.aborted, "no", details: ["a": 1]).json == ["error": ["status": "ABORTED", "message": "no", "details": ["a": 1]]])
    }

    @Test("an upgrade has a time limit within bounds", arguments: [(1, true), (3600, true), (0, false), (3601, false)])
    func upgrades(seconds: Int, isFine: Bool) {
        #expect((try? UpgradeOrder(parsing: ["timeoutSeconds": JSONValue(seconds)]))?.timeoutSeconds == (isFine ? seconds : nil))
        #expect((try? UpgradeOrder(parsing: .null))?.timeoutSeconds == 60)
    }

    @Test("a judgement needs a path and an operation, and null is a signed-out user")
    func judgements() throws {
        let request = try JudgementRequest(parsing: ["path": "/a", "operation": "read", "auth": .null])
        #expect(request.operation == .read && request.auth == JSONValue?.none)
        for body in [["operation": "read"], ["path": "/a"], ["path": "/a", "operation": "fly"]] as [JSONValue] {
            #expect(throws: AdminError.self) { try JudgementRequest(parsing: body) }
        }
    }

    @Test("ids of dead letters are limited in number")
    func deadLetters() throws {
        let many = JSONValue.array(Array(repeating: "1", count: DeadLetterSelection.countMax + 1))
        #expect(throws: AdminError.self) { try DeadLetterSelection(parsing: ["ids": many]) }
        #expect(throws: AdminError.self) { try DeadLetterSelection(parsing: ["function": 1]) }
        #expect(try DeadLetterSelection(parsing: ["ids": ["1", 2]]).ids == ["1", ""])
        #expect(try DeadLetterSelection(parsing: .null).ids == nil)
    }
}
