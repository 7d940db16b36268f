import Testing

@testable import Configuration

/// The schemas are the manual: every key has prose, an example that is valid, and a default that is valid.
@Suite struct SchemaTests {
    static let schemas: [(name: String, schema: Schema)] = [("functions", .functions), ("manifest", .manifest)]

    @Test(arguments: ["functions", "manifest"])
    func everyKeyIsExplained(_ name: String) throws {
        let schema = try #require(Self.schemas.first { $0.name == name }).schema
        for (index, node) in schema.nodes.enumerated() {
            for (key, child) in node.properties {
                let property = schema.nodes[child]
                #expect(!property.prose.isEmpty, "\(key) of node \(index) has no description")
                #expect(!property.examples.isEmpty, "\(key) of node \(index) has no example")
                for value in property.examples + [property.defaultValue].compactMap(\.self) {
                    #expect(Self.violations(of: value, schema, child) == [], "\(key) of node \(index)")
                }
            }
        }
    }

    private static func violations(of value: LocatedValue, _ schema: Schema, _ index: Int) -> [String] {
        var validator = SchemaValidator(schema: schema, text: SourceText(file: "", bytes: []))
        validator.check(value, index, DocumentPath())
        return validator.problems.map(\.description)
    }

    @Test(arguments: [
        #"{"type": "strin"}"#, #"{"not": {}}"#, ##"{"$ref": "#/$defs/a"}"##, #"{"$ref": "other.json"}"#, #"{"pattern": "("}"#, "[]", "{",
        #"{"properties": {"a": 1}}"#, #"{"enum": 1}"#, #"{"description": 1}"#,
    ])
    func schemaOutsideOfTheDialectIsRefused(_ text: String) {
        #expect(throws: SchemaCompiler.Fault.self) { try SchemaCompiler.compile(Array(text.utf8), file: "test.schema.json") }
    }

    struct Row: Sendable {
        var schema: String
        var document: String
        var lines: [String]
    }

    @Test(arguments: [
        Row(schema: #"{"type": "integer"}"#, document: "1.0", lines: []),
        Row(schema: #"{"type": "integer"}"#, document: "1.5", lines: ["1:1: expected an integer, found 1.5"]),
        Row(schema: #"{"type": "number", "minimum": 2}"#, document: "1", lines: ["1:1: expected a number of at least 2, found 1"]),
        Row(schema: #"{"type": "number", "maximum": 2}"#, document: "3", lines: ["1:1: expected a number of at most 2, found 3"]),
        Row(schema: #"{"type": ["string", "null"]}"#, document: "true", lines: ["1:1: expected text or null, found true"]),
        Row(schema: #"{"const": {"a": [1]}}"#, document: #"{"a": [1.0]}"#, lines: []),
        Row(schema: #"{"const": 1}"#, document: "2", lines: ["1:1: expected 1, found 2"]),
        Row(schema: #"{"type": "string", "minLength": 2, "maxLength": 3}"#, document: #""ä""#,
            lines: [#"1:1: expected text of 2 to 3 characters, found "ä""#]),
        Row(schema: #"{"type": "string", "pattern": "^a$"}"#, document: #""b""#, lines: [#"1:1: expected text that matches ^a$, found "b""#]),
        Row(schema: #"{"type": "array", "minItems": 1}"#, document: "[]", lines: ["1:1: expected a list with at least 1 element, found 0"]),
        Row(schema: #"{"type": "array", "maxItems": 1}"#, document: "[1,2]", lines: ["1:1: expected a list with at most 1 element, found 2"]),
        Row(schema: #"{"type": "array", "uniqueItems": true}"#, document: "[1,2,1.0]",
            lines: ["1:6: [2]: 1 occurs in the list twice, first at [0]"]),
        Row(schema: #"{"type": "array", "items": {"type": "boolean"}}"#, document: "[true, 0]",
            lines: ["1:8: [1]: expected true or false, found 0"]),
        Row(schema: #"{"oneOf": [{"type": "number"}, {"type": "integer"}]}"#, document: "1",
            lines: ["1:1: expected only one of these, found several: a number and an integer"]),
        Row(schema: #"{"anyOf": [{"type": "number"}, {"type": "integer"}]}"#, document: "1", lines: []),
        Row(schema: #"{"anyOf": [{"type": "number"}, {"type": "object", "required": ["a"]}]}"#, document: "{}",
            lines: ["1:1: a: missing; expected a value"]),
        Row(schema: #"{"additionalProperties": {"type": "string"}}"#, document: #"{"a b": 1}"#, lines: [#"1:9: "a b": expected text, found 1"#]),
        Row(schema: #"{"patternProperties": {"^x": {"type": "string"}}, "additionalProperties": false}"#, document: #"{"xa": 1, "ya": 1}"#,
            lines: ["1:8: xa: expected text, found 1", "1:11: ya: unknown key; no key is allowed here"]),
        Row(schema: ##"{"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/a"}}, "type": "object"}}}"##,
            document: #"{"b": {"b": 1}}"#, lines: ["1:13: b.b: expected an object, found 1"]),
        Row(schema: #"{"maxProperties": 1, "minProperties": 1}"#, document: #"{"a": 1, "b": 2}"#, lines: ["1:1: expected at most 1 key, found 2"]),
    ])
    func documentIsChecked(_ row: Row) throws {
        let schema = try SchemaCompiler.compile(Array(row.schema.utf8), file: "test.schema.json")
        let text = SourceText(file: "f", bytes: Array(row.document.utf8))
        let (document, _) = LocatedParser.parse(text)
        let problems = SchemaValidator.validate(try #require(document), against: schema, text: text)
        #expect(problems.map(\.description) == row.lines.map { "f:\($0)" })
    }
}
