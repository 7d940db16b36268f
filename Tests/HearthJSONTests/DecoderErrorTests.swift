import HearthJSON
import Testing

@Suite struct DecoderErrorTests {
    struct Inner: Decodable { var number: Int8; var list: [Double]? }
    struct Outer: Decodable { var inner: [Inner]; var name: String?; var map: [String: Bool]? }

    /// Sort, path and text of what decoding `text` throws.
    func failure<T: Decodable>(_ type: T.Type, _ text: String) -> (sort: String, path: String, text: String) {
        do {
            _ = try JSONDecoder().decode(type, from: Array(text.utf8))
            return ("none", "", "")
        } catch let error as DecodingError {
            switch error {
            case .keyNotFound(let key, let context): return ("keyNotFound \(key.stringValue)", path(context), context.debugDescription)
            case .valueNotFound(let type, let context): return ("valueNotFound \(type)", path(context), context.debugDescription)
            case .typeMismatch(let type, let context): return ("typeMismatch \(type)", path(context), context.debugDescription)
            case .dataCorrupted(let context): return ("dataCorrupted", path(context), context.debugDescription)
            @unknown default: return ("unknown", "", "")
            }
        } catch {
            return ("\(error)", "", "")
        }
    }

    private func path(_ context: DecodingError.Context) -> String {
        context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }

    @Test(arguments: [
        (#"{"inner":[{"number":1},{"number":300}]}"#, "dataCorrupted", "inner.1.number"),
        (#"{"inner":[{"number":-129}]}"#, "dataCorrupted", "inner.0.number"),
        (#"{"inner":[{"number":1.5}]}"#, "dataCorrupted", "inner.0.number"),
        (#"{"inner":[{"number":1e30}]}"#, "dataCorrupted", "inner.0.number"),
        (#"{"inner":[{"number":99999999999999999999}]}"#, "dataCorrupted", "inner.0.number"),
        (#"{"inner":[{"number":"1"}]}"#, "typeMismatch Int8", "inner.0.number"),
        (#"{"inner":[{"number":null}]}"#, "valueNotFound Int8", "inner.0.number"),
        (#"{"inner":[{"numbers":1}]}"#, "keyNotFound number", "inner.0"),
        (#"{"inner":[{"number":1,"list":[0,1,true]}]}"#, "typeMismatch Double", "inner.0.list.2"),
        (#"{"inner":[{"number":1,"list":[[]]}]}"#, "typeMismatch Double", "inner.0.list.0"),
        (#"{"inner":[null]}"#, "valueNotFound Dictionary<String, Any>", "inner.0"),
        (#"{"inner":[[]]}"#, "typeMismatch Dictionary<String, Any>", "inner.0"),
        (#"{"inner":{}}"#, "typeMismatch Array<Any>", "inner"),
        (#"{}"#, "keyNotFound inner", ""),
        (#"[]"#, "typeMismatch Dictionary<String, Any>", ""),
        (#"{"inner":[],"name":1}"#, "typeMismatch String", "name"),
        (#"{"inner":[],"map":{"x":true,"\u0079":1}}"#, "typeMismatch Bool", "map.y"),
        (#"{"inner":[]"#, "dataCorrupted", ""),
        ("", "dataCorrupted", ""),
    ])
    func tellsWhatAndWhere(_ text: String, _ sort: String, _ path: String) {
        let failure = failure(Outer.self, text)
        #expect(failure.sort == sort)
        #expect(failure.path == path)
    }

    @Test func namesTheNumberThatDoesNotFit() {
        #expect(failure([UInt8].self, "[256]").text == "The number 256 does not fit UInt8.")
        #expect(failure(UInt.self, "-1").text == "The number -1 does not fit UInt.")
        #expect(failure(Float.self, "1e300").text == "The number 1e300 does not fit Float.")
        #expect(failure(Int64.self, "9223372036854775808").sort == "dataCorrupted")
        #expect(failure(Int64.self, "-9223372036854775809").sort == "dataCorrupted")
        #expect(failure(UInt64.self, "18446744073709551616").sort == "dataCorrupted")
    }

    @Test func carriesTheReasonOfBadText() {
        do {
            _ = try JSONDecoder().decode([Int].self, from: Array("[1,]".utf8))
            Issue.record("accepted")
        } catch DecodingError.dataCorrupted(let context) {
            #expect(context.underlyingError as? JSONError == JSONError(kind: .unexpectedByte, offset: 3))
        } catch {
            Issue.record(error)
        }
    }

    struct Pair: Decodable {
        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            _ = try list.decode(Int.self)
            _ = try list.decode(Int.self)
        }
    }

    @Test func tellsWhenAnArrayEnds() {
        let failure = failure([Pair].self, "[[1,2],[1]]")
        #expect(failure.sort == "valueNotFound Int")
        #expect(failure.path == "1.1")
    }

    struct Fallback: Decodable, Equatable {
        var number: Int?
        var text: String?
        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            do {
                number = try list.decode(Int.self)
            } catch {
                // A value that could not be decoded is still there.
                text = try list.decode(String.self)
            }
            #expect(list.isAtEnd)
        }
    }

    @Test func anElementThatDoesNotFitStays() throws {
        #expect(try JSONDecoder().decode(Fallback.self, from: Array("[\"x\"]".utf8)).text == "x")
        #expect(try JSONDecoder().decode(Fallback.self, from: Array("[4]".utf8)).number == 4)
    }

    struct Where: Decodable {
        let path: String
        init(from decoder: any Decoder) throws {
            path = decoder.codingPath.map(\.stringValue).joined(separator: "/")
        }
    }

    @Test func decodersKnowTheirPath() throws {
        let map = try JSONDecoder().decode([String: [Where]].self, from: Array(#"{"a":[1,{"x":2}],"b":[]}"#.utf8))
        #expect(map["a"]?.map(\.path) == ["a/Index 0", "a/Index 1"])
        #expect(try JSONDecoder().decode(Where.self, from: Array("0".utf8)).path == "")
    }
}
