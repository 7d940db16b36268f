import FuzzSupport
import HearthBytes
import HearthJSON
import Testing

@testable import FunctionWorker

@Suite("Contexts for plugins that read JSON")
struct ContextTextTests {
    private static func text(_ raw: [UInt8]) -> [UInt8] {
        var buffer = ByteBuffer()
        ContextText.write(raw: raw.span, to: &buffer)
        return buffer.array()
    }

    @Test("each part becomes a member; what is absent stays absent")
    func members() throws {
        let corpus = try FuzzCorpus.load("Context/corpus")
        let texts = try corpus.map { try JSONValue(parsing: Self.text($0)) }
        let wanted = [
            #"{"method":"GET","path":"/","headers":[],"peer":""}"#,
            #"{"method":"POST","path":"/","headers":["host","127.0.0.1:5001","content-type","application/json"],"peer":"127.0.0.1:50000","#
                + #""trace":"00-00000000000000010000000000000002-0000000000000003-01"}"#,
            #"{"method":"GET","path":"/a/b","query":"x=1","headers":["x-a","\"quoted\"\\","x-b",""],"peer":"[::1]:5","#
                + #""trace":"00-0000000000abcdef0000000000000010-fedcba9876543210-00","tracestate":"a=1","#
                + #""auth":{"uid":"u","token":{"uid":"u"},"rawToken":"t"},"acceptsStreaming":true}"#,
        ]
        #expect(texts == (try wanted.map { try JSONValue(parsing: Array($0.utf8)) }))
    }

    @Test("a table is read as it was written")
    func table() {
        var written = RawContext()
        written.method = RawContext.Part(offset: 0, size: 3)
        written.path = RawContext.Part(offset: 3, size: 1)
        written.trace = RawContext.Trace(high: 1, low: 2, span: 3, isSampled: false)
        written.textSize = 4
        var buffer = ByteBuffer()
        buffer.append([UInt8](repeating: 0, count: RawContext.headSize))
        buffer.append("GET/")
        written.write(to: &buffer, at: 0)
        let read = RawContext(buffer.bytes)
        #expect(read == written)
        #expect(read?.range(written.path) == RawContext.headSize + 3..<RawContext.headSize + 4)
        #expect(read?.range(written.query) == nil)
    }

    @Test("any bytes: no part lies outside, and the text is JSON")
    func anything() throws {
        let run = FuzzRun(try FuzzCorpus.load("Context/corpus"), words: ["\u{0}", "\u{1}", "\"", "\\"], rounds: 20_000)
        #expect(run.complaint(Self.complaint) == nil)
    }

    private static func complaint(_ raw: [UInt8]) -> String? {
        guard let context = RawContext(raw.span) else {
            return text(raw) == Array("{}".utf8) ? nil : "a context that cannot be read has members"
        }
        for part in [context.method, context.path, context.query, context.peer, context.tracestate, context.caller] {
            if let range = context.range(part), range.upperBound > raw.count { return "a part lies outside" }
        }
        // The host writes the members of the caller; what is changed in them is no JSON either.
        guard context.caller == .none else { return nil }
        return (try? JSONValue(parsing: text(raw))) == nil ? "the text is not JSON" : nil
    }
}

@Suite("Header names")
struct HeaderNameTests {
    @Test("are written in lower case, four bytes at a time", arguments: ["Host", "X", "Content-Type", "AZaz@[`{09-_", "CONTENT-LENGTH", "abc"])
    func areLowercased(_ name: String) {
        var buffer = ByteBuffer()
        buffer.append(lowercasedName: Array(name.utf8).span)
        let text = buffer.string()
        #expect(text == "\"\(name.lowercased())\",")
    }
}
