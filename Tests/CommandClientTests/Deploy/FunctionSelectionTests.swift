import AdminProtocol
import Testing

@testable import CommandClient

@Suite struct FunctionSelectionTests {
    private static let plan = DeploymentSummary(
        revision: 3,
        changes: [
            FunctionChange(function: "b", plugin: "P", action: .unchanged), FunctionChange(function: "a", plugin: "P", action: .update),
            FunctionChange(function: "c", plugin: "Q", action: .delete), FunctionChange(function: "c-d", plugin: "Q", action: .create),
        ]).sorted

    private static func filter(_ text: String) throws -> FunctionFilter { try FunctionFilter(option: "--only", text, plugins: ["P", "Q"]) }

    @Test func whatHappensComesFirst() {
        #expect(Self.plan.changes.map(\.function) == ["c-d", "a", "c", "b"])
        #expect(Self.plan.withoutDeletions.changes.map(\.action) == [.create, .update, .keep, .unchanged])
    }

    @Test func onlyAndExcept() throws {
        let group = FunctionSelection(only: try Self.filter("functions:c"))
        #expect(try group.applied(to: Self.plan).changes.map(\.function) == ["c-d", "c"])
        let rest = FunctionSelection(only: try Self.filter("functions:c"), except: try Self.filter("functions:c-d"))
        #expect(try rest.applied(to: Self.plan).changes.map(\.function) == ["c"])
        #expect(try FunctionSelection(except: try Self.filter("functions:Q")).applied(to: Self.plan).changes.map(\.function) == ["a", "b"])
        #expect(try FunctionSelection().applied(to: Self.plan) == Self.plan)
    }

    @Test func aWordThatMeansNothing() throws {
        let selection = FunctionSelection(only: try Self.filter("functions:a,functions:x"))
        #expect(throws: ClientFailure(.invalidInput, "functions:x matches no function; there are a, b, c, c-d")) {
            try selection.applied(to: Self.plan)
        }
    }
}
