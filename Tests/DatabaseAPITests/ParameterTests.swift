import HearthBytes
import HTTP
import Testing
import Tree

@testable import DatabaseAPI
@testable import RealtimeDatabase

/// The query of a request, parameter by parameter.
@Suite("REST parameters")
struct ParameterTests {
    static func parse(_ query: String) throws(RESTError) -> RESTParameters { try RESTParameters(Array(query.utf8).span) }

    private func milliseconds(_ text: String) throws(RESTError) -> UInt64 {
        let text = Array(text.utf8)
        return try TimeLimit.milliseconds(text.span)
    }

    static func message(_ query: String) -> String? {
        do throws(RESTError) {
            let parameters = try parse(query)
            _ = try parameters.isShallow ? nil : parameters.filter?.query()
            _ = try parameters.isShallow ? parameters.filter?.shallowPage() : nil
            return nil
        } catch {
            return error.message
        }
    }

    @Test func nothingAsksForNothing() throws {
        for query in ["", "&", "&&&", "other=1", "acc=token", "print2=pretty&_=5"] {
            #expect(try Self.parse(query) == RESTParameters(), "\(query)")
        }
    }

    @Test func everyParameterIsRead() throws {
        let query = """
            ns=demo&auth=a.b.c&access_token=t&auth_variable_override=%7B%22uid%22:%22u%22%7D&x-http-method-override=PUT&shallow=true\
            &print=pretty&callback=f&download=my%20file.json&timeout=3s&writeSizeLimit=tiny&disableTriggers=true&dryRun=true&format=export
            """
        let parameters = try Self.parse(query)
        #expect(parameters.namespace == "demo")
        #expect(parameters.auth == Array("a.b.c".utf8))
        #expect(parameters.accessToken == Array("t".utf8))
        #expect(parameters.authOverride == Array("{\"uid\":\"u\"}".utf8))
        #expect(parameters.methodOverride == Array("PUT".utf8))
        #expect(parameters.isShallow && parameters.disablesTriggers && parameters.isDryRun)
        #expect(parameters.print == .pretty && parameters.format == .export)
        #expect(parameters.callback == "f" && parameters.download == "my file.json")
        #expect(parameters.timeoutMilliseconds == 3000 && parameters.writeSizeLimit == .tiny)
        #expect(parameters.filter == nil)
    }

    @Test func theLastOfTwoCounts() throws {
        #expect(try Self.parse("ns=a&ns=b").namespace == "b")
        #expect(try Self.parse("shallow=true&shallow=false").isShallow == false)
    }

    @Test func aPlusIsABlank() throws {
        #expect(try Self.parse("download=a+b%2Bc").download == "a b+c")
    }

    @Test(arguments: [
        "ns=%", "ns=%4", "ns=%zz", "print=loud", "print=", "shallow", "shallow=1", "disableTriggers=yes", "format=xml", "dryRun=TRUE",
        "writeSizeLimit=weird", "writeSizeLimit=", "callback=", "callback=1f", "callback=f(", "callback=a%3Bb", "callback=.a",
    ])
    func whatMeansNothingIsRefused(query: String) {
        #expect(throws: RESTError.self) { try Self.parse(query) }
    }

    @Test(arguments: [
        ("1ms", 1), ("250ms", 250), ("10s", 10_000), ("5min", 300_000), ("15min", 900_000), ("900s", 900_000), ("900000ms", 900_000),
    ])
    func timeLimits(text: String, milliseconds: UInt64) throws {
        #expect(try self.milliseconds(text) == milliseconds)
    }

    @Test(arguments: [
        "", "0s", "0ms", "s", "10", "-1s", "1.5s", "16min", "901s", "900001ms", "1h", "10S", "10 s", "99999999999999999999999s",
        "18446744073709551617ms",
    ])
    func timeLimitsThatAreNone(text: String) {
        #expect(throws: RESTError.self) { try milliseconds(text) }
    }

    @Test func whatALimitAllows() {
        #expect(WriteSizeLimit.tiny.allows(leaves: 99_999, bytes: 1 << 20))
        #expect(!WriteSizeLimit.tiny.allows(leaves: 100_000, bytes: 0))
        #expect(!WriteSizeLimit.tiny.allows(leaves: 1, bytes: 16 << 20))
        #expect(WriteSizeLimit.small.allows(leaves: 999_999, bytes: 0))
        #expect(WriteSizeLimit.large.allows(leaves: 1, bytes: 256 << 20))
        #expect(WriteSizeLimit.unlimited.allows(leaves: .max, bytes: .max))
    }

    // MARK: Shallow reads

    @Test func aShallowReadHasPages() throws {
        let page = try Self.parse("shallow=true&limitToFirst=5&startAfter=a%2Fb").filter?.shallowPage()
        #expect(page?.limit == 5 && page?.startAfter == "a/b")
        #expect(try Self.parse("shallow=true&startAfter=%22k%22").filter?.shallowPage().startAfter == "\"k\"")
    }

    @Test(arguments: ["orderBy=%22h%22", "startAt=1", "endAt=1", "endBefore=1", "equalTo=1", "limitToLast=1", "limitToFirst=0"])
    func aShallowReadHasNoQuery(parameter: String) {
        #expect(Self.message("shallow=true&\(parameter)") != nil)
    }

    // MARK: Answers

    @Test func attachments() {
        #expect(RESTAnswer.attachment(named: "my.json") == Array("attachment; filename=my.json".utf8))
        #expect(RESTAnswer.attachment(named: "a b\"\r\nX: é") == Array("attachment; filename*=UTF-8''a%20b%22%0D%0AX%3A%20%C3%A9".utf8))
        #expect(RESTAnswer.attachment(named: "") == Array("attachment; filename*=UTF-8''".utf8))
    }

    @Test func errorBodies() {
        #expect(RESTAnswer.body(of: "a \"b\"\n") == Array("{\n  \"error\" : \"a \\\"b\\\"\\n\"\n}\n".utf8))
    }

    @Test func statusOfErrors() {
        #expect(RESTError(DatabaseError.permissionDenied()).status == .unauthorized)
        #expect(RESTError(DatabaseError.readTooLarge).status == .badRequest)
        #expect(RESTError(DatabaseError(.unknownNamespace, "x")).status == .notFound)
        #expect(RESTError(DatabaseError(.storageUnavailable, "x")).status == .serviceUnavailable)
        #expect(RESTError(DatabaseError(.internal, "x")).status == .internalServerError)
    }
}
