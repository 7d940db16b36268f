import Testing
import Tree

@testable import DatabaseAPI
@testable import RealtimeDatabase

/// `orderBy`, bounds and limits: the query that they make, and the texts for those that make none (spec database 2.3 and 2.6).
@Suite("REST queries")
struct FilterTests {
    private func query(_ text: String) throws -> Query { try #require(try ParameterTests.parse(text).filter?.query()) }

    @Test func orders() throws {
        #expect(try query("orderBy=%22$key%22").order == .key)
        #expect(try query("orderBy=\"$value\"").order == .value)
        #expect(try query("orderBy=\"$priority\"").order == .priority)
        #expect(try query("orderBy=\"h\"").order == .child(Path(["h"])))
        #expect(try query("orderBy=\"a/b\"").order == .child(Path(["a", "b"])))
    }

    @Test func bounds() throws {
        let order = Query.Order.child(Path(["h"]))
        #expect(try query("orderBy=\"h\"&startAt=2&endAt=9") == Query(order: order, start: .startAt(.number(2)), end: .endAt(.number(9))))
        #expect(try query("orderBy=\"h\"&startAfter=\"x\"&endBefore=true")
            == Query(order: order, start: .startAfter(.string("x")), end: .endBefore(.true)))
        #expect(try query("orderBy=\"h\"&equalTo=null") == Query(order: order, start: .startAt(.null), end: .endAt(.null)))
        #expect(try query("orderBy=\"h\"&equalTo=-1.5e1") == Query(order: order, start: .startAt(.number(-15)), end: .endAt(.number(-15))))
    }

    @Test func boundsWithAKey() throws {
        let order = Query.Order.child(Path(["h"]))
        #expect(try query("orderBy=\"h\"&startAt=2,\"k\"") == Query(order: order, start: .startAt(.number(2), key: "k")))
        #expect(try query("orderBy=\"h\"&startAfter=2,%20\"k\"") == Query(order: order, start: .startAfter(.number(2), key: "k")))
        #expect(try query("orderBy=\"h\"&equalTo=\"a,b\",\"k\"")
            == Query(order: order, start: .startAt(.string("a,b"), key: "k"), end: .endAt(.string("a,b"), key: "k")))
    }

    @Test func limits() throws {
        #expect(try query("orderBy=\"$key\"&limitToFirst=2") == Query(order: .key, limit: 2))
        #expect(try query("orderBy=\"$key\"&limitToLast=3") == Query(order: .key, limit: 3, anchorsLast: true))
    }

    @Test(arguments: [
        ("limitToFirst=1", "orderBy must be defined when other query parameters are defined"),
        ("startAt=1", "orderBy must be defined when other query parameters are defined"),
        ("orderBy=h", "orderBy must be a valid JSON encoded path"),
        ("orderBy=", "orderBy must be a valid JSON encoded path"),
        ("orderBy=5", "orderBy must be a valid JSON encoded path"),
        ("orderBy=\"\"", "orderBy must be a valid JSON encoded path"),
        ("orderBy=\"a.b\"", "orderBy must be a valid JSON encoded path"),
        ("orderBy=\"$other\"", "orderBy must be a valid JSON encoded path"),
        ("orderBy=\"h\"&startAt=abc", "Constraint index field must be a JSON primitive"),
        ("orderBy=\"h\"&startAt=", "Constraint index field must be a JSON primitive"),
        ("orderBy=\"h\"&endAt={}", "Constraint index field must be a JSON primitive"),
        ("orderBy=\"h\"&equalTo=[1]", "Constraint index field must be a JSON primitive"),
        ("orderBy=\"h\"&equalTo=1],[2", "Constraint index field must be a JSON primitive"),
        ("orderBy=\"h\"&startAt=1,2", "Constraint key field must be a string"),
        ("orderBy=\"h\"&startAt=1,\"a\",\"b\"", "Constraint key field must be a string"),
        ("orderBy=\"h\"&equalTo=1&startAt=1", "equalTo cannot be specified in addition to startAt or endAt"),
        ("orderBy=\"h\"&equalTo=1&endBefore=1", "equalTo cannot be specified in addition to startAt or endAt"),
        ("orderBy=\"h\"&startAfter=1&startAt=1", "startAt and startAfter cannot be specified together"),
        ("orderBy=\"h\"&endBefore=1&endAt=1", "endAt and endBefore cannot be specified together"),
        ("orderBy=\"h\"&limitToFirst=1&limitToLast=1", "limitToFirst and limitToLast cannot be specified together"),
        ("orderBy=\"h\"&limitToFirst=0", "limitToFirst must be a positive integer"),
        ("orderBy=\"h\"&limitToFirst=x", "limitToFirst must be a positive integer"),
        ("orderBy=\"h\"&limitToLast=-1", "limitToLast must be a positive integer"),
        ("orderBy=\"h\"&limitToLast=1.0", "limitToLast must be a positive integer"),
        ("orderBy=\"h\"&limitToLast=9999999999999999999", "limitToLast must be a positive integer"),
        ("orderBy=\"$priority\"&startAt=true", "Constraint index field must be a number or a string when ordering by priority"),
    ])
    func refusals(text: String, message: String) {
        #expect(ParameterTests.message(text) == message)
    }
}
