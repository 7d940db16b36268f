import Files
import Testing

@testable import Configuration

/// `Tests/Conformance/cases/schema.json` holds what another validator accepts at each place; ours accepts the same.
@Suite struct SchemaAgreementTests {
    @Test(arguments: ["functions", "manifest"])
    func verdictsAgree(_ kind: String) throws {
        let file = FilePaths.root + "/Tests/Conformance/cases/schema.json"
        let (parsed, problems) = LocatedParser.parse(SourceText(file: file, bytes: try WholeFile.read(file, sizeBytesMax: 1 << 24)))
        #expect(problems == [])
        let cases = try #require(parsed)
        let values = try #require(cases["values"]?.elements)
        let base = try #require(cases[kind]?["base"])
        let places = try #require(cases[kind]?["accepted"]?.members)
        #expect(places.count >= 40)
        for place in places {
            let expected = try #require(place.value.elements).compactMap(\.integer)
            let accepted = values.indices.filter { index in
                let document = base.setting(place.key.split(separator: "/").map(String.init)[...], to: values[index])
                return isValid(document, kind == "functions" ? .functions : .manifest)
            }
            #expect(accepted == expected, "\(kind): \(place.key)")
        }
    }

    private func isValid(_ document: LocatedValue, _ schema: Schema) -> Bool {
        SchemaValidator.validate(document, against: schema, text: SourceText(file: "", bytes: [])).isEmpty
    }
}

extension LocatedValue {
    /// The same with another value at a place; objects on the way there are made.
    fileprivate func setting(_ path: ArraySlice<String>, to value: LocatedValue) -> LocatedValue {
        guard let key = path.first else { return value }
        let inner = (self[key] ?? LocatedValue(content: .object([]), offset: 0)).setting(path.dropFirst(), to: value)
        let others = (members ?? []).filter { $0.key != key }
        return LocatedValue(content: .object(others + [LocatedMember(key: key, keyOffset: 0, value: inner)]), offset: offset)
    }
}
