import HearthBytes
import HearthJSON
import Store
import Testing
import Tree

@testable import RealtimeDatabase

/// The operations of a session in normal form (spec database 4, 10.2).
@Suite("Disconnect plan")
struct DisconnectPlanTests {
    private func path(_ text: String) throws -> Path { try Path(parsing: text) }
    private func value(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8).span) }

    /// The plan after operations, as `path value` each.
    private func plan(_ operations: [(String, String, String)]) throws -> [String] {
        var plan = DisconnectPlan()
        for (kind, place, data) in operations {
            switch kind {
            case "o": try plan.apply(.set(try path(place), try value(data)))
            case "om": try plan.apply(.update(try path(place), try value(data)))
            default: try plan.apply(.cancel(try path(place)))
            }
        }
        return plan.places.map { $0.path.segments.joined(separator: "/") + " " + String(decoding: $0.value.serialized(), as: UTF8.self) }
    }

    @Test func aLaterOperationReplacesThoseAtAndBelow() throws {
        #expect(try plan([("o", "a/b", "1"), ("o", "a/c", "2"), ("o", "x", "3"), ("o", "a", "4")]) == ["a 4", "x 3"])
        #expect(try plan([("o", "a", "1"), ("o", "a", "null")]) == ["a null"])
    }

    @Test func anOperationBelowChangesTheValueAbove() throws {
        #expect(try plan([("o", "a", #"{"b":1,"c":2}"#), ("o", "a/b", "9")]) == [#"a {"b":9,"c":2}"#])
        #expect(try plan([("o", "a", #"{"b":1,".priority":7}"#), ("o", "a/c/d", "9")]) == [#"a {"b":1,".priority":7,"c":{"d":9}}"#])
        #expect(try plan([("o", "a", "5"), ("o", "a/b", "9")]) == [#"a {"b":9}"#])
        #expect(try plan([("o", "a", "null"), ("o", "a/b", "9")]) == [#"a {"b":9}"#])
        #expect(try plan([("o", "a", #"["x","y"]"#), ("o", "a/1", "9")]) == [#"a {"0":"x","1":9}"#])
    }

    @Test func anUpdateIsOneOperationForEachMember() throws {
        #expect(try plan([("om", "a", #"{"b":1,"c/d":2}"#)]) == ["a/b 1", "a/c/d 2"])
        #expect(throws: DisconnectPlan.Fault.self) { try plan([("om", "a", "7")]) }
        #expect(throws: DisconnectPlan.Fault.self) { try plan([("om", "a", #"{"x.y":1}"#)]) }
    }

    @Test func cancellingRemovesOnlyThatPart() throws {
        #expect(try plan([("o", "a/b", "1"), ("o", "c", "2"), ("oc", "a", "")]) == ["c 2"])
        #expect(try plan([("o", "a", #"{"b":{"c":1,"d":2},"e":3}"#), ("oc", "a/b/c", "")]).sorted() == ["a/b/d 2", "a/e 3"])
        #expect(try plan([("o", "a", "5"), ("oc", "a/b", "")]) == ["a 5"], "a value without children has no such part")
        #expect(try plan([("o", "a", "null"), ("oc", "a/b", "")]) == ["a null"])
        #expect(try plan([("o", "a", #"{".sv":"timestamp"}"#), ("oc", "a/b", "")]) == [#"a {".sv":"timestamp"}"#])
    }

    /// Rows hold what plans do, and an operation touches only the rows of its places.
    @Test func rowsAreBounded() throws {
        let rows = try Rows()
        for number in 0..<1000 { #expect(try rows.apply(.set(try path("a/k\(number)"), .int(1))) == nil) }
        #expect(try rows.apply(.set(try path("b"), .int(1)))?.message.contains("at most 1000 places") == true)
        #expect(try rows.apply(.update(.root, .object(["b": .int(1), "c": .int(2)]))) != nil)
        #expect(try rows.apply(.cancel(try path("a/k1"))) == nil)
        #expect(try rows.apply(.set(try path("b"), .int(1))) == nil)
        #expect(try rows.apply(.set(try path("a"), .string(String(repeating: "x", count: 256 * 1024)))) != nil)
        #expect(try rows.places().count == 1000, "what is refused changes nothing")
        #expect(try rows.apply(.set(.root, .null)) == nil)
        #expect(try rows.places() == [DisconnectPlan.Place(path: .root, value: .null)])
        #expect(try rows.apply(.cancel(.root)) == nil)
        #expect(try rows.take() == nil && rows.isEmpty())
    }

    @Test func operationsOfNoFormChangeNothing() throws {
        let rows = try Rows()
        #expect(try rows.apply(.update(try path("a"), .int(7))) != nil)
        #expect(try rows.apply(.update(try path("a"), .object(["b": .int(1), "x.y": .int(1)]))) != nil)
        #expect(try rows.isEmpty())
    }

    @Test func theLastSenderCounts() throws {
        let rows = try Rows()
        #expect(try rows.apply(.set(.root, .null), auth: .object(["uid": .string("a")])) == nil)
        #expect(try rows.rows.setAuth(.null))
        #expect(try rows.take()?.auth == .null)
        #expect(try rows.apply(.set(.root, .null), auth: nil) == nil)
        let auth = try rows.take()?.auth
        #expect(auth == nil)
        #expect(try !rows.rows.setAuth(.null))
        #expect(try rows.isEmpty())
    }

    /// The rows of one session beside those of another.
    private final class Rows {
        let store: any OrderedStore
        let rows: DisconnectRows

        init() throws {
            store = try MemoryStorage().openWriter(namespace: "test")
            try store.begin()
            rows = DisconnectRows(DisconnectSession(run: String(repeating: "a", count: 32)), store)
        }

        func apply(_ operation: DisconnectOperation, auth: JSONValue? = nil) throws -> DisconnectPlan.Fault? {
            try rows.apply(operation, auth: auth)
        }

        func take() throws -> (plan: DisconnectPlan, auth: JSONValue?)? { try rows.take() }

        /// The places, which stay stored.
        func places() throws -> [DisconnectPlan.Place] {
            let places = try take()?.plan.places ?? []
            for place in places { #expect(try apply(.set(place.path, place.value)) == nil) }
            return places
        }

        func isEmpty() throws -> Bool {
            var count = 0
            try store.scan(.meta, from: [], to: [], reversed: false) { _, _ in
                count += 1
                return .next
            }
            return count == 0
        }
    }

    /// Compares plans with a model: each of the 27 leaves below three levels of three keys is untouched, or written with a value.
    @Test(arguments: 0..<8 as Range<UInt64>)
    func agreesWithAModel(seed: UInt64) throws {
        var dice = TreeDice(seed: seed)
        let keys = ["a", "b", "c"]
        for _ in 0..<60 {
            var plan = DisconnectPlan()
            let rows = try Rows()
            var model: [Path: Int?] = [:]
            for round in 0..<30 {
                let place = Path((0..<dice.number(4)).map { _ in dice.pick(keys) })
                let leaves = Self.leaves(below: place)
                switch dice.number(4) {
                case 0:
                    // Cancelling below a deletion does nothing, so the model has none.
                    try plan.apply(.cancel(place))
                    #expect(try rows.apply(.cancel(place)) == nil)
                    for leaf in leaves { model[leaf] = nil }
                case 1:
                    let members = keys.filter { _ in dice.once(in: 2) }
                    guard place.count < 3 else { continue }
                    var data = JSONObject()
                    for key in members {
                        let child = Self.leaves(below: place.appending(key))
                        data[key] = Self.full(place.count + 1, round)
                        for leaf in child { model[leaf] = .some(round) }
                    }
                    try plan.apply(.update(place, .object(data)))
                    #expect(try rows.apply(.update(place, .object(data))) == nil)
                default:
                    try plan.apply(.set(place, Self.full(place.count, round)))
                    #expect(try rows.apply(.set(place, Self.full(place.count, round))) == nil)
                    for leaf in leaves { model[leaf] = .some(round) }
                }
                #expect(Self.written(by: plan) == model)
                let places = plan.places.map(\.path)
                for place in places { #expect(places.filter { place.contains($0) } == [place], "one place is below another") }
            }
            #expect(Self.sorted(try rows.take()?.plan.places ?? []) == Self.sorted(plan.places))
            #expect(try rows.isEmpty())
        }
    }

    private static func sorted(_ places: [DisconnectPlan.Place]) -> [DisconnectPlan.Place] {
        places.sorted { $0.path.key.bytes.lexicographicallyPrecedes($1.path.key.bytes) }
    }

    private static func leaves(below place: Path) -> [Path] {
        guard place.count < 3 else { return [place] }
        return ["a", "b", "c"].flatMap { leaves(below: place.appending($0)) }
    }

    /// A value in which all leaves below a level are `number`.
    private static func full(_ level: Int, _ number: Int) -> JSONValue {
        guard level < 3 else { return .int(Int64(number)) }
        var members = JSONObject()
        for key in ["a", "b", "c"] { members[key] = full(level + 1, number) }
        return .object(members)
    }

    private static func written(by plan: DisconnectPlan) -> [Path: Int?] {
        var written: [Path: Int?] = [:]
        func walk(_ path: Path, _ value: JSONValue) {
            switch value {
            case .int(let number): written[path] = .some(Int(number))
            case .object(let members): for member in members { walk(path.appending(member.key), member.value) }
            default: Issue.record("\(value) at \(path)")
            }
        }
        for place in plan.places { walk(place.path, place.value) }
        return written
    }
}
